"""What Markdown is drawn as: documents without HTML, links that are only shown, chips bound to sources."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCharFormat, QTextCursor

from app.ui.conversation.code_box import CodeBox
from app.ui.conversation.streaming_markdown import StreamingMarkdown
from app.ui.conversation.table_box import TableBox, column_widths
from app.ui.conversation.text_boxes import ProseBox
from app.ui.conversation.units import BODY, Styles
from app.ui.kit.markdown.inline import Span
from app.ui.kit.markdown.parser import is_safe_link
from app.ui.kit.theme import Theme
from tests.kit.message_view import RICH, SOURCES, drawn, flow_of
from tests.ui.test_markdown_scan import TEXTS


@pytest.fixture(scope="module")
def theme(qapp: object) -> Theme:
    return Theme()


def boxes(flow: StreamingMarkdown) -> list[object]:
    return [box for unit in flow.units for box in unit.boxes]


def prose(flow: StreamingMarkdown) -> list[ProseBox]:
    return [box for box in boxes(flow) if isinstance(box, ProseBox)]


def spans(flow: StreamingMarkdown, kind: str) -> list[Span]:
    return [span for box in prose(flow) for span in box.prose.spans if span.kind == kind]


def text(flow: StreamingMarkdown) -> str:
    return "\n".join(box.text(0, box.length) for box in prose(flow))


@given(text=TEXTS, sizes=st.lists(st.integers(1, 12), min_size=1, max_size=12), citations=st.booleans())
@example(text="000000000000\x00", sizes=[1], citations=False)
@example(text="000000000000\x1f", sizes=[1], citations=False)
@example(text="000000000000\r0", sizes=[1], citations=False)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_text_streamed_in_any_chunks_ends_as_the_same_drawing(
    theme: Theme, text: str, sizes: list[int], citations: bool
) -> None:
    flow = StreamingMarkdown(BODY, Styles(theme), citations=citations)
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        flow.extend(text[at : at + size])
        flow.advance()
        for unit in flow.units:
            unit.layout(600, Styles(theme).reading)
        at += size
        number += 1
    flow.finish()
    assert drawn(flow) == drawn(flow_of(theme, text, citations=citations))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 1000])
def test_a_rich_answer_streamed_ends_as_the_same_drawing(theme: Theme, size: int) -> None:
    flow = StreamingMarkdown(BODY, Styles(theme), citations=True)
    for at in range(0, len(RICH), size):
        flow.extend(RICH[at : at + size])
        flow.advance()
        for unit in flow.units:
            unit.layout(600, Styles(theme).reading)
    flow.finish()
    assert drawn(flow) == drawn(flow_of(theme, RICH))


def test_finished_pieces_are_not_built_again_while_text_comes(theme: Theme) -> None:
    flow = StreamingMarkdown(BODY, Styles(theme), citations=False)
    flow.extend("First paragraph.\n\n```\ncode\n```\n\nSecond ")
    flow.advance()
    kept = [unit.boxes[0] for unit in flow.units[:2]]
    for word in ("has ", "**some** ", "more `words` ", "to it.\n\nThird."):
        flow.extend(word)
        flow.advance()
        [unit.boxes for unit in flow.units]
    assert [unit.boxes[0] for unit in flow.units[:2]] == kept


def test_plain_words_are_added_to_the_same_document(theme: Theme) -> None:
    flow = StreamingMarkdown(BODY, Styles(theme), citations=False)
    flow.extend("A paragraph with **bold** and then some")
    flow.advance()
    box = flow.units[0].boxes[0]
    for word in (" plain", " words", " and", " more"):
        flow.extend(word)
        flow.advance()
    assert flow.units[0].boxes[0] is box
    assert text(flow) == "A paragraph with bold and then some plain words and more"


def test_html_stays_visible_text(theme: Theme) -> None:
    flow = flow_of(theme, "<b>bold</b> <img src=x onerror=y>\n\n<script>alert(1)</script>\n")
    assert "<b>bold</b> <img src=x onerror=y>" in text(flow)
    assert "<script>alert(1)</script>" in text(flow)
    assert not spans(flow, "link")


def test_breaks_and_small_letters_are_drawn_and_keys_are_chips(theme: Theme) -> None:
    flow = flow_of(
        theme, "one<br>two<br/>\nH<sub>2</sub>O, x<sup>n</sup>, <kbd>Ctrl</kbd>, `<br>`, <br id=a>, </sub>\n"
    )
    written = text(flow)
    assert written.split("\n")[:2] == ["one", "two"]
    assert "H2O, xn" in written
    assert "<br id=a>, </sub>" in written
    assert [span.raw for span in spans(flow, "code")] == ["Ctrl", "<br>"]
    cursor = QTextCursor(prose(flow)[0].document)
    found: dict[str, QTextCharFormat.VerticalAlignment] = {}
    for sign in "2On":
        cursor.setPosition(prose(flow)[0].document.toPlainText().rindex(sign) + 1)
        found[sign] = cursor.charFormat().verticalAlignment()
    assert found == {
        "2": QTextCharFormat.VerticalAlignment.AlignSubScript,
        "O": QTextCharFormat.VerticalAlignment.AlignNormal,
        "n": QTextCharFormat.VerticalAlignment.AlignSuperScript,
    }
    table = next(box for box in boxes(flow_of(theme, "|a|\n|-|\n|one<br>two|\n")) if isinstance(box, TableBox))
    assert table.text(0, table.length) == "a\none two"


def test_an_image_is_its_alt_text_and_a_link(theme: Theme) -> None:
    flow = flow_of(theme, "![A chart](https://tracker.example/pixel.png?id=1)")
    assert text(flow) == "Image: A chart"
    assert [span.target for span in spans(flow, "image")] == ["https://tracker.example/pixel.png?id=1"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "//host"]
)
def test_only_web_and_mail_addresses_become_links(theme: Theme, url: str) -> None:
    assert not is_safe_link(url)
    flow = flow_of(theme, f"[harmless]({url}) ![pic]({url}) <{url}>")
    assert not spans(flow, "link")
    assert not spans(flow, "image")


def test_links_show_and_bare_addresses_become_links(theme: Theme) -> None:
    flow = flow_of(theme, "[docs](https://example.org/d) and https://example.org/x, <mailto:a@example.org>")
    assert [span.target for span in spans(flow, "link")] == [
        "https://example.org/d",
        "https://example.org/x",
        "mailto:a@example.org",
    ]


def test_a_definition_further_down_makes_its_link(theme: Theme) -> None:
    flow = flow_of(theme, "See [the docs][d].\n\nMore.\n\n[d]: https://example.org/docs\n")
    assert [span.target for span in spans(flow, "link")] == ["https://example.org/docs"]


def test_citations_of_both_kinds_become_numbered_chips_bound_to_sources(theme: Theme) -> None:
    flow = StreamingMarkdown(BODY, Styles(theme), citations=True)
    flow.sources, flow.bound = SOURCES, len(SOURCES)
    flow.extend("One.[REF]0[/REF] Two.[REF]1, 2[/REF] Three.^1^ Lost.[REF]7[/REF] None.^0^")
    flow.finish()
    assert [span.source for span in spans(flow, "cite")] == [0, 1, 2, 0]
    assert [span.source for span in spans(flow, "unbound")] == [7, -1]
    box = prose(flow)[0]
    box.layout(600)
    tips = [control.tooltip for control in box.controls()]
    assert tips[0] == "Status codes\nrfc-editor.org\n429 says that too many requests came."
    assert "[REF]7[/REF]" in tips[4]
    assert box.text(0, box.length).startswith("One. [1] Two. [2] [3] Three.")


def test_markers_are_text_when_search_was_off(theme: Theme) -> None:
    flow = flow_of(theme, "x^2^ and [REF]0[/REF]", citations=False)
    assert text(flow) == "x^2^ and [REF]0[/REF]"


def test_markers_in_code_are_code(theme: Theme) -> None:
    flow = flow_of(theme, "`[REF]0[/REF]`")
    assert not spans(flow, "cite")


def test_lists_keep_their_numbers_and_tasks_their_boxes(theme: Theme) -> None:
    flow = flow_of(theme, "3. three\n4. four\n   - [ ] open\n   - [x] done\n   - bullet\n")
    marks = [mark.text for box in prose(flow) for mark in box.prose.marks]
    assert marks == ["3.", "4.", "task", "done", "•"]
    assert text(flow) == "3. three\n4. four\n  - [ ] open\n  - [x] done\n  - bullet"


def test_a_list_that_was_cut_counts_on(theme: Theme) -> None:
    flow = flow_of(theme, "".join("1. " + "word " * 40 + "\n" for _ in range(20)))
    assert len(flow.units) > 2
    marks = [mark.text for box in prose(flow) for mark in box.prose.marks]
    assert marks == [f"{number}." for number in range(1, 21)]


def test_formulas_keep_their_source(theme: Theme) -> None:
    flow = flow_of(theme, r"Then $a_1 * b_2 * c$ and \(x_1\), for $5 or $6.")
    assert text(flow) == r"Then $a_1 * b_2 * c$ and \(x_1\), for $5 or $6."


def test_code_knows_its_language_and_all_its_lines(theme: Theme) -> None:
    source = "\n".join(f"line_{number} = {number}" for number in range(150))
    flow = flow_of(theme, f"Text\n\n```py\n{source}\n```\n")
    parts = [box for box in boxes(flow) if isinstance(box, CodeBox)]
    assert [(box.part, box.is_last) for box in parts] == [(0, False), (1, False), (2, True)]
    assert flow.code_text(2) == source
    assert parts[0].group is parts[2].group


def test_a_table_has_cells_and_copies_with_tabs(theme: Theme) -> None:
    flow = flow_of(theme, "| Name | Number |\n|:--|--:|\n| one | 1 |\n| a \\| b | `2` |\n")
    table = next(box for box in boxes(flow) if isinstance(box, TableBox))
    table.layout(600)
    assert table.text(0, table.length) == "Name\tNumber\none\t1\na | b\t2"


def test_parts_of_a_long_table_have_the_same_columns(theme: Theme) -> None:
    flow = flow_of(theme, "| a | b |\n|--|--|\n" + "".join(f"| {n} | {'x' * (n % 50)} |\n" for n in range(40)))
    flow.units[2].layout(700, Styles(theme).reading)  # the third part before the first
    tables = [box for box in boxes(flow) if isinstance(box, TableBox)]
    assert len({id(table.columns) for table in tables}) == 1
    assert [table.is_last for table in tables] == [False, False, False, True]


def test_columns_share_the_room_and_the_widest_wraps_first() -> None:
    assert column_widths([100, 100], 1000, 96) == [100, 100]
    assert sum(column_widths([400, 400], 1000, 96)) == pytest.approx(1000)
    shared = column_widths([100, 200, 3000], 760, 96)
    assert shared[:2] == [100, 200]
    assert sum(shared) == pytest.approx(760, abs=1)
    assert column_widths([500] * 20, 760, 96) == [96] * 20


def test_structure_characters_in_a_message_are_plain_spaces(theme: Theme) -> None:
    flow = flow_of(theme, "a\u2029b\u2028c\ufffcd\x00e")
    assert prose(flow)[0].document.blockCount() == 1
    assert "a b c d" in text(flow)


@pytest.mark.parametrize(
    "hostile",
    [
        "> " * 300 + "deep",
        "- " * 300 + "deep",
        "*" * 5000,
        "[" * 5000,
        "`" * 4999,
        "| " * 3000 + "\n" + "|-" * 3000 + "|\n",
        "a\u0300\u0301\u0302" * 2000,
        "\u202e right to left override \u202c" * 50,
        "x" * 100_000,
        "<" * 3000,
        "![" * 2000,
        "$" * 3000,
        "[REF]" * 2000,
        "<sub>" * 3000,
        "<sub>" * 200 + "a" + "</sub>" * 200,
        "<br>" * 3000,
        "https://a。" * 500,
        "^" * 3000,
        "&" * 3000,
        "\\" * 3000,
    ],
)
def test_hostile_text_is_drawn_and_harms_nothing(theme: Theme, hostile: str) -> None:
    flow = flow_of(theme, hostile)
    for unit in flow.units[:20]:
        unit.layout(700, Styles(theme).reading)
