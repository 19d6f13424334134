"""Tables of a run, made from the results of its cases alone, so that a replay elsewhere writes the same bytes.

What physicians decided is in the report *drafting*. Words of passages stand in a table only where the document may be
quoted in exports; the locator always does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from documents.models import Passage
from drafting.models import DraftingRun
from drafting.stages.findings import PROBLEM
from drafting.stages.names import RESULT, RETRIEVE
from rubrics.models import Case
from scoring.models import PipelineStep
from scoring.pipelines.kind import Output

Row = tuple[object, ...]
CASES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case; ``quotable``: the public ids of its passages whose words may stand in exports."""

    key: str
    output: Output
    quotable: frozenset[str]


def results_of(run: DraftingRun, hidden: QuerySet[Case] | None = None) -> Iterator[CaseResult]:
    """The cases that have a result, in the order of their keys; without those that are ``hidden``."""
    steps = run.steps.filter(stage=RESULT, state=PipelineStep.State.DONE).order_by("case__key")
    if hidden is not None:
        steps = steps.exclude(case__in=hidden)
    ids = list(steps.values_list("pk", flat=True))
    for start in range(0, len(ids), CASES_AT_ONCE):
        rows = list(
            PipelineStep.objects.filter(pk__in=ids[start : start + CASES_AT_ONCE])
            .order_by("case__key")
            .values_list("case", "case__key", "output")
        )
        quotable = _quotable(run, [case for case, _key, _output in rows])
        for case, key, output in rows:
            yield CaseResult(key, output or {}, quotable.get(case, frozenset()))


def _quotable(run: DraftingRun, cases: Collection[int]) -> dict[int, frozenset[str]]:
    """By case, the passages that could be quoted when they were found, and still can where they are known here."""
    steps = run.steps.filter(stage=RETRIEVE, case__in=cases, state=PipelineStep.State.DONE)
    pools = {case: (output or {})["passages"] for case, output in steps.values_list("case", "output")}
    allowed = {case: {own["passage"] for own in pool if own.get("may_quote")} for case, pool in pools.items()}
    ids = {passage for own in allowed.values() for passage in own}
    withdrawn = Passage.objects.filter(public_id__in=ids, document__may_quote=False)
    refused = set(withdrawn.values_list("public_id", flat=True)) if ids else set()
    return {case: frozenset(own - refused) for case, own in allowed.items()}


# Rows -----------------------------------------------------------------------------------------------------------------


def _suggestions(run: DraftingRun, result: CaseResult) -> Iterator[Row]:
    locators = {fact["passage"]: fact["locator"] for fact in result.output["facts"] if fact["passage"]}
    for row in result.output["criteria"]:
        findings = row["findings"]
        cited = [locators.get(each["passage"], "") for each in row["citations"]]
        yield (
            *(result.key, row["number"], row["text"], row["points"], row["axis"]),
            *(_numbers(row["facts"]), _numbers(row["needs"]), "; ".join(cited), row["source"], row["why"]),
            sum(each["severity"] == PROBLEM for each in findings),
            "; ".join(dict.fromkeys(each["code"] for each in findings)),
            *_made_by(run),
        )


def _facts(run: DraftingRun, result: CaseResult) -> Iterator[Row]:
    for row in result.output["facts"]:
        may_quote = row["passage"] in result.quotable
        yield (
            *(result.key, row["number"], row["kind"], row["text"] if may_quote else ""),
            *(row["quote_state"], row["locator"], row["words"] if may_quote else ""),
            *(row["numbers_agree"], row["support"], row["support_reason"] if may_quote else ""),
            *(bool(row["dropped_because"]), row["dropped_because"] if may_quote else "", row["is_usable"]),
            *_made_by(run),
        )


def _ledger(run: DraftingRun, result: CaseResult) -> Iterator[Row]:
    for line in result.output["ledger"]:
        carried_by = _numbers(line["criteria"])
        yield result.key, line["kind"], line["number"], carried_by, line["reason"], *_made_by(run)


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))


def _made_by(run: DraftingRun) -> Row:
    return run.recipe_name, run.recipe_version, run.endpoint_kind


MADE_BY = ("recipe", "version", "endpoint_kind")
TEXTS_OF_MADE_BY = ("recipe", "endpoint_kind")


@dataclass(frozen=True, slots=True)
class RunTable:
    """A table of a run: its columns, which of them hold texts, and the rows of a case."""

    columns: tuple[str, ...]
    texts: tuple[str, ...]
    rows_of: Callable[[DraftingRun, CaseResult], Iterable[Row]]

    def rows(self, run: DraftingRun, hidden: QuerySet[Case] | None = None) -> Iterator[Row]:
        """All rows, by case; none of cases that are ``hidden``."""
        for result in results_of(run, hidden):
            yield from self.rows_of(run, result)


TABLES: Mapping[str, RunTable] = {
    "suggestions": RunTable(
        (
            *("case", "number", "text", "points", "axis", "facts", "needs", "passages", "source", "why"),
            *("problems", "findings"),
            *MADE_BY,
        ),
        ("case", "text", "axis", "facts", "needs", "passages", "source", "why", "findings", *TEXTS_OF_MADE_BY),
        _suggestions,
    ),
    "facts": RunTable(
        (
            *("case", "number", "kind", "text", "quote_state", "passage", "words", "numbers_agree", "support"),
            *("support_reason", "dropped", "dropped_because", "usable"),
            *MADE_BY,
        ),
        (
            *(
                "case",
                "kind",
                "text",
                "quote_state",
                "passage",
                "words",
                "support",
                "support_reason",
                "dropped_because",
            ),
            *TEXTS_OF_MADE_BY,
        ),
        _facts,
    ),
    "ledger": RunTable(
        ("case", "kind", "number", "criteria", "reason", *MADE_BY),
        ("case", "kind", "criteria", "reason", *TEXTS_OF_MADE_BY),
        _ledger,
    ),
}
