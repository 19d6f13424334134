"""The result of a case: facts, needs, criteria with their findings, and the ledger. Pure.

The ledger has a line for every fact and every need: the criteria that carry it, or the reason why none does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from consilium.core.limits import MAX_CITATIONS, MAX_QUOTE_LENGTH
from consilium.llm.rules.stems import stems
from drafting.stages.audit import Ground, audit_by_code
from drafting.stages.criteria import must_be_covered, unmarked
from drafting.stages.facts import MOVED, NOT_CHECKED, QUOTE_REASONS, reason_against
from drafting.stages.findings import (
    CONFLICT,
    EMPTY,
    MOVED_QUOTE,
    TOO_MANY,
    UNKNOWN_AXIS,
    Finding,
    finding,
    gravest_first,
)
from drafting.stages.findings import NOT_CHECKED as FACTS_NOT_CHECKED
from drafting.stages.needs import is_usable

Row = Mapping[str, Any]

NO_CRITERION = "no_criterion"  # the reason in the ledger of what could be used and nobody used
ABOUT_THE_SAME = 1 / 3  # of the stems of a fact, shared with what a side of a conflict says


def result_of(
    criteria: Sequence[Row],
    facts: Sequence[Row],
    needs: Sequence[Row],
    ground: Ground,
    *,
    conflicts: Sequence[Row] = (),
    removed: Sequence[Row] = (),
    axes: Sequence[str] = (),
) -> dict[str, Any]:
    """The output of the last step of a case, of which suggestions and files are made.

    ``facts`` and ``needs`` are all of the case, those of ``ground`` the usable ones.
    """
    kept, beyond = _within_limit(criteria, ground)
    findings = audit_by_code(kept, replace(ground, limit=len(criteria)))
    by_number = {fact["number"]: fact for fact in ground.facts}
    rows = []
    of_case = findings.of_case
    concerned: set[int] = set()
    for place, criterion in enumerate(kept):
        own = [by_number[number] for number in criterion["facts"] if number in by_number]
        conflict_places = [at for at, conflict in enumerate(conflicts) if _concerns(conflict, own)]
        concerned.update(conflict_places)
        notes = [
            *findings.of_criteria[place],
            *criterion["marks"],
            *(finding(CONFLICT, **conflicts[at]) for at in conflict_places),
            *_notes(criterion, own, axes),
        ]
        citations = _citations(own)
        rows.append(
            {
                "number": place + 1,
                **unmarked(criterion),
                "findings": gravest_first(notes),
                "citations": citations,
                "source": own[0]["source"] if own else "",
            }
        )
    of_case += [finding(CONFLICT, **each) for at, each in enumerate(conflicts) if at not in concerned]
    if len(criteria) > ground.limit:
        of_case.append(finding(TOO_MANY, count=len(criteria), limit=ground.limit))
    if not ground.facts and not ground.needs:
        of_case.append(finding(EMPTY))
    taken_out = [*removed, *({**unmarked(each), "code": TOO_MANY, "reason": ""} for each in beyond)]
    return {
        "facts": list(facts),
        "needs": list(needs),
        "criteria": rows,
        "removed": taken_out,
        "ledger": ledger_of(rows, facts, needs, taken_out),
        "findings": gravest_first(of_case),
    }


def _within_limit(criteria: Sequence[Row], ground: Ground) -> tuple[list[Row], list[Row]]:
    """The criteria that stay and those beyond the limit: what has the most points stays.

    What carries a red flag, a prohibition or missing context stays in any case.
    """
    facts, needs = must_be_covered(ground.facts, ground.needs)
    places = range(len(criteria))
    stay = {place for place in places if facts & set(criteria[place]["facts"]) or needs & set(criteria[place]["needs"])}
    others = sorted((place for place in places if place not in stay), key=lambda place: -abs(criteria[place]["points"]))
    stay.update(others[: max(0, ground.limit - len(stay))])
    return (
        [each for place, each in enumerate(criteria) if place in stay],
        [each for place, each in enumerate(criteria) if place not in stay],
    )


def _notes(criterion: Row, facts: Sequence[Row], axes: Sequence[str]) -> Iterable[Finding]:
    for fact in facts:
        if fact["quote_state"] == MOVED:
            yield finding(MOVED_QUOTE, fact=fact["number"], locator=fact["locator"])
    unchecked = [fact["number"] for fact in facts if fact["support"] == NOT_CHECKED]
    if unchecked:
        yield finding(FACTS_NOT_CHECKED, facts=unchecked)
    if criterion["axis"] not in axes:
        yield finding(UNKNOWN_AXIS, axis=criterion["axis"])


def _citations(facts: Iterable[Row]) -> list[dict[str, Any]]:
    """The passages of facts as `rubrics.editor.citation` stores them, each once."""
    citations: list[dict[str, Any]] = []
    for fact in facts:
        citation = {"passage": fact["passage"], "start": fact["start"], "end": fact["end"], "quote": fact["words"]}
        if len(fact["words"]) > MAX_QUOTE_LENGTH:  # the passage as a whole
            citation |= {"start": None, "end": None, "quote": ""}
        if citation not in citations:
            citations.append(citation)
    return citations[:MAX_CITATIONS]


def _concerns(conflict: Row, facts: Iterable[Row]) -> bool:
    """Whether a criterion with these facts rests on a side of a conflict.

    It does if a quotation overlaps that of a side, or if a fact of the same passage says much of what the side says.
    """
    return any(_is_of(fact, side) for fact in facts for side in conflict["sides"])


def _is_of(fact: Row, side: Row) -> bool:
    if side["passage"] is None or fact["passage"] != side["passage"]:
        return False
    if fact["start"] < side["end"] and side["start"] < fact["end"]:
        return True
    own = stems(fact["text"])
    return bool(own) and len(own & stems(side["says"])) >= ABOUT_THE_SAME * len(own)


def ledger_of(
    criteria: Sequence[Row], facts: Iterable[Row], needs: Iterable[Row], removed: Sequence[Row]
) -> list[dict[str, Any]]:
    """A line for every fact and need: the numbers of its criteria, or why it has none."""
    lines = []
    for kind, rows, against in (("fact", facts, reason_against), ("need", needs, _reason_against_need)):
        for row in rows:
            number = row["number"]
            carried_by = [each["number"] for each in criteria if number in each[f"{kind}s"]]
            reason = ""
            if not carried_by:
                taken_out = [each["code"] for each in removed if number in each[f"{kind}s"]]
                reason = against(row) or (taken_out[0] if taken_out else NO_CRITERION)
            lines.append({"kind": kind, "number": number, "criteria": carried_by, "reason": reason})
    return lines


def _reason_against_need(need: Row) -> str:
    return "" if is_usable(need) else QUOTE_REASONS[need["quote_state"]]
