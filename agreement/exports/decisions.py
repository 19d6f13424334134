"""Streams a rater's decisions as rows that `import_decisions` reads, in constant memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Q
from django.http import StreamingHttpResponse
from django.utils.text import slugify

from annotation.models import Decision
from annotation.selectors.ratings import faulty_pairs, with_faulty
from consilium.core.csvfile import beginning
from consilium.core.errors import DomainError
from consilium.core.ratings import Ratings, copy_columns, windows
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Response
from rubrics.parsing.decisions import COLUMNS
from scoring.selectors.raters import Rater, require_verdicts, resolve_rater

TEXT_COLUMNS = ("case", "candidate", "criterion", "rater", "note", "setting")
# The largest number of pairs in a window.
WINDOW = 100_000
# The outcomes that a file of decisions can hold; others are counted and left out.
WORDS = {
    int(outcome): outcome.word for outcome in (Outcome.NOT_MET, Outcome.MET, Outcome.CANNOT_ASSESS, Outcome.INVALID)
}
STAGE = "annotator"
_SIZES = """
    SELECT r.id, (SELECT count(*) FROM rubrics_criterion k WHERE k.case_id = r.case_id)
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id
    WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
"""
# Two queries that look up rows by these ids. A single query with a left join would read both tables in full each time.
_POSITIONS = """
    SELECT i.criterion_id, i.position FROM rubrics_rubricitem i JOIN rubrics_rubric u ON u.id = i.rubric_id
    WHERE i.criterion_id = ANY(%(ids)s) AND u.status = 'published' AND u.track = 'gold'
