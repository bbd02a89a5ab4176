"""What tests share: one way to wait, and a harness for each tab."""
