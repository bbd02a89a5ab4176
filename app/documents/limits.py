"""Bounds that the system itself holds the reading process to, where it has them."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from app.documents.reading import MB

if sys.platform != "win32":
    import resource

MEMORY_BYTES = 600 * MB  # set aside, most of it never touched: what is in use stays below 300 MB
ENDED_FOR_MEMORY = 3  # what the process ends with
READ_DOCUMENTS = "--read-documents"  # how the program's own command line asks for this process
NICE = 10  # the window goes first where the two share a processor


if sys.platform == "win32":
    _PROCESS_MEMORY = 0x100
    _END_WITH_ERRORS = 0x400
    _EXTENDED_LIMITS = 9

    class _Basic(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", ctypes.c_uint32),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", ctypes.c_uint32),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", ctypes.c_uint32),
            ("SchedulingClass", ctypes.c_uint32),
        )

    class _Extended(ctypes.Structure):
        _fields_ = (
            ("Basic", _Basic),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    def limit_this_process(memory_bytes: int = MEMORY_BYTES) -> None:
        """Bound memory. What the system lacks is passed over."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetInformationJobObject.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32)
        kernel.AssignProcessToJobObject.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        job = kernel.CreateJobObjectW(None, None)  # lives as long as this process
        limits = _Extended()
        limits.Basic.LimitFlags = _PROCESS_MEMORY | _END_WITH_ERRORS
        limits.ProcessMemoryLimit = memory_bytes
        if job and kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)):
            kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())

    def memory_used() -> int:
        """Return 0: the job object of `limit_this_process` holds the bound alone."""
        return 0

else:

    def limit_this_process(memory_bytes: int = MEMORY_BYTES) -> None:
        """Bound memory, and step back behind the window. What a system lacks is passed over."""
        os.nice(NICE)
        wanted = [(resource.RLIMIT_DATA, memory_bytes)]
        if sys.platform == "darwin":  # takes no notice of the other one
            wanted.append((resource.RLIMIT_RSS, memory_bytes))
        for kind, value in wanted:
            try:
                _, hard = resource.getrlimit(kind)
                value = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(kind, (value, hard))
            except (OSError, ValueError):
                continue

    def memory_used() -> int:
        """Return the bytes of memory in use; on macOS the most that ever were; 0 where the system does not say.

        Linux counts the most that ever were from before this program was loaded: that would be the window's memory.
        """
        if sys.platform == "darwin":
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()
        except (OSError, ValueError, IndexError):
            return 0
