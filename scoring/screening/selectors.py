"""Data of a screening for pages and endpoints: its counts, its cases, its figure and its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Assignment, ExpertGroup
from consilium.figures import charts
from consilium.figures.render import Drawing
from consilium.figures.style import Palette
from rubrics.models import Benchmark
from scoring.judges.kinds.kind import juries
from scoring.models import Judge, JudgeRun, ScreenedCase, Screening
from scoring.runs.selectors import run_date, run_sets

BINS = 20
CSV_COLUMNS = (
    *("case", "score", "flagged", "n_responses", "note", "decision", "reason", "decided_by", "decided_at"),
    *("rater", "threshold", "aggregate"),
)
CSV_TEXT = ("case", "note", "reason", "decided_by", "rater")
SHOWS = ("flagged", "undecided", "excluded", "kept", "undefined", "all")


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of a screening's cases by result; ``undecided`` counts only flagged cases."""

    screened: int  # with a score
    undefined: int
    flagged: int
    excluded: int
    kept: int
    undecided: int
    all: int


def tallied(screenings: QuerySet[Screening]) -> QuerySet[Screening]:
    """The screenings, each with the numbers of its `Tally` as attributes, in one query."""
    filters = {
        "screened": Q(cases__score__isnull=False),
        "undefined": Q(cases__score=None),
        "flagged": Q(cases__flagged=True),
        "excluded": Q(cases__decision="exclude"),
        "kept": Q(cases__decision="keep"),
        "undecided": Q(cases__flagged=True, cases__decision=""),
    }
    counts = {f"n_{name}": Count("cases", filter=where) for name, where in filters.items()}
    return screenings.annotate(n_all=Count("cases"), **counts)


def tally_of(screening: Screening) -> Tally:
    """The counts of one screening."""
    row = tallied(Screening.objects.filter(pk=screening.pk)).get()
    return Tally(**{name: getattr(row, f"n_{name}") for name in Tally.__dataclass_fields__})


def shown_cases(screening: Screening, show: str) -> QuerySet[ScreenedCase]:
    """The cases of one of `SHOWS`, flagged first, the highest score first."""
    rows = ScreenedCase.objects.filter(screening=screening).select_related("case", "decided_by")
    rows = rows.defer("case__conversation", "case__reference_answer", "case__metadata")
    filters = {
        "flagged": Q(flagged=True),
        "undecided": Q(flagged=True, decision=""),
        "excluded": Q(decision="exclude"),
        "kept": Q(decision="keep"),
        "undefined": Q(score=None),
    }
    if show in filters:
        rows = rows.filter(filters[show])
    return rows.order_by("-flagged", F("score").desc(nulls_last=True), "case__key")


def distribution(screening: Screening) -> list[tuple[float, float, int]]:
    """The distribution of the scores in bins of 0.05 that include their lower end (the last bin both ends)."""
    counts = [0] * BINS
    scores = ScreenedCase.objects.filter(screening=screening, score__isnull=False).values_list("score", flat=True)
    for score in scores:
        counts[min(int(round((score or 0.0) * BINS, 9)), BINS - 1)] += 1
    return [(place / BINS, (place + 1) / BINS, n) for place, n in enumerate(counts)]


def drawing_of(screening: Screening, bins: list[tuple[float, float, int]]) -> Drawing:
    """The figure of the scores' distribution, with the threshold."""

    def drawn(palette: Palette) -> object:
        return charts.histogram(
            bins,
            palette,
            x_title=_("Aggregated rubric score of a case"),
            y_title=_("cases"),
            description=_("Distribution of case scores, with the threshold from which a case is flagged."),
            line=charts.Line(screening.threshold, f"{screening.threshold:.2f}"),
        )

    return drawn


def csv_columns(screening: Screening) -> tuple[str, ...]:
    """`CSV_COLUMNS`, and a column for each candidate."""
    return (*CSV_COLUMNS, *(f"score:{name}" for name in screening.candidates))


def csv_rows(screening: Screening) -> Iterator[Sequence[object]]:
    """Every case, in the order of the page."""
    for row in shown_cases(screening, "all"):
        yield (
            *(row.case.key, row.score, "yes" if row.flagged else "no", row.n_responses, row.note or None),
            *(row.decision or None, row.reason or None, row.decided_by),
            row.decided_at.isoformat() if row.decided_at else None,
            *(screening.rater, screening.threshold, screening.aggregate),
            *(row.scores.get(name) for name in screening.candidates),
        )


def raters_on_offer(benchmark: Benchmark) -> list[tuple[str, str]]:
    """Raters to choose: judges with a finished run, juries of such judges, runs, and groups with submitted work."""
    runs = list(
        JudgeRun.objects.graded().filter(benchmark=benchmark).select_related("judge").defer("snapshot").order_by("-pk")
    )
    judges = run_sets(benchmark)
    choices = [
        (
            name,
            _("%(judge)s (judge, newest run)") % {"judge": name}
            if len(of_judge.runs) == 1
            else _("%(judge)s (judge, %(n)s imported runs)") % {"judge": name, "n": len(of_judge.runs)},
        )
        for name, of_judge in judges.items()
    ]
    for jury in Judge.objects.filter(benchmark=benchmark, kind__in=juries()).order_by("name", "-version"):
        if set(jury.config["members"]) <= set(judges) and jury.name not in dict(choices):
            choices.append((jury.name, _("%(jury)s (jury)") % {"jury": jury.name}))
    handed_in = Assignment.objects.filter(
        batch__group__benchmark=benchmark, submitted_at__isnull=False, purpose=Assignment.Purpose.WORK
    ).exclude(status=Assignment.Status.RELEASED)
    groups = ExpertGroup.objects.filter(pk__in=handed_in.values("batch__group")).order_by("name")
    choices += [
        (f"group:{group.name}@checked", _("%(group)s (expert group, checked)") % {"group": group.name})
        for group in groups
    ]
    return choices + [
        (
            f"run:{run.public_id}",
            _("%(judge)s, run of %(date)s") % {"judge": run.judge.name, "date": run_date(run)},
        )
        for run in runs
    ]
