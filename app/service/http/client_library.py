"""The HTTP client library behind `app.service`: the only file that names it (docs/decisions/0061).

Moving to httpx2 and httpcore2, which have the same names, is a change of the two lines below.
"""

import httpcore
import httpx

__all__ = ["httpcore", "httpx"]
