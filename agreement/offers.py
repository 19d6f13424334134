"""The raters of a benchmark that have something to say, as people and programs may choose them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Assignment, ExpertGroup, Physician
from consilium.lib.order import natural
from rubrics.models import Benchmark, Candidate
from scoring.models import Judge, JudgeRun, JudgeRunItem, Verdict
from scoring.raters import JURY_RULES, UNANIMOUS, run_date

_RUN = re.compile(r"run:(\w+)")


@dataclass(frozen=True)
class Offer:
    """A rater: its name as `scoring.raters.resolve_rater` takes it, a label, and what kind of rater it is.

    ``behind`` says of a judge which run it stands for, and of a run how much it has.
    """

    rater: str
    label: str
    kind: str  # group, consensus, judge, jury, run, physician
    behind: str = ""

    @property
    def choice(self) -> str:
        """As a menu shows it."""
        return f"{self.label} · {self.behind}" if self.behind else self.label

    @property
    def is_judge(self) -> bool:
        return self.kind in ("judge", "jury", "run")


# Under this name an object of a benchmark keeps what was on offer.
_KEPT = "_offers"
Read = Callable[..., list[Offer]]


def look_once(benchmark: Benchmark) -> None:
    """For a page of many forms: from here on this object of a benchmark is asked only once what is on offer."""
    benchmark.__dict__.setdefault(_KEPT, {})


def _kept_by_benchmark(read: Read) -> Read:
    """Asks an object that `look_once` was told of only once."""

    @wraps(read)
    def reading(benchmark: Benchmark, **options: Any) -> list[Offer]:
        kept: dict[Any, list[Offer]] | None = benchmark.__dict__.get(_KEPT)
        if kept is None:
            return read(benchmark, **options)
        key = (read.__name__, *options.items())
        if key not in kept:
            kept[key] = read(benchmark, **options)
        return list(kept[key])

    return reading


def _handed_in(benchmark: Benchmark) -> QuerySet[Assignment]:
    """Work that counts as somebody's rating."""
    rows = Assignment.objects.filter(batch__group__benchmark=benchmark, submitted_at__isnull=False)
    return rows.filter(purpose=Assignment.Purpose.WORK).exclude(status=Assignment.Status.RELEASED)


@_kept_by_benchmark
def group_offers(benchmark: Benchmark, *, stages: bool = True) -> list[Offer]:
    """Groups with submitted work: at the stage ``checked``, then at the others if ``stages``."""
    with_work = _handed_in(benchmark)
    groups = ExpertGroup.objects.filter(pk__in=with_work.values("batch__group")).order_by("name")
    labels = {
        "checked": _("%(group)s (checked)"),
        "final": _("%(group)s (adjudicated)"),
        "first": _("%(group)s (first decisions)"),
    }
    wanted = labels if stages else {"checked": "%(group)s"}
    return [
        Offer(f"group:{group.name}@{stage}", label % {"group": group.name}, "group")
        for stage, label in wanted.items()
        for group in groups
    ]


@_kept_by_benchmark
def judge_offers(benchmark: Benchmark) -> list[Offer]:
    """Judges with a finished run by name, which stands for the newest run, and juries all of whose members have one."""
    finished = _graded(benchmark).filter(status=JudgeRun.Status.FINISHED).select_related("judge").defer("snapshot")
    # The same order as `scoring.raters.newest_run`.
    newest_runs = list(finished.order_by("judge__name", "-finished_at", "-pk").distinct("judge__name"))
    run_of = {run.judge.name: run for run in newest_runs}
    names, sizes = set(run_of), _responses_of(newest_runs)
    juries = Judge.objects.filter(benchmark=benchmark, kind=Judge.Kind.JURY).order_by("name", "-version")
    newest = list(juries.distinct("name"))
    # Where a judge of another benchmark has come to run here under its name, the jury is meant.
    taken = {jury.name for jury in newest}
    found = [
        Offer(name, name, "judge", behind=_stands_for(run_of[name], sizes[run_of[name].pk]))
        for name in sorted(names - taken)
    ]
    for jury in newest:
        members = jury.config["members"]
        if names.issuperset(members):
            label = f"{jury.name} ({_members(members, jury.config.get('rule', ''))})"
            counts = ", ".join(f"{sizes[run_of[member].pk]:,}" for member in members)
            behind = _("its members’ runs have %(counts)s responses") % {"counts": counts}
            found.append(Offer(jury.name, label, "jury", behind=behind))
    return found


def _responses_of(runs: Collection[JudgeRun]) -> dict[int, int]:
    """How many responses each run was to judge, by its pk; one query."""
    counted = JudgeRunItem.objects.filter(run__in=runs).order_by().values_list("run").annotate(n=Count("pk"))
    return {**{run.pk: 0 for run in runs}, **dict(counted)}


def _stands_for(run: JudgeRun, responses: int) -> str:
    said = ngettext("%(date)s, %(n)s response", "%(date)s, %(n)s responses", responses)
    return said % {"date": run_date(run), "n": f"{responses:,}"}


