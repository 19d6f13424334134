"""Ten thousand mangled answers of each form, and as many envelopes: none crashes the reader, none is coerced.

The oracle reads for itself: an answer is a verdict only if plain JSON finds exactly the two keys, each once, with a
string and a real boolean, alone or alone inside one fence. Chance is seeded, so an answer that fails can be had again.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from consilium.llm.client import ChatClient
from consilium.llm.endpoint import Endpoint
from consilium.llm.errors import ContentError, TransportError
from consilium.llm.parsing import parse_verdict, parse_verdicts
from consilium.llm.structured import StructuredAnswer, parse_structured

pytestmark = pytest.mark.slow

TIMES = 10_000
SOUND = [
    '{"explanation": "It names the dose.", "criteria_met": true}',
    '{"explanation": "建议在三天内复诊。", "criteria_met": false}',
    '{"criteria_met":true,"explanation":"\\u4e0d \\"quoted\\" \\\\ \\/ \\n"}',
    '\n{\n  "explanation": "",\n  "criteria_met": false\n}\n',
    '```json\n{"explanation": "Fenced ```json {} ``` twice.", "criteria_met": true}\n```',
    '```\n{"explanation": "true", "criteria_met": false}\n```\n',
]
TOKENS = [
    *("true", "false", "null", "1", "0", '"true"', '"false"', "[true]", '{"value": true}', "True", "NaN", "-Infinity"),
    *('"criteria_met": true,', '"criteria_met": false, ', '"explanation": "y",', ', "criteria_met": true', ', "x": 1'),
    *("{", "}", "[", "]", '"', "\\", ",", ":", "\\u0000", "\\ud800", "\\u", "/* no */", "// no\n", "1e999", "9" * 5000),
    *("\x00", "\ufeff", "\u2028", "\u00a0", "\u202e", "“", "ｔｒｕｅ", "\ud800", "\x1b", "\r", "\x0b", "𝐭𝐫𝐮𝐞"),
    *("```json\n", "\n```", "```", "<think>", "</think>", "\n", " ", "Sure! ", " Thanks.", "[" * 3000),
]
SWAPS = [
    ("true", "false"),
    ("true", '"true"'),
    ("false", '"false"'),
    ("true", "1"),
    ("false", "0"),
    ("true", "null"),
    ("true", "[true]"),
    ("false", "[]"),
    ("true", "TRUE"),
    ('"criteria_met"', '"Criteria_met"'),
    ('"criteria_met"', '"criteria\\u005fmet"'),  # the same key, written otherwise: still a verdict
    ('"criteria_met"', '"explanation"'),
    ('"explanation"', '"reason"'),
    ('": "', '": ["'),
    ('"', "'"),
    ("{", "[{"),
    ("}", "}}"),
    (",", ",,"),
    (":", "="),
]


def mangled(text: str, rng: random.Random) -> str:
    """``text`` after up to three accidents; one in eight stays as it is."""
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3))):
        at, to = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        kind = rng.randrange(8)
        if kind == 0:  # a byte turned over
            raw = bytearray(text.encode("utf-8", "surrogatepass") or b" ")
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            text = raw.decode("utf-8", "replace")
        elif kind == 1:
            text = text[:at]
        elif kind == 2:
            text = text[:at] + text[to:]
        elif kind == 3:
            text = text[:to] + text[at:to] * rng.randrange(1, 3) + text[to:]
        elif kind == 4:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif kind == 5:
            old, new = rng.choice(SWAPS)
            text = text.replace(old, new, rng.choice((1, -1)))
        elif kind == 6:
            text = rng.choice((f"[{text}]", f'{{"verdict": {text}}}', json.dumps(text), text + text, f"\n {text}\t"))
        else:
            text = text[:at] + rng.choice(SOUND) + text[at:]
    return text


class Twice(ValueError):
    """A key stands twice in one object."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise Twice
    return dict(pairs)


def no_constant(name: str) -> None:
    raise ValueError(name)


def plainly(text: str | bytes, **more: Any) -> Any:
    """What JSON says; None where it is none."""
    try:
        return json.loads(text, object_pairs_hook=once, **more)
    except (ValueError, RecursionError):
        return None


def read_verdict(text: str) -> tuple[str, bool] | None:
    """Explanation and verdict, if there is one beyond doubt."""
    text = text.strip(" \t\r\n")
    fenced = re.fullmatch(r"```(?:json|JSON)?[ \t]*\r?\n(.*)```", text, re.DOTALL)
    value = plainly(fenced[1] if fenced else text, parse_constant=no_constant)
    if not isinstance(value, dict) or value.keys() != {"explanation", "criteria_met"}:
        return None
    explanation, met = value["explanation"], value["criteria_met"]
    sound = type(explanation) is str and type(met) is bool and "\x00" not in explanation
    return (explanation, met) if sound else None


def content_of(data: bytes) -> str | None:
    """The text of an envelope's answer, if it has one beyond doubt."""
    match plainly(data):
        case {"choices": [{"message": {"content": str(text)} as message, **choice}, *_]}:
            refusal = message.get("refusal")
            if (isinstance(refusal, str) and refusal) or choice.get("finish_reason") in ("length", "content_filter"):
                return None
            return text
    return None


