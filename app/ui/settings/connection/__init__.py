"""Connection: the proxy, certificates of one's own, and a test of the way to the service."""
