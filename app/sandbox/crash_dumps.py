"""Keeps a crash from writing this process's memory to the disk: open secrets and private chats are in it.

It is a module of its own for `app.__main__`, which imports nothing else of the Sandbox before a window opens.
"""

import sys

if sys.platform == "win32":
    import ctypes

    _NO_DIALOG_AND_NO_REPORT = 0x1 | 0x2  # SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX
    _NO_HEAP = 0x1  # WER_FAULT_REPORTING_FLAG_NOHEAP

    def forbid_crash_dumps() -> None:
        """Forbid memory dumps of this process and of those that it starts."""
        kernel = ctypes.WinDLL("kernel32")  # WerSetFlags too; the library "wer" has not got it
        kernel.SetErrorMode(_NO_DIALOG_AND_NO_REPORT)
        kernel.WerSetFlags(_NO_HEAP)

else:
    import resource

    def forbid_crash_dumps() -> None:
        """Forbid memory dumps of this process and of those that it starts. What a system lacks is passed over."""
        try:
            # Not 0: Linux would still hand the memory to a program that collects dumps.
            resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
        except (OSError, ValueError):  # already lower, and only an administrator may raise it
            return
