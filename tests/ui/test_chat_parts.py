"""The chat tab's plain parts: options, estimates, titles, joining after a cut, JSON as text. No Qt loop, no network."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QFontMetricsF

from app.service.chat_types import (
    ReasoningDelta,
    ServiceParameters,
    Source,
    SourcesFound,
    TextDelta,
    Usage,
    UsageReported,
)
from app.service.models import Model
from app.ui.chat.session.chat_options import ChatOptions, judge, next_web_search, service_parameters
from app.ui.chat.session.continuation import SHORTEST_REPEAT_CHARS, RepeatFilter
from app.ui.chat.session.estimate import TokenCounter, context_text, count_tokens, turn_cap_usd
from app.ui.chat.session.live_answer import LiveAnswer
from app.ui.chat.session.titles import MAX_TITLE_CHARS, NEW_CHAT, group_of, title_from
from app.ui.chat.session.view_values import cost_note
from app.ui.chat.state import CostNote
from app.ui.kit.json.view import MAX_TEXT_CHARS, JsonView, JsonWriter
from app.ui.kit.theme import Theme
from tests.kit.chat import model_body

COLORS = {name: f"#{name}" for name in ("keyword", "string", "number", "name", "comment")}


def model(**capabilities: bool) -> Model:
    return Model.model_validate(
        model_body(capabilities={"supportsWebSearch": False, "supportsReasoning": False, **capabilities})
    )


class TestOptions:
    def test_stored_options_read_back_and_only_differences_are_stored(self) -> None:
        options = ChatOptions(system_prompt="Be brief.", web_search="auto", temperature=0.7, reply_limit=2048)
        assert ChatOptions.from_dict(options.to_dict()) == options
        assert ChatOptions().to_dict() == {}

    @given(st.dictionaries(st.text(), st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())))
    def test_whatever_is_stored_can_be_read(self, stored: dict[str, object]) -> None:
        ChatOptions.from_dict({**stored, "web_search": stored.get("x"), "thinking": stored.get("y")})

    def test_a_model_that_is_not_listed_is_believed_to_do_everything(self) -> None:
        controls = judge(ChatOptions(web_search="on"), None)
        assert controls.web_search.usable
        assert controls.social_posts.usable

    def test_every_ignored_control_says_why(self) -> None:
        controls = judge(ChatOptions(web_search="on"), model())
        for name in ("web_search", "citations", "social_posts", "thinking", "remove_think_tags"):
            control = getattr(controls, name)
            assert not control.usable
            assert control.why.endswith(".")

    def test_citations_need_a_search_and_links_replace_it(self) -> None:
        able = model(supportsWebSearch=True)
        assert judge(ChatOptions(), able).citations.why == "Needs web search."
        assert judge(ChatOptions(web_search="auto"), able).citations.usable
        assert (
            judge(ChatOptions(web_search="auto", read_links=True), able).web_search.why
            == "Reading links replaces web search."
        )

    def test_nothing_ignored_is_sent(self) -> None:
        options = ChatOptions(web_search="on", thinking=False, remove_think_tags=True, social_posts=True)
        assert service_parameters(options, model(), None) == ServiceParameters()

    def test_defaults_send_nothing_at_all(self) -> None:
        assert service_parameters(ChatOptions(), model(supportsWebSearch=True), None).to_wire() == {}

    def test_web_search_goes_round(self) -> None:
        assert [next_web_search("off"), next_web_search("auto"), next_web_search("on")] == ["auto", "on", "off"]


class TestEstimate:
    def test_a_cap_counts_the_longest_answer_and_the_search(self) -> None:
        able = model(supportsWebSearch=True)
        plain = turn_cap_usd(able, ChatOptions(), 1_000, 0)
        assert plain == Decimal("0.001") + Decimal("0.004")
        assert turn_cap_usd(able, ChatOptions(reply_limit=500), 1_000, 0) == Decimal("0.003")
        assert turn_cap_usd(able, ChatOptions(web_search="on"), 1_000, 0) == plain + Decimal("0.01")
        assert turn_cap_usd(able, ChatOptions(read_links=True), 1_000, 9) == plain + Decimal("0.05")

    def test_no_price_gives_no_cap(self) -> None:
        assert turn_cap_usd(Model.model_validate(model_body(pricing=None)), ChatOptions(), 1_000, 0) is None

    def test_the_counter_follows_what_was_reported(self) -> None:
        counter = TokenCounter()
        before = counter.at_most("m", 1_000)
        assert before > 1_000
        for _ in range(8):
            counter.learn("m", 1_000, 1_200)
        assert counter.corrected("m", 1_000) == 1_200
        assert 1_200 < counter.at_most("m", 1_000) < before
        counter.learn("m", 0, 10)
        assert counter.corrected("other", 1_000) == 1_000

    def test_a_chat_beyond_the_context_is_told_before_it_is_sent(self) -> None:
        more = 32_001

        def note(tokens: int) -> CostNote:
            return cost_note(
                model=model(),
                options=ChatOptions(),
                counter=TokenCounter(),
                branch_tokens=tokens,
                draft="",
                has_character=False,
                sandbox=False,
            )

        assert not note(100).warns
        assert note(more).warns
        assert note(more).text == "Over the 32K context"

    @pytest.mark.parametrize(("text", "tokens"), [("", 0), ("word" * 10, 10), ("日本語", 3)])
    def test_counting(self, text: str, tokens: int) -> None:
        assert count_tokens(text) == tokens

    @pytest.mark.parametrize(
        ("tokens", "text"), [(None, ""), (512, "512"), (65_536, "65K"), (131_072, "131K"), (1_048_576, "1M")]
    )
    def test_a_context_is_never_shown_larger_than_it_is(self, tokens: int | None, text: str) -> None:
        assert context_text(tokens) == text


class TestTitles:
    @pytest.mark.parametrize(
        ("text", "title"),
        [
            ("Hello there", "Hello there"),
            ("\n\n## A **bold** heading\nmore", "A bold heading"),
            ("- [ ] first task", "[ ] first task"),
            ("   \n\t", NEW_CHAT),
            ("```", NEW_CHAT),
            ("a\u202eb\x00c", "abc"),
        ],
    )
    def test_the_first_line_that_says_something(self, text: str, title: str) -> None:
        assert title_from(text) == title

    def test_a_long_line_is_cut_at_a_word(self) -> None:
        title = title_from("word " * 40)
        assert len(title) <= MAX_TITLE_CHARS + 1
        assert title.endswith("word…")

    def test_groups_by_the_persons_own_days(self) -> None:
        today = date(2026, 11, 20)
        noon = datetime(2026, 11, 20, 12).astimezone()

        def group(days: int, *, pinned: bool = False) -> str:
            return group_of((noon - timedelta(days=days)).astimezone(UTC), pinned, today)

        assert [group(0), group(1), group(5), group(30), group(400)] == [
            "Today",
            "Yesterday",
            "Earlier in November",
            "October",
            "October 2025",
        ]
        assert group(400, pinned=True) == "Pinned"


class TestRepeatFilter:
    def joined(self, kept: str, pieces: list[str]) -> str:
        repeat = RepeatFilter(kept)
        return "".join(repeat.feed(piece) for piece in pieces) + repeat.finish()

    def test_repeated_last_words_are_left_out(self) -> None:
        kept = "Each client picks a random point inside the"
        assert self.joined(kept, ["point ins", "ide the", " window."]) == " window."

    def test_an_answer_that_goes_on_is_untouched(self) -> None:
        assert self.joined("Each client picks a random point inside the", [" window", "."]) == " window."

    @given(st.text(alphabet="ab ", max_size=60), st.lists(st.text(alphabet="ab ", max_size=9), max_size=9))
    def test_only_a_true_repetition_is_ever_dropped(self, kept: str, pieces: list[str]) -> None:
        whole = "".join(pieces)
        shown = self.joined(kept, pieces)
        dropped = whole[: len(whole) - len(shown)]
        assert whole.endswith(shown)
        assert dropped == "" or (len(dropped) >= SHORTEST_REPEAT_CHARS and kept.endswith(dropped))


class TestLiveAnswer:
    def test_thinking_is_timed_until_the_first_word_of_the_answer(self) -> None:
        now = [0.0]
        live = LiveAnswer("c", "m", "plain", clock=lambda: now[0])
        now[0] = 1.0
        live.append((ReasoningDelta("Hmm"),))
        now[0] = 5.2
        arrived = live.append((TextDelta("So: "), TextDelta("yes"), SourcesFound((Source(0, "T", "u"),))))
        assert (arrived.text, arrived.sources_changed) == ("So: yes", True)
        assert live.thinking_s == pytest.approx(4.2)
        assert live.first_token_s == 1.0
        now[0] = 6.2
        assert live.tokens_per_s is not None

    def test_reported_numbers_win_over_estimates(self) -> None:
        live = LiveAnswer("c", "m", "plain", clock=lambda: 0.0, prompt_tokens=10, model=model())
        live.append((TextDelta("word " * 20),))
        assert (live.input_tokens, live.output_tokens) == (10, 25)
        assert live.cost_so_far == Decimal("0.00011")
        live.append((UsageReported(Usage(prompt=812, completion=164, total=976, cached=512), Decimal("0.0007")),))
        assert (live.input_tokens, live.output_tokens, live.cached_tokens) == (812, 164, 512)
        assert live.cost_so_far == Decimal("0.0007")


class TestJson:
    def lines(self, value: object, *, unfolded: tuple[str, ...] = ()) -> list[str]:
        return JsonWriter(COLORS, "#plain", unfolded).lines(value)

    def test_messages_fold_and_unfold(self) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        folded = "".join(self.lines(body))
        assert "1 item" in folded
        assert "Hi" not in folded
        assert "Hi" in "".join(self.lines(body, unfolded=("/messages",)))

    def test_nothing_of_a_text_becomes_markup(self) -> None:
        written = "".join(self.lines({"<b>": "<img src=x onerror=y>"}))
        assert "<img" not in written
        assert "<b>" not in written

    def test_a_long_text_is_cut_and_says_by_how_much(self) -> None:
        written = "".join(self.lines("x" * (MAX_TEXT_CHARS + 1_500)))
        assert "1,500 more characters" in written
        assert len(written) < MAX_TEXT_CHARS + 500

    def test_what_is_broken_goes_on_further_in_than_it_began(self, theme: Theme) -> None:
        view = JsonView(theme, "Body")
        view.set_value({"outer": {"a_long_name_of_a_value": "a value that is longer than the line"}})
        block = view.document().findBlockByNumber(2)
        assert block.text().startswith("\u00a0" * 4 + '"a_long_name')
        form, letter = block.blockFormat(), QFontMetricsF(view.document().defaultFont()).horizontalAdvance("0")
        assert form.leftMargin() == -form.textIndent() == pytest.approx(6 * letter, abs=1)
        assert view.toPlainText().count("\n") == 4


async def test_parts_import_nothing_heavy() -> None:
    """The chat tab stands before the first paint: what it imports then is the start-up time (goal P1)."""
    code = (
        "import sys, app.ui.chat.page, app.ui.chat.presenter;"
        "print([m for m in ('pydantic','httpx','aiosqlite','sqlite3','keyring','cryptography','markdown_it','pygments')"
        " if m in sys.modules])"
    )
    import sys

    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert out.decode().strip() == "[]"
