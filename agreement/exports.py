"""A rater's decisions as rows that `import_decisions` takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db.models import Q

from annotation.models import Decision
from consilium.lib.csvfile import write_csv
from consilium.lib.errors import DomainError
from consilium.lib.ratings import Outcome
from rubrics.models import Benchmark, Response, RubricItem
from rubrics.parsing.decisions import COLUMNS
from scoring.raters import Rater, resolve_rater

TEXT_COLUMNS = ("case", "candidate", "criterion", "rater", "note", "setting")
WORDS = {
    Outcome.MET: "met",
    Outcome.NOT_MET: "not_met",
    Outcome.CANNOT_ASSESS: "cannot_assess",
    Outcome.INVALID: "invalid",
}


@dataclass
class DecisionExport:
    """The rows of one rater. ``left_out`` counts pairs without an outcome that a row can hold: ties of a group, and

    criteria found to be faulty; it is complete once `rows` has run to its end.
    """

    benchmark: Benchmark
    rater: Rater
    left_out: int = 0
    written: int = 0
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        other = Response.objects.filter(case__benchmark=self.benchmark).exclude(setting="chat").exists()
        # Only a benchmark with several settings needs the column that tells them apart.
        self.columns = (*COLUMNS, "setting") if other else COLUMNS

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each decided pair, by response and criterion in the order of their import."""
        ratings = self.rater.ratings()
        responses = self._responses(set(ratings.response.tolist()))
        criteria = self._criteria(set(ratings.criterion.tolist()))
        kind, _colon, name = self.rater.label.partition(":")
        person = name.rpartition("@")[0] if kind == "physician" else ""
        notes = self._notes(person) if person else {}
        for response, criterion, code in zip(
            ratings.response.tolist(), ratings.criterion.tolist(), ratings.outcome.tolist(), strict=True
        ):
            outcome = WORDS.get(Outcome(code))
            if outcome is None:
                self.left_out += 1
                continue
            case, candidate, sample, setting = responses[response]
            row = {
                "case": case,
                "candidate": candidate,
                "sample": sample,
                "criterion": criteria[criterion],
                "rater": person or self.rater.label,
                "outcome": outcome,
                "stage": "annotator",
                "note": notes.get((response, criterion), ""),
                "setting": setting,
            }
            self.written += 1
            yield {column: row[column] for column in self.columns}

    def _responses(self, ids: set[int]) -> dict[int, tuple[str, str, int, str]]:
        rows = Response.objects.filter(case__benchmark=self.benchmark, pk__in=ids)
        columns = ("pk", "case__key", "candidate__name", "sample", "setting")
        return {pk: (case, name, sample, setting) for pk, case, name, sample, setting in rows.values_list(*columns)}

    def _criteria(self, ids: set[int]) -> dict[int, int | str]:
        """Each criterion as its position in the published rubric; by its text where that has it no more."""
        items = RubricItem.objects.filter(criterion__case__benchmark=self.benchmark, criterion__in=ids)
        found: dict[int, int | str] = dict(items.values_list("criterion_id", "criterion__text"))
        current = items.filter(rubric__status="published", rubric__track="gold")
        found.update(current.values_list("criterion_id", "position"))
        return found

    def _notes(self, pseudonym: str) -> dict[tuple[int, int], str]:
        rows = Decision.objects.filter(
            assignment__annotator__pseudonyms__pseudonym=pseudonym,
            assignment__annotator__pseudonyms__benchmark=self.benchmark,
            assignment__case__benchmark=self.benchmark,
            assignment__purpose="work",
        ).exclude(Q(note="") | Q(assignment__status="released"))
        columns = ("assignment__response_id", "criterion_id", "note")
        return {(response, criterion): note for response, criterion, note in rows.values_list(*columns)}


def export_decisions(*, benchmark: Benchmark, rater: str, out: Path) -> DecisionExport:
    """Write what ``rater`` decided to ``out``, as CSV or JSONL by the end of its name; the whole file or none."""
    export = DecisionExport(benchmark, resolve_rater(benchmark, rater))
    if out.suffix == ".csv":
        write_csv(out, export.columns, export.rows(), text_columns=TEXT_COLUMNS)
    elif out.suffix == ".jsonl":
        partial = out.with_name(out.name + ".partial")
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in export.rows())
            partial.replace(out)
        finally:
            partial.unlink(missing_ok=True)
    else:
        raise DomainError("The name of the file must end in .csv or .jsonl.")
    return export
