"""Accounts: who we call as, and the secrets that belong to them."""
