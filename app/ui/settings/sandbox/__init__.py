"""Settings › Sandbox: what it is, what was asked of it, how it is to fail, and how other programs use it."""
