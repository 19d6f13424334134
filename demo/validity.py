"""How good rubric sets of the demo are, by the endpoint that follows rules: a coverage run, pairs, and trials of them.

No worker takes part in the runs: the endpoint is there for this moment alone.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from accounts.models import User
from agreement.models import Report
from agreement.services import create_report
from consilium.llm.rules.names import MODEL
from demo.rules_endpoint import stages_endpoint
from rubrics.editor.draft_content import MAX_ITEMS
from rubrics.models import Benchmark
from scoring.generation.due_responses import CaseFrame
from scoring.models import PipelineRun
from scoring.pipelines.working import work_on_run
from validation.coverage.services import ask_physicians
from validation.coverage.services import create_run as create_coverage_run
from validation.making.services import create_run as create_making_run
from validation.models import ErrorKind, NearMissPair, PairGroup, RubricSet
from validation.pairs.services import Answers, judge
from validation.sets.frames import Frame, Range
from validation.sets.services import make_set
from validation.sets.storing import SetName
from validation.trials.building import Which
from validation.trials.services import create_run as create_trial_run

PAIRS = "Numbers (made up)"
TRIALS = 1  # in each order: the endpoint always answers the same
WAITING = 2  # pairs that nobody has judged, so that there is something to do
DANGEROUS = Answers(is_single=True, harm="dangerous", has_other_flaw=False, note="Made up.")
MINOR = Answers(is_single=True, harm="minor", has_other_flaw=False, note="Made up.")


def measure_rubric_sets(demo: Benchmark, *, by: User, physician: User, at: datetime) -> None:
    """The criteria of the cases and generic ones for the same cases, in finished runs and reports."""
    frame = Frame(criteria=Range(1, MAX_ITEMS))  # the messages of the panel have no rubric
    names = (("Criteria of the cases (made up)", "gold"), ("Generic criteria (made up)", ""))
    gold, generic = (
        make_set(
            benchmark=demo,
            name=SetName(name, "Made up, as everything in this benchmark."),
            track=track,
            frame=frame,
            by=by,
            at=at,
        )
        for name, track in names
    )
    with stages_endpoint() as url:
        config = {"endpoint": url, "model": MODEL, "concurrency": 16}
        common: dict[str, Any] = {"benchmark": demo, "by": by, "at": at}
        _coverage(gold, generic, config, common)
        _pairs([gold, generic], physician, config, common)


def _coverage(gold: RubricSet, measured: RubricSet, config: dict[str, Any], common: dict[str, Any]) -> None:
    """A finished run with questions to physicians, and a report that waits for a worker."""
    run = create_coverage_run(gold=gold, sets=[measured], config=config, **common)
    _work(run, common["at"])
    ask_physicians(run=run, at=common["at"])
    create_report(kind=Report.Kind.COVERAGE, parameters={"run": run.public_id}, **common)


def _pairs(sets: list[RubricSet], physician: User, config: dict[str, Any], common: dict[str, Any]) -> None:
    """Pairs of the reference answers, most of them judged; a finished run of trials, and a report on it."""
    settings = {**config, "kinds": [str(ErrorKind.DOSE), str(ErrorKind.NUMBER)]}
    making = create_making_run(group=PAIRS, judgements_due=1, frame=CaseFrame(), config=settings, **common)
    _work(making, common["at"])
    pairs = list(NearMissPair.objects.filter(group__benchmark=common["benchmark"]).order_by("case__key"))
    for place, pair in enumerate(pairs[:-WAITING]):
        judge(pair=pair, answers=MINOR if place == 0 else DANGEROUS, by=physician, at=common["at"])
    group = PairGroup.objects.get(benchmark=common["benchmark"], name=PAIRS)
    run = create_trial_run(
        groups=[group],
        which=Which.CONFIRMED,
        sets=sets,
        config={**config, "trials": TRIALS, "no_rubric": True},
        **common,
    )
    _work(run, common["at"])
    create_report(kind=Report.Kind.PAIRS, parameters={"run": run.public_id}, **common)


def _work(run: PipelineRun, at: datetime) -> None:
    while work_on_run(run.pk, clock=lambda: at):
        continue
    run.refresh_from_db()
    assert run.status == PipelineRun.Status.FINISHED, run.error
