"""The calls of one request: rows and text say the same, and what is wrong has a line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.crypto_rpc.session.batch import (
    CallRow,
    TextProblem,
    bodies_of,
    moved,
    numbered,
    read_id,
    read_params,
    read_text,
    text_of,
    tidy,
)
from app.ui.crypto_rpc.session.draft import Draft
from app.ui.crypto_rpc.session.exporting import as_cast, as_curl, as_python
from app.ui.crypto_rpc.session.pasting import read_pasted
from app.ui.crypto_rpc.session.variables import filled, used_in

ROWS = (CallRow(1, "eth_blockNumber", []), CallRow(2, "eth_getBalance", ["0x" + "11" * 20, "latest"]))
URL = "https://api.example.com/api/v1/crypto/rpc/base-mainnet"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
rows_of_any_kind = st.lists(
    st.tuples(
        st.text(min_size=1).filter(str.strip),
        st.lists(json_values, max_size=3) | st.dictionaries(st.text(), json_values, max_size=3),
    ),
    min_size=1,
    max_size=5,
).map(lambda pairs: tuple(CallRow(place, *pair) for place, pair in enumerate(pairs, start=1)))


@given(rows_of_any_kind, st.booleans())
def test_rows_and_text_are_the_same_thing(rows: tuple[CallRow, ...], batch: bool) -> None:
    read = read_text(text_of(rows, batch=batch))
    assert (read.rows, read.problems, read.double_id) == (rows, (), "")
    assert read.batch == (batch or len(rows) > 1)


def test_r_rpc_09_ids_are_filled_and_kept_unique() -> None:
    text = '[{"method": "a"}, {"id": 1, "method": "b"}, {"id": "x", "method": "c"}, {"id": null, "method": "d"}]'
    read = read_text(text)
    assert [(row.id, row.method) for row in read.rows] == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    assert [each["id"] for each in bodies_of(read.rows)] == [5, 1, "x", None]
    assert read_text(text_of(read.rows, batch=True)).rows[1:] == read.rows[1:]
    assert [row.id for row in numbered([ROWS[1], ROWS[0]])] == [1, 2]


def test_of_two_calls_with_the_same_id_the_second_is_numbered_and_the_text_says_so() -> None:
    text = '[{"id": "x", "method": "a"}, {"id": "x", "method": "b"}]'
    assert [each["id"] for each in bodies_of(read_text(text).rows)] == ["x", 2]
    draft = Draft("ethereum-mainnet", "key")
    draft.set_text(text)
    assert [each.sentence for each in draft.text_problems] == ['Two calls have the ID "x".']
    assert not draft.is_whole
    pasted = Draft("ethereum-mainnet", "key")
    assert pasted.paste(text) == ()
    assert [each["id"] for each in bodies_of(pasted.rows)] == ["x", 2]


@pytest.mark.parametrize("rpc_id", ["1.5", "true", "[1]"])
def test_an_id_that_json_rpc_does_not_know_is_a_problem(rpc_id: str) -> None:
    (problem,) = read_text(f'{{"id": {rpc_id}, "method": "a"}}').problems
    assert problem.sentence == "The ID must be a whole number, a text or null."


@pytest.mark.parametrize(
    ("written", "rpc_id"), [("7", 7), ("-1", -1), ("null", None), ('"7"', "7"), ("my call", "my call"), ("1.5", "1.5")]
)
def test_an_id_is_read_as_a_person_writes_it(written: str, rpc_id: object) -> None:
    assert read_id(written) == rpc_id


def test_a_row_moves_and_stops_at_the_ends() -> None:
    assert [row.method for row in moved(ROWS, 0, 1)] == ["eth_getBalance", "eth_blockNumber"]
    assert moved(ROWS, 0, -1) == ROWS
    assert moved(ROWS, 1, 1) == ROWS


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "Write a call"),
        ("[]", 1, "no call"),
        ("5", 1, "object with a method"),
        ('{"method": "a"', 1, "comma or a closing bracket"),
        ('[\n{"method": "a"},\n{"method": 5}\n]', 3, '"method"'),
        ('[\n{"method": "a"},\n{"metod": "b", "method": "b"}\n]', 3, "metod"),
        ('[\n{"method": "a"}\n{"method": "b"}]', 3, "comma"),
        ('{"jsonrpc": "1.0", "method": "a"}', 1, '"2.0"'),
        ('{"method": "a", "params": 5}', 1, "params"),
        ('{"method": "a"} x', 1, "extra text after the end"),
        ('[{"method": "a"},]', 1, "value is missing"),
        ("[" * 100_000, 1, "nested too deeply"),
    ],
)
def test_what_is_wrong_has_a_line_and_a_sentence(text: str, line: int, words: str) -> None:
    problem = read_text(text).problems[0]
    assert problem.line == line
    assert words in problem.sentence


def test_what_stands_before_a_fault_is_kept() -> None:
    read = read_text('[{"method": "a"}, {"method": ')
    assert [row.method for row in read.rows] == ["a"]
    assert read.problems


def test_r_rpc_05_a_hundred_and_one_calls_are_read_but_not_whole() -> None:
    draft = Draft("ethereum-mainnet", "key")
    draft.set_text(text_of(numbered([ROWS[0]] * 100), batch=True))
    assert draft.is_whole
    draft.set_text(text_of(numbered([ROWS[0]] * 101), batch=True))
    assert (draft.text_problems, len(draft.rows), draft.is_whole) == ((), 101, False)


def test_a_batch_that_was_split_keeps_its_other_part_over_a_restart() -> None:
    draft = Draft("ethereum-mainnet", "key")
    draft.set_rows([CallRow(1, f"eth_{number}", []) for number in range(150)])
    draft.split()
    again = Draft("ethereum-mainnet", "key")
    again.restore_kept(json.loads(json.dumps(draft.kept())))
    again.set_remaining()
    assert [row.method for row in again.rows] == [f"eth_{number}" for number in range(100, 150)]
    assert len(again.rest) == 100


def kept(text: str = "", params: str = "") -> object:
    """What a draft that was written in an earlier run left on the disk."""
    draft = Draft("ethereum-mainnet", "key")
    if text:
        draft.set_mode("json")
        draft.set_text(text)
    if params:
        draft.set_params_text(params)
    return json.loads(json.dumps(draft.kept()))


def test_half_written_parameters_are_there_after_a_restart() -> None:
    draft = Draft("ethereum-mainnet", "key")
    draft.restore_kept(kept('[{"method": "a"}]', '["0x1'))
    assert (draft.params_text, draft.is_whole) == ('["0x1', False)


def test_what_is_kept_takes_the_place_of_a_draft_nobody_has_touched() -> None:
    draft = Draft("ethereum-mainnet", "key")
    assert not draft.join_kept(kept('[{"method": "a"}]'))
    assert [row.method for row in draft.rows] == ["a"]


def test_half_written_parameters_stay_in_the_editor_when_the_kept_calls_join() -> None:
    draft = Draft("ethereum-mainnet", "key")
    draft.set_params_text('["0x1')
    assert draft.join_kept(kept('[{"method": "a"}, {"method": "b"}]'))
    assert (draft.params_text, draft.selected, draft.mode) == ('["0x1', 0, "rows")
    assert [row.method for row in draft.rows] == ["eth_blockNumber", "a", "b"]


@pytest.mark.parametrize("typed", ['{"method": "x"', '{"method": "x"}'])
@pytest.mark.parametrize(
    "before", [kept('[{"method": "a"'), kept('[{"method": "a"}]', '["a"'), kept('[{"method": "a"}]')], ids=str
)
def test_no_half_of_two_texts_is_lost_when_they_join(typed: str, before: object) -> None:
    draft = Draft("ethereum-mainnet", "key")
    draft.set_text(typed)
    assert draft.join_kept(before)
    assert '"method": "x"' in draft.text and '"a"' in draft.text
    assert draft.is_whole == (typed.endswith("}") and before == kept('[{"method": "a"}]'))


def test_parameters_are_a_list_or_an_object() -> None:
    assert read_params(" ") == []
    assert read_params('["0x1", {"a": 12345678901234567890123}]') == ["0x1", {"a": 12345678901234567890123}]
    assert read_params("5") == TextProblem(1, "Parameters must be a list [ ] or an object { }.")
    assert isinstance(read_params("[1"), TextProblem)
    assert tidy('{"a":1}') == '{\n  "a": 1\n}'
    assert tidy("{") == "{"


def test_a_command_of_ours_comes_back_as_the_calls_it_was_made_of() -> None:
    command = as_curl(URL, ROWS, batch=True, idempotency_key="k-1")
    pasted = read_pasted(command)
    assert (pasted.read.rows, pasted.network, pasted.key) == (ROWS, "base-mainnet", "k-1")
    assert "Bearer $RIALTO_API_KEY" in command


@pytest.mark.parametrize(
    "command",
    [
        """curl -X POST https://node.example.com -H 'content-type: x' -d '{"method":"a","params":["it'"'"'s"]}'""",
        """$ curl https://node.example.com --data-raw=$'{"method":"a","params":["it\\'s"]}'""".replace("=$", " $"),
        """curl.exe https://node.example.com ^\r\n --data "{\\"method\\":\\"a\\",\\"params\\":[\\"it's\\"]}\"""",
        """curl 'https://node.example.com' --json '{"method":"a","params":["it\\u0027s"]}' --compressed""",
    ],
)
def test_a_command_is_read_as_a_shell_reads_it(command: str) -> None:
    read = read_pasted(command).read
    assert read.problems == ()
    assert (read.rows[0].method, read.rows[0].params) == ("a", ["it's"])


