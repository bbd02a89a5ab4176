"""How large a file may be that is uploaded."""

from __future__ import annotations

from app.formats import format_number
from app.translation import tr

SURE_UPLOAD_BYTES = 25_000_000  # up to here every reading of "25 MB" agrees
MAX_UPLOAD_BYTES = 25 * 1024 * 1024
LIMIT_WORDS = tr(
    "25 MB ({max_upload_bytes} bytes)", max_upload_bytes=format_number(MAX_UPLOAD_BYTES)
)  # in bytes as well: systems do not count a MB alike
