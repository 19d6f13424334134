"""Optional content of a release: responses, decisions of physicians, verdicts of judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agreement.counting.frame import DEFAULT_SETTING
from agreement.exports.decisions import DecisionExport
from annotation.models import Assignment, Physician
from annotation.selectors.ratings import faulty_pairs
from consilium.core.errors import DomainError, field_named
from releases.content.cases import cases_to_release
from releases.content.options import ReleaseOptions
from rubrics.models import Benchmark, Candidate, Response
from scoring.coding.selectors import judges_that_coded
from scoring.models import Verdict
from scoring.runs.selectors import RunSet, run_sets
from scoring.selectors.raters import resolve_rater

DECISION_COLUMNS = ("case", "candidate", "sample", "criterion", "rater", "outcome", "stage", "note")
DECISION_TEXT = ("case", "candidate", "rater", "note", "setting")
VERDICT_COLUMNS = ("case", "candidate", "sample", "criterion", "rater", "outcome", "explanation")
VERDICT_TEXT = ("case", "candidate", "rater", "explanation", "setting")
_ROWS = 2_000


def check_names(benchmark: Benchmark, options: ReleaseOptions) -> None:
    """Check the names; `DomainError` where an option names a candidate, rater or judge that does not exist."""
    known = set(Candidate.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    for name in options.candidates:
        if name not in known:
            raise DomainError(
                _("The candidate “%(name)s” does not exist in this benchmark.") % {"name": name}, field="candidates"
            )
    for name in options.raters:
        with field_named("raters"):
            rater = resolve_rater(benchmark, name)
        if rater.is_judge:
            raise DomainError(
                _("“%(name)s” is a judge; its verdicts are a separate part of the release.") % {"name": name},
                field="raters",
            )
    _check_judges(benchmark, options)


def _check_judges(benchmark: Benchmark, options: ReleaseOptions) -> None:
    """`DomainError` where a chosen judge has neither verdicts nor codes that the release could hold."""
    without = judges_without(benchmark, options)
    for name in options.judges:
        if without and all(name in names for names in without.values()):
            raise DomainError(_("“%(name)s” has no finished run on this benchmark.") % {"name": name}, field="judges")


def judges_without(benchmark: Benchmark, options: ReleaseOptions) -> dict[str, list[str]]:
    """Of verdicts and codes, those that the options ask for → the chosen judges that have none."""
    if not options.judges:
        return {}
    having: dict[str, Collection[str]] = {}
    if options.verdicts:
        having["verdicts"] = run_sets(benchmark, options.judges).keys()
    if options.codes:
        having["codes"] = judges_that_coded(benchmark)
    return {part: [name for name in options.judges if name not in names] for part, names in having.items()}


def has_other_settings(benchmark: Benchmark) -> bool:
    """Whether the files need the column that tells settings apart."""
    return Response.objects.filter(case__benchmark=benchmark).exclude(setting=DEFAULT_SETTING).exists()


# Responses ------------------------------------------------------------------------------------------------------------


def responses_to_release(benchmark: Benchmark, options: ReleaseOptions) -> QuerySet[Response]:
    """Responses to the cases of the release, of the chosen candidates."""
    rows = Response.objects.filter(case__in=cases_to_release(benchmark))
    if options.candidates:
        return rows.filter(candidate__name__in=options.candidates)
    return rows.of_originals()


def released_candidates(benchmark: Benchmark, options: ReleaseOptions) -> QuerySet[Candidate]:
    """Those that the options name, or all that are not derived."""
    rows = Candidate.objects.filter(benchmark=benchmark)
    return rows.filter(name__in=options.candidates) if options.candidates else rows.originals()


def _left_out_candidates(benchmark: Benchmark, options: ReleaseOptions) -> set[str]:
    """The names of the derived candidates that the options do not name."""
    derived = Candidate.objects.filter(benchmark=benchmark, kind=Candidate.Kind.DERIVED)
    return set(derived.exclude(name__in=options.candidates).values_list("name", flat=True))


def response_rows(benchmark: Benchmark, options: ReleaseOptions) -> Iterator[dict[str, Any]]:
    """The fields that ``import_responses`` takes, without the author of the response and notes about it."""
    rows = responses_to_release(benchmark, options).order_by("case_id", "candidate__name", "setting", "sample")
    columns = ("case__key", "candidate__name", "sample", "text", "setting", "writing_mode")
    for case, candidate, sample, text, setting, mode in rows.values_list(*columns).iterator(_ROWS):
        row = {"case": case, "candidate": candidate, "sample": sample, "response": text}
        if setting != DEFAULT_SETTING:
            row["setting"] = setting
        if mode:
            row["writing_mode"] = mode
        yield row


# Decisions ------------------------------------------------------------------------------------------------------------


def raters_of(benchmark: Benchmark, options: ReleaseOptions) -> list[str]:
    """The raters whose decisions are released: the chosen ones, or every physician who has handed in work."""
    if options.raters:
        return list(options.raters)
    work = Assignment.objects.filter(
        batch__group__benchmark=benchmark, submitted_at__isnull=False, purpose=Assignment.Purpose.WORK
    ).exclude(status=Assignment.Status.RELEASED)
    physicians = Physician.objects.filter(benchmark=benchmark, user__in=work.values("annotator"))
    return [f"physician:{name}" for name in physicians.order_by("pseudonym").values_list("pseudonym", flat=True)]


def decision_columns(benchmark: Benchmark) -> tuple[str, ...]:
    """The columns of ``import_decisions``."""
    return (*DECISION_COLUMNS, "setting") if has_other_settings(benchmark) else DECISION_COLUMNS


def decision_rows(
    benchmark: Benchmark, options: ReleaseOptions, cases: set[str], left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """What the raters decided on criteria of the release, physicians under their pseudonyms."""
    derived = _left_out_candidates(benchmark, options)
    for name in raters_of(benchmark, options):
        export = DecisionExport(benchmark, resolve_rater(benchmark, name))
        for row in export.rows():
            if row["case"] not in cases or row["candidate"] in derived:
                continue
            if options.candidates and row["candidate"] not in options.candidates:
                continue
            if not isinstance(row["criterion"], int):  # of an earlier version, not in the released one
                left_out["decisions_on_earlier_criteria"] += 1
                continue
            yield row if options.notes else {**row, "note": ""}
        left_out["pairs_without_outcome"] += export.left_out
        left_out["decisions_on_faulty_criteria"] += export.n_faulty


# Verdicts -------------------------------------------------------------------------------------------------------------


def judges_to_release(benchmark: Benchmark, options: ReleaseOptions) -> list[RunSet]:
    """The finished runs that count for each chosen judge, or for all that have any."""
    judges = run_sets(benchmark, options.judges or None)
    return [judges[name] for name in options.judges or judges if name in judges]


def runs_behind(benchmark: Benchmark, options: ReleaseOptions) -> list[RunSet]:
    """The runs that the verdicts and the decisions of a release are read from."""
    judges = judges_to_release(benchmark, options) if options.verdicts else []
    raters = raters_of(benchmark, options) if options.decisions else []
    return [*judges, *(judge for name in raters for judge in resolve_rater(benchmark, name).judges)]


def verdict_columns(benchmark: Benchmark) -> tuple[str, ...]:
    """The columns of ``import_verdicts``."""
    return (*VERDICT_COLUMNS, "setting") if has_other_settings(benchmark) else VERDICT_COLUMNS


def verdict_rows(benchmark: Benchmark, options: ReleaseOptions, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """A row for each pair that a judge has judged; with several replicates, the majority of the valid ones.

    Pairs whose criterion was ruled faulty are left out, as from the decisions: no score of the benchmark uses them.
    """
    ruled = faulty_pairs(benchmark)
    faulty = set(zip(ruled.response.tolist(), ruled.criterion.tolist(), strict=True))
    for judge in judges_to_release(benchmark, options):
        rows = (
            judge.verdicts()
            .filter(
                response__in=responses_to_release(benchmark, options),
                criterion__items__rubric__status="published",
                criterion__items__rubric__track="gold",
            )
            .order_by(
                *("response__case_id", "response__candidate__name", "response__setting", "response__sample"),
                *("criterion__items__position", "replicate"),
            )
        )
        columns = (
            *("response__case__key", "response__candidate__name", "response__setting", "response__sample"),
            *("criterion__items__position", "outcome", "explanation", "response_id", "criterion_id"),
        )
        for pair, replicates in groupby(rows.values_list(*columns).iterator(_ROWS), key=lambda row: row[:5]):
            case, candidate, setting, sample, position = pair
            verdicts = list(replicates)
            if (verdicts[0][7], verdicts[0][8]) in faulty:
                left_out["verdicts_on_faulty_criteria"] += 1
                continue
            majority = _majority([(row[5], row[6]) for row in verdicts])
            if majority is None:
                left_out["verdicts_without_majority"] += 1
                continue
            yield {
                "case": case,
                "candidate": candidate,
                "sample": sample,
                "criterion": position,
                "rater": judge.judge_name,
                "outcome": majority[0],
                "explanation": majority[1],
                "setting": setting,
            }


def _majority(replicates: list[tuple[str, str]]) -> tuple[str, str] | None:
    """The majority of the valid replicates, in the words of the first; invalid if none is valid; None on a tie."""
    valid = Counter(outcome for outcome, _words in replicates if outcome != Verdict.Outcome.INVALID)
    if not valid:
        return replicates[0]
    (most, count), *others = valid.most_common()
    if others and others[0][1] == count:
        return None
    return next(row for row in replicates if row[0] == most)
