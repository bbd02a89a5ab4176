"""The handbook reader: turns a question into passages, and passages into an answer. No language model anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.sandbox.chat import word_stems
from app.sandbox.chat.handbook import Handbook, HandbookHit, Section, plain

SECOND_PASSAGE_FROM = 0.62  # of the best score
LONG_SECTION_CHARS = 1500
FOLLOW_UP_TERMS = 2
TOPIC_SECTIONS = 4

_GREETING = re.compile(
    r"^\W*(hi|hello|hey|hallo|good (morning|afternoon|evening|day)|greetings|moin|servus)( (there|rialto|again))?\W*$",
    re.I,
)
_THANKS = re.compile(
    r"^\W*(many )?(thanks|thank you|thx|cheers|great|perfect|ok(ay)?)( (a lot|very much|so much))?\W*$", re.I
)
_WHAT_ARE_YOU = re.compile(
    r"\b(what|who) (exactly )?(are|r) (you|u)\b|\bwhich model are you\b|\bwhat model (are you|is this)\b"
    r"|\bare you (an? |the )?(real |large |actual )*(ai|llm|bot|robot|human|person|language model|model|machine)\b"
    r"|\bare you (chatgpt|gpt|claude)\b"
    r"|\bam i (talking|chatting) (to|with)\b|\bintroduce yourself\b|\bwhat is your name\b",
    re.I,
)
_WHAT_CAN_YOU = re.compile(
    r"\bwhat can (you|i) (do|answer|tell|ask)\b|\bwhat do you know\b|^\W*(help|topics|contents|table of contents)\W*$"
    r"|\bhow can you help\b|\bwhat (topics|pages)\b",
    re.I,
)
_FOLLOW_UP = re.compile(r"^\W*(and|but|or|what about|how about|why|then|also)\b|\b(it|that|this|those|them)\b", re.I)

IDENTITY = (
    "I am the Sandbox’s handbook reader. I am not a language model: I look up your question in Rialto’s "
    "handbook and quote the passages that fit, word for word."
)


@dataclass(frozen=True, slots=True)
class Reply:
    """`text` is Markdown; `used` the sections quoted in it; `trace` what was really looked at, for reasoning models."""

    text: str
    used: tuple[Section, ...] = ()
    trace: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """One question. `cite` gives the marker to put behind a quoted section, or "" for none."""

    question: str
    earlier: Sequence[str] = ()  # the person's earlier messages, oldest first
    page: str | None = None  # only this page (a link to it was in the message)
    greeting: str = ""  # a character's first line
    look_at: int = 4  # how many sections are weighed up
    cite: Callable[[Section], str] = field(default=lambda _: "")


def find(
    handbook: Handbook, question: str, earlier: Sequence[str], limit: int, page: str | None = None
) -> list[HandbookHit]:
    """Return what the handbook has about a question, understood together with the topic it leans on."""
    topic = topic_of(question, earlier)
    if not topic:
        return handbook.find(question, limit, page)
    about = handbook.find(topic, TOPIC_SECTIONS, page)
    touched = [hit for hit in about if handbook.holds_any(hit.section, question)]
    others = handbook.find(f"{topic} {question}", limit, page)
    chosen = {hit.section: hit for hit in [*touched, *about[:1], *others]}
    return list(chosen.values())[:limit]


def topic_of(question: str, earlier: Sequence[str]) -> str:
    """Return the earlier message that a follow-up too short to stand alone is about; "" when it is none."""
    own = word_stems.terms(question)
    if len(own) > FOLLOW_UP_TERMS or (own and not _FOLLOW_UP.search(question)):
        return ""
    for number in range(len(earlier) - 1, -1, -1):
        previous = earlier[number]
        if not (_GREETING.match(previous) or _THANKS.match(previous)):
            return topic_of(previous, earlier[:number]) or previous
    return ""


def read(handbook: Handbook, reading: DocumentReading) -> Reply:
    """Answer from the handbook, or say honestly that it holds nothing about the question."""
    question = reading.question.strip()
    simple = _simple_answer(handbook, question)
    if simple is not None:
        return Reply(_framed(reading.greeting, simple), trace=("The message is not a question for the handbook.",))
    topic = topic_of(question, reading.earlier)
    asked = f"{topic} {question}".strip()
    found = find(handbook, question, reading.earlier, max(2, reading.look_at), reading.page)
    trace = _trace(asked, question, found, handbook)
    if not found:
        return Reply(_framed(reading.greeting, _nothing(handbook)), trace=trace)
    text, used = _compose(found, asked, reading.cite, handbook)
    return Reply(_framed(reading.greeting, text), used, trace)


def _framed(greeting: str, text: str) -> str:
    return f"{greeting}\n\n{text}" if greeting else text


def _simple_answer(handbook: Handbook, question: str) -> str | None:
    if not question:
        return "There was no text in your message. Ask something about Rialto."
    if _WHAT_ARE_YOU.search(question):
        return f"{IDENTITY}\n\n{_contents(handbook)}"
    if _GREETING.match(question):
        return "Hello. Ask me anything about Rialto, and I’ll look it up in the handbook."
    if _THANKS.match(question):
        return "Glad that helped. Ask more anytime."
    if _WHAT_CAN_YOU.search(question):
        return f"I look things up in Rialto’s handbook.\n\n{_contents(handbook)}"
    return None


def _nothing(handbook: Handbook) -> str:
    return (
        "The handbook says nothing about that, and I have nothing else to answer from: "
        "I am the Sandbox’s handbook reader, not a language model.\n\n" + _contents(handbook)
    )


def _contents(handbook: Handbook) -> str:
    lines = [f"- **{page.title}**" for page in handbook.pages.values()]
    return "I can answer from these pages:\n\n" + "\n".join(lines)


def _compose(
    found: Sequence[HandbookHit], asked: str, cite: Callable[[Section], str], handbook: Handbook
) -> tuple[str, tuple[Section, ...]]:
    best = found[0].section
    parts = [_passage(best, asked, cite(best))]
    used = [best]
    second = next((hit for hit in found[1:] if hit.score >= SECOND_PASSAGE_FROM * found[0].score), None)
    if second is not None and len(parts[0]) < 2 * LONG_SECTION_CHARS:
        other = second.section
        parts.append(f"**{other.heading}**\n\n" + _passage(other, asked, cite(other), brief=True))
        used.append(other)
    more = " and ".join(f"[{section.title}]({handbook.address(section)})" for section in used)
    parts.append(f"More in the handbook: {more}.")
    return "\n\n".join(parts), tuple(used)


def _passage(section: Section, asked: str, marker: str, *, brief: bool = False) -> str:
    """Return a section's blocks as written; of a long one the opening and the blocks that the question touches."""
    blocks = _blocks(section.text)
    if len(section.text) > LONG_SECTION_CHARS or (brief and len(blocks) > 2):
        wanted = set(word_stems.terms(asked))
        ranked = sorted(range(1, len(blocks)), key=lambda n: (-len(wanted & set(word_stems.terms(blocks[n]))), n))
        kept = {0, *ranked[: 1 if brief else 4]}
        kept |= {n + 1 for n in kept if n + 1 < len(blocks) and blocks[n].endswith(":")}  # a lead-in keeps its list
        kept |= {n - 1 for n in kept if n and blocks[n - 1].endswith(":")}
        blocks = [block for number, block in enumerate(blocks) if number in kept]
    if marker:
        blocks = [_marked(blocks[0], marker), *(_marked(b, marker) if _is_prose(b) else b for b in blocks[1:])]
    return "\n\n".join(blocks)


