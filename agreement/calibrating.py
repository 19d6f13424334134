"""The coverage threshold k of CACS@k, from responses that physicians wrote and a group of other physicians graded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from agreement.hits import Hits, positive_hits
from agreement.inputs import digest_of
from annotation.models import ExpertGroup, Involvement
from consilium.lib import remarks
from consilium.lib.errors import DomainError
from consilium.statistics.bootstrap import RESAMPLES
from consilium.statistics.calibration import Calibration, calibrate
from consilium.statistics.estimate import Undefined
from consilium.statistics.sensitivity import Sensitivity, sensitivity
from rubrics.models import Benchmark, Candidate, Response
from scoring.raters import resolve_rater

KEYS = (
    *("k", "n", "n_criteria", "mean", "median", "q1", "q3", "hit_rate"),
    *("mean_low", "mean_high", "k_low", "k_high", "histogram"),
)
SENSITIVITY_COLUMNS = ("setting", "k", "n_candidates", "spearman", "top3", "top5", "note")
SENSITIVITY_TEXT = ("setting", "note")

Row = dict[str, Any]


class NothingToCalibrate(DomainError):
    """There is no response, or no common number of criteria, from which k could be had."""


@dataclass(frozen=True)
class CalibrationTables:
    """`calibration.json` by key, the rows of `sensitivity.csv`, each setting's value of each candidate, and remarks."""

    calibration: Row
    sensitivity: list[Row]
    values: list[Row]
    notes: list[str] = field(default_factory=list)
    digest: str = ""
    rater: str = ""


