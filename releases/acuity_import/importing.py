"""What the parts of an import share: the rows of the release, the rows of the benchmark, faults and counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from accounts.models import User
from consilium.core.errors import ImportRefused, LineError
from releases.verification.acuity_content import (
    AcuityContent,
    AcuityFaults,
    ResponseKey,
    ScaleKey,
    SchemeKey,
    moment,
)
from rubrics.imports.candidates import Candidates
from rubrics.models import AcuityImport, AcuityScale, Benchmark, LabelScheme
from scoring.models import JudgeRun, PipelineRun

MAX_LISTED = 50


@dataclass
class AcuityImporting:
    """An import on its way. Parts fill ``scales`` … ``cases``, which later parts need."""

    benchmark: Benchmark
    content: AcuityContent
    release: str  # short name and version
    by: User | None
    at: datetime
    faults: AcuityFaults = field(default_factory=AcuityFaults)
    counts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    warnings: list[str] = field(default_factory=list)
    scales: dict[ScaleKey, AcuityScale] = field(default_factory=dict)
    schemes: dict[SchemeKey, LabelScheme] = field(default_factory=dict)
    imports: dict[int, AcuityImport] = field(default_factory=dict)
    cases: Mapping[str, int] = field(default_factory=dict)
    responses: Mapping[ResponseKey, int] = field(default_factory=dict)
    choices: dict[str, PipelineRun] = field(default_factory=dict)  # by their lasting ids
    judged: dict[str, JudgeRun] = field(default_factory=dict)

    @cached_property
    def candidates(self) -> Candidates:
        """The candidates of the benchmark; look them up before a ``COPY``, during which nothing can be asked."""
        return Candidates(self.benchmark)

    def count(self, name: str, *, created: int = 0, unchanged: int = 0) -> None:
        """Count rows."""
        self.counts[name].update(created=int(created), unchanged=int(unchanged))

    def refuse_if_any(self) -> None:
        """`ImportRefused` with the faults up to here."""
        refuse(self.faults)


def checked_moment(text: str) -> datetime:
    """A time that the checks have found to be one."""
    at = moment(text)
    assert at is not None
    return at


def refuse(faults: AcuityFaults) -> None:
    """`ImportRefused` if there is a fault; the field of each is preceded by its file."""
    if faults.total:
        errors = [
            LineError(fault.line, f"{fault.file} {fault.field}".strip(), fault.message)
            for fault in faults.first[:MAX_LISTED]
        ]
        raise ImportRefused(errors, faults.total)
