"""The judges whose verdicts a report uses, with their runs, as its page lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agreement.reports.tables import Row
from agreement.selectors.rater_choices import display_name
from scoring.judges.kinds.kind import JudgeKind, kind_named
from scoring.selectors.provenance import SHORT


@dataclass(frozen=True)
class JudgeInReport:
    """A judge whose verdicts a report uses, as it was when it gave them.

    A jury is listed before its members, of the kind ``jury``, without a run; ``model`` is its rule. A member's ``jury``
    names its jury, and is empty where that is the only rater.
    """

    name: str
    version: int | str
    kind: str
    model: str
    prompt: str
    hash: str
    run: str
    jury: str = ""

    @property
    def short_hash(self) -> str:
        """The first characters of the hash, as many as people compare."""
        return self.hash[:SHORT]

    @property
    def kind_info(self) -> JudgeKind:
        """The definition of its kind."""
        return kind_named(self.kind)


def judges_in_report(rows: Iterable[Row]) -> list[JudgeInReport]:
    """The judges among the raters of a report; none for a report computed before reports listed them."""
    shown = list(rows)
    juries = {row["rater"] for row in shown if kind_named(row["kind"]).has_members}
    # Where there is only one jury, its members need not name it.
    mixed = len({row["rater"] for row in shown if row["run"]}) > 1
    return [
        JudgeInReport(
            name=row["judge"] if row["run"] else display_name(row["rater"]),
            version=row["version"],
            kind=row["kind"],
            model=row["model"],
            prompt=row["prompt"],
            hash=row["prompt_hash"],
            run=row["run"],
            jury=display_name(row["rater"]) if mixed and row["run"] and row["rater"] in juries else "",
        )
        for row in shown
        if row["run"] or kind_named(row["kind"]).has_members
    ]
