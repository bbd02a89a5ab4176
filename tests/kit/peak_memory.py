"""The most memory that this process ever had in use, as each system counts it."""

import sys

import psutil

if sys.platform == "win32":

    def peak_memory() -> int:
        """Return bytes."""
        return int(psutil.Process().memory_info().peak_wset)

else:
    import resource

    def peak_memory() -> int:
        """Return bytes."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
