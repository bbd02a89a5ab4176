"""The HTTP client library with which the Sandbox reaches other servers, loaded by the first call that does."""

import httpx

__all__ = ["httpx"]
