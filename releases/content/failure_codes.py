"""Codes of failures in a release: the code book, and what physicians, adjudicators and judges gave by it.

Every row names a response of the release. Nothing is sorted by ids of rows, so another database gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import F, QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.codes.batches import code_question
from annotation.models import CodeRuling, LabelAnswer, LabelTask, Physician
from consilium.core.errors import DomainError
from consilium.llm.coding import coding_prompt, prompt_digest
from releases.content.acuity_files import json_cell
from releases.content.code_files import (
    ADJUDICATION,
    CODES_TEXT,
    COUNTED,
    JUDGES,
    PHYSICIANS,
    PROMPTS,
    RULINGS,
    TABLES,
    book_path,
    rater_named,
)
from releases.content.folder import Folder
from releases.content.optional_content import responses_to_release
from releases.content.options import ReleaseOptions
from rubrics.codes.code import NONE_OF_THESE
from rubrics.codes.reading import as_records
from rubrics.models import Benchmark, CodeBook, Response, RubricItem
from scoring.coding.config import coding_config
from scoring.coding.kind import CODED, INVALID
from scoring.coding.selectors import counting_runs, judges_that_coded
from scoring.models import CodedResponse, CodingRun, PipelineStep

# Settings of a run that a file may show; others may name an endpoint or a key.
_SHOWN = ("temperature", "top_p", "max_tokens", "seed")
_OF_RESPONSE = {"case": "case__key", "candidate": "candidate__name", "setting": "setting", "sample": "sample"}


def used_books(benchmark: Benchmark) -> QuerySet[CodeBook]:
    """The versions of the code book by which anything was coded, or given out to be coded."""
    return CodeBook.objects.filter(benchmark=benchmark, used_at__isnull=False).order_by("version")


def has_codes(benchmark: Benchmark) -> bool:
    """Whether a coding was handed in, or a judge has finished one; a book is in use before, once anything is begun."""
    return _handed_in(benchmark).exists() or bool(judges_that_coded(benchmark))


def check(benchmark: Benchmark, options: ReleaseOptions) -> None:
    """`DomainError` where the options ask for codes that cannot be there."""
    if not options.codes:
        return
    if not options.responses:
        raise DomainError(
            _("Codes of failures are released only together with the responses: select those as well."), field="codes"
        )
    if not has_codes(benchmark):
        raise DomainError(_("No response has been coded yet, so there are no codes to release."), field="codes")


def answers_to_release(benchmark: Benchmark, responses: QuerySet[Response]) -> QuerySet[LabelAnswer]:
    """What physicians handed in about the codes of some responses."""
    return _handed_in(benchmark).filter(task__response__in=responses)


def _handed_in(benchmark: Benchmark) -> QuerySet[LabelAnswer]:
    return LabelAnswer.objects.filter(question__code_book__benchmark=benchmark, task__status=LabelTask.Status.SUBMITTED)


def write_codes(benchmark: Benchmark, options: ReleaseOptions, folder: Folder, left_out: Counter[str]) -> Counter[str]:
    """Write the files; return counts of rows."""
    content = _Content(benchmark, options, left_out)
    counts: Counter[str] = Counter(code_books=len(content.books))
    for book in content.books:
        folder.jsonl(book_path(book.version), as_records(book.entries))
    for path, rows in (
        (PHYSICIANS, content.by_physicians()),
        (RULINGS, content.rulings()),
        (JUDGES, content.by_judges()),
    ):
        counts[COUNTED[path]] = folder.csv(path, TABLES[path], rows, text_columns=CODES_TEXT)
    for path, prompt in content.prompts():
        folder.json(path, prompt)
        counts["coding_runs"] += 1
    return counts


@dataclass
class _Content:
    """The rows of the files. ``left_out`` counts codes whose criterion is not in the published version: the code is in
    the release, and the criterion is not.
    """

    benchmark: Benchmark
    options: ReleaseOptions
    left_out: Counter[str]
    books: list[CodeBook] = field(init=False)

    def __post_init__(self) -> None:
        self.books = list(used_books(self.benchmark))

    @cached_property
    def _positions(self) -> dict[int, int]:
        """Criterion → its place in the published version."""
        items = RubricItem.objects.filter(
            rubric__status="published", rubric__track="gold", rubric__case__benchmark=self.benchmark
        )
        return dict(items.values_list("criterion_id", "position"))

    @cached_property
    def _runs(self) -> list[tuple[CodeBook, str, CodingRun]]:
        """The run that counts for each judge by each version, by the name of the judge."""
        return [
            (book, judge, run)
            for book in self.books
            for judge, run in sorted(counting_runs(book).items())
            if not self.options.judges or judge in self.options.judges
        ]

    def by_physicians(self) -> Iterator[dict[str, Any]]:
        """The last answer of each physician on each response, a row for each code."""
        names = dict(Physician.objects.filter(benchmark=self.benchmark).values_list("user_id", "pseudonym"))
        answers = answers_to_release(self.benchmark, self._responses())
        for book in self.books:
            rows = answers.filter(question=code_question(book)).values(
                *("codes", "note"),
                response=F("task__response"),
                coder=F("task__annotator"),
                group=F("task__batch__group__name"),
                **_of_response("task__response"),
            )
            rows = rows.order_by("task__submitted_at", "group", "pk")
            latest = {(row["response"], row["coder"]): {**row, "rater": names.get(row["coder"], "")} for row in rows}
            for row in sorted(latest.values(), key=lambda row: (*_place(row), row["rater"])):
                for code in _in_order(book, row["codes"]):
                    yield {
                        **_named(book, row),
                        **{name: row[name] for name in ("rater", "group")},
                        **self._code(code),
                        "note": row["note"] if self.options.notes else "",
                    }

    def rulings(self) -> Iterator[dict[str, Any]]:
        """What adjudicators ruled, a row for each code."""
        for book in self.books:
            given = CodeRuling.objects.filter(
                question=code_question(book), ruled_at__isnull=False, response__in=self._responses()
            )
            rows = given.values("codes", "note", of_group=F("group__name"), **_of_response("response"))
            for row in sorted(rows.order_by(), key=_place):
                for code in row["codes"] or [NONE_OF_THESE]:  # in the order of the book
                    yield {
                        **_named(book, row),
                        "rater": ADJUDICATION,
                        "group": row["of_group"],
                        "code": code,
                        "note": row["note"] if self.options.notes else "",
                    }

    def by_judges(self) -> Iterator[dict[str, Any]]:
        """What the judges' runs say, a row for each code, and one for an answer that could not be read."""
        for book, judge, run in self._runs:
            answered = CodedResponse.objects.filter(
                step__run=run, step__state=PipelineStep.State.DONE, response__in=self._responses()
            )
            rows = answered.values(output=F("step__output"), **_of_response("response"))
            for row in sorted(rows.order_by(), key=_place):
                output = row["output"]
                named = {**_named(book, row), "rater": rater_named(judge)}
                if output["state"] != CODED:
                    yield {**named, "state": INVALID, "code": "", "criterion": "", "why": "", "evidence": "[]"}
                    continue
                for code in _in_order(book, output["codes"]):
                    yield {**named, "state": CODED, **self._code(code), "why": code.get("why", "")}

    def prompts(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(name of the file, its content) for each run; what was asked only where this version still asks the same."""
        taken: set[str] = set()
        for book, judge, run in self._runs:
            stem = f"{slugify(judge) or 'judge'}-book-{book.version}"
            stem = next(name for n in range(1, 10_000) if (name := stem if n == 1 else f"{stem}-{n}") not in taken)
            taken.add(stem)
            terms = run.terms
            config = coding_config(run.config, may_call=False)
            prompt = coding_prompt(config.options, with_criteria=config.criteria)
            settings = terms.get("settings", {})
            yield (
                f"{PROMPTS}{stem}.json",
                {
                    "judge": judge,
                    "code_book": book.version,
                    "model": run.model_name,
                    "language": terms.get("language", ""),
                    "criteria": terms.get("criteria", False),
                    "prompt_hash": terms.get("prompt_hash", ""),
                    "prompt": prompt if prompt_digest(prompt) == terms.get("prompt_hash") else None,
                    "settings": {name: settings[name] for name in _SHOWN if name in settings},
                },
            )

    def _responses(self) -> QuerySet[Response]:
        return responses_to_release(self.benchmark, self.options)

    def _code(self, code: Mapping[str, Any]) -> dict[str, Any]:
        position = self._positions.get(code["criterion"]) if code["criterion"] else None
        if code["criterion"] and position is None:
            self.left_out["codes_tied_to_earlier_criteria"] += 1
        quotes = [words["quote"] for words in code["evidence"]]
        return {"code": code["code"], "criterion": position, "evidence": json_cell(quotes)}


_NONE: Mapping[str, Any] = {"code": NONE_OF_THESE, "criterion": None, "evidence": []}


def _in_order(book: CodeBook, codes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The codes in the order of the book; the code ``none`` where there are none."""
    places = {code["key"]: place for place, code in enumerate(book.codes)}
    return sorted(codes, key=lambda code: places[code["code"]]) or [_NONE]


def _of_response(path: str) -> dict[str, Any]:
    return {name: F(f"{path}__{of}") for name, of in _OF_RESPONSE.items()}


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _OF_RESPONSE)


def _named(book: CodeBook, row: Mapping[str, Any]) -> dict[str, Any]:
    return {"code_book": book.version, **{name: row[name] for name in _OF_RESPONSE}}
