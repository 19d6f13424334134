"""The raters of a benchmark that have ratings, as choices of forms and of the API."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import combinations
from typing import Any

from django.db.models import Count, Max, Min
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement.models import Report
from annotation.models import Physician
from annotation.selectors.ratings import checked_group_names, checked_groups, groups_with_decisions, rated_work
from consilium.core.i18n import translate
from consilium.core.order import natural
from consilium.core.phrases import joined
from rubrics.models import Benchmark, Candidate
from scoring.judges.kinds.kind import juries
from scoring.models import Judge, JudgeRun, Verdict
from scoring.runs.selectors import RunSet, coverage, run_date, run_sets
from scoring.selectors.raters import JURY_RULES, UNANIMOUS, consensus_pairs

_RUN = re.compile(r"run:(\w+)")


@dataclass(frozen=True)
class RaterChoice:
    """A rater: its name as `scoring.selectors.raters.resolve_rater` takes it, a label, and what kind of rater it is.

    ``behind`` names the run of a judge, and how much a run has; ``note``, in English, what older
    runs of the judge hold beyond that.
    """

    rater: str
    label: str
    kind: str  # group, consensus, judge, jury, run, physician
    behind: str = ""
    note: str = ""
    from_files: bool = False  # its verdicts were imported

    @property
    def choice(self) -> str:
        """As a menu shows it."""
        return " · ".join(filter(None, [self.label, translate(self.note), self.behind]))

    @property
    def is_judge(self) -> bool:
        return self.kind in ("judge", "jury", "run")


# The attribute in which an object of a benchmark caches its choices.
_KEPT = "_offers"
Read = Callable[..., list[RaterChoice]]


def look_once(benchmark: Benchmark) -> None:
    """Look up the choices only once for this object of a benchmark from here on, for a page of many forms."""
    benchmark.__dict__.setdefault(_KEPT, {})


def _kept_by_benchmark(read: Read) -> Read:
    """Calls the function once for each object that `look_once` was given."""

    @wraps(read)
    def reading(benchmark: Benchmark, **options: Any) -> list[RaterChoice]:
        kept: dict[Any, list[RaterChoice]] | None = benchmark.__dict__.get(_KEPT)
        if kept is None:
            return read(benchmark, **options)
        key = (read.__name__, *options.items())
        if key not in kept:
            kept[key] = read(benchmark, **options)
        return list(kept[key])

    return reading


@_kept_by_benchmark
def group_choices(benchmark: Benchmark, *, stages: bool = True) -> list[RaterChoice]:
    """Groups with submitted work: at the stage ``checked``, then at the others if ``stages``."""
    groups = groups_with_decisions(benchmark)
    labels = {
        "checked": "%(group)s",
        "final": _("%(group)s (adjudicated)"),
        "first": _("%(group)s (first decisions)"),
    }
    named = checked_names(benchmark) if stages else {}
    stage_labels = labels if stages else {"checked": "%(group)s"}
    raters = [(f"group:{group.name}@{stage}", stage, group.name) for stage in stage_labels for group in groups]
    return [
        RaterChoice(rater, named.get(rater) or stage_labels[stage] % {"group": name}, "group")
        for rater, stage, name in raters
    ]


# The attribute in which an object of a benchmark caches the names of its checked groups.
_CHECKED = "_checked_groups"


def checked_names(benchmark: Benchmark) -> dict[str, str]:
    """Names of the groups in which a secondary check was held, by ``group:NAME@checked``: “A (after the secondary
    check)”. Every other group is called by its name alone. One query for each object of a benchmark.
    """
    if _CHECKED not in benchmark.__dict__:
        benchmark.__dict__[_CHECKED] = checked_groups(benchmark.pk)
    return checked_group_names(benchmark.__dict__[_CHECKED])


def rater_names(benchmark: Benchmark, raters: Iterable[str]) -> dict[str, str]:
    """The names that `display_name` needs for some raters of a benchmark: of runs, and of checked groups."""
    raters = list(raters)
    is_checked = any(rater.startswith("group:") and rater.endswith("@checked") for rater in raters)
    return {**run_names(raters), **(checked_names(benchmark) if is_checked else {})}


def names_in(reports: Sequence[Report]) -> dict[str, str]:
    """The names of the raters in the parameters of reports on one benchmark: of runs, and of checked groups."""
    # The parameter “run” is an id alone, and “group” a name; with their names they are raters.
    given = [f"{name}:{value}" for report in reports for name, value in report.parameters.items()]
    return {**run_names(given), **checked_names(reports[0].benchmark)} if reports else {}


def shown_name(benchmark: Benchmark, rater: str) -> str:
    """`display_name` of one rater of a benchmark."""
    return display_name(rater, rater_names(benchmark, [rater]))


@_kept_by_benchmark
def judge_choices(benchmark: Benchmark) -> list[RaterChoice]:
    """Judges with a finished run by name, and juries all of whose members have one."""
    runs_of = run_sets(benchmark)
    names, covered = set(runs_of), coverage(benchmark, runs_of.values())
    versions = Judge.objects.filter(benchmark=benchmark, kind__in=juries()).order_by("name", "-version")
    newest = list(versions.distinct("name"))
    # Where a judge of another benchmark has a run here under the same name, the name means the jury.
    taken = {jury.name for jury in newest}
    offer_list = [
        RaterChoice(
            name,
            name,
            "judge",
            behind=_run_of_judge(runs_of[name], covered[name].n_responses),
            note=covered[name].note,
            from_files=runs_of[name].newest.imported,
        )
        for name in sorted(names - taken)
    ]
    for jury in newest:
        members = jury.config["members"]
        if names.issuperset(members):
            label = f"{jury.name} ({_members(members, jury.config.get('rule', ''))})"
            counts = ", ".join(f"{covered[member].n_responses:,}" for member in members)
            behind = _("the runs of its members have %(counts)s responses") % {"counts": counts}
            note = joined(*(covered[member].note for member in members))
            offer_list.append(RaterChoice(jury.name, label, "jury", behind=behind, note=note))
    return offer_list


def _run_of_judge(judge: RunSet, responses: int) -> str:
    counted = ngettext("%(date)s, %(n)s response", "%(date)s, %(n)s responses", responses)
    words = counted % {"date": run_date(judge.newest), "n": f"{responses:,}"}
    if len(judge.runs) == 1:
        return words
    return _("%(n)s imported runs, the newest of %(newest)s") % {"n": len(judge.runs), "newest": words}


def _members(names: Sequence[str], rule: str) -> str:
    """The members of a jury in words."""
    joined = ", ".join(names)
    if rule == UNANIMOUS:
        return _("unanimous jury of %(members)s") % {"members": joined}
    return _("jury of %(members)s") % {"members": joined}


@_kept_by_benchmark
def rater_choices(benchmark: Benchmark) -> list[RaterChoice]:
    """Everything that may be compared: groups, their consensus, judges, earlier runs, physicians."""
    groups = group_choices(benchmark)
    offer_list = list(groups)
    offer_list += _consensus_choices([offer.rater.removeprefix("group:").rpartition("@")[0] for offer in groups])
    offer_list += judge_choices(benchmark)
    runs: list[JudgeRun] = list(
        JudgeRun.objects.filter(
            benchmark=benchmark,
            status__in=(JudgeRun.Status.FINISHED, JudgeRun.Status.INCOMPLETE),
            purpose=JudgeRun.Purpose.GRADE,
        ).select_related("judge")
    )
    given = _verdicts_of([run for run in runs if run.imported or run.status == JudgeRun.Status.INCOMPLETE])
    # A run that was broken off before its first verdict, say by a wrong key, rates nothing.
    runs = [run for run in runs if run.imported or run.pk not in given or given[run.pk].n]
    labels = _labels_of(runs, given)
    offer_list += [
        RaterChoice(
            f"run:{run.public_id}",
            labels[run.pk],
            "run",
            behind=_how_complete(run, given),
            from_files=run.imported,
        )
        for run in runs
    ]
    physicians = Physician.objects.filter(benchmark=benchmark, user__in=rated_work(benchmark).values("annotator"))
    offer_list += [
        RaterChoice(f"physician:{physician.pseudonym}", physician.pseudonym, "physician")
        for physician in sorted(physicians, key=lambda physician: natural(physician.pseudonym))
    ]
    return offer_list


def _minute(run: JudgeRun) -> str:
    """When a run began, in the reader's time zone, which is named: 21 Nov 2026, 09:30 CET."""
    local = timezone.localtime(run.created_at)
    return f"{date_format(local, 'DATETIME_FORMAT')} {local.tzname() or ''}".strip()


