"""About Rialto: its version, looking for a newer one, and whose work is in it."""
