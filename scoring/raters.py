"""Raters by name: anything that decides (response, criterion) pairs, as written in commands, the API and reports.

``group:NAME[@first|checked|final]``, ``physician:PSEUDONYM[@first|last]``, ``consensus``, ``run:ID``,
``jury:A+B+C[@majority|unanimous]``, or the name of a judge, which stands for its newest finished run on the benchmark.
The name of a jury that is kept stands for those of its members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.models import ExpertGroup, Physician
from annotation.ratings import STAGES, consensus_ratings, group_ratings, physician_ratings
from consilium.lib.errors import DomainError
from consilium.lib.ratings import OUTCOME_SQL, Outcome, Ratings, Span, copy_columns, fetch_ratings
from rubrics.exclusion import counting, marked
from rubrics.models import Benchmark
from scoring.models import Judge, JudgeRun, Verdict

MAJORITY, UNANIMOUS = "majority", "unanimous"
JURY_RULES = (MAJORITY, UNANIMOUS)


class UnknownRater(DomainError):
    """The text names no rater of the benchmark."""


class NothingSaid(DomainError):
    """A rater whose run has no verdict: figures of it would be about nothing."""


@dataclass(frozen=True, eq=False)
class Shares:
    """The share of a run's valid replicates that say met, for each pair that has one; sorted as `Ratings` are."""

    keys: NDArray[np.int64]
    share: NDArray[np.float64]


class ReadRatings(Protocol):
    """Reads what a rater decided: on everything, or on the responses of a span. What it says of a pair depends on
    nothing outside its response, so that spans read one after another make up the whole.
    """

    def __call__(self, within: Span | None = None) -> Ratings: ...


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater of a benchmark: ``label`` as it stands in files, and how to read its decisions.

    ``runs`` are the judge runs behind it: what they were to judge tells a missing verdict from one never asked for.
    ``shares``, where a run's replicates count by their mean, are what the rubric score takes instead of the outcome.
    """

    label: str
    is_judge: bool
    ratings: ReadRatings
    runs: tuple[JudgeRun, ...] = ()
    shares: Callable[[], Shares] | None = None
    # Of a jury: its rule, and the labels of its members.
    rule: str = ""
    members: tuple[str, ...] = ()
    jury: Judge | None = None  # where it is kept by name

    @property
    def undecided_by(self) -> str:
        """Who was not of one mind where it says UNDECIDED: a group of physicians, a judge with itself, or a jury."""
        if self.members:
            return "jury"
        return "judge" if self.is_judge else "group"


# Runs -------------------------------------------------------------------------------------------------------------

_COUNTS = """
    SELECT response_id, criterion_id, count(*) FILTER (WHERE outcome = 'met') AS met,
           count(*) FILTER (WHERE outcome = 'not_met') AS not_met
    FROM scoring_verdict WHERE run_id = %(run)s GROUP BY response_id, criterion_id
"""


def run_ratings(run: JudgeRun, within: Span | None = None) -> Ratings:
    """The verdicts of a run; of several replicates the majority, invalid ones aside, and INVALID if none is left."""
    if run.replicates == 1:
        outcome = OUTCOME_SQL.format(column="outcome")
        query = f"SELECT response_id, criterion_id, {outcome} FROM scoring_verdict WHERE run_id = %(run)s"
    else:
        query = f"""
            SELECT response_id, criterion_id,
                   CASE WHEN met > not_met THEN 1 WHEN not_met > met THEN 0 WHEN met = 0 THEN 3 ELSE 4 END
            FROM ({_COUNTS}) AS counts
        """
    return counting(fetch_ratings(query, {"run": run.pk}, within=within), run.benchmark_id)


def run_shares(run: JudgeRun) -> Shares:
    """Of each pair with a valid replicate: the mean of its valid replicates, met as 1 and not met as 0."""
    query = f"""
        SELECT response_id::int8, criterion_id::int8, (met::float8 / (met + not_met))::float8
        FROM ({_COUNTS}) AS counts WHERE met + not_met > 0 ORDER BY 1, 2
    """
    made = copy_columns(query, {"run": run.pk}, types={"response": "int8", "criterion": "int8", "share": "float8"})
    keys, share, out = (
        (made["response"] << 31) | made["criterion"],
        made["share"],
        marked(made["response"], run.benchmark_id),
    )
    return Shares(keys, share) if out is None else Shares(keys[~out], share[~out])


def takes_mean(run: JudgeRun) -> bool:
    """Whether the rubric score takes the mean of a run's replicates, as its judge was set when it began."""
    config = run.snapshot.get("config") or {}
    return run.replicates > 1 and config.get("aggregate") == "mean"


