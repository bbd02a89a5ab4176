"""The window must be up before anything heavy is loaded: what importing the view may bring with it."""

import subprocess
import sys

PROGRAM = """
import sys
import app.ui.conversation.view
heavy = ["markdown_it", "pygments", "linkify_it", "asyncio"]
heavy += ["app.ui.conversation.streaming_markdown", "app.ui.conversation.layout"]
print([name for name in heavy if name in sys.modules])
"""


def test_nothing_heavy_is_loaded_before_the_first_message() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