def _blocks(text: str) -> list[str]:
    """Split Markdown at blank lines, keeping fenced code and lists together."""
    blocks: list[str] = []
    fenced = False
    for piece in re.split(r"\n\s*\n", text):
        joins = fenced or (blocks and _is_list(blocks[-1]) and (_is_list(piece) or piece.startswith("  ")))
        if joins:
            blocks[-1] += "\n\n" + piece if fenced else "\n" + piece
        else:
            blocks.append(piece.strip("\n"))
        if len(re.findall(r"^\s*```", piece, re.MULTILINE)) % 2:
            fenced = not fenced
    return blocks


def _is_list(block: str) -> bool:
    return re.match(r"\s*([-*]|\d+\.) ", block) is not None


def _is_prose(block: str) -> bool:
    return not _is_list(block) and not block.lstrip().startswith(("|", "```", ">", "#"))


def _marked(block: str, marker: str) -> str:
    """Put the citation behind the last sentence, before a colon that leads to a list."""
    if not _is_prose(block):
        return block
    return f"{block[:-1]}{marker}:" if block.endswith(":") else f"{block}{marker}"


def _trace(asked: str, question: str, found: Sequence[HandbookHit], handbook: Handbook) -> tuple[str, ...]:
    """Say what the retrieval did, step by step, in true figures."""
    terms = list(dict.fromkeys(word_stems.terms(asked)))
    steps = [f"Search words: {', '.join(terms) or 'none'}."]
    if asked != question:
        steps.append("The message is short, so I also used the topic of the previous one.")
    steps.append(f"Searched {len(handbook.sections)} sections of {len(handbook.pages)} pages.")
    for hit in found:
        steps.append(f"“{hit.section.title}” covers {hit.coverage:.0%} of the question (score {hit.score:.2f}).")
    steps.append(f"Answering from “{found[0].section.title}”." if found else "No section is about this.")
    return tuple(steps)


def excerpt(section: Section, longest: int = 280) -> str:
    text = plain(section.text)
    if len(text) <= longest:
        return text
    return text[:longest].rsplit(" ", 1)[0] + " …"
