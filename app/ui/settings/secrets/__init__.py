"""Where secrets are kept on this computer, and the choice of a place when there is no keyring."""
