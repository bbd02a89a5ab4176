"""Sealed chats over HTTP: evidence of enclaves, sealed requests and answers, receipts."""
