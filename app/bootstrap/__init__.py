"""The composition root: makes every part, hands each what it needs, and ends them in order.

The window comes first. What the first paint does not need (asyncio, the database, keyrings, the TLS store) is made
after it, in worker threads where importing alone would be felt. The only package that imports qasync.
"""