def newest_run(benchmark: Benchmark, judge_name: str) -> JudgeRun | None:
    """The newest finished run of a judge on the benchmark; only of those that grade."""
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark, judge__name=judge_name)
    return runs.select_related("judge").first()


def _rater_of(run: JudgeRun, label: str) -> Rater:
    shares = (lambda: run_shares(run)) if takes_mean(run) else None
    return Rater(label, True, lambda within=None: run_ratings(run, within), (run,), shares)


# Juries -----------------------------------------------------------------------------------------------------------


def jury_ratings(members: Sequence[Ratings], rule: str = MAJORITY) -> Ratings:
    """What several raters say together, on the pairs that all of them have.

    ``majority``: of those that say met or not met; as many of each is UNDECIDED. ``unanimous``: what all say, else
    UNDECIDED. Under both a pair is INVALID where it is so for every member, and UNDECIDED where nobody votes.
    """
    keys = common_keys(members)
    votes = np.stack([member.outcome[np.searchsorted(member.keys(), keys)] for member in members])
    met, not_met = (votes == Outcome.MET).sum(axis=0), (votes == Outcome.NOT_MET).sum(axis=0)
    if rule == UNANIMOUS:
        says_met, says_not_met = met == len(votes), not_met == len(votes)
    else:
        says_met, says_not_met = met > not_met, not_met > met
    outcome = np.select(
        [says_met, says_not_met, (votes == Outcome.INVALID).all(axis=0)],
        [Outcome.MET, Outcome.NOT_MET, Outcome.INVALID],
        default=Outcome.UNDECIDED,
    )
    return Ratings(keys >> 31, keys & (2**31 - 1), outcome.astype(np.int8))


def common_keys(members: Sequence[Ratings]) -> NDArray[np.int64]:
    """The pairs that all of them have, as sorted keys of `Ratings`."""
    keys = members[0].keys()
    for member in members[1:]:
        keys = np.intersect1d(keys, member.keys(), assume_unique=True)
    return keys


def kept_jury(benchmark: Benchmark, name: str) -> Judge | None:
    """The newest version of the jury that is at home in the benchmark under this name."""
    juries = Judge.objects.filter(benchmark=benchmark, name=name, kind=Judge.Kind.JURY)
    return juries.order_by("-version").first()


def _jury(label: str, members: Sequence[Rater], rule: str, kept: Judge | None = None) -> Rater:
    if len(members) < 2:
        raise UnknownRater(_("A jury has two members or more."))
    runs = [run for member in members for run in member.runs]
    if len({member.label for member in members}) < len(members) or len({run.pk for run in runs}) < len(runs):
        raise UnknownRater(_("“%(jury)s” names a member twice.") % {"jury": label})
    return Rater(
        label,
        all(member.is_judge for member in members),
        lambda within=None: _together(label, members, rule, within),
        tuple(runs),
        rule=rule,
        members=tuple(member.label for member in members),
        jury=kept,
    )


def _together(label: str, members: Sequence[Rater], rule: str, within: Span | None) -> Ratings:
    made = jury_ratings([member.ratings(within) for member in members], rule)
    if not len(made) and within is None:
        raise nothing_together(label)
    return made


def nothing_together(jury: str) -> NothingSaid:
    """What there is to say of a jury whose members share no pair."""
    return NothingSaid(_("There is no pair that all members of “%(jury)s” have judged.") % {"jury": jury})


def _written_jury(benchmark: Benchmark, text: str, names: str) -> Rater:
    base, _at, rule = names.rpartition("@")
    if rule not in JURY_RULES:  # the last member's own name or stage may hold an @
        base, rule = names, MAJORITY
    members = []
    for part in base.split("+"):
        member = resolve_rater(benchmark, part)
        if member.members:
            raise UnknownRater(_("“%(name)s” is a jury; a jury cannot sit in another.") % {"name": part.strip()})
        members.append(member)
    return _jury(text, members, rule)


