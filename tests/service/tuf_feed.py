"""A real TUF repository on loopback: four roles with keys of their own, served as files by a plain web server."""

from __future__ import annotations

import http.server
import json
import threading
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp

from app.service.updates import INDEX, Feed

ROLES = ("root", "timestamp", "snapshot", "targets")


class TufFeed:
    """`publish` signs and writes a state of the feed; `asked` are the paths that were fetched since."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.signers = {role: CryptoSigner.generate_ed25519() for role in ROLES}
        self.root = Root(consistent_snapshot=True, expires=soon())
        for role, signer in self.signers.items():
            self.root.add_key(signer.public_key, role)
        self.versions = dict.fromkeys(ROLES, 0)
        self.asked: list[str] = []
        (folder / "metadata").mkdir(parents=True)
        (folder / "targets").mkdir()
        self.write("root", self.root, "1.root.json", version=1)
        handler = type("Handler", (_Handler,), {"feed": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def feed(self) -> Feed:
        base = f"http://127.0.0.1:{self._server.server_port}"
        root = (self.folder / "metadata/1.root.json").read_bytes()
        return Feed(f"{base}/metadata/", f"{base}/targets/", root)

    def publish(
        self, version: str, page: str = "https://example.org/new", *, expires: datetime | None = None, at: int = 0
    ) -> None:
        """Sign a release index; `at` is the version number of the metadata, one more than before by itself."""
        number = at or self.versions["timestamp"] + 1
        index = json.dumps({"version": version, "page": page}).encode()
        target = TargetFile.from_data(INDEX, index)
        digest = target.hashes["sha256"]
        (self.folder / "targets" / f"{digest}.{INDEX}").write_bytes(index)
        targets = Targets(expires=soon(), targets={INDEX: target})
        self.write("targets", targets, f"{number}.targets.json", version=number)
        snapshot = Snapshot(expires=soon(), meta={"targets.json": MetaFile(number)})
        self.write("snapshot", snapshot, f"{number}.snapshot.json", version=number)
        timestamp = Timestamp(expires=expires or soon(), snapshot_meta=MetaFile(number))
        self.write("timestamp", timestamp, "timestamp.json", version=number)

    def write(self, role: str, signed: Root | Timestamp | Snapshot | Targets, name: str, *, version: int) -> None:
        signed.version = version
        self.versions[role] = version
        metadata = Metadata(signed)
        metadata.sign(self.signers[role])
        metadata.to_file(str(self.folder / "metadata" / name))

    def path(self, name: str) -> Path:
        return self.folder / "metadata" / name

    def index(self) -> Path:
        return next((self.folder / "targets").glob(f"*.{INDEX}"))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def soon() -> datetime:
    return datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)


class _Handler(http.server.SimpleHTTPRequestHandler):
    feed: TufFeed

    def do_GET(self) -> None:
        self.feed.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_words: object) -> None:
        """Tests have nothing to say."""