"""
_TEXTS = "SELECT id, text FROM rubrics_criterion WHERE id = ANY(%(ids)s)"


@dataclass(frozen=True, eq=False)
class _Window:
    """Decided pairs of some responses, and what their ids stand for."""

    ratings: Ratings
    responses: dict[int, tuple[str, str, int, str]]  # case, candidate, sample, setting
    criteria: dict[int, int | str]
    notes: dict[tuple[int, int], str]


@dataclass
class DecisionExport:
    """The decisions of one rater. ``left_out`` counts pairs without an outcome that a row can hold (ties of a group),
    ``n_faulty`` those whose criterion an adjudicator found faulty on the response. No score and no agreement figure
    uses these pairs, whatever the rater decided, so a file with them would give different figures elsewhere. Both
    counts and ``written`` are complete once `rows` or `csv` has run to its end.
    """

    benchmark: Benchmark
    rater: Rater
    window: int = WINDOW
    left_out: int = 0
    n_faulty: int = 0
    written: int = 0
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        other = Response.objects.filter(case__benchmark=self.benchmark).exclude(setting="chat").exists()
        # Only a benchmark with several settings needs the column that tells them apart.
        self.columns = (*COLUMNS, "setting") if other else COLUMNS
        self._stage = "" if self.rater.is_judge else STAGE  # a judge has none; an import takes both
        kind, _colon, name = self.rater.label.partition(":")
        self._person = name.rpartition("@")[0] if kind == "physician" else ""

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each decided pair, by response and criterion in the order of their import."""
        for window in self._windows():
            ratings = window.ratings
            for response, criterion, code in zip(
                ratings.response.tolist(), ratings.criterion.tolist(), ratings.outcome.tolist(), strict=True
            ):
                case, candidate, sample, setting = window.responses[response]
                row = {
                    "case": case,
                    "candidate": candidate,
                    "sample": sample,
                    "criterion": window.criteria[criterion],
                    "rater": self._person or self.rater.label,
                    "outcome": WORDS[code],
                    "stage": self._stage,
                    "note": window.notes.get((response, criterion), ""),
                    "setting": setting,
                }
                yield {column: row[column] for column in self.columns}

    def csv(self) -> Iterator[str]:
        """The same as a CSV file in pieces, byte for byte what `consilium.core.csvfile.stream_csv` makes of `rows`.

        The text of each case, criterion and outcome is formatted once, and joined for each row.
        """
        yield ",".join(self.columns) + "\n"
        rater = self._person or self.rater.label
        middle = [beginning((rater, WORDS[code], self._stage), is_text=(True, False, False)) for code in sorted(WORDS)]
        with_setting = "setting" in self.columns
        for window in self._windows():
            first, last = {}, {}
            for pk, (case, candidate, sample, setting) in window.responses.items():
                first[pk] = beginning((case, candidate, sample), is_text=(True, True, False))
                last[pk] = "," + beginning((setting,), is_text=(True,))[:-1] + "\n" if with_setting else "\n"
            criteria = {pk: beginning((named,), is_text=(True,)) for pk, named in window.criteria.items()}
            notes = {pair: beginning((note,), is_text=(True,))[:-1] for pair, note in window.notes.items()}
            pairs = zip(
                window.ratings.response.tolist(),
                window.ratings.criterion.tolist(),
                window.ratings.outcome.tolist(),
                strict=True,
            )
            if notes:
                lines = [f"{first[r]}{criteria[c]}{middle[o]}{notes.get((r, c), '')}{last[r]}" for r, c, o in pairs]
            else:
                lines = [f"{first[r]}{criteria[c]}{middle[o]}{last[r]}" for r, c, o in pairs]
            yield "".join(lines)

    def _windows(self) -> Iterator[_Window]:
        sizes = copy_columns(_SIZES, {"benchmark": self.benchmark.pk}, types={"id": "int8", "n": "int8"})
        faulty = faulty_pairs(self.benchmark)
        for span, _done in windows(sizes["id"], sizes["n"], self.window):
            read = with_faulty(self.rater.ratings(span), faulty.within(span))
            kept = np.isin(read.outcome, list(WORDS))
            ratings = Ratings(read.response[kept], read.criterion[kept], read.outcome[kept])
            n_faulty = int((read.outcome == Outcome.FAULTY).sum())
            self.n_faulty += n_faulty
            self.left_out += len(read) - len(ratings) - n_faulty
            self.written += len(ratings)
            if len(ratings):
                ends = int(ratings.response[0]), int(ratings.response[-1])
                yield _Window(ratings, self._responses(ends), self._criteria(ratings), self._notes(ends))

    def _responses(self, ends: tuple[int, int]) -> dict[int, tuple[str, str, int, str]]:
        rows = Response.objects.filter(case__benchmark=self.benchmark, pk__range=ends)
        columns = ("pk", "case__key", "candidate__name", "sample", "setting")
        return {pk: (case, name, sample, setting) for pk, case, name, sample, setting in rows.values_list(*columns)}

    def _criteria(self, ratings: Ratings) -> dict[int, int | str]:
        """Each criterion by its position in the published rubric, or by its text where that rubric no longer has it."""
        ids = np.unique(ratings.criterion).tolist()
        with connection.cursor() as cursor:
            cursor.execute(_POSITIONS, {"ids": ids})
            labels_by_id: dict[int, int | str] = dict(cursor.fetchall())
            if others := [pk for pk in ids if pk not in labels_by_id]:
                cursor.execute(_TEXTS, {"ids": others})
                labels_by_id.update(cursor.fetchall())
        return labels_by_id

    def _notes(self, ends: tuple[int, int]) -> dict[tuple[int, int], str]:
        if not self._person:
            return {}
        rows = Decision.objects.filter(
            assignment__annotator__pseudonyms__pseudonym=self._person,
            assignment__annotator__pseudonyms__benchmark=self.benchmark,
            assignment__case__benchmark=self.benchmark,
            assignment__purpose="work",
            assignment__response__id__range=ends,
        ).exclude(Q(note="") | Q(assignment__status="released"))
        columns = ("assignment__response_id", "criterion_id", "note")
        return {(response, criterion): note for response, criterion, note in rows.values_list(*columns)}


def decisions_file(benchmark: Benchmark, rater: str) -> StreamingHttpResponse:
    """What ``rater`` decided as a CSV file to download; `UnknownRater`, `NoRatings` before anything is sent."""
    resolved = resolve_rater(benchmark, rater)
    require_verdicts(resolved)
    response = StreamingHttpResponse(DecisionExport(benchmark, resolved).csv(), content_type="text/csv; charset=utf-8")
    name = slugify(f"{benchmark.slug} {resolved.label}".replace(":", " ").replace("@", " ")) or "decisions"
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def export_decisions(*, benchmark: Benchmark, rater: str, out: Path) -> DecisionExport:
    """Write what ``rater`` decided to ``out``, as CSV or JSONL by the end of its name; the whole file or none."""
    export = DecisionExport(benchmark, resolve_rater(benchmark, rater))
    if out.suffix == ".csv":
        pieces = export.csv()
    elif out.suffix == ".jsonl":
        pieces = (json.dumps(row, ensure_ascii=False) + "\n" for row in export.rows())
    else:
        raise DomainError("The name of the file must end in .csv or .jsonl.")
    partial = out.with_name(out.name + ".partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return export
