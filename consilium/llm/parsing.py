"""Parses a judge's answer strictly. Pure.

An answer is exactly one JSON object ``{"explanation": str, "criteria_met": bool}`` (or, where several criteria were
asked about, a list of such verdicts under one name), alone or alone inside one ```` ```json ```` fence. Nothing is
coerced and nothing is searched for: a verdict that has to be guessed is no verdict, and on a criterion with negative
points a guessed "not met" would gain points.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from consilium.llm.errors import ContentError

# More than any explanation needs; a longer answer is not read at all.
MAXIMUM_CHARACTERS = 200_000
_FENCES = ("```", "```json", "```JSON")
_WHITE = " \t\r\n"  # JSON's own; str.strip() would also take U+00A0, U+2028 and others
_FIELDS = ("explanation", "criteria_met")


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """A judge's verdict on one criterion."""

    explanation: str
    criteria_met: bool


def parse_verdict(text: str) -> ParsedVerdict:
    """Read a judge's answer; `ContentError`, with its kind and the text, for everything that is not a verdict."""
    try:
        value = one_object(text)
        _exactly(value, _FIELDS)
        return _verdict(value)
    except ContentError as error:
        error.raw = text
        raise


def parse_object(text: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Read an answer that is one object with exactly these ``names``; `ContentError` for everything else."""
    try:
        value = one_object(text)
        _exactly(value, names)
    except ContentError as error:
        error.raw = text
        raise
    return value


def unfenced(text: str) -> str:
    """An answer without JSON's white space and without the one fence that it may stand in."""
    body = text.strip(_WHITE)
    # One fence, with nothing around it. No regular expression: it would take long for an answer of blanks.
    first, broken, rest = body.partition("\n")
    if broken and first.rstrip(_WHITE) in _FENCES and rest.endswith("```"):
        body = rest.removesuffix("```").strip(_WHITE)
    return body


def parse_verdicts(text: str, count: int) -> tuple[ParsedVerdict, ...]:
    """Read an answer about criteria 1 to ``count``: ``{"verdicts": [{"number", "explanation", "criteria_met"}…]}``.

    One entry for each number, in any order; `ContentError` for everything else, so that no verdict is taken from an
    answer that is broken elsewhere.
    """
    try:
        value = one_object(text)
        _exactly(value, ("verdicts",))
        entries = value["verdicts"]
        if not isinstance(entries, list):
            raise ContentError("wrong_type", f"“verdicts” is {json_type(entries)}, not a list")
        verdicts: dict[int, ParsedVerdict] = {}
        for entry in entries:
            if not isinstance(entry, dict):
                raise ContentError("not_an_object", f"an entry is {json_type(entry)}, not an object")
            _exactly(entry, ("number", *_FIELDS))
            number = entry["number"]
            if not isinstance(number, int) or isinstance(number, bool):
                raise ContentError("wrong_type", f"“number” is {json_type(number)}, not a whole number")
            if not 1 <= number <= count:
                raise ContentError("wrong_numbers", f"there is no criterion {str(number)[:20]}")
            if number in verdicts:
                raise ContentError("wrong_numbers", f"criterion {number} is there twice")
            verdicts[number] = _verdict(entry)
        if len(verdicts) != count:
            raise ContentError("wrong_numbers", f"{count - len(verdicts)} of {count} criteria have no entry")
    except ContentError as error:
        error.raw = text
        raise
    return tuple(verdicts[number] for number in range(1, count + 1))


def one_object(text: str, *, maximum: int = MAXIMUM_CHARACTERS) -> dict[str, Any]:
    """The answer as one object, alone or alone inside one fence; `ContentError` if it is anything else."""
    if len(text) > maximum:
        raise ContentError("too_large", f"{len(text)} characters; at most {maximum} are read")
    if not text.strip(_WHITE):
        raise ContentError("empty", "the answer is empty")
    value = _decode(unfenced(text))
    if not isinstance(value, dict):
        raise ContentError("not_an_object", f"the answer is {json_type(value)}, not an object")
    return value


def _exactly(value: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in value:
            raise ContentError("missing_field", f"“{name}” is not there")
    extra = next((name for name in value if name not in names), None)
    if extra is not None:
        raise ContentError("extra_field", f"unknown field “{extra[:60]}”")


def _verdict(value: dict[str, Any]) -> ParsedVerdict:
    explanation, met = value["explanation"], value["criteria_met"]
    if met is not True and met is not False:
        raise ContentError("wrong_type", f"“criteria_met” is {json_type(met)}, not true or false")
    if not isinstance(explanation, str):
        raise ContentError("wrong_type", f"“explanation” is {json_type(explanation)}, not a string")
    if "\x00" in explanation:
        raise ContentError("nul", "the explanation holds a NUL character")
    return ParsedVerdict(explanation, met)


def _decode(body: str) -> Any:
    if "\x00" in body:
        raise ContentError("nul", "the answer holds a NUL character")
    try:
        value, end = _decoder.raw_decode(body)
    except RecursionError:
        raise ContentError("not_json", "nested too deeply") from None
    except ValueError as error:
        raise ContentError("not_json", f"not JSON: {str(error)[:200]}") from None
    if body[end:].strip(_WHITE):
        raise ContentError("trailing_text", "something stands after the object")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for name, value in pairs:
        if name in mapping:
            # Most JSON readers take the last value of a repeated key. Here an answer with two values has none.
            raise ContentError("duplicate_key", f"“{name[:60]}” is there twice")
        mapping[name] = value
    return mapping


def _no_constant(name: str) -> NoReturn:
    raise ContentError("not_json", f"{name} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)


def json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"


def storable(text: str, limit: int = 20_000) -> str:
    """``text`` as PostgreSQL can hold it: NUL and lone surrogates made visible, cut at ``limit`` with a mark."""
    clean = text[: limit + 1].replace("\x00", "␀").encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= limit else f"{clean[:limit]}… [cut]"
