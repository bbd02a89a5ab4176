"""The composition root: makes every part, hands each what it needs, and ends them in order.

The window comes first. What the first paint does not need (asyncio, the database, keyrings, the TLS store) is made
after it, in worker threads where importing alone would be felt. The only package that imports qasync.
"""

from app.formats import use
from app.translation import LANGUAGE
from app.ui.kit.locale_formats import formats_of

if LANGUAGE:  # before the modules whose constants have numbers in them
    use(formats_of(LANGUAGE))
