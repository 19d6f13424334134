"""The input of a report on cost and quality: one rater's scores, and what is known of the candidates."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.frontier.costs import Cost, read_costs
from consilium.statistics.intervals import IntervalRule
from rubrics.models import Benchmark, Candidate, Case
from rubrics.selectors.attributes import attributes_of
from rubrics.services.attribute_values import AttributeValues
from scoring.scores.grid import Grid, grid_of
from scoring.scores.lengths import read_lengths
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.score_columns import Columns
from scoring.scores.score_tables import digest_of_sheet
from scoring.scores.sheet import OVERALL, Sheet, Slice, read_sheet
from scoring.selectors.raters import Rater, require_verdicts, resolve_rater


@dataclass(frozen=True, eq=False)
class Inputs:
    """Candidates are in the places of the sheet; ``order`` has these places by name."""

    rater: Rater
    sheet: Sheet
    grid: Grid
    columns: Columns
    names: list[str]
    kinds: list[str]
    attributes: list[AttributeValues]
    costs: list[Cost]
    lengths: NDArray[np.float64]  # the mean length of the responses of each candidate, in code points
    counts: list[int]  # how many responses each candidate has in the report
    digest: str

    @property
    def order(self) -> list[int]:
        """Places of candidates by name."""
        return sorted(range(len(self.names)), key=lambda place: self.names[place])


def read_inputs(benchmark: Benchmark, *, rater: str, k: int, rule: IntervalRule | None = None) -> Inputs:
    """Read them, and a digest over all of them. Without a ``rule`` no figure has an interval."""
    resolved = resolve_rater(benchmark, rater)
    require_verdicts(resolved)
    sheet = read_sheet(benchmark, resolved)
    grid = grid_of(sheet, [Slice(OVERALL)], DEFAULT_RULES)
    ids = sheet.candidate_ids.tolist()
    candidates = Candidate.objects.select_related("attributes").in_bulk(ids)
    names = [candidates[pk].name for pk in ids]
    attributes = [attributes_of(candidates[pk]) for pk in ids]
    costs = read_costs(benchmark, attributes, sheet.response_ids, sheet.response_candidate)
    length = read_lengths(benchmark, sheet.response_ids) if len(sheet.response_ids) else np.empty(0, dtype=np.int64)
    counts = np.bincount(sheet.response_candidate, minlength=len(ids))
    sums = np.bincount(sheet.response_candidate, weights=length, minlength=len(ids))
    keys = dict(Case.objects.filter(pk__in=sheet.case_ids.tolist()).values_list("pk", "key"))
    behind = [
        digest_of_sheet(sheet, resolved.label, names, [keys[pk] for pk in sheet.case_ids.tolist()]),
        length.tolist(),
        [astuple(each) for each in attributes],
        [astuple(each) for each in costs],
    ]
    return Inputs(
        rater=resolved,
        sheet=sheet,
        grid=grid,
        columns=Columns(sheet, grid, k, resolved.undecided_by, rule=rule, seed=0),
        names=names,
        kinds=[candidates[pk].kind for pk in ids],
        attributes=attributes,
        costs=costs,
        lengths=sums / np.maximum(counts, 1),
        counts=counts.tolist(),
        digest=hashlib.sha256(json.dumps(behind, default=str).encode()).hexdigest(),
    )
