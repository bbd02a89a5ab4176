"""Connection: the proxy, custom certificates, and a connection test."""
