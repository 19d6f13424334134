"""Requests of a stage: built from fenced texts and numbered lists, and read back from the messages. Pure.

The system message ends with the rule about fences and a line ``Stage: NAME``. Every text from outside stands in a fence
(`consilium.llm.prompts`). A list stands in one fence, one item a line, ``1. [+5, axis] text``; line breaks inside an
item are escaped, so that a number begins a line only where an item begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from consilium.llm.prompts import FENCE_RULE, Messages, nonce_of, turns_text

STAGE_LINE = "Stage: "
_STAGE = re.compile(rf"(?:\A|\n){STAGE_LINE}([a-z][a-z_]{{0,39}})\Z")
_NAME = re.compile(r"[A-Z][A-Z_]{0,39}")
_NONCE = re.compile(r"\w{1,64}", re.ASCII)
_RULE_BEFORE, _, _RULE_AFTER = FENCE_RULE.partition("{{nonce}}")
_NONCE_OF_RULE = re.compile(f"{re.escape(_RULE_BEFORE)}({_NONCE.pattern}){re.escape(_RULE_AFTER)}", re.ASCII)


class UnreadableRequest(ValueError):
    """A text that is not what this module writes."""


@dataclass(frozen=True, slots=True)
class Fenced:
    """A text from outside and the name of its fence, such as CASE."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class NumberedItem:
    """An item of a list; an axis needs points."""

    text: str
    points: int | None = None
    axis: str = ""


def case_part(conversation: Sequence[Mapping[str, str]]) -> Fenced:
    """The conversation of a case, in the fence CASE."""
    return Fenced("CASE", turns_text(conversation))


def nonce_of_parts(stage: str, parts: Sequence[Fenced | str], key: bytes) -> str:
    """The nonce of the fences of a request: it depends on every fenced text, so that none of them can hold it."""
    texts = [{"role": part.name, "content": part.text} for part in parts if isinstance(part, Fenced)]
    return nonce_of(texts, stage, key)


def staged_messages(stage: str, system: str, parts: Sequence[Fenced | str], nonce: str) -> Messages:
    """The messages of a request. A part is a text from outside, which gets a fence, or a sentence of our own.

    ``system`` says what to do and in which form to answer. The rule about fences and the stage are added to it.
    """
    system = f"{system.strip()}\n\n{FENCE_RULE.replace('{{nonce}}', nonce)}\n\n{STAGE_LINE}{stage}"
    names = [part.name for part in parts if isinstance(part, Fenced)]
    if not stage or not _NONCE.fullmatch(nonce) or read_stage([{"role": "system", "content": system}]) != stage:
        raise ValueError("a stage has a name in small letters, and a nonce letters and digits")
    if len(set(names)) != len(names) or not all(map(_NAME.fullmatch, names)):
        raise ValueError("each fence has a name of its own in capital letters")
    if any(nonce in (part.text if isinstance(part, Fenced) else part) for part in parts):
        raise ValueError("a text holds the nonce")
    user = "\n\n".join(_fence(part, nonce) if isinstance(part, Fenced) else part for part in parts)
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _fence(part: Fenced, nonce: str) -> str:
    return f"<<<{part.name} {nonce}\n{part.text}\n>>>{part.name} {nonce}"


def read_stage(messages: Iterable[Mapping[str, str]]) -> str:
    """The stage that the system message ends with; empty where it names none."""
    match = _STAGE.search(_content(messages, "system"))
    return match[1] if match else ""


def read_instructions(messages: Iterable[Mapping[str, str]]) -> str:
    """What the system message says to do, with the form of the answer, the rule about fences and the stage."""
    return _content(messages, "system")


def read_fences(messages: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The fenced texts by their names; `UnreadableRequest` where the rule about fences or the end of one is missing.

    Prompts of judges (`consilium.llm.prompts`) are read as well: they carry the same rule.
    """
    nonces = _NONCE_OF_RULE.findall(_content(messages, "system"))
    if not nonces:
        raise UnreadableRequest("the system message names no code of fences")
    user, nonce = _content(messages, "user"), re.escape(nonces[-1])
    begin = re.compile(rf"^<<<({_NAME.pattern}) {nonce}\n", re.MULTILINE)
    texts: dict[str, str] = {}
    at = 0
    while match := begin.search(user, at):
        name = match[1]
        end = re.compile(rf"\n>>>{name} {nonce}$", re.MULTILINE).search(user, match.end())
        if end is None or name in texts:
            raise UnreadableRequest(f"the fence {name} does not end, or is there twice")
        texts[name] = user[match.end() : end.start()]
        at = end.end()
    return texts


def _content(messages: Iterable[Mapping[str, str]], role: str) -> str:
    """The text of the last message of a role."""
    texts = [message.get("content") for message in messages if message.get("role") == role]
    return texts[-1] if texts and isinstance(texts[-1], str) else ""


# Lists ---------------------------------------------------------------------------------------------------------------

# All characters that end a line for some reader, the escape itself, and brackets, which surround points and axis.
_ESCAPED = re.compile(r"[\\\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\A\[")
_ESCAPED_AXIS = re.compile(rf"{_ESCAPED.pattern}|\]")
_ESCAPE = re.compile(r"\\(n|u[0-9a-f]{4}|.)", re.DOTALL)
_LINE = re.compile(r"([1-9][0-9]{0,5})\. (?:\[([+-][0-9]{1,9})(?:, ((?:[^\\\]]|\\.)+))?\] )?(.*)", re.DOTALL)


def numbered(items: Iterable[NumberedItem]) -> str:
    """The items as numbered lines, from 1."""
    return "\n".join(_numbered_line(number, item) for number, item in enumerate(items, 1))


def _numbered_line(number: int, item: NumberedItem) -> str:
    if item.points is None and item.axis:
        raise ValueError("an axis needs points")
    terms = [] if item.points is None else [f"{item.points:+d}"]
    if item.axis:
        terms.append(_ESCAPED_AXIS.sub(_escape, item.axis))
    before = f"[{', '.join(terms)}] " if terms else ""
    return f"{number}. {before}{_ESCAPED.sub(_escape, item.text)}"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\n":
        return r"\n"
    return f"\\{character}" if character in "\\[]" else f"\\u{ord(character):04x}"


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        return "\n" if code == "n" else chr(int(code[1:], 16)) if len(code) > 1 else code

    return _ESCAPE.sub(character, text)


def read_numbered(text: str) -> list[NumberedItem]:
    """The items of a numbered list in their order; `UnreadableRequest` where the numbers do not count from 1."""
    items = []
    for number, line in enumerate(text.split("\n") if text else [], 1):
        match = _LINE.fullmatch(line)
        if match is None or int(match[1]) != number:
            raise UnreadableRequest(f"line {number} is no item of a numbered list")
        points = int(match[2]) if match[2] else None
        items.append(NumberedItem(_unescape(match[4]), points, _unescape(match[3] or "")))
    return items
