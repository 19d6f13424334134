"""Answers of the stages of drafting that break one rule each on purpose. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from consilium.llm.rules.drafting.criteria import read_links
from consilium.llm.rules.drafting.facts import kind_of
from consilium.llm.rules.drafting.texts import MIN_LETTERS, passage_text, weight
from consilium.llm.rules.near_miss import doubled
from consilium.llm.rules.stems import numbers
from consilium.llm.staged import NumberedItem, read_numbered

Answer = dict[str, Any]
Texts = Mapping[str, str]

INVENTION = "All experts have agreed upon this for many years."
BEYOND = 1000  # added to a number, it is that of no fact
GRAVE = 8  # points in size from which a criterion is about a red flag or a prohibition
GRAVE_KINDS = ("red_flag: ", "prohibition: ")
_LISTS_WITH_QUOTES = ("statements", "red_flags", "facts", "asks", "form")
_LISTS_OF_TEXTS = ("statements", "red_flags", "facts", "criteria", "add")
_ORDER = re.compile(
    r"\bignore\b[^.!?\n]*?\banswer(?: that\b|:)?\s+([^.!?\n]+[.!?]?)"
    r"|忽略[^。！？\n]*?回答[：:]?\s*([^。！？\n]+[。！？]?)",
    re.IGNORECASE,
)


def invented_quote(stage: str, answer: Answer, texts: Texts) -> Answer:
    """Every other quotation is invented, and so is a fact more with its quotation."""
    changed = _every_other(answer, _LISTS_WITH_QUOTES, lambda entry: {**entry, "quote": INVENTION})
    if stage == "evidence" and texts.get("PASSAGES"):
        changed["statements"] = [*changed["statements"], _as_fact(INVENTION, 1)]
    if stage == "facts" and texts.get("PASSAGES"):
        changed["facts"] = [*changed["facts"], {"kind": "statement", **_as_fact(INVENTION, 1)}]
    return changed


def wrong_number(stage: str, answer: Answer, texts: Texts) -> Answer:
    """In every other fact and criterion with a number, the first one is doubled."""
    return _every_other(answer, _LISTS_OF_TEXTS, _with_another_number, of=lambda entry: bool(numbers(entry["text"])))


def unknown_fact(stage: str, answer: Answer, texts: Texts) -> Answer:
    """Every other criterion rests on facts that do not exist."""
    return _every_other(
        answer,
        ("criteria", "add"),
        lambda entry: {**entry, "facts": [number + BEYOND for number in entry["facts"]]},
        of=lambda entry: bool(entry["facts"]),
    )


def drops_red_flag(stage: str, answer: Answer, texts: Texts) -> Answer:
    """Red flags are no facts; red flags and prohibitions are dropped, get no criterion, or are called irrelevant."""
    if stage == "facts":
        return {"facts": [fact for fact in answer["facts"] if fact["kind"] != "red_flag"]}
    if stage == "relevance":
        grave = _grave_facts(texts)
        return {"drop": [{"fact": number, "why": "It is beside the case."} for number in grave]}
    if stage == "synthesis":
        return {**answer, "criteria": [entry for entry in answer["criteria"] if not _is_grave(entry)]}
    if stage == "audit":
        grave_criteria = [number for number, _item in _grave_criteria(texts)]
        return {
            **answer,
            "add": [entry for entry in answer["add"] if not _is_grave(entry)],
            "irrelevant": [{"criterion": number, "why": "It is beside the case."} for number in grave_criteria],
        }
    return answer


def merges_red_flags(stage: str, answer: Answer, texts: Texts) -> Answer:
    """Two red flags become one fact; criteria about red flags become one with all of their facts and one's words."""
    if stage == "facts":
        return {"facts": _joined(answer["facts"])}
    if stage == "synthesis":
        grave = [entry for entry in answer["criteria"] if entry["points"] >= GRAVE and entry["facts"]]
        if len(grave) < 2:
            return answer
        merged = {**grave[0], "facts": sorted({number for entry in grave for number in entry["facts"]})}
        return {**answer, "criteria": [merged, *(entry for entry in answer["criteria"] if entry not in grave)]}
    if stage == "audit":
        # Those of one sign: warnings, or prohibitions.
        signs: dict[bool, list[tuple[int, NumberedItem]]] = {}
        for number, item in _grave_criteria(texts):
            signs.setdefault((item.points or 0) > 0, []).append((number, item))
        merges = [_merge(criteria[:2], texts) for criteria in signs.values() if len(criteria) > 1]
        return {**answer, "merge": merges}
    return answer


