"""The bootstrap runs before anything is installed, so its modules are no package; tests put them on the path."""

import sys
from pathlib import Path

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
sys.path.insert(0, str(PACKAGING))
