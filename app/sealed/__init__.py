"""Sealed chats: what proves that a key belongs to an attested enclave, and the sealing of messages to that key.

Pure functions over bytes and text: no Qt, no network, no files. Nothing here is ever taken on trust from a server; each
check is a `Check` of its own, and the first that fails refuses the whole.
"""
