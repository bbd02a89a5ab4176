"""P3, growth: what a token costs in an answer of 100,000 tokens and under 50,000 messages, and twenty chats at once.

Costs are processor time of one image after another in the message view, against an answer of 1,000 tokens in an empty
chat. The twenty chats stream at the same time, 50 tokens a second each, into the whole program with one of them on
screen; a turn is what its thread does between two looks at what came.
"""

from PySide6.QtWidgets import QApplication

from app.ui.kit.theme import Theme
from tests.bench.bench_message_view import close, messages, section_cost_s, streaming_view
from tests.bench.harness import Ratio, medians
from tests.bench.windows import figures, session, streaming

TOKENS, MESSAGES = 100_000, 50_000
CHATS, TOKENS_EACH = 20, 1_000
FLAT = 1.15
P99_MS = 8.0


def main() -> list[Ratio]:
    qt_app = QApplication.instance() or QApplication([])
    assert isinstance(qt_app, QApplication)
    theme = Theme()
    theme.apply(qt_app)
    views = [
        streaming_view(theme, 1_000, []),
        streaming_view(theme, TOKENS, []),
        streaming_view(theme, 1_000, messages(MESSAGES)),
    ]
    short, long, below = medians(*(lambda view=view: section_cost_s(view) for view in views))
    for view in views:
        close(view)
    turns = _twenty_chats()
    detail = f"{turns['turns']:.0f} turns, the longest {turns['turn_ms']:.1f} ms, {turns['cpu_s']:.1f} s of processor"
    return [
        *(
            Ratio("P3", name, cost / short, FLAT, baseline, detail=f"{cost * 1e6:.0f} µs against {short * 1e6:.0f} µs")
            for name, cost, baseline in (
                (f"a token at {TOKENS:,} tokens", long, "at 1,000 tokens"),
                (f"a token under {MESSAGES:,} messages", below, "under none"),
            )
        ),
        Ratio("P4", f"{CHATS} chats at once: p99 of all turns", turns["p99_ms"], P99_MS, "stated goal", "ms", detail),
    ]


def _twenty_chats() -> dict[str, float]:
    with streaming(TOKENS_EACH, 50) as port:
        return figures(session("chats", port, str(CHATS)))
