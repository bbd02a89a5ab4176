"""Draws the program's icon in every size from the one SVG, without a screen: `draw_icons.py FOLDER`.

Qt draws the sizes; Pillow packs them for Windows and macOS.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512, 1024)
IN_ICO = (16, 24, 32, 48, 64, 256)
IN_ICNS = (32, 64, 128, 256, 512, 1024)
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


def main(folder: Path) -> None:
    _application = QGuiApplication(["draw_icons"])
    folder.mkdir(parents=True, exist_ok=True)
    source = ICON.read_text(encoding="utf-8")
    renderer = QSvgRenderer(source.encode())
    images = {px: png(renderer, px) for px in SIZES}
    (folder / "rialto.svg").write_text(source, encoding="utf-8", newline="\n")
    for px, data in images.items():
        (folder / f"{px}.png").write_bytes(data)
    drawn = {px: Image.open(io.BytesIO(data)) for px, data in images.items()}
    drawn[256].save(
        folder / "rialto.ico", sizes=[(px, px) for px in IN_ICO], append_images=[drawn[px] for px in IN_ICO]
    )
    drawn[1024].save(folder / "rialto.icns", append_images=[drawn[px] for px in IN_ICNS])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
