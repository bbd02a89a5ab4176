"""Reads a person's own files and finds passages in them, on this computer only. Knows no window and no network.

Files are untrusted, so they are read in a process of its own (`worker`), which `watcher` starts and watches. Both
sides meet in one SQLite file (`index`), which can be made again from the files at any time.
"""