def test_ten_thousand_answers() -> None:
    rng = random.Random(4)
    verdicts = 0
    for number in range(TIMES):
        text = mangled(rng.choice(SOUND), rng)
        try:
            verdict = parse_verdict(text)
        except ContentError:
            read = None
        else:
            read = verdict.explanation, verdict.criteria_met
        assert read == read_verdict(text), (number, text[:500])
        verdicts += read is not None
    assert TIMES // 10 < verdicts < TIMES // 2  # both kinds were tried


class Verdict(StructuredAnswer):
    """The form of a verdict."""

    explanation: str
    criteria_met: bool


def test_ten_thousand_answers_of_a_form() -> None:
    rng = random.Random(5)
    verdicts = 0
    for number in range(TIMES):
        text = mangled(rng.choice(SOUND), rng)
        try:
            answer = parse_structured(text, Verdict)
        except ContentError:
            read = None
        else:
            read = answer.explanation, answer.criteria_met
        expected = read_verdict(text)
        if expected is not None and re.search("[\ud800-\udfff]", expected[0]):
            expected = None  # no column can hold half a character
        assert read == expected, (number, text[:500])
        verdicts += read is not None
    assert TIMES // 10 < verdicts < TIMES // 2


def read_verdicts(text: str) -> list[tuple[str, bool]] | None:
    """What is said of criteria 1 to 3, if it is said of each once and beyond doubt."""
    text = text.strip(" \t\r\n")
    fenced = re.fullmatch(r"```(?:json|JSON)?[ \t]*\r?\n(.*)```", text, re.DOTALL)
    value = plainly(fenced[1] if fenced else text, parse_constant=no_constant)
    if not isinstance(value, dict) or list(value) != ["verdicts"] or not isinstance(value["verdicts"], list):
        return None
    verdicts_by_number = {}
    for entry in value["verdicts"]:
        if not isinstance(entry, dict) or entry.keys() != {"number", "explanation", "criteria_met"}:
            return None
        number = entry.pop("number")
        verdict = read_verdict(json.dumps(entry))
        if type(number) is not int or verdict is None:
            return None
        verdicts_by_number[number] = verdict
    complete = verdicts_by_number.keys() == {1, 2, 3} and len(value["verdicts"]) == 3
    return [verdicts_by_number[number] for number in (1, 2, 3)] if complete else None


def test_ten_thousand_answers_about_three_criteria() -> None:
    rng = random.Random(4)
    answers = 0
    for number in range(TIMES):
        entries = [{"number": 1 + place, **plainly(rng.choice(SOUND[:4]))} for place in range(3)]
        rng.shuffle(entries)
        if rng.random() < 0.1:
            entries[0] = {**entries[0], "number": rng.choice((0, 1, 2, 4, 1.0, True, "1", None))}
        text = mangled(json.dumps({"verdicts": entries}, ensure_ascii=rng.random() < 0.5), rng)
        try:
            verdicts = parse_verdicts(text, 3)
        except ContentError:
            read = None
        else:
            read = [(verdict.explanation, verdict.criteria_met) for verdict in verdicts]
        assert read == read_verdicts(text), (number, text[:800])
        answers += read is not None
    assert TIMES // 20 < answers < TIMES // 2


def mangled_envelope(rng: random.Random) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": mangled(rng.choice(SOUND), rng)}
    choice = {"index": 0, "message": message, "finish_reason": rng.choice(("stop", "stop", "stop", None, "length", 7))}
    if rng.random() < 0.1:
        message["content"] = rng.choice((None, 1, True, [message["content"]], {"text": message["content"]}))
    if rng.random() < 0.1:
        message["refusal"] = rng.choice(("No.", "", None, 5))
    usage = rng.choice(({"prompt_tokens": 4}, {"prompt_tokens": "4"}, {"prompt_tokens": -1}, None, [], 2**70, True))
    envelope = {
        "id": "x",
        "choices": rng.choice(([choice], [choice], [choice], [choice, choice], [], choice)),
        "usage": usage,
    }
    text = json.dumps(envelope, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.5:
        text = mangled(text, rng)
    return text.encode("utf-8", "surrogatepass")


def test_ten_thousand_envelopes() -> None:
    client = ChatClient(
        Endpoint(url="http://127.0.0.1:1/v1", model="ok", key_env="FUZZ_API_KEY"),
        allowed_hosts=["127.0.0.1"],
        bound_keys=["FUZZ_API_KEY@127.0.0.1"],
        environ={"FUZZ_API_KEY": "canary-of-the-fuzz"},
    )
    rng = random.Random(4)
    verdicts = 0
    for number in range(TIMES):
        data = mangled_envelope(rng)
        try:
            answer = client._answer(data, 0)
            text = None if answer.fault else answer.text
        except TransportError:
            text = None
        assert text == content_of(data), (number, data[:800])
        verdicts += text is not None and read_verdict(text) is not None
    assert TIMES // 20 < verdicts < TIMES // 2