@pytest.mark.parametrize(
    "command", ["curl 'x", "curl https://a.example.com", "curl -d @file https://a.example.com", "curl -d"]
)
def test_a_command_without_calls_says_so(command: str) -> None:
    assert read_pasted(command).read.problems


def test_a_python_script_and_a_cast_line_hold_the_same_calls(capsys: pytest.CaptureFixture[str]) -> None:
    rows = (CallRow(1, "eth_call", [{"to": "0x" + "11" * 20, "data": "0x"}, None, True]),)
    script = as_python(URL, rows)
    compile(script, "script", "exec")
    asked: list[tuple[str, object]] = []

    class Provider:
        def make_request(self, method: str, params: object) -> str:
            asked.append((method, params))
            return ""

    exec(script.splitlines()[-1], {"provider": Provider()})
    assert asked == [("eth_call", rows[0].params)]
    assert json.dumps(rows[0].params) in as_cast(URL, rows)
    assert "RIALTO_API_KEY" in as_cast(URL, rows)


def test_a_wallet_signs_in_with_its_own_header_in_every_command() -> None:
    commands = (
        as_curl(URL, ROWS, batch=True, sign_in_header="X-Sign-In"),
        as_python(URL, ROWS, "X-Sign-In"),
        as_cast(URL, ROWS, "X-Sign-In"),
    )
    for command in commands:
        assert "X-Sign-In" in command
        assert "RIALTO_SIGN_IN" in command
        assert "Bearer" not in command


def test_variables_fill_whole_places_with_their_type_and_texts_with_text() -> None:
    rows = (CallRow(1, "eth_{{what}}", ["{{ address }}", {"{{key}}": "{{n}}"}, "block {{n}}", "{{unknown}}"]),)
    assert used_in(rows) == ("what", "address", "key", "n", "unknown")
    done = filled(rows, {"what": "call", "address": "0xabc", "key": "to", "n": 5})
    assert done[0].method == "eth_call"
    assert done[0].params == ["0xabc", {"to": 5}, "block 5", "{{unknown}}"]
    assert used_in(done) == ("unknown",)
