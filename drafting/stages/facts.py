"""Facts: from the statements of passages to facts with checked quotations. Pure.

A fact is *usable* when its quotation stands in a passage, its numbers stand in the quotation, no model called it beside
the case, and the model that checked it says that the quotation entails it (or none was asked). Others stay visible,
with the reason, and go no further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from consilium.llm.quantities import missing_numbers
from consilium.llm.rules.drafting.word_lists import PROHIBITION as PROHIBITION_WORDS
from consilium.llm.rules.stems import stems
from documents.quoting import Match, Quote, Source
from drafting.stages.lists import reference_of

Row = Mapping[str, Any]

STATEMENT, RED_FLAG, PROHIBITION = "statement", "red_flag", "prohibition"
PROTECTED = frozenset({RED_FLAG, PROHIBITION})  # no model drops one, or joins two of them

# As `drafting.models.evidence.QuoteState` and `Support` name them.
EXACT, NORMALISED, MOVED, ABSENT, TOO_SHORT, NONE = "exact", "normalised", "moved", "absent", "too_short", "none"
STANDS = frozenset({EXACT, NORMALISED, MOVED})
ENTAILS, NOT_CHECKED = "entails", "not_checked"

# Why a fact is not usable, or why no criterion carries what could be used: the reasons of the ledger.
QUOTE_REASONS = {ABSENT: "quote_absent", TOO_SHORT: "quote_too_short", NONE: "no_quote"}
NUMBERS, DROPPED, PARTLY, DOES_NOT = "numbers_differ", "dropped", "supported_partly", "not_supported"
SUPPORT_REASONS = {"partly": PARTLY, "does_not": DOES_NOT}


@lru_cache(maxsize=512)
def _source(text: str) -> Source:
    return Source(text)


def find_words(quote: str, text: str) -> Quote:
    """Where a quotation stands in a text; texts that are searched again are prepared once."""
    return _source(text).find(quote)


def statements_of(evidence: Row) -> list[dict[str, Any]]:
    """The statements of an answer about evidence, then its red flags, with their kinds."""
    return [{"kind": STATEMENT, **each} for each in evidence["statements"]] + [
        {"kind": RED_FLAG, **each} for each in evidence["red_flags"]
    ]


def with_prohibitions(statements: Iterable[Row]) -> list[dict[str, Any]]:
    """The statements, those with the words of a prohibition as prohibitions; for recipes whose facts no model makes."""
    return [{**each, "kind": PROHIBITION if _states_prohibition(each) else each["kind"]} for each in statements]


def _states_prohibition(statement: Row) -> bool:
    return statement["kind"] == STATEMENT and PROHIBITION_WORDS.search(statement["text"]) is not None


def numbered_facts(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Facts with their numbers within the case, from 1."""
    return [{"number": number, **row} for number, row in enumerate(rows, 1)]


def with_red_flags(facts: Sequence[Row], statements: Sequence[Row], passages: Sequence[Row]) -> list[dict[str, Any]]:
    """The facts, and behind them each red flag of the statements that none of them keeps (``restored``).

    A red flag is kept by a fact of a protected kind whose quotation overlaps its own. A fact keeps one red flag, unless
    two say the same, so that joining two of them into one fact loses none.
    """
    kept_by: dict[int, list[frozenset[str]]] = {}
    protected = [(place, fact) for place, fact in enumerate(facts) if fact["kind"] in PROTECTED]
    restored = []
    for flag in (each for each in statements if each["kind"] == RED_FLAG):
        own = stems(flag["text"])
        free = [
            (len(own & stems(fact["text"])), -place)
            for place, fact in protected
            if _same_words(fact, flag, passages) and all(own == other for other in kept_by.get(place, []))
        ]
        if free:
            kept_by.setdefault(-max(free)[1], []).append(own)
        else:
            restored.append({**flag, "restored": True})
    return [*({**fact, "restored": False} for fact in facts), *restored]


def _same_words(first: Row, second: Row, passages: Sequence[Row]) -> bool:
    """Whether two quotations overlap in a passage, or are the same."""
    if first["quote"].strip() and first["quote"].strip() == second["quote"].strip():
        return True
    if first["passage"] != second["passage"]:
        return False
    text = passages[first["passage"] - 1]["text"]
    words, other = find_words(first["quote"], text), find_words(second["quote"], text)
    return words.holds and other.holds and words.start < other.end and other.start < words.end


