"""Rialto, a native desktop client. The program is Rialto; this package is `app`."""

__version__ = "0.1.0"