def _consensus_choices(groups: Iterable[str]) -> list[RaterChoice]:
    """The consensus of every two groups; where there are only two it needs no names."""
    names = sorted(set(groups))
    if len(names) == 2:
        return [RaterChoice("consensus", _("Consensus of both groups"), "consensus")]
    return [
        RaterChoice(rater, _("Consensus of %(one)s and %(two)s") % {"one": first, "two": second}, "consensus")
        for rater, (first, second) in zip(consensus_pairs(names), combinations(names, 2), strict=True)
    ]


@dataclass(frozen=True)
class _Given:
    """How many verdicts a run has, and between which replicates (from 0)."""

    n: int = 0
    first: int = 0
    last: int = 0


def _verdicts_of(runs: Collection[JudgeRun]) -> dict[int, _Given]:
    """The verdicts of each run, by its pk; one query, over the few runs that were interrupted or imported."""
    if not runs:
        return {}
    counted = Verdict.objects.filter(run__in=runs).order_by().values_list("run")
    given = counted.annotate(n=Count("pk"), first=Min("replicate"), last=Max("replicate"))
    return {**{run.pk: _Given() for run in runs}, **{pk: _Given(*rest) for pk, *rest in given}}


def _labels_of(runs: Sequence[JudgeRun], given: Mapping[int, _Given]) -> dict[int, str]:
    """Judge and time of each run, by its pk; with replicates and id where several runs would have the same label."""
    labels = {run.pk: _("%(judge)s, run of %(date)s") % {"judge": run.judge.name, "date": _minute(run)} for run in runs}
    times = Counter(labels.values())
    for run in runs:
        if times[labels[run.pk]] == 1:
            continue
        words = [labels[run.pk]]
        if run.pk in given:
            first, last = given[run.pk].first + 1, given[run.pk].last + 1
            replicates = f"{first}" if first == last else f"{first}–{last}"
            words.append(_("replicate %(replicates)s") % {"replicates": replicates})
        labels[run.pk] = ", ".join([*words, f"run:{run.public_id}"])
    return labels


