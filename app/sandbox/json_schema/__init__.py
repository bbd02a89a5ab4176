"""JSON Schema, draft 2020-12: what a schema says, whether a value keeps to it, and making values that do."""
