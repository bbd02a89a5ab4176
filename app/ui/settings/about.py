"""About Rialto: version, what it is built with, and whose work that is."""

from __future__ import annotations

import platform
from importlib import metadata

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout

from app.ui.settings.fact_card import FactCard
from app.ui.settings.rows import SectionPage
from app.ui.shared.buttons import Button
from app.ui.shared.card import Card
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.theme import Theme

# What is shipped or imported, and its licence as its authors name it.
_PARTS = (
    ("Qt and PySide6", "PySide6-Essentials", "LGPL 3, GPL 2 or GPL 3"),
    ("qasync", "qasync", "BSD 2-Clause"),
    ("httpx", "httpx", "BSD 3-Clause"),
    ("pydantic", "pydantic", "MIT"),
    ("truststore", "truststore", "MIT"),
    ("msgspec", "msgspec", "BSD 3-Clause"),
    ("keyring", "keyring", "MIT"),
    ("cryptography", "cryptography", "Apache 2.0 or BSD 3-Clause"),
    ("platformdirs", "platformdirs", "MIT"),
    ("aiosqlite", "aiosqlite", "MIT"),
    ("markdown-it-py", "markdown-it-py", "MIT"),
    ("mdit-py-plugins", "mdit-py-plugins", "MIT"),
    ("linkify-it-py", "linkify-it-py", "MIT"),
    ("Pygments", "pygments", "BSD 2-Clause"),
    ("ziamath, with STIX Two Math and DejaVu", "ziamath", "MIT; its fonts OFL and Bitstream Vera"),
    ("eth-account", "eth-account", "MIT"),
    ("coincurve", "coincurve", "MIT or Apache 2.0"),
    ("PyCryptodome", "pycryptodome", "BSD 2-Clause, public domain"),
    ("h11, in the Sandbox", "h11", "MIT"),
    ("python-multipart, in the Sandbox", "python-multipart", "Apache 2.0"),
    ("NumPy, in the Sandbox", "numpy", "BSD 3-Clause"),
    ("soundfile, in the Sandbox", "soundfile", "BSD 3-Clause, with LGPL libsndfile"),
    ("espeak-ng, in the Sandbox", "espeakng-loader", "GPL 3 or later"),
    ("PocketSphinx, in the Sandbox", "pocketsphinx", "BSD 2-Clause"),
    ("PyAV, in the Sandbox", "av", "BSD 3-Clause; its wheels carry x264, GPL 2 or later"),
    ("Pillow, in the Sandbox", "pillow", "MIT-CMU"),
    ("py-evm, in the Sandbox", "py-evm", "MIT"),
)
_FONTS = (("Inter", "SIL Open Font License 1.1"), ("JetBrains Mono", "SIL Open Font License 1.1"))


class AboutPage(SectionPage):
    def __init__(self, theme: Theme, version: str) -> None:
        super().__init__(theme)
        self._version = version
        card = Card(theme, padding=(20, 18), spacing=0)
        row = QHBoxLayout()
        row.setSpacing(theme.px(16))
        row.addWidget(IconLabel(theme, "logo", "accent", px=44))
        words = Label(
            theme,
            f"Version {version}, MIT licence. No telemetry, no account with Rialto itself.",
            wrap=True,
            lead="Rialto.",
        )
        row.addWidget(words, 1)
        self.copy = Button(theme, "Copy version details", "copy", size="small")
        self.copy.clicked.connect(self._copy)
        row.addWidget(self.copy)
        card.body.addLayout(row)
        self.group("", card)
        parts = tuple((title, licence, _version_of(package)) for title, package, licence in _PARTS)
        self.group("Built with", FactCard(theme, "Built with", parts))
        self.group("Fonts", FactCard(theme, "Fonts", tuple((title, licence, "") for title, licence in _FONTS)))
        self.column.addStretch(1)

    def details(self) -> str:
        """What support asks for first."""
        return (
            f"Rialto {self._version}\nPython {platform.python_version()}, Qt {qVersion()}\n"
            f"{platform.system()} {platform.release()} {platform.machine()}\n{QGuiApplication.platformName()}"
        )

    def _copy(self) -> None:
        """Put the details on the clipboard."""
        QGuiApplication.clipboard().setText(self.details())
        self.copy.setText("Copied")


def _version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
