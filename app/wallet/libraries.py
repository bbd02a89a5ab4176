"""The one door through which eth_account comes in.

It brings py_ecc, which raises the recursion limit of the whole process to 100,000 when it is imported. With that limit
a service could end the program with one deeply nested answer: the JSON parser runs out of stack long before it counts
to the limit. So the limit is put back.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module

ETH_ACCOUNT = ("eth_account", "eth_account.messages", "eth_account.hdaccount.mnemonic", "Crypto.Hash.keccak")

_loading = threading.Lock()


def load_eth_account() -> None:
    """Import it, once. Takes over half a second the first time: call it in a thread, before every `import`."""
    with _loading:
        if "eth_account" in sys.modules:
            return
        limit = sys.getrecursionlimit()
        try:
            for name in ETH_ACCOUNT:
                import_module(name)
        finally:
            sys.setrecursionlimit(limit)
