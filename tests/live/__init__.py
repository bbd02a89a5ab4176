"""A live check: the cheapest call of every endpoint, against a real service or a recording of one."""