def _how_complete(run: JudgeRun, given: Mapping[int, _Given]) -> str:
    """The text that a menu shows beside a run; ``given`` holds the verdicts of those that may lack some."""
    own = given.get(run.pk)
    if own is None or (own.n >= run.expected and run.status != JudgeRun.Status.INCOMPLETE):
        return _("verdicts: %(n)s") % {"n": f"{run.expected:,}"} if run.expected else ""
    counts = {"n": f"{own.n:,}", "all": f"{run.expected:,}"}
    if run.status == JudgeRun.Status.INCOMPLETE:
        return _("incomplete, %(n)s of %(all)s verdicts") % counts
    return _("verdicts: %(n)s of %(all)s") % counts


def physician_candidates(benchmark: Benchmark) -> list[str]:
    """Candidates that are physicians and have answered something, by name."""
    candidates = Candidate.objects.filter(
        benchmark=benchmark, kind=Candidate.Kind.PHYSICIAN, responses__isnull=False
    ).distinct()
    return list(candidates.values_list("name", flat=True))


def run_names(raters: Iterable[str]) -> dict[str, str]:
    """Names of the runs that occur in names of raters, by ``run:ID``: “Ok (run of 21 Nov 2026)”; one query."""
    ids = {public_id for rater in raters for public_id in _RUN.findall(rater)}
    if not ids:
        return {}
    runs = JudgeRun.objects.filter(public_id__in=ids).select_related("judge").defer("snapshot")
    return {
        f"run:{run.public_id}": _("%(judge)s (run of %(date)s)") % {"judge": run.judge.name, "date": run_date(run)}
        for run in runs
    }


def _consensus_in_words(rater: str) -> str:
    """“consensus of A + B”; empty where the rater is no consensus that names its groups."""
    kind, _colon, names = rater.partition(":")
    return _("consensus of %(groups)s") % {"groups": names.replace("+", " + ")} if kind == "consensus" else ""


def _jury_parts(names: str) -> list[str]:
    """The members in the name of a jury, as far as the name alone shows them: a consensus takes two places."""
    parts = [part.strip() for part in names.split("+")]
    members: list[str] = []
    while parts:
        taken = 2 if parts[0].startswith("consensus:") else 1
        members.append("+".join(parts[:taken]))
        parts = parts[taken:]
    return members


def display_name(rater: str, runs: Mapping[str, str] | None = None) -> str:
    """A rater's name as a page shows it: ``group:A@checked`` is “A”, or as `checked_names` has it.

    ``runs`` are the `rater_names` of a page that shows many raters; without them those of runs are looked up.
    """
    if runs is None:
        runs = run_names([rater])
    kind, _colon, name = rater.partition(":")
    base, _at, stage = name.rpartition("@")
    words = {
        "checked": "%(group)s",
        "final": _("%(group)s (adjudicated)"),
        "first": _("%(group)s (first decisions)"),
    }
    if rater in runs:
        return runs[rater]
    if kind == "group" and stage in words:
        return words[stage] % {"group": base}
    if kind == "physician":
        return base if stage in ("first", "last") and base else name
    if kind == "jury":
        rule = stage if stage in JURY_RULES else ""
        members = _jury_parts(base if rule else name)
        return _members([runs.get(member) or _consensus_in_words(member) or member for member in members], rule)
    if rater == "consensus":
        return _("consensus of both groups")
    if kind == "consensus":
        return _consensus_in_words(rater)
    if kind == "run":
        return runs.get(rater) or _("run %(run)s") % {"run": name}
    return rater
