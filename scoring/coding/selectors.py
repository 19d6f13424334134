"""Progress of runs that code, what they came to, and the codes that count for each judge."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from django.db.models import Exists, F, Func, JSONField, OuterRef, QuerySet, Value
from django.db.models.fields.json import KT

from rubrics.codes.code import NONE_OF_THESE
from rubrics.codes.selectors import CodeLine, lines_of
from rubrics.models import Benchmark, CodeBook, Criterion
from scoring.coding.config import CodingConfig
from scoring.coding.kind import CODED, INVALID, first_run
from scoring.models import CodedResponse, CodingRun, PipelineStep
from scoring.pipelines.selectors import STATUSES
from scoring.pipelines.steps import WITHHELD

CSV_COLUMNS = (
    *("case", "candidate", "setting", "sample", "response", "rater", "status", "error_kind", "error"),
    *("code", "criterion", "why", "evidence", "quotes_not_found", "tokens_in", "tokens_out", "latency_ms", "attempts"),
    "finished_at",
)
CSV_TEXT = (
    *("case", "candidate", "setting", "rater", "error_kind", "error", "code", "criterion", "why", "evidence"),
    "quotes_not_found",
)

RESPONSE = ("case", "candidate", "setting", "sample", "response")
USE = ("tokens_in", "tokens_out", "latency_ms", "attempts")
BLOCK = 500  # steps that are read at once

State = PipelineStep.State


# The state and the keys of the codes of an output, without its quotes and reasons: whole outputs are large.
STATE = KT("output__state")
GIVEN = Func(F("output"), Value("$.codes[*].code"), function="jsonb_path_query_array", output_field=JSONField())


def runs_on(benchmark: Benchmark) -> QuerySet[CodingRun]:
    """The runs of a benchmark, the newest first."""
    return CodingRun.objects.filter(benchmark=benchmark).select_related("created_by").defer("config")


def rater_of(run: CodingRun) -> str:
    """The judge as parameters of reports and files name it."""
    return f"judge:{run.judge_name}"


@dataclass(frozen=True, slots=True)
class CodeShare:
    """A code with the number of responses that a run gave it to."""

    line: CodeLine
    responses: int


@dataclass(frozen=True, slots=True)
class CodingResults:
    """What the answers of a run came to; ``invalid`` answers count for none of the others."""

    coded: int
    none: int
    invalid: int
    errors: list[tuple[str, int]]  # of the invalid answers, the most frequent first
    without_quote: int  # answers with a quote that is not in the response
    reused: int  # answers that an earlier run had received
    codes: list[CodeShare]


def book_of(run: CodingRun) -> CodeBook:
    """The version of the code book that it codes by."""
    return CodeBook.objects.get(coding_runs__run=first_run(run))


def results_of(run: CodingRun) -> CodingResults:
    """The answers so far, by code; two queries."""
    done = run.steps.filter(state=State.DONE).order_by()
    fields = ("answer", "given", "findings", "fault", "call__run")
    answers = list(done.annotate(answer=STATE, given=GIVEN, fault=KT("output__fault")).values_list(*fields))
    coded = [codes for state, codes, *_rest in answers if state == CODED]
    errors = Counter(fault for state, _codes, _findings, fault, _run in answers if state != CODED)
    counts = Counter(code for codes in coded for code in codes)
    return CodingResults(
        coded=len(coded),
        none=sum(not codes for codes in coded),
        invalid=len(answers) - len(coded),
        errors=errors.most_common(),
        without_quote=sum(bool(findings) for _state, _codes, findings, *_rest in answers),
        reused=0 if run.replay else sum(call_run not in (None, run.pk) for *_rest, call_run in answers),
        codes=[CodeShare(line, counts[line.key]) for line in lines_of(book_of(run))],
    )


def settings_of(run: CodingRun) -> list[tuple[str, str]]:
    """The decoding settings that were sent, named as they are in a request."""
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in run.terms.get("settings", {}).items()]


def initial_of(run: CodingRun) -> dict[str, Any]:
    """The settings and the frame of a run as the form shows them."""
    settings = {name: value for name, value in run.config.items() if name in CodingConfig.model_fields}
    frame = {**run.frame, "responses": run.frame["responses"] or None}
    return {**settings, **frame, "book": str(run.book_version), "budget": run.budget}


# Answers one by one ---------------------------------------------------------------------------------------------------


class CodedSteps(Sequence[dict[str, Any]]):
    """The responses of a run with the codes that the judge gave, as the API has them; reads what is asked for."""

    def __init__(self, run: CodingRun) -> None:
        self.run = run
        self.steps = run.steps.order_by("pk")

    def __len__(self) -> int:
        return self.steps.count()

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(place, slice):
            return list(self._read(self.steps[place]))
        return self[place : place + 1][0]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """All of them, a block at a time."""
        for begin in range(0, len(self), BLOCK):
            yield from self[begin : begin + BLOCK]

    def _read(self, steps: QuerySet[PipelineStep]) -> Iterator[dict[str, Any]]:
        rows = list(
            steps.values_list(
                *("case", "key", "state", "error_kind", "error", "output"),
                *("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at"),
            )
        )
        coded = CodedResponse.objects.filter(
            step__run=first_run(self.run), step__case__in={row[0] for row in rows}
        ).values_list(
            *("step__case", "step__key", "response__case__key", "response__candidate__name"),
            *("response__setting", "response__sample", "response__public_id"),
        )
        responses = {(case, key): own for case, key, *own in coded}
        outputs = [row[5] for row in rows if row[5] is not None]
        criteria = {code["criterion"] for output in outputs for code in output["codes"]} - {None}
        texts = dict(Criterion.objects.filter(pk__in=criteria).values_list("pk", "text"))
        for case, key, state, error_kind, error, output, *counts, finished_at in rows:
            yield {
                **dict(zip(RESPONSE, responses[case, key], strict=True)),
                "rater": rater_of(self.run),
                "status": STATUSES[State(state)],
                "error_kind": error_kind or (output or {}).get("fault", ""),
                "error": error,
                "state": output["state"] if output else STATUSES[State(state)],
                "codes": [_given(code, texts) for code in output["codes"]] if output else [],
                **dict(zip(USE, counts, strict=True)),
                "finished_at": None if finished_at is None else finished_at.isoformat(timespec="seconds"),
            }


def _given(code: dict[str, Any], texts: Mapping[int, str]) -> dict[str, Any]:
    return {
        "code": code["code"],
        "criterion": "" if code["criterion"] is None else texts[code["criterion"]],
        "why": code["why"],
        "evidence": [words["quote"] for words in code["evidence"]],
        "quotes_not_found": code["absent"],
    }


def csv_rows(run: CodingRun) -> Iterator[tuple[Any, ...]]:
    """Rows of `CSV_COLUMNS`: one for each code, one with ``none`` or ``invalid`` for an answer without codes, and one
    for a response that was not coded.
    """
    for step in CodedSteps(run):
        word = {INVALID: INVALID, CODED: NONE_OF_THESE}.get(step["state"], "")
        none = {"code": word, "criterion": "", "why": "", "evidence": (), "quotes_not_found": ()}
        for place, code in enumerate(step["codes"] or [none]):
            # The use of the endpoint stands in the first row of a response alone, so that sums are right.
            row = {**step, **code, **(dict.fromkeys(USE) if place else {})}
            row |= {name: " | ".join(code[name]) for name in ("evidence", "quotes_not_found")}
            yield tuple(row[name] for name in CSV_COLUMNS)


# What counts for a judge ----------------------------------------------------------------------------------------------


def counting_runs(book: CodeBook) -> dict[str, CodingRun]:
    """Judge → the run by a version of the code book that counts for it; replays do not.

    That is the newest in which every answer came, cases aside that may not be sent any more; where there is none, the
    newest that ended with some answers. The others are counted as failed (`coding_by`).
    """
    ended = (CodingRun.Status.FINISHED, CodingRun.Status.INCOMPLETE)
    steps = PipelineStep.objects.filter(run=OuterRef("pk"))
    lacking = steps.exclude(state=State.DONE).exclude(error_kind=WITHHELD)
    rows = CodingRun.objects.filter(coding_book__book=book, status__in=ended, replay=False).defer("config")
    rows = rows.filter(Exists(steps.filter(state=State.DONE)))
    runs: dict[str, CodingRun] = {}
    for run in rows.annotate(lacks=Exists(lacking)).order_by("lacks", "-finished_at", "-pk"):
        runs.setdefault(run.judge_name, run)
    return dict(sorted(runs.items()))


def judges_that_coded(benchmark: Benchmark) -> list[str]:
    """The names of the judges of which a run counts, by any version of the code book."""
    books = CodeBook.objects.filter(benchmark=benchmark, coding_runs__isnull=False).distinct()
    return sorted({name for book in books for name in counting_runs(book)})


def newest_book_of_judges(benchmark: Benchmark) -> CodeBook | None:
    """The newest version of the code book by which a run of a judge has ended."""
    books = CodeBook.objects.filter(benchmark=benchmark, coding_runs__isnull=False).distinct().order_by("-version")
    return next((book for book in books if counting_runs(book)), None)


@dataclass(frozen=True, slots=True)
class JudgeCoding:
    """What a judge's run says: response → its codes, on cases that are not excluded.

    ``n_invalid``: answers that stayed faulty; ``n_failed``: responses to which no answer came.
    """

    run: CodingRun
    codes: dict[int, frozenset[str]]
    n_invalid: int
    n_failed: int


def coding_by(run: CodingRun) -> JudgeCoding:
    """The codes of a run that is no replay; one query."""
    steps = run.steps.filter(coded__response__case__excluded_at=None).order_by("coded__response")
    answers = steps.annotate(answer=STATE, given=GIVEN)
    codes: dict[int, frozenset[str]] = {}
    n_invalid = n_failed = 0
    for response, step, answer, given in answers.values_list("coded__response", "state", "answer", "given"):
        if step != State.DONE:
            n_failed += 1
        elif answer == CODED:
            codes[response] = frozenset(given)
        else:
            n_invalid += 1
    return JudgeCoding(run, codes, n_invalid, n_failed)
