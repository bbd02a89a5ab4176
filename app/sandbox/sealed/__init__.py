"""The Sandbox's enclave: it really seals, and its evidence ends at a root certificate that says Sandbox."""
