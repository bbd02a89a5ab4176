"""`python -m app`: reads the command line and hands over to the composition root."""

import gc
import sys

from app.sandbox.crash_dumps import forbid_crash_dumps


def main() -> int:
    forbid_crash_dumps()  # before anything can be in memory that may not reach the disk
    if sys.argv[1:] == ["--typeset"]:  # a built program that sets formulas for the one with the window
        from app.ui.kit.markdown.formula_worker import serve

        return serve()
    if sys.argv[1:2] == ["--serve-sandbox"]:  # asked for by app/bootstrap/sandbox_process.py; needs nothing of Qt
        gc.disable()  # until it serves: everything made before that stays
        from app.sandbox.child_process import main as serve_sandbox

        return serve_sandbox(sys.argv[2])
    if sys.argv[1:2] == ["--read-documents"]:  # asked for by app/documents/watcher.py; needs nothing of Qt
        from app.documents.worker import main as read_documents

        return read_documents(sys.argv[2:])
    if sys.argv[1:2] == ["--read-export"]:  # asked for by app/storage/imports/export_reading.py; needs nothing of Qt
        from app.storage.imports.export_reading import serve as read_export

        return read_export(sys.argv[2])
    try:
        return _open(sys.argv[1:])
    except ImportError as error:
        library, found, _ = str(error).partition(": cannot open shared object file")
        if not found:
            raise
        print(
            f"Rialto cannot start: the system library {library} is missing. Install the package of your system that "
            "holds it (Debian and Ubuntu: libgl1 and libegl1), then start again.",
            file=sys.stderr,
        )
        return 1


def _open(arguments: list[str]) -> int:
    gc.disable()  # no thread may collect a QObject; UiThreadGarbageCollector takes over once there is an event loop
    from app.ui.kit.qt_workarounds.pyside_features import read_no_sources

    read_no_sources()  # before anything else of Qt is imported
    from app.ui.kit.qt_workarounds.qt_exception_guard import install_exception_guard

    install_exception_guard()
    from app.bootstrap.start import end_with, run

    return end_with(run(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
