"""Raters by name: anything that decides (response, criterion) pairs, as written in commands, the API and reports.

``group:NAME[@first|checked|final]``, ``physician:PSEUDONYM[@first|last]``, ``consensus:A+B`` (``consensus`` where two
groups alone have decisions), ``run:ID``, ``jury:A+B+C[@majority|unanimous]``, or the name of a judge: its
newest finished run on the benchmark counts, or all its imported runs (`scoring.runs.selectors`). By the name of a jury
that is kept, those of each member.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.models import ExpertGroup, Physician
from annotation.selectors.ratings import (
    STAGES,
    consensus_ratings,
    group_ratings,
    groups_with_decisions,
    physician_ratings,
)
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_JURY_MEMBERS
from consilium.core.ratings import Ratings, Span
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from scoring.judges.kinds.kind import juries
from scoring.models import Judge, JudgeRun, Verdict
from scoring.runs.selectors import RunSet, Shares, run_date, run_set

MAJORITY, UNANIMOUS = "majority", "unanimous"
JURY_RULES = (MAJORITY, UNANIMOUS)


class UnknownRater(DomainError):
    """The text names no rater of the benchmark."""


class NoRatings(DomainError):
    """A rater whose run has no verdict, so that it has no figures."""


class ReadRatings(Protocol):
    """Reads what a rater decided: on everything, or on the responses of a span. Its outcome of a pair depends on
    nothing outside its response, so that spans read one after another make up the whole.
    """

    def __call__(self, within: Span | None = None) -> Ratings: ...


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater of a benchmark: ``label`` as in files, and how to read its decisions.

    ``judges`` holds the runs of each judge behind it, one for each member of a jury: what they were to judge tells a
    missing verdict from one never asked for.
    ``shares``, where a run's replicates count by their mean, are what the rubric score takes instead of the outcome.
    """

    label: str
    is_judge: bool
    ratings: ReadRatings
    judges: tuple[RunSet, ...] = ()
    shares: Callable[[], Shares] | None = None
    # Of a jury: its rule, and the labels of its members.
    rule: str = ""
    members: tuple[str, ...] = ()
    jury: Judge | None = None  # where it is kept by name

    @property
    def runs(self) -> tuple[JudgeRun, ...]:
        """All judge runs behind it."""
        return tuple(run for judge in self.judges for run in judge.runs)

    @property
    def undecided_by(self) -> str:
        """Who disagreed where the outcome is UNDECIDED: a group of physicians, a judge with itself, or a jury."""
        if self.members:
            return "jury"
        return "judge" if self.is_judge else "group"


# Runs -------------------------------------------------------------------------------------------------------------


def run_ratings(run: JudgeRun, within: Span | None = None) -> Ratings:
    """The verdicts of a run; of several replicates the majority, invalid ones aside, and INVALID if none is left."""
    return RunSet((run,)).ratings(within)


def rater_of_runs(runs: RunSet, label: str) -> Rater:
    """A judge, by the runs that count for it."""
    return Rater(label, True, runs.ratings, (runs,), runs.shares if runs.takes_mean else None)


# Juries -----------------------------------------------------------------------------------------------------------


