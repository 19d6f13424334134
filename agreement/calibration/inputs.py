"""Inputs of a calibration: a group's decisions, physicians' responses, other candidates, judges' runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from agreement.calibration.hits import Hits, count_hits, positive_pairs
from agreement.counting.frame import Frame, read_frame
from agreement.counting.inputs import digest_of
from agreement.counting.pairs import Pairs, pair, positions
from annotation.models import ExpertGroup, Involvement
from annotation.selectors.ratings import faulty_pairs
from consilium.core.errors import DomainError
from consilium.core.ratings import Ratings
from rubrics.models import Benchmark, Candidate, Response
from scoring.runs.selectors import run_sets
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import NoRatings, Rater, rater_of_runs, require_verdicts, resolve_rater


class NothingToCalibrate(DomainError):
    """There is no response, or no common number of criteria, from which to compute k."""


@dataclass(frozen=True, eq=False)
class JudgePairs:
    """A judge beside the group, on the positive criteria of the other candidates' responses; the group comes first."""

    rater: Rater
    pairs: Pairs

    @property
    def name(self) -> str:
        """The judge's name; for a jury, its label."""
        return self.rater.label if self.rater.members or not self.rater.judges else self.rater.judges[0].judge_name

    @property
    def run(self) -> str:
        """The public id of its run; empty for a jury, and where several imported runs count together."""
        return self.rater.runs[0].public_id if len(self.rater.runs) == 1 else ""


@dataclass(frozen=True, eq=False)
class CalibrationInputs:
    """All that a calibration reads. ``written`` is the place of the physicians' candidate in the frame; ``chosen`` are
    those of its responses that may count, ``by_authors`` those graded by a physician who wrote one of the candidate's
    responses; ``modes`` are all its responses by (mode, name of the mode).
    """

    benchmark: Benchmark
    rater: Rater
    ratings: Ratings
    positive: Ratings
    hits: Hits
    frame: Frame
    written: int
    chosen: NDArray[np.int64]
    by_authors: NDArray[np.int64]
    n_aided: int
    n_unknown: int
    modes: dict[tuple[str, str], list[int]]
    judges: list[JudgePairs]
    digest: str

    def case_of(self, responses: NDArray[np.int64]) -> NDArray[np.int64]:
        """The case of each response, as its place in the frame."""
        return self.frame.response_case[self.frame.response_places(responses)]

    def others(self) -> dict[str, Hits]:
        """The other candidates' responses that the group graded in full, by the candidate's name."""
        complete = self.hits.only_complete()
        owner = self.frame.response_candidate[self.frame.response_places(complete.response)]
        hits_by_candidate = {
            self.frame.candidates[place]: complete.of(complete.response[owner == place])
            for place in np.unique(owner).tolist()
            if place != self.written
        }
        return dict(sorted(hits_by_candidate.items()))

    @property
    def n_incomplete(self) -> int:
        """Responses of other candidates on which the group decided some positive criteria, but not all."""
        owner = self.frame.response_candidate[self.frame.response_places(self.hits.response)]
        return int((~self.hits.complete & (owner != self.written)).sum())


def newest_runs(benchmark: Benchmark) -> list[str]:
    """The finished runs that count for each judge, as raters; those without a verdict are left out."""
    raters = []
    for name, runs in run_sets(benchmark).items():
        rater = rater_of_runs(runs, name)
        try:
            require_verdicts(rater)
        except NoRatings:
            continue
        raters.append(fixed_name(rater))
    return raters


def fixed_name(rater: Rater) -> str:
    """The name by which a report keeps a judge: its run, so that it stays the same; several imported runs have none."""
    return f"run:{rater.runs[0].public_id}" if len(rater.runs) == 1 else rater.label


