"""The Console: JSON-RPC calls to blockchain nodes through the service, with their price before and after."""
