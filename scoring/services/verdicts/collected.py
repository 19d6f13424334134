"""Verdicts of a file, collected before anything of the run is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from rubrics.parsing.faults import Faults


@dataclass(frozen=True, slots=True)
class CollectedVerdict:
    """A verdict and its line."""

    line: int
    outcome: str
    explanation: str


@dataclass(slots=True)
class Collected:
    """Verdicts by (response, criterion, replicate), and the rubric of each response that the files are about."""

    faults: Faults
    verdicts: dict[tuple[int, int, int], CollectedVerdict] = field(default_factory=dict)
    rubrics: dict[int, int] = field(default_factory=dict)

    def add(
        self,
        response: int,
        criterion: int,
        rubric: int,
        verdict: CollectedVerdict,
        replicate: int = 0,
        place: str = "criterion",
    ) -> None:
        """Note a verdict; a fault at ``place`` if the same pair and replicate already has one."""
        known = self.verdicts.get((response, criterion, replicate))
        if known is not None:
            message = _(
                "This verdict is already on line %(line)s. If a judge was asked several times, number "
                "its answers in the column “replicate”: 0, 1, …"
            ) % {"line": known.line}
            self.faults.add(verdict.line, place, message)
            return
        self.verdicts[response, criterion, replicate] = verdict
        self.rubrics[response] = rubric

    def ordered(self) -> Iterator[tuple[int, int, int, CollectedVerdict]]:
        """All verdicts, by response, criterion and replicate."""
        for key in sorted(self.verdicts):
            yield *key, self.verdicts[key]

    @property
    def n_replicates(self) -> int:
        """How many different replicates there are."""
        return len({replicate for _response, _criterion, replicate in self.verdicts})

    def digest(self) -> str:
        """SHA-256 of the verdicts, and of the responses without one, independent of the order of the file."""
        digest = hashlib.sha256()
        for response, criterion, replicate, verdict in self.ordered():
            # The first replicate has no number, as before replicates existed, so that a file keeps its digest.
            number = f"\x1f{replicate}" if replicate else ""
            digest.update(
                f"{response}\x1f{criterion}\x1f{verdict.outcome}\x1f{verdict.explanation}{number}\x1e".encode()
            )
        judged = {response for response, _criterion, _replicate in self.verdicts}
        for response in sorted(self.rubrics.keys() - judged):
            digest.update(f"{response}\x1e".encode())
        return digest.hexdigest()
