"""What the page says of a replication: by which choices it was made, and which reports it used may be stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from agreement.models import Replication, Report
from agreement.replication.choosing import STAGE, Options
from agreement.replication.files import ArtefactStatus
from agreement.reports.freshness import freshness_of
from agreement.reports.presentation import may_be_stale
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import group_choices
from consilium.core.i18n import listed
from consilium.core.ratings import Reads, reading_once

K = _("Threshold k")
JUDGES = _("Judges")
GROUPS = _("Expert groups")
WRITTEN = _("Responses that physicians wrote")
INTERVALS = _("Intervals")
SEED = _("Seed")


@dataclass(frozen=True)
class Fact:
    """A choice in words; ``is_usual``: nobody made it, so that the benchmark’s own data did."""

    label: str
    text: str
    is_usual: bool = False


@dataclass(frozen=True)
class Summary:
    """A replication that is done, and the states of its artefacts."""

    replication: Replication
    statuses: Sequence[ArtefactStatus]

    @cached_property
    def reports(self) -> list[Report]:
        """The reports that it used, each once."""
        return _each_once(report for status in self.statuses for report in status.reports)

    @property
    def facts(self) -> Iterator[Fact]:
        """By which choices it was made: those that were made for it, else whom and what its reports name."""
        options = Options.of_json(self.replication.options)
        yield from _fact(K, [str(options.k)] if options.k else [], self._parameters("k", self._with_k))
        yield from _fact(JUDGES, options.judges, [row["judge"] for row in self._raters if row["judge"]])
        names = _group_names(self.replication)
        chosen = [names.get(label, label) for label in with_stages(options.groups)]
        used = [row["rater"].removeprefix("group:") for row in self._raters if row["kind"] == "group"]
        yield from _fact(GROUPS, chosen, [names.get(label, label) for label in used])
        yield from _fact(
            WRITTEN, [options.candidate] if options.candidate else [], self._parameters("candidate", self.reports)
        )
        yield Fact(str(INTERVALS), str(Report.Interval(options.interval).label))
        yield Fact(str(SEED), str(options.seed))

    @property
    def _with_k(self) -> list[Report]:
        """The reports of artefacts that need k; others store one that their figures do not depend on."""
        statuses = [status for status in self.statuses if status.artefact.needs_k]
        return _each_once(report for status in statuses for report in status.reports)

    @staticmethod
    def _parameters(name: str, reports: Iterable[Report]) -> list[str]:
        values = (report.parameters.get(name) for report in reports)
        return list(dict.fromkeys(str(value) for value in values if value))

    @cached_property
    def _raters(self) -> list[Row]:
        """Whom the reports rest on, as rows of raters.csv."""
        return [row for report in self.reports for row in report.result["facts"].get("raters") or []]

    @cached_property
    def possibly_stale(self) -> list[Report]:
        """Reports whose raters or data have a recorded change since; one query for all."""
        stale = may_be_stale(
            self.reports, {report.pk: report.result["facts"].get("raters") or [] for report in self.reports}
        )
        return [report for report in self.reports if report.pk in stale]

    def checked(self) -> tuple[list[Report], list[Report]]:
        """Of these the reports that are stale, and those of which only the record tells that they may be.

        What several of them rest on is read once.
        """
        with reading_once(Reads()):
            fresh = {report.pk: freshness_of(report).fresh for report in self.possibly_stale}
        stale = [report for report in self.possibly_stale if fresh[report.pk] is False]
        return stale, [report for report in self.possibly_stale if fresh[report.pk] is None]

    def made_of(self, reports: Iterable[Report]) -> list[ArtefactStatus]:
        """The artefacts for which one of the reports was used."""
        keys = {report.pk for report in reports}
        return [status for status in self.statuses if any(report.pk in keys for report in status.reports)]


def _each_once(reports: Iterable[Report]) -> list[Report]:
    return list({report.pk: report for report in reports}.values())


def with_stages(groups: Iterable[str]) -> list[str]:
    """Groups as the form offers them: NAME@STAGE, where a command or program may leave out the stage."""
    names = (name.removeprefix("group:") for name in groups)
    return [name if "@" in name else f"{name}@{STAGE}" for name in names]


def _fact(label: object, chosen: Sequence[str], used: Sequence[str]) -> Iterator[Fact]:
    if chosen or used:
        yield Fact(str(label), listed(dict.fromkeys(chosen or used)), is_usual=not chosen)


def _group_names(replication: Replication) -> dict[str, str]:
    return {choice.rater.removeprefix("group:"): choice.label for choice in group_choices(replication.benchmark)}