def jury_ratings(members: Sequence[Ratings], rule: str = MAJORITY) -> Ratings:
    """The joint outcomes of several raters, on the pairs that all of them have.

    ``majority``: of the members that decide met or not met; a tie is UNDECIDED. ``unanimous``: the outcome that all
    give, else UNDECIDED. Under both a pair is INVALID if it is so for every member, and UNDECIDED if nobody votes.
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
    kept = Judge.objects.filter(benchmark=benchmark, name=name, kind__in=juries())
    return kept.order_by("-version").first()


def _jury(label: str, members: Sequence[Rater], rule: str, kept: Judge | None = None) -> Rater:
    if len(members) < 2:
        raise UnknownRater(_("A jury needs at least two members."))
    runs = [run for member in members for run in member.runs]
    if len({member.label for member in members}) < len(members) or len({run.pk for run in runs}) < len(runs):
        raise UnknownRater(_("“%(jury)s” lists a member twice.") % {"jury": label})
    return Rater(
        label,
        all(member.is_judge for member in members),
        lambda within=None: _together(label, members, rule, within),
        tuple(judge for member in members for judge in member.judges),
        rule=rule,
        members=tuple(member.label for member in members),
        jury=kept,
    )


def _together(label: str, members: Sequence[Rater], rule: str, within: Span | None) -> Ratings:
    ratings = jury_ratings([member.ratings(within) for member in members], rule)
    if not len(ratings) and within is None:
        raise nothing_together(label)
    return ratings


def nothing_together(jury: str) -> NoRatings:
    """The message about a jury whose members share no pair."""
    return NoRatings(_("No pair has been judged by all members of “%(jury)s”.") % {"jury": jury})


def _written_jury(benchmark: Benchmark, text: str, names: str) -> Rater:
    base, _at, rule = names.rpartition("@")
    if rule not in JURY_RULES:  # the last member's own name or stage may hold an @
        base, rule = names, MAJORITY
    # A consensus or a group may hold plus signs in its name: those of a jury of the largest size stay below twice that.
    if base.count("+") >= 2 * MAX_JURY_MEMBERS:
        raise _too_large()
    names_of_members = _member_names(benchmark, base)
    if len(names_of_members) > MAX_JURY_MEMBERS:
        raise _too_large()
    members = []
    for part in names_of_members:
        member = resolve_rater(benchmark, part)
        if member.members:
            raise UnknownRater(
                _("“%(name)s” is a jury. A jury cannot be a member of another jury.") % {"name": part.strip()}
            )
        members.append(member)
    return _jury(text, members, rule)


def _too_large() -> UnknownRater:
    return UnknownRater(_("A jury has at most %(n)s members.") % {"n": MAX_JURY_MEMBERS})


def _member_names(benchmark: Benchmark, names: str) -> list[str]:
    """The members that stand between the plus signs; a group's or consensus's own name may hold some of these."""
    parts = names.split("+")
    if not any(part.strip().startswith(("group:", "consensus:")) for part in parts):
        return parts
    groups = set(ExpertGroup.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    longest = 1 + 2 * max((name.count("+") + 1 for name in groups), default=0)
    members, place = [], 0
    while place < len(parts):
        ends = range(place + 1, min(place + longest, len(parts)) + 1)
        possible = [end for end in ends if _names_groups("+".join(parts[place:end]).strip(), groups)]
        if len(possible) > 1:
            choices = ", ".join(f"“{'+'.join(parts[place:end]).strip()}”" for end in possible)
            raise UnknownRater(
                _("“%(name)s” can be read in several ways: %(choices)s. Rename a group.")
                % {"name": names, "choices": choices}
            )
        end = possible[0] if possible else place + 1
        members.append("+".join(parts[place:end]))
        place = end
    return members


def _names_groups(text: str, groups: set[str]) -> bool:
    """Whether ``text`` is the name of a group or of a consensus, of groups that there are."""
    kind, _colon, name = text.partition(":")
    if kind == "consensus":
        return bool(_pairs_in(name, groups))
    base, _at, stage = name.rpartition("@")
    return kind == "group" and (name in groups or (stage in STAGES and base in groups))


def rater_of_jury(benchmark: Benchmark, jury: Judge) -> Rater:
    """A version of a jury, by the runs that count for its members; `UnknownRater` names a member without one."""
    members = []
    for name in jury.config["members"]:
        runs = run_set(benchmark, name)
        if runs is None:
            raise UnknownRater(
                _("“%(member)s”, a member of the jury “%(jury)s”, has no finished run on this benchmark.")
                % {"member": name, "jury": jury.name}
            )
        members.append(rater_of_runs(runs, name))
    return _jury(jury.name, members, jury.config.get("rule", MAJORITY), jury)


def require_verdicts(*raters: Rater) -> None:
    """`NoRatings` where the runs that count for a judge have no verdict at all, so that no figure can be computed.

    An imported run without verdicts is accepted if another run of the judge has some.
    """
    for judge in (judge for rater in raters for judge in rater.judges):
        if not Verdict.objects.filter(run__in=judge.run_ids).exists():
            raise NoRatings(
                _("This run has no verdicts yet: %(judge)s, of %(date)s.")
                % {"judge": judge.judge_name, "date": run_date(judge.newest)}
            )


# Names ------------------------------------------------------------------------------------------------------------


def resolve_rater(benchmark: Benchmark, text: str) -> Rater:
    """Find the rater that ``text`` names; `UnknownRater`, with what there is, if none is."""
    text = text.strip()
    kind, _colon, name = text.partition(":")
    if text == "consensus":
        return _consensus(benchmark)
    if kind == "consensus" and name:
        return _named_consensus(benchmark, text, name)
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
    runs = run_set(benchmark, text)
    if runs is None:
        raise UnknownRater(
            _("“%(name)s” is neither a rater nor a judge with a finished run on this benchmark.") % {"name": text}
        )
    return rater_of_runs(runs, text)


def _run(benchmark: Benchmark, public_id: str) -> Rater:
    run = JudgeRun.objects.filter(benchmark=benchmark, public_id=public_id).select_related("judge").first()
    if run is None:
        raise UnknownRater(_("There is no run “%(run)s” on this benchmark.") % {"run": public_id})
    if run.purpose != JudgeRun.Purpose.GRADE:
        raise UnknownRater(
            _("The run “%(run)s” does not grade the original responses (its kind: %(purpose)s).")
            % {"run": public_id, "purpose": run.get_purpose_display()}
        )
    return rater_of_runs(RunSet((run,)), f"run:{public_id}")


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


def consensus_pairs(names: Sequence[str]) -> list[str]:
    """The raters ``consensus:A+B`` of every two of several groups; alone “consensus” where there are two groups."""
    if len(names) == 2:
        return ["consensus"]
    return [_consensus_label(pair, set(names)) for pair in combinations(sorted(names), 2)]


def _consensus(benchmark: Benchmark) -> Rater:
    groups = groups_with_decisions(benchmark)
    if len(groups) != 2:
        choices = ", ".join(consensus_pairs([group.name for group in groups])) or _("none")
        raise UnknownRater(
            _(
                "A consensus must be between two groups. Groups of this benchmark with decisions: %(n)s. "
                "Choices: %(choices)s."
            )
            % {"n": len(groups), "choices": choices}
        )
    return Rater("consensus", False, lambda within=None: consensus_ratings(groups[0], groups[1], within))


def _named_consensus(benchmark: Benchmark, text: str, names: str) -> Rater:
    groups = {group.name: group for group in ExpertGroup.objects.filter(benchmark=benchmark)}
    pairs = _pairs_in(names, set(groups))
    if not pairs:
        known = ", ".join(sorted(groups)) or _("none")
        raise UnknownRater(
            _(
                "“%(text)s” does not name two expert groups of this benchmark in the form consensus:A+B. "
                "Groups: %(known)s."
            )
            % {"text": text, "known": known}
        )
    if len(pairs) > 1:
        choices = "; ".join(_("“%(one)s” and “%(two)s”") % {"one": first, "two": second} for first, second in pairs)
        raise UnknownRater(
            _("“%(name)s” can be read in several ways: %(choices)s. Rename a group.")
            % {"name": text, "choices": choices}
        )
    first, second = pairs[0]
    if first == second:
        raise UnknownRater(_("A consensus must be between two different groups."))
    label = _consensus_label((first, second), set(groups))
    return Rater(label, False, lambda within=None: consensus_ratings(groups[first], groups[second], within))


def _pairs_in(names: str, groups: set[str]) -> list[tuple[str, str]]:
    """The two groups that ``names`` can mean, joined by one of its plus signs: every reading, since names may hold
    plus signs of their own.
    """
    cuts = (place for place, character in enumerate(names) if character == "+")
    read = ((names[:cut].strip(), names[cut + 1 :].strip()) for cut in cuts)
    return [pair for pair in read if groups.issuperset(pair)]


def _consensus_label(pair: tuple[str, str], groups: set[str]) -> str:
    """One name for a consensus, in whichever order its groups were given."""
    first, second = sorted(pair)
    label = f"{first}+{second}"
    return f"consensus:{label if len(_pairs_in(label, groups)) == 1 else '+'.join(pair)}"


def groups_of_consensus(benchmark: Benchmark, label: str) -> list[str]:
    """Names of the two groups of a consensus, from its label; none where the label is no consensus."""
    if label == "consensus":
        return [group.name for group in groups_with_decisions(benchmark)]
    kind, _colon, names = label.partition(":")
    if kind != "consensus":
        return []
    groups = set(ExpertGroup.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    return list(next(iter(_pairs_in(names, groups)), ()))


def is_consensus(label: str) -> bool:
    """Whether a rater's label is that of a consensus of two groups."""
    return label == "consensus" or label.startswith("consensus:")