def read_inputs(
    benchmark: Benchmark,
    *,
    group: str,
    candidate: str,
    include_aided: bool = False,
    judges: Sequence[str] | None = None,
) -> CalibrationInputs:
    """Read all inputs; `NothingToCalibrate` where ``candidate`` is not a physician. ``judges`` are raters, by default
    the runs that count for every judge.
    """
    rater = resolve_rater(benchmark, f"group:{group}")
    written = _physicians_candidate(benchmark, candidate)
    ratings, positive = rater.ratings(), positive_pairs(benchmark)
    # Responses without a decision of the group are not counted, so they do not make a calibration stale.
    own_rows = np.isin(positive.response, ratings.response)
    positive = Ratings(positive.response[own_rows], positive.criterion[own_rows], positive.outcome[own_rows])
    frame, faulty = read_frame(benchmark), faulty_pairs(benchmark)
    own = Response.objects.filter(candidate=written, case__excluded_at=None)
    usable = own if include_aided else own.exclude(writing_mode=Response.WritingMode.AIDED)
    chosen = np.array(sorted(usable.values_list("pk", flat=True)), dtype=np.int64)
    by_authors = graded_by_authors(written, rater.label)
    unknown = 0 if include_aided else own.filter(writing_mode=Response.WritingMode.UNKNOWN).count()

    modes = _modes(written)
    place = frame.candidates.index(written.name)
    decided = ratings.keys()
    beside = positions(positive.keys(), decided)[1]
    beside &= frame.response_candidate[frame.response_places(ratings.response)] != place
    reference = Ratings(ratings.response[beside], ratings.criterion[beside], ratings.outcome[beside])
    raters = [resolve_rater(benchmark, name) for name in (newest_runs(benchmark) if judges is None else judges)]
    read = [(judge_rater, judge_rater.ratings(), due_pairs(judge_rater)) for judge_rater in raters]
    described = frame.described(
        frame.response_places(positive.response), frame.criterion_places(np.unique(positive.criterion))
    )
    arrays = [part for _rater, verdicts, due in read for part in (verdicts, due)]
    return CalibrationInputs(
        benchmark=benchmark,
        rater=rater,
        ratings=ratings,
        positive=positive,
        hits=count_hits(positive, ratings, faulty),
        frame=frame,
        written=place,
        chosen=chosen,
        by_authors=by_authors,
        n_aided=own.count() - len(chosen),
        n_unknown=unknown,
        modes=modes,
        judges=[
            JudgePairs(judge_rater, pair(reference, verdicts, due_of_b=due, faulty=faulty, judges=(False, True)))
            for judge_rater, verdicts, due in read
        ],
        digest=digest_of(
            *(ratings, positive, faulty, *arrays),
            names=(
                *(rater.label, written.name, str(include_aided), str(unknown), str(modes)),
                *(str(chosen.tolist()), str(by_authors.tolist()), described),
                *(
                    f"{judge_rater.label} {judge_rater.judges[0].judge_name if judge_rater.judges else ''}"
                    for judge_rater in raters
                ),
            ),
        ),
    )


def _modes(candidate: Candidate) -> dict[tuple[str, str], list[int]]:
    """Responses of the candidate by how they were written; files may name a mode of their own in the metadata."""
    responses_by_mode: dict[tuple[str, str], list[int]] = {}
    rows = Response.objects.filter(candidate=candidate, case__excluded_at=None).order_by("pk")
    for pk, mode, name in rows.values_list("pk", "writing_mode", "metadata__mode_name"):
        responses_by_mode.setdefault((mode, name if isinstance(name, str) else ""), []).append(pk)
    return responses_by_mode


def _physicians_candidate(benchmark: Benchmark, name: str) -> Candidate:
    candidate = Candidate.objects.filter(benchmark=benchmark, name=name).first()
    physicians = list(
        Candidate.objects.filter(benchmark=benchmark, kind=Candidate.Kind.PHYSICIAN).values_list("name", flat=True)
    )
    known = ", ".join(physicians) or _("none")
    if candidate is None:
        raise NothingToCalibrate(
            _("There is no candidate “%(name)s” in this benchmark. Physician candidates: %(known)s.")
            % {"name": name, "known": known}
        )
    if candidate.kind != Candidate.Kind.PHYSICIAN:
        raise NothingToCalibrate(
            _(
                "“%(name)s” is not a physician; k must be calibrated on responses that physicians wrote. "
                "Physician candidates: %(known)s."
            )
            % {"name": name, "known": known}
        )
    return candidate


def graded_by_authors(candidate: Candidate, rater: str) -> NDArray[np.int64]:
    """Responses of the candidate graded in part or whole by a physician of the group who wrote any of its responses."""
    name = rater.removeprefix("group:").rpartition("@")[0]
    group = ExpertGroup.objects.get(benchmark_id=candidate.benchmark_id, name=name)
    authors = Response.objects.filter(candidate=candidate, author__isnull=False).values("author")
    parts = Involvement.objects.filter(group=group, response__candidate=candidate, user__in=authors)
    return np.array(sorted(set(parts.values_list("response_id", flat=True))), dtype=np.int64)
