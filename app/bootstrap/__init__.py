"""The composition root: makes every part, hands each what it needs, and ends them in order.

The window comes first. What the first paint does not need (asyncio, the database, keyrings, the TLS store, the Sandbox)
is made after it, in worker threads where importing alone would be felt. The only package that imports qasync.
"""

from app.bootstrap.options import Options
from app.bootstrap.rialto import Rialto
from app.bootstrap.start import run

__all__ = ["Options", "Rialto", "run"]
