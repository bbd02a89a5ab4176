"""Draws the program's icon in every size from the one SVG, by Qt and without a screen: `draw_icons.py FOLDER`."""

import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512, 1024)
IN_ICO = (16, 24, 32, 48, 64, 256)
IN_ICNS = {"icp4": 16, "icp5": 32, "icp6": 64, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024}
ICON = Path(__file__).resolve().parents[2] / "resources" / "rialto.svg"


def png(renderer: QSvgRenderer, px: int) -> bytes:
    image = QImage(px, px, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(Qt.GlobalColor.transparent))
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, px, px))
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def ico(images: dict[int, bytes]) -> bytes:
    """Windows' icon file: a directory, then the PNGs. A size of 256 is written as 0."""
    head, body = struct.pack("<HHH", 0, 1, len(images)), b""
    for px, data in images.items():
        place = 6 + 16 * len(images) + len(body)
        head += struct.pack("<BBBBHHII", px % 256, px % 256, 0, 0, 1, 32, len(data), place)
        body += data
    return head + body


def icns(images: dict[str, bytes]) -> bytes:
    """macOS' icon file: its length, then each PNG under its type."""
    body = b"".join(kind.encode() + struct.pack(">I", len(data) + 8) + data for kind, data in images.items())
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def main(folder: Path) -> None:
    _application = QGuiApplication(["draw_icons"])
    folder.mkdir(parents=True, exist_ok=True)
    source = ICON.read_text(encoding="utf-8")
    renderer = QSvgRenderer(source.encode())
    images = {px: png(renderer, px) for px in SIZES}
    (folder / "rialto.svg").write_text(source, encoding="utf-8", newline="\n")
    for px, data in images.items():
        (folder / f"{px}.png").write_bytes(data)
    (folder / "rialto.ico").write_bytes(ico({px: images[px] for px in IN_ICO}))
    (folder / "rialto.icns").write_bytes(icns({kind: images[px] for kind, px in IN_ICNS.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