def rater_of_jury(benchmark: Benchmark, jury: Judge) -> Rater:
    """A version of a jury, by the newest runs of its members; `UnknownRater` names a member without one."""
    members = []
    for name in jury.config["members"]:
        run = newest_run(benchmark, name)
        if run is None:
            raise UnknownRater(
                _("“%(member)s”, a member of the jury “%(jury)s”, has no finished run on this benchmark.")
                % {"member": name, "jury": jury.name}
            )
        members.append(_rater_of(run, name))
    return _jury(jury.name, members, jury.config.get("rule", MAJORITY), jury)


def require_verdicts(*raters: Rater) -> None:
    """`NothingSaid` where a run behind one of them has no verdict at all, so that no figure is made of its silence."""
    runs = [run.pk for rater in raters for run in rater.runs]
    if not runs:
        return
    silent = JudgeRun.objects.filter(~Exists(Verdict.objects.filter(run=OuterRef("pk"))), pk__in=runs)
    for run in silent.select_related("judge").order_by("pk")[:1]:
        raise NothingSaid(
            _("This run has no verdicts yet: %(judge)s, of %(date)s.")
            % {"judge": run.judge.name, "date": run_date(run)}
        )


def run_date(run: JudgeRun) -> str:
    """By which day a run is known, in the reader's zone: 21 Nov 2026."""
    return date_format(timezone.localtime(run.created_at), "DATE_FORMAT")


# Names ------------------------------------------------------------------------------------------------------------


def resolve_rater(benchmark: Benchmark, text: str) -> Rater:
    """Find the rater that ``text`` names; `UnknownRater`, with what there is, if none is."""
    text = text.strip()
    kind, _colon, name = text.partition(":")
    if text == "consensus":
        return _consensus(benchmark)
    if kind == "group" and name:
        return _group(benchmark, name)
    if kind == "physician" and name:
        return _physician(benchmark, name)
    if kind == "run" and name:
        return _run(benchmark, name)
    if kind == "jury" and name:
        return _written_jury(benchmark, text, name)
    jury = kept_jury(benchmark, text)
    if jury is not None:
        return rater_of_jury(benchmark, jury)
    newest = newest_run(benchmark, text)
    if newest is None:
        raise UnknownRater(
            _("“%(name)s” is neither a rater nor a judge with a finished run on this benchmark.") % {"name": text}
        )
    return _rater_of(newest, text)


def _run(benchmark: Benchmark, public_id: str) -> Rater:
    run = JudgeRun.objects.filter(benchmark=benchmark, public_id=public_id).select_related("judge").first()
    if run is None:
        raise UnknownRater(_("There is no run “%(run)s” on this benchmark.") % {"run": public_id})
    if run.purpose != JudgeRun.Purpose.GRADE:
        raise UnknownRater(
            _("The run “%(run)s” does not grade the responses as they stand (it is of the kind: %(purpose)s).")
            % {"run": public_id, "purpose": run.get_purpose_display()}
        )
    return _rater_of(run, f"run:{public_id}")


def _group(benchmark: Benchmark, name: str) -> Rater:
    groups = {group.name: group for group in ExpertGroup.objects.filter(benchmark=benchmark)}
    base, _at, stage = name.rpartition("@")
    if name in groups or stage not in STAGES:  # a group's own name may hold an @
        base, stage = name, "checked"
    if base not in groups:
        known = ", ".join(sorted(groups)) or _("none")
        raise UnknownRater(
            _("There is no expert group “%(group)s” in this benchmark. Groups: %(known)s.")
            % {"group": base, "known": known}
        )
    group = groups[base]
    return Rater(f"group:{base}@{stage}", False, lambda within=None: group_ratings(group, stage, within))


def _physician(benchmark: Benchmark, name: str) -> Rater:
    base, at, which = name.rpartition("@")
    if not at or which not in ("first", "last"):
        base, which = name, "first"
    if not Physician.objects.filter(benchmark=benchmark, pseudonym=base).exists():
        raise UnknownRater(_("There is no physician “%(name)s” in this benchmark.") % {"name": base})
    return Rater(
        f"physician:{base}@{which}",
        False,
        lambda within=None: physician_ratings(benchmark, base, last_round=which == "last", within=within),
    )


def _consensus(benchmark: Benchmark) -> Rater:
    groups = list(ExpertGroup.objects.filter(benchmark=benchmark, batches__isnull=False).distinct())
    if len(groups) != 2:
        raise UnknownRater(
            _("A consensus is between two groups with batches; this benchmark has %(n)s.") % {"n": len(groups)}
        )
    return Rater("consensus", False, lambda within=None: consensus_ratings(groups[0], groups[1], within))