def calibrate_group(
    benchmark: Benchmark,
    *,
    group: str,
    candidate: str,
    include_aided: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> CalibrationTables:
    """Calibrate k on the responses of ``candidate``, a physician, by the decisions of ``group`` (a name, with a stage
    after an @ if it is not ``checked``).

    Left out, and counted in ``notes``: responses written with model references on the screen (unless
    ``include_aided``), those that a physician graded who wrote any of the candidate's responses, and those with a
    positive criterion that is not decided.
    """
    rater = resolve_rater(benchmark, f"group:{group}")
    ratings = rater.ratings()
    written = _physicians_candidate(benchmark, candidate)
    own = Response.objects.filter(candidate=written)
    all_hits = positive_hits(benchmark, ratings)
    notes: list[str] = []

    usable = own if include_aided else own.exclude(writing_mode=Response.WritingMode.AIDED)
    chosen = np.array(sorted(usable.values_list("pk", flat=True)), dtype=np.int64)
    _note(notes, own.count() - len(chosen), "written with model references shown left out")
    if not include_aided:
        unknown = own.filter(writing_mode=Response.WritingMode.UNKNOWN).count()
        _note(notes, unknown, "without a record of how they were written taken as unaided")
    by_authors = _graded_by_authors(written, rater.label)
    graded = all_hits.of(np.setdiff1d(chosen, by_authors))
    _note(notes, len(all_hits.of(chosen).response) - len(graded.response), "graded by one of their authors left out")
    _note(notes, len(chosen) - len(all_hits.of(chosen).response), "not graded by the group left out")
    complete = graded.only_complete()
    _note(notes, len(graded.response) - len(complete.response), "with an undecided positive criterion left out")

    case_of = dict(own.values_list("pk", "case_id"))
    made = calibrate(
        complete.hits,
        complete.n_criteria,
        case=[case_of[one] for one in complete.response.tolist()],
        seed=seed,
        resamples=resamples,
    )
    if isinstance(made, Undefined):
        told = _("Of its responses: %(notes)s.") % {"notes": remarks.in_words("; ".join(notes))}
        said = f" {told}" if notes else ""
        raise NothingToCalibrate(
            _("k is undefined for %(candidate)s by %(rater)s: %(reason)s.%(said)s")
            % {"candidate": candidate, "rater": rater.label, "reason": remarks.in_words(made.reason), "said": said}
        )
    rows = _others(benchmark, written, all_hits, int(made.k.value or 0))
    return CalibrationTables(
        calibration=_calibration_row(made),
        sensitivity=[_sensitivity_row(one) for one in rows],
        values=[
            {"setting": one.setting, "k": one.k, "candidate": name, "value": figure.value, "note": figure.note}
            for one in rows
            for name, figure in one.values.items()
        ],
        notes=[*notes, *([made.k.note] if made.k.note else [])],
        digest=digest_of(ratings, names=(rater.label, candidate, str(include_aided), str(chosen.tolist()))),
        rater=rater.label,
    )


def _physicians_candidate(benchmark: Benchmark, name: str) -> Candidate:
    found = Candidate.objects.filter(benchmark=benchmark, name=name).first()
    physicians = list(
        Candidate.objects.filter(benchmark=benchmark, kind=Candidate.Kind.PHYSICIAN).values_list("name", flat=True)
    )
    known = ", ".join(physicians) or _("none")
    if found is None:
        raise NothingToCalibrate(
            _("There is no candidate “%(name)s” in this benchmark. Physicians: %(known)s.")
            % {"name": name, "known": known}
        )
    if found.kind != Candidate.Kind.PHYSICIAN:
        raise NothingToCalibrate(
            _("“%(name)s” is no physician; k is calibrated on responses that physicians wrote. Physicians: %(known)s.")
            % {"name": name, "known": known}
        )
    return found


def _graded_by_authors(candidate: Candidate, rater: str) -> NDArray[np.int64]:
    """Responses of the candidate that a physician of the group had a part in who wrote any of its responses."""
    name = rater.removeprefix("group:").rpartition("@")[0]
    group = ExpertGroup.objects.get(benchmark_id=candidate.benchmark_id, name=name)
    authors = Response.objects.filter(candidate=candidate, author__isnull=False).values("author")
    parts = Involvement.objects.filter(group=group, response__candidate=candidate, user__in=authors)
    return np.array(sorted(set(parts.values_list("response_id", flat=True))), dtype=np.int64)


def _note(notes: list[str], count: int, what: str) -> None:
    if count:
        notes.append(f"{count} {'response' if count == 1 else 'responses'} {what}")


def _others(benchmark: Benchmark, written: Candidate, hits: Hits, k: int) -> list[Sensitivity]:
    """Ranks of the other candidates, by the same group's complete decisions, under settings near k."""
    complete = hits.only_complete()
    candidate_of = dict(
        Response.objects.filter(case__benchmark=benchmark).exclude(candidate=written).values_list("pk", "candidate_id")
    )
    owner = np.array([candidate_of.get(one, 0) for one in complete.response.tolist()], dtype=np.int64)
    others = Candidate.objects.filter(benchmark=benchmark, pk__in=set(owner.tolist())).order_by("name")
    by_candidate = {one.name: (complete.hits[owner == one.pk], complete.n_criteria[owner == one.pk]) for one in others}
    return sensitivity(by_candidate, k) if by_candidate else []


def _calibration_row(made: Calibration) -> Row:
    return {
        "k": int(made.k.value or 0),
        "n": made.n,
        "n_criteria": made.n_criteria,
        "mean": made.mean.value,
        "median": made.median,
        "q1": made.q1,
        "q3": made.q3,
        "hit_rate": made.hit_rate,
        "mean_low": made.mean.low,
        "mean_high": made.mean.high,
        "k_low": None if made.k.low is None else int(made.k.low),
        "k_high": None if made.k.high is None else int(made.k.high),
        "histogram": list(made.histogram),
    }


def _sensitivity_row(one: Sensitivity) -> Row:
    compared = {"spearman": one.spearman, "top3": one.top3, "top5": one.top5}
    return {
        "setting": one.setting,
        "k": one.k,
        "n_candidates": one.spearman.n,
        **{name: figure.value for name, figure in compared.items()},
        "note": "; ".join(f"{name}: {figure.note}" for name, figure in compared.items() if figure.note),
    }