def locate(quote: str, passage: Row, pool: Sequence[Row]) -> dict[str, Any]:
    """How a quotation stands in its passage or in another one of the pool: ``quote_state``, and where it stands.

    ``passage`` is the public id, and ``words`` are the stored text; both are empty where it stands nowhere.
    """
    nowhere = {"passage": None, "start": None, "end": None, "words": ""}
    if not quote.strip():
        return {"quote_state": NONE, **nowhere}
    own = find_words(quote, passage["text"])
    if own.match == Match.TOO_SHORT:
        return {"quote_state": TOO_SHORT, **nowhere}
    if own.holds:
        return {"quote_state": own.match.value, **_place(own, passage)}
    for other in pool:
        if other["passage"] != passage["passage"] and (quoted := find_words(quote, other["text"])).holds:
            return {"quote_state": MOVED, **_place(quoted, other)}
    return {"quote_state": ABSENT, **nowhere}


def _place(quote: Quote, passage: Row) -> dict[str, Any]:
    return {
        "passage": passage["passage"],
        "start": quote.start,
        "end": quote.end,
        "words": passage["text"][quote.start : quote.end],
    }


def check_quotes(facts: Iterable[Row], passages: Sequence[Row], pool: Sequence[Row]) -> list[dict[str, Any]]:
    """For each fact, by number, where its quotation stands and which of its numbers are missing there."""
    checked = []
    for fact in facts:
        place = locate(fact["quote"], passages[fact["passage"] - 1], pool)
        missing = missing_numbers(fact["text"], [place["words"]]) if place["words"] else []
        agree = place["quote_state"] in STANDS and not missing
        checked.append({"number": fact["number"], **place, "numbers_agree": agree, "numbers_missing": missing})
    return checked


def check_conflicts(conflicts: Iterable[Row], passages: Sequence[Row], pool: Sequence[Row]) -> list[dict[str, Any]]:
    """Conflicts of sources with the place of each side's words. A side that stands nowhere has no words."""
    return [
        {
            "about": conflict["about"],
            "sides": [
                {"says": side["says"], **locate(side["quote"], passages[side["passage"] - 1], pool)}
                for side in conflict["sides"]
            ],
        }
        for conflict in conflicts
    ]


def to_be_checked(facts: Iterable[Row], quotes: Iterable[Row], dropped: Iterable[int]) -> list[dict[str, Any]]:
    """The facts that are compared with their quotations by a model: all that may still be usable, with ``words``."""
    by_number = {quote["number"]: quote for quote in quotes}
    left_out = set(dropped)
    return [
        {**fact, "words": by_number[fact["number"]]["words"]}
        for fact in facts
        if fact["number"] not in left_out
        and by_number[fact["number"]]["quote_state"] in STANDS
        and by_number[fact["number"]]["numbers_agree"]
    ]


def checked_facts(
    facts: Iterable[Row],
    quotes: Iterable[Row],
    drops: Mapping[int, str],
    checks: Mapping[int, Row],
    pool: Sequence[Row],
) -> list[dict[str, Any]]:
    """All facts as they are stored, whatever came of checking them.

    ``drops`` has reasons and ``checks`` checks by the number of the fact. ``source`` names what the passage is of.
    """
    by_number = {quote["number"]: quote for quote in quotes}
    passages = {passage["passage"]: passage for passage in pool}
    rows = []
    for fact in facts:
        number, quote = fact["number"], by_number[fact["number"]]
        check = checks.get(number)
        support = check["support"] if check else NOT_CHECKED
        dropped = drops.get(number, "")
        passage = passages.get(quote["passage"])
        rows.append(
            {
                "number": number,
                "kind": fact["kind"],
                "text": fact["text"],
                "quote": fact["quote"],
                "restored": fact.get("restored", False),
                **{name: value for name, value in quote.items() if name != "number"},
                "locator": passage["locator"] if passage else "",
                "source": reference_of(passage) if passage else "",
                "support": support,
                "support_reason": check["why"] if check else "",
                "dropped_because": dropped,
                "is_usable": bool(quote["numbers_agree"] and support in (ENTAILS, NOT_CHECKED) and not dropped),
            }
        )
    return rows


def reason_against(fact: Row) -> str:
    """Why a fact is not usable; empty where it is."""
    if fact["quote_state"] not in STANDS:
        return QUOTE_REASONS[fact["quote_state"]]
    if not fact["numbers_agree"]:
        return NUMBERS
    if fact["dropped_because"]:
        return DROPPED
    return SUPPORT_REASONS.get(fact["support"], "")


def drops_of(relevance: Row, facts: Iterable[Row]) -> tuple[dict[int, str], list[dict[str, Any]]]:
    """The reasons of the facts that are dropped, and the drops that code ignores, because of the kind of the fact."""
    kinds = {fact["number"]: fact["kind"] for fact in facts}
    drops, ignored = {}, []
    for drop in relevance["drop"]:
        if kinds[drop["fact"]] in PROTECTED:
            ignored.append({**drop, "kind": kinds[drop["fact"]]})
        else:
            drops[drop["fact"]] = drop["why"].strip() or "-"
    return drops, ignored