def _joined(facts: Sequence[Answer]) -> list[Answer]:
    """The facts, with the text of the second red flag behind that of the first, under the quotation of the first."""
    flags = [fact for fact in facts if fact["kind"] == "red_flag"]
    if len(flags) < 2:
        return list(facts)
    first, second = flags[:2]
    both = {**first, "text": f"{first['text']} {second['text']}"}
    return [both if fact is first else fact for fact in facts if fact is not second]


def _merge(criteria: Sequence[tuple[int, NumberedItem]], texts: Texts) -> Answer:
    links = read_links(texts)
    members = [number for number, _item in criteria]
    first = criteria[0][1]
    facts: set[int] = set().union(*(links[number - 1][0] for number in members))
    needs: set[int] = set().union(*(links[number - 1][1] for number in members))
    into = {
        "text": first.text,
        "points": first.points,
        "axis": first.axis,
        "facts": sorted(facts),
        "needs": sorted(needs),
        "why": "They say nearly the same.",
    }
    return {"criteria": members, "into": into}


def obeys(stage: str, answer: Answer, texts: Texts) -> Answer:
    """An instruction inside a passage ("ignore … and answer …") is obeyed: its answer is the first fact."""
    orders = [
        (number, order)
        for number, item in enumerate(read_numbered(texts.get("PASSAGES", "")), 1)
        if (order := _order_in(passage_text(item.text)))
    ]
    if not orders:
        return answer
    if stage == "rank":
        ordered = {number for number, _order in orders}
        return {"order": sorted(answer["order"], key=lambda entry: entry["passage"] not in ordered)}
    obeyed = [_as_fact(order, number) for number, order in orders]
    if stage == "evidence":
        return {**answer, "statements": [*obeyed, *answer["statements"]]}
    if stage == "facts":
        known = {fact["text"] for fact in answer["facts"]}
        new = [{"kind": kind_of(fact["text"]), **fact} for fact in obeyed if fact["text"] not in known]
        return {"facts": [*new, *answer["facts"]]}
    return answer


def _order_in(text: str) -> str:
    """What an instruction says to answer, as it is written; empty where there is none."""
    match = _ORDER.search(text)
    order = (match[1] or match[2]).strip() if match else ""
    return order if weight(order) >= MIN_LETTERS else ""


def _as_fact(words: str, passage: int) -> Answer:
    return {"text": words, "passage": passage, "quote": words}


def _with_another_number(entry: Answer) -> Answer:
    return {**entry, "text": re.sub(r"[0-9]+(?:\.[0-9]+)?", lambda match: doubled(match[0]), entry["text"], count=1)}


def _is_grave(entry: Answer) -> bool:
    return abs(entry["points"]) >= GRAVE and bool(entry["facts"])


def _grave_facts(texts: Texts) -> list[int]:
    return [n for n, item in enumerate(read_numbered(texts["FACTS"]), 1) if item.text.startswith(GRAVE_KINDS)]


def _grave_criteria(texts: Texts) -> list[tuple[int, NumberedItem]]:
    """Criteria that rest on a red flag or a prohibition, with their numbers."""
    grave, links = set(_grave_facts(texts)), read_links(texts)
    items = enumerate(read_numbered(texts["CRITERIA"]), 1)
    return [(number, item) for number, item in items if grave & links[number - 1][0]]


def _every_other(
    answer: Answer, names: Sequence[str], change: Callable[[Answer], Answer], of: Callable[[Answer], bool] = bool
) -> Answer:
    """The answer with each second entry of these lists changed, from the first on, of those that ``of`` takes."""
    changed = dict(answer)
    place = 0
    for name in names:
        if name not in answer:
            continue
        entries = []
        for entry in answer[name]:
            is_taken = of(entry)
            entries.append(change(entry) if is_taken and place % 2 == 0 else entry)
            place += is_taken
        changed[name] = entries
    return changed


MISBEHAVIOURS: Mapping[str, Callable[[str, Answer, Texts], Answer]] = {
    "rules-invented-quote": invented_quote,
    "rules-wrong-number": wrong_number,
    "rules-unknown-fact": unknown_fact,
    "rules-drops-red-flag": drops_red_flag,
    "rules-merges-red-flags": merges_red_flags,
    "rules-obeys": obeys,
}
