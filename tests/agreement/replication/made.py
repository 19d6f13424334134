"""Plans and makes single artefacts for the tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from agreement.models import NamedSlice, Replication
from agreement.replication.choosing import Choices, Options
from agreement.replication.files import ArtefactStatus, made_of
from agreement.replication.making import make, planned
from agreement.replication.papers import PAPERS
from agreement.replication.published import row_name
from agreement.reports.tables import Row
from rubrics.models import Benchmark


@dataclass(frozen=True)
class Made:
    """What became of an artefact, or is planned of it."""

    status: ArtefactStatus

    @property
    def state(self) -> str:
        return str(self.status.state)

    @property
    def missing(self) -> list[str]:
        return [str(gap.what) for gap in self.status.gaps]

    @property
    def rows(self) -> list[Row]:
        return self.status.table.dicts() if self.status.table else []

    @property
    def names(self) -> list[str]:
        """The names of its rows in a file of published values."""
        return [row_name(self.status.artefact, row) for row in self.rows]


def _of(benchmark: Benchmark, paper: str, outcomes: list[dict[str, Any]]) -> dict[str, Made]:
    replication = Replication(benchmark=benchmark, paper=paper, result=outcomes)
    return {status.artefact.key: Made(status) for status in made_of(replication)}


def plan(benchmark: Benchmark, paper: str, options: Options | None = None) -> dict[str, Made]:
    """What can be made of a paper before anything is computed, by artefact."""
    choices = Choices(benchmark, options or Options())
    return _of(benchmark, paper, list(planned(PAPERS[paper], choices)))


def make_artefacts(benchmark: Benchmark, paper: str, *keys: str, options: Options | None = None) -> dict[str, Made]:
    """Some artefacts of a paper as they are made."""
    artefacts = tuple(artefact for artefact in PAPERS[paper].artefacts if artefact.key in keys)
    part = replace(PAPERS[paper], artefacts=artefacts)
    choices = Choices(benchmark, options or Options())
    return _of(benchmark, paper, make(part, choices, clock=timezone.now, replication=None))


def slice_by(rule: str, benchmark: Benchmark, slug: str, n: int) -> NamedSlice:
    """A named slice of the first so many cases, by a rule."""
    cases = benchmark.cases.order_by("pk").values_list("pk", flat=True)[:n]
    return NamedSlice.objects.create(
        benchmark=benchmark,
        slug=slug,
        title=slug,
        rule=rule,
        case_ids=list(cases),
        input_digest="0" * 64,
        created_at=timezone.now(),
    )
