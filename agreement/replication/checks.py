"""What the rows of single artefacts can lack beyond what every artefact is checked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial

from agreement.label_files.label_tables import ALL
from agreement.label_files.theme_tables import NO_THEME, WEIGHTED
from agreement.models import Report
from agreement.replication import gaps
from agreement.replication.choosing import Choices
from agreement.replication.gaps import Gap
from agreement.replication.manifest import Need, Row
from agreement.reports.stored import table_of
from annotation.contributions.credentials import OTHER, UNSAID
from consilium.core.phrases import Phrase
from consilium.core.reasons import Reason
from rubrics.models import Candidate, Response

SENIORITY = "seniority"
MIN_RESPONSES = 10  # of a candidate, for a distribution
Has = Callable[[list[Row], Sequence[Report]], bool]


def _need(gap: Gap, in_rows: Has, beforehand: Callable[[Choices], bool]) -> Need:
    """A need with one gap: whether rows, and whether the stored data, have what it is about."""
    return Need(
        lambda rows, reports: [] if in_rows(rows, reports) else [gap],
        lambda choices: [] if beforehand(choices) else [gap],
    )


def _written(mode: str, gap: Gap) -> Need:
    def in_rows(rows: list[Row], _reports: Sequence[Report]) -> bool:
        return any(row["mode"] == mode for row in rows)

    return _need(gap, in_rows, lambda choices: mode in choices.writing_modes)


def _by_theme(rows: list[Row], _reports: Sequence[Report]) -> bool:
    return any(row["theme"] not in (ALL, NO_THEME, WEIGHTED) for row in rows)


def _repeated(column: str, rows: list[Row], reports: Sequence[Report]) -> bool:
    """Whether a number of samples or repeats is above 1 for a candidate that is no physician."""
    several = {row["candidate"] for row in rows if row[column] > 1}
    names = Candidate.objects.filter(benchmark=reports[0].benchmark_id, name__in=several)
    return bool(several) and names.exclude(kind=Candidate.Kind.PHYSICIAN).exists()


THEMES = _need(gaps.THEMES, _by_theme, lambda choices: choices.has_themes)
UNAIDED = _written(Response.WritingMode.UNAIDED, gaps.WRITTEN_UNAIDED)
AIDED = _written(Response.WritingMode.AIDED, gaps.WRITTEN_BESIDE)
SAMPLES = _need(gaps.SAMPLES, partial(_repeated, "k"), lambda choices: choices.has_samples)
REPEATS = _need(gaps.REPEATS, partial(_repeated, "n_repeats"), lambda choices: choices.has_repeats)


def _in_dimension(name: str, gap: Gap, beforehand: Callable[[Choices], Collection[str]]) -> Need:
    """Rows with a value of a dimension; ``beforehand`` are the dimensions that the stored data have."""
    return _need(
        gap,
        lambda rows, _reports: any(row["dimension"] == name and row["value"] for row in rows),
        lambda choices: name in beforehand(choices),
    )


LEVELS = _in_dimension("level", gaps.LEVELS, lambda choices: choices.criterion_kinds)
AXES = _in_dimension("axis", gaps.AXES, lambda choices: choices.criterion_kinds)
CASE_LANGUAGES = _in_dimension("language", gaps.CASE_LANGUAGES, lambda choices: choices.dimensions)


def stated(*names: str) -> Need:
    """Each of these credentials with an answer that can be shown.

    *other* is none where it is made of answers that too few people gave. Of seniority it is an answer, too, so that the
    two cannot be told apart.
    """

    def missing(answers: Collection[tuple[str, str]]) -> list[Gap]:
        known = {name for name, value in answers if value not in ((UNSAID,) if name == SENIORITY else (UNSAID, OTHER))}
        return [gaps.CREDENTIALS.about(gaps.UNSTATED[name]) for name in names if name not in known]

    return Need(
        lambda rows, _reports: missing([(row["credential"], row["value"]) for row in rows]),
        lambda choices: missing(choices.credentials),
    )


def _distributions(rows: list[Row], _reports: Sequence[Report]) -> list[Gap]:
    """Every candidate with enough responses for a distribution."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["candidate"]] += row["n_responses"]
    few = sum(count < MIN_RESPONSES for count in counts.values())
    what = Phrase(
        "For a distribution, %(n)s of %(all)s candidates have too few responses graded in full: fewer than %(needed)s.",
        n=few,
        all=len(counts),
        needed=MIN_RESPONSES,
    )
    return [gaps.OTHER_GRADED.about(what)] if few else []


DISTRIBUTIONS = Need(_distributions)


def _scored_models(reports: Sequence[Report]) -> list[Row]:
    """The models with a score in a report on cost and quality; people and references have neither date nor price."""
    rows = [row for report in reports for row in table_of(report, "cost_frontier").dicts()]
    return [row for row in rows if row["kind"] == Candidate.Kind.MODEL and row["score"] is not None]


def _release_dates(_rows: list[Row], reports: Sequence[Report]) -> list[Gap]:
    """Every model with a release date: the others are not among the rows."""
    models = _scored_models(reports)
    without = sum(row["release_date"] is None for row in models)
    what = Phrase("%(n)s of %(all)s candidates have no release date.", n=without, all=len(models))
    return [gaps.ATTRIBUTES.about(what)] if without else []


def _costs(rows: list[Row], reports: Sequence[Report]) -> list[Gap]:
    """A frontier needs a cost of at least two candidates, and shows only models that have one."""
    if sum(row["cost"] is not None for row in rows) < 2:
        return [gaps.ATTRIBUTES]
    models = _scored_models(reports)
    without = sum(row["cost"] is None for row in models)
    what = Phrase("%(n)s of %(all)s candidates have no cost.", n=without, all=len(models))
    return [gaps.ATTRIBUTES.about(what)] if without else []


RELEASE_DATES = Need(_release_dates)
COSTS = Need(_costs)


def why_no_judge_error(reports: Sequence[Report]) -> Gap:
    """Why a calibration has no errors of a judge; each report says it."""
    why = next(iter(reports)).result["facts"].get("error_reason") or ""
    if why in ("", Reason.NO_FINISHED_RUN()):
        return gaps.JUDGE
    step = gaps.OTHER_GRADED if why == Reason.NO_OTHER_CANDIDATE() else gaps.SHARED_PAIRS
    return step.about(Phrase("The effect of a judge’s errors cannot be computed: %(why)s.", why=why))


def some_datasets(rows: list[Row]) -> list[Gap]:
    """The cases of the panel by the dataset that they are from, beside all of them together."""
    return [] if any(row["dataset"] for row in rows[1:]) else [gaps.DATASETS]


def both_formats(rows: list[Row]) -> list[Gap]:
    """Forced choices and advice."""
    return [] if {"qa", "chat"} <= {row["format"] for row in rows} else [gaps.BOTH_FORMATS]
