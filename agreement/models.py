"""Stored reports: figures about raters, with everything needed to compute them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from consilium.core.identifiers import new_public_id
from consilium.core.jobs import Job
from consilium.core.limits import MAX_PERSON_NAME_LENGTH, MAX_SLICE_SLUG_LENGTH, MAX_TITLE_LENGTH
from rubrics.models import AcuityScale, Benchmark

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise


class ReportQuerySet(models.QuerySet["Report"]):
    """Reports by what lists show."""

    def current(self) -> ReportQuerySet:
        """Those that are not archived."""
        return self.filter(archived_at=None)

    def archived(self) -> ReportQuerySet:
        """Those that lists leave out."""
        return self.filter(archived_at__isnull=False)


class Report(Job):
    """One computation over a benchmark's decisions and verdicts. A worker fills it in."""

    class Kind(models.TextChoices):
        AGREEMENT = "agreement", _("Agreement")
        FIDELITY = "fidelity", _("Judge fidelity")
        SCORES = "scores", _("Scores")
        CALIBRATION = "calibration", _("Calibration")
        COMPARISON = "comparison", _("Two judges")
        ALTERNATIVE = "alternative", _("Alternative annotator test")
        ITEMS = "items", _("Item analysis")
        POWERED = "powered", _("Prediction-powered scores")
        FRONTIER = "frontier", _("Cost and quality")
        ACUITY = "acuity", _("Acuity")
        ACUITY_UNCERTAINTY = "acuity_uncertainty", _("Where physicians disagree")
        ACUITY_FORMATS = "acuity_formats", _("Both formats")
        ACUITY_JUDGE = "acuity_judge", _("How well a judge reads levels")
        COVERAGE = "coverage", _("Rubric coverage")
        PAIRS = "pairs", _("Near-miss pairs")
        REFINEMENT = "refinement", _("Refinement by rubrics")
        DRAFTING = "drafting", _("Drafting")
        COHORT = "cohort", _("Cohort")
        COMPOSITION = "composition", _("Composition")
        META_EVAL = "metaeval", _("Meta-evaluation by theme")
        CONSENSUS = "consensus", _("Consensus criteria")
        REPEATS = "repeats", _("Repeated runs")
        MODES = "modes", _("Writing modes")
        FAILURES = "failures", _("Failures")

    class Interval(models.TextChoices):
        """The rule of a report's intervals; empty for a report from before there was a choice."""

        JACKKNIFE = "jackknife", _("Jackknife over cases")
        PERCENTILE = "percentile", _("Percentile bootstrap over cases")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="reports")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    parameters = models.JSONField(default=dict)  # raters, k, group, candidate …
    seed = models.BigIntegerField(default=0)
    interval = models.CharField(max_length=12, choices=Interval.choices, default=Interval.JACKKNIFE, blank=True)
    result = models.JSONField(default=dict)  # single facts and remarks; in older reports their tables too
    input_digest = models.CharField(max_length=64, blank=True)  # of the ratings that went in
    software = models.CharField(max_length=120, blank=True)
    recomputes = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="recomputed")
    name = models.CharField(max_length=MAX_TITLE_LENGTH, blank=True)  # that people gave it; empty for its title
    note = models.TextField(blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    # That asked for it; it notifies of its own end instead.
    replication = models.ForeignKey(
        "Replication", null=True, blank=True, on_delete=models.PROTECT, related_name="new_reports"
    )

    objects = ReportQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["benchmark", "kind", "-created_at"], name="agreement_report_newest"),
            models.Index(
                fields=["created_at"], condition=Q(status__in=["pending", "running"]), name="agreement_report_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.public_id}"

    @property
    def has_percentile_intervals(self) -> bool:
        """Whether its intervals come from resamples of cases.

        So do those from before there was a choice, but of prediction-powered scores.
        """
        if not self.interval:
            return self.kind != self.Kind.POWERED
        return self.interval == self.Interval.PERCENTILE

    @property
    def section(self) -> str:
        """The section of the benchmark's pages that shows it."""
        return SECTION_OF[self.kind]


SECTION_OF: dict[str, str] = {
    Report.Kind.AGREEMENT: "agreement",
    Report.Kind.FIDELITY: "agreement",
    Report.Kind.SCORES: "scores",
    Report.Kind.CALIBRATION: "calibration",
    Report.Kind.COMPARISON: "agreement",
    Report.Kind.ALTERNATIVE: "agreement",
    Report.Kind.ITEMS: "agreement",
    Report.Kind.POWERED: "scores",
    Report.Kind.FRONTIER: "scores",
    Report.Kind.ACUITY: "acuity",
    Report.Kind.ACUITY_UNCERTAINTY: "acuity",
    Report.Kind.ACUITY_FORMATS: "acuity",
    Report.Kind.ACUITY_JUDGE: "acuity",
    Report.Kind.COVERAGE: "validity",
    Report.Kind.PAIRS: "validity",
    Report.Kind.REFINEMENT: "validity",
    Report.Kind.DRAFTING: "validity",
    Report.Kind.COHORT: "composition",
    Report.Kind.COMPOSITION: "composition",
    Report.Kind.META_EVAL: "agreement",
    Report.Kind.CONSENSUS: "scores",
    Report.Kind.REPEATS: "scores",
    Report.Kind.MODES: "scores",
    Report.Kind.FAILURES: "agreement",
}


class Replication(Job):
    """The tables and figures of a paper, made from reports of a benchmark. A worker fills it in."""

    class Paper(models.TextChoices):
        HEALTHBENCH = "healthbench", "HealthBench"
        CLINCONSENSUS = "clinconsensus", "ClinConsensus"
        ACUITY = "acuity", "AcuityBench"
        RUBRICS = "rubrics", "Automated Rubrics"

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="replications")
    paper = models.CharField(max_length=20, choices=Paper.choices)
    options = models.JSONField(default=dict)  # judges, groups, candidate, k, seed, interval
    published = models.JSONField(default=list)  # values from the paper, which are set beside those made here
    result = models.JSONField(default=list)  # of each artefact: state, gaps, reports
    software = models.CharField(max_length=120, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["benchmark", "paper", "-created_at"], name="agreement_repl_newest"),
            models.Index(
                fields=["created_at"], condition=Q(status__in=["pending", "running"]), name="agreement_repl_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_paper_display()} {self.public_id}"


class ReportTable(models.Model):
    """A table of a finished report. Its rows stand apart, so that a page reads only the tables it shows."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="tables")
    name = models.SlugField(max_length=40)
    position = models.PositiveSmallIntegerField()
    columns = models.JSONField()
    text = models.JSONField(default=list)  # the names of the columns that hold text
    n_rows = models.PositiveIntegerField()

    class Meta:
        ordering = ["report", "position"]
        constraints = [models.UniqueConstraint(fields=["report", "name"], name="agreement_reporttable_name")]

    def __str__(self) -> str:
        return self.name


class ReportRows(models.Model):
    """Some thousand rows of a table, from row ``start`` on: a table of any size is written and read in pieces."""

    table = models.ForeignKey(ReportTable, on_delete=models.CASCADE, related_name="pieces")
    start = models.PositiveIntegerField()
    rows = models.JSONField()

    class Meta:
        ordering = ["table", "start"]
        constraints = [models.UniqueConstraint(fields=["table", "start"], name="agreement_reportrows_start")]

    def __str__(self) -> str:
        return f"{self.table} from {self.start}"


class ThresholdChoice(models.Model):
    """The threshold k of a benchmark's scores: who chose it, when, why, and on which calibration.

    A new choice is a new version; a signed one is never changed.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="threshold_choices")
    version = models.PositiveIntegerField()
    k = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    report = models.ForeignKey(Report, null=True, blank=True, on_delete=models.PROTECT, related_name="choices")
    facts = models.JSONField(default=dict)  # of the calibration: n, mean, its k and the ends of both intervals
    input_digest = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    signed_as = models.CharField(max_length=MAX_PERSON_NAME_LENGTH)  # the name as it was then
    signed_at = models.DateTimeField()

    class Meta:
        ordering = ["benchmark", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="agreement_thresholdchoice_version"),
            models.CheckConstraint(condition=Q(k__gte=1, version__gte=1), name="agreement_thresholdchoice_from_one"),
        ]
        triggers = [pgtrigger.Protect(name="signed", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"k = {self.k} (version {self.version})"


class AcuityPlan(models.Model):
    """What a study of acuity will measure, as its file says; `agreement.planning.acuity_plan` reads ``content``.

    A plan may be signed once. Its content never changes; another plan is the next number.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="acuity_plans")
    number = models.PositiveIntegerField()
    scale = models.ForeignKey(AcuityScale, on_delete=models.PROTECT, related_name="plans")
    content = models.JSONField()
    digest = models.CharField(max_length=64)
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    imported_at = models.DateTimeField()
    signed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    signed_as = models.CharField(max_length=MAX_PERSON_NAME_LENGTH, blank=True)  # the name as it was then
    signed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["benchmark", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="agreement_acuityplan_number"),
            models.CheckConstraint(
                condition=Q(signed_at__isnull=False) | Q(signed_by=None, signed_as=""),
                name="agreement_acuityplan_signed",
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="drawn_up",
                fields=["benchmark", "number", "scale", "content", "digest", "imported_by", "imported_at"],
            ),
            pgtrigger.Protect(
                name="signed", operation=pgtrigger.Update, condition=pgtrigger.Q(old__signed_at__isnull=False)
            ),
            pgtrigger.Protect(name="not_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"Plan {self.number}"

    @property
    def says(self) -> dict[str, str]:
        """Each field that a report can keep to, as text."""
        penalties, ambiguous = self.content["penalties"], self.content["ambiguous"]
        rule = ambiguous["rule"] if ambiguous["rule"] == "flag" else f"{ambiguous['rule']}:{ambiguous['threshold']:g}"
        return {
            "formats": ", ".join(self.content["formats"]),
            "penalties.r": f"{penalties['r']:g}",
            "penalties.gamma": f"{penalties['gamma']:g}",
            "ambiguous": rule,
            "judge": self.content["judge"],
        }


class NamedSlice(models.Model):
    """A part of a benchmark's cases that was drawn up by a rule, kept by name: ``subset:SLUG`` in tables."""

    class Rule(models.TextChoices):
        HARD = "hard", _("The hardest cases")
        ABOVE_ZERO = "above_zero", _("Cases on which some candidate scores above 0")
        FILTER = "filter", _("Cases that match a filter")
        # The former name of ``above_zero`` in stored slices. HealthBench Consensus is another thing
        # (``level:cluster``).
        EARLIER_ABOVE_ZERO = "consensus", _("Cases on which some candidate scores above 0")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="named_slices")
    slug = models.SlugField(max_length=MAX_SLICE_SLUG_LENGTH)
    title = models.CharField(max_length=MAX_TITLE_LENGTH)
    rule = models.CharField(max_length=12, choices=Rule.choices)
    parameters = models.JSONField(default=dict)  # the rater, the candidates, how many cases; or the filter
    case_ids = ArrayField(models.BigIntegerField())  # in ascending order
    input_digest = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)  # no longer offered; reports that name it are kept

    class Meta:
        ordering = ["benchmark", "slug"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "slug"], name="agreement_namedslice_slug")]
        triggers = [
            pgtrigger.ReadOnly(
                name="drawn_up", fields=["benchmark", "slug", "rule", "parameters", "case_ids", "input_digest"]
            ),
            pgtrigger.Protect(name="not_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return self.title

    @classmethod
    def rules_to_choose(cls) -> list[tuple[str, _StrOrPromise]]:
        """The rules by which a slice can be drawn up now."""
        return [choice for choice in cls.Rule.choices if choice[0] != cls.Rule.EARLIER_ABOVE_ZERO]

    @classmethod
    def rules_of_scores(cls) -> list[tuple[str, _StrOrPromise]]:
        """The rules by which a slice can be drawn up from scores now."""
        return [choice for choice in cls.Rule.choices if choice[0] in (cls.Rule.HARD, cls.Rule.ABOVE_ZERO)]

    @cached_property
    def n_cases(self) -> int:
        """How many cases it has; for a list of slices the database counts (`scoreboard.case_sets.counted_slices`)."""
        return len(self.case_ids)
