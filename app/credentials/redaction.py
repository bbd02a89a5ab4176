"""Nothing secret leaves through a log or a crash report.

Two nets. A registry knows every secret this session has touched and replaces it wherever it turns up, also when
it was percent-encoded or escaped on the way. Patterns catch what looks like a credential by its surroundings, for
secrets that never came through a store (somebody else's key pasted into an address).

The registry keeps no secret: of each it knows the length, the first characters and a keyed hash. A dump of its
own memory, or of its `repr`, gives nothing away.
"""

from __future__ import annotations

import functools
import json
import os
import re
import threading
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"
MIN_SECRET_CHARS = 6  # shorter ones occur in ordinary words; hiding those would garble every log
_PREFIX_CHARS = 3

_VALUE = r"[^\s\"'`,;&<>\\\])}]+"
_PATTERNS = (
    rf"(authorization[\"']?\s*[:=,]\s*[\"']?b?[\"']?(?:bearer|basic|token)\s+)({_VALUE})",
    rf"(\bbearer\s+)((?=[^\s]*\d){_VALUE})",
    r"((?:x-)?(?:sign-in-with-x|402-payment|payment-signature|payment)[\"']?\s*[:=]\s*[\"']?)([A-Za-z0-9+/=_.\-]{20,})",
    rf"((?:api[_-]?key|passphrase|password|private[_-]?key|client[_-]?secret|mnemonic)[\"']?\s*[:=]\s*[\"']?)({_VALUE})",
    r"()(\bsk-[A-Za-z0-9_\-]{16,})",
    r"(\b[A-Z]+(?:_[A-Z]+)*_KEY_)([A-Za-z0-9_\-]{8,})",
    r"(://[^\s/:@]*:)([^\s/@]+)(?=@)",
)


@functools.cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    """Compiled with the first text to redact: the window opens without that."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in _PATTERNS)


class Redactor:
    """Thread-safe. Make one in the composition root and hand `redact` to whatever writes text somewhere."""

    def __init__(self) -> None:
        self._key = os.urandom(32)
        self._known: dict[str, set[tuple[int, bytes]]] = {}  # first characters -> (length, keyed hash)
        self._finder: re.Pattern[str] | None = None
        self._changing = threading.Lock()

    def __repr__(self) -> str:
        return f"Redactor({sum(map(len, self._known.values()))} forms)"

    def add(self, secret: str) -> None:
        """Hide this text from now on, for as long as the program runs: an old log line is flushed late."""
        forms = {form for form in _forms(secret) if len(form) >= MIN_SECRET_CHARS}
        with self._changing:
            known = {prefix: set(entries) for prefix, entries in self._known.items()}
            for form in forms:
                known.setdefault(form[:_PREFIX_CHARS], set()).add((len(form), self._hash(form)))
            self._known = known
            alternatives = "|".join(re.escape(prefix) for prefix in sorted(known))
            self._finder = re.compile(f"(?={alternatives})") if known else None

    def redact(self, text: str) -> str:
        """Return `text` with every known secret, and everything that looks like one, replaced by `[hidden]`."""
        text = self._without_known(text)
        for pattern in _compiled():
            text = pattern.sub(lambda match: match[0] if match[2].startswith(HIDDEN[:-1]) else match[1] + HIDDEN, text)
        return text

    def _without_known(self, text: str) -> str:
        finder, known = self._finder, self._known
        if finder is None:
            return text
        pieces: list[str] = []
        done = 0
        for match in finder.finditer(text):
            at = match.start()
            if at < done:
                continue
            lengths = known.get(text[at : at + _PREFIX_CHARS], set())
            found = [length for length, digest in lengths if self._hash(text[at : at + length]) == digest]
            if found:
                pieces += [text[done:at], HIDDEN]
                done = at + max(found)
        return "".join([*pieces, text[done:]]) if pieces else text

    def _hash(self, text: str) -> bytes:
        import hashlib  # brings OpenSSL along: not before the window is there

        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()


def _forms(secret: str) -> set[str]:
    """Return the shapes in which a secret can turn up in text."""
    secret = secret.strip()
    plain = secret.encode("utf-8", "surrogatepass")
    forms = {
        secret,
        quote(plain, safe=""),
        quote(plain),
        quote_plus(plain),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        plain.hex() if len(plain) >= MIN_SECRET_CHARS else "",
    }
    digits = secret[2:] if secret[:2] in ("0x", "0X") else secret
    if len(digits) >= 32 and re.fullmatch(r"[0-9a-fA-F]+", digits):  # a private key, in any spelling
        forms |= {digits, digits.lower(), digits.upper()}
    words = secret.split()
    if len(words) >= 12:  # a recovery phrase, however it is spaced
        forms |= {" ".join(words), "\n".join(words), ", ".join(words)}
    return forms
