"""How large a file may be that is uploaded."""

from __future__ import annotations

SURE_UPLOAD_BYTES = 25_000_000  # up to here every reading of "25 MB" agrees
MAX_UPLOAD_BYTES = 25 * 1024 * 1024
LIMIT_WORDS = f"25 MB ({MAX_UPLOAD_BYTES:,} bytes)"  # in bytes as well: systems do not count a MB alike