def _graded(benchmark: Benchmark) -> QuerySet[JudgeRun]:
    """Runs whose verdicts are about the responses as they stand."""
    return JudgeRun.objects.filter(benchmark=benchmark, purpose=JudgeRun.Purpose.GRADE)


def _members(names: Sequence[str], rule: str) -> str:
    """A jury in words."""
    joined = ", ".join(names)
    if rule == UNANIMOUS:
        return _("unanimous jury of %(members)s") % {"members": joined}
    return _("jury of %(members)s") % {"members": joined}


@_kept_by_benchmark
def offers(benchmark: Benchmark) -> list[Offer]:
    """Everything that may be compared: groups, their consensus, judges, earlier runs, physicians."""
    groups = group_offers(benchmark)
    found = list(groups)
    if len({offer.rater.rpartition("@")[0] for offer in groups}) == 2:
        found.append(Offer("consensus", _("Consensus of both groups"), "consensus"))
    found += judge_offers(benchmark)
    runs = JudgeRun.objects.filter(
        benchmark=benchmark,
        status__in=(JudgeRun.Status.FINISHED, JudgeRun.Status.INCOMPLETE),
        purpose=JudgeRun.Purpose.GRADE,
    ).select_related("judge")
    given = _verdicts_of([run for run in runs if run.status == JudgeRun.Status.INCOMPLETE])
    found += [
        Offer(
            f"run:{run.public_id}",
            _("%(judge)s, run of %(date)s")
            % {"judge": run.judge.name, "date": run.created_at.strftime("%Y-%m-%d %H:%M")},
            "run",
            behind=_how_complete(run, given),
        )
        for run in runs
    ]
    with_work = _handed_in(benchmark)
    physicians = Physician.objects.filter(benchmark=benchmark, user__in=with_work.values("annotator"))
    found += [
        Offer(f"physician:{one.pseudonym}", one.pseudonym, "physician")
        for one in sorted(physicians, key=lambda one: natural(one.pseudonym))
    ]
    return found


def _verdicts_of(runs: Collection[JudgeRun]) -> dict[int, int]:
    """How many verdicts each run has, by its pk; one query, over the few runs that were broken off."""
    if not runs:
        return {}
    counted = Verdict.objects.filter(run__in=runs).order_by().values_list("run").annotate(n=Count("pk"))
    return {**{run.pk: 0 for run in runs}, **dict(counted)}


def _how_complete(run: JudgeRun, given: Mapping[int, int]) -> str:
    """What a menu says beside a run; ``given`` holds the verdicts of those that are incomplete."""
    if run.pk in given:
        return _("incomplete, %(n)s of %(all)s verdicts") % {"n": f"{given[run.pk]:,}", "all": f"{run.expected:,}"}
    return _("verdicts: %(n)s") % {"n": f"{run.expected:,}"} if run.expected else ""


def physician_candidates(benchmark: Benchmark) -> list[str]:
    """Candidates that are physicians and have answered something, by name."""
    found = Candidate.objects.filter(
        benchmark=benchmark, kind=Candidate.Kind.PHYSICIAN, responses__isnull=False
    ).distinct()
    return list(found.values_list("name", flat=True))


def run_names(raters: Iterable[str]) -> dict[str, str]:
    """What the runs in the names of raters are called, by ``run:ID``: “Ok (run of 21 Nov 2026)”; one query."""
    ids = {public_id for rater in raters for public_id in _RUN.findall(rater)}
    if not ids:
        return {}
    runs = JudgeRun.objects.filter(public_id__in=ids).select_related("judge").defer("snapshot")
    return {
        f"run:{run.public_id}": _("%(judge)s (run of %(date)s)") % {"judge": run.judge.name, "date": run_date(run)}
        for run in runs
    }


def display_name(rater: str, runs: Mapping[str, str] | None = None) -> str:
    """A rater's name as a page shows it: ``group:A@checked`` is “A (checked)”.

    ``runs`` are the `run_names` of a page that shows many raters; without them they are looked up.
    """
    if runs is None:
        runs = run_names([rater])
    kind, _colon, name = rater.partition(":")
    base, _at, stage = name.rpartition("@")
    words = {
        "checked": _("%(group)s (checked)"),
        "final": _("%(group)s (adjudicated)"),
        "first": _("%(group)s (first decisions)"),
    }
    if kind == "group" and stage in words:
        return words[stage] % {"group": base}
    if kind == "physician":
        return base if stage in ("first", "last") and base else name
    if kind == "jury":
        rule = stage if stage in JURY_RULES else ""
        members = (base if rule else name).split("+")
        return _members([runs.get(member.strip(), member) for member in members], rule)
    if rater == "consensus":
        return _("consensus of both groups")
    if kind == "run":
        return runs.get(rater) or _("run %(run)s") % {"run": name}
    return rater
