"""What candidates and a judge say of the made-up messages, asked by runs, and what physicians read in the answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from accounts.models import User
from annotation import services as annotation_services
from annotation.labels.advice import ReadTerms
from annotation.labels.services import AnswerInput, save_answer, submit_labels
from annotation.models import NO_LEVEL, Batch, ExpertGroup, LabelQuestion, LabelTask
from demo import SEED
from demo.acuity import ASKED, N_MESSAGES, case_key, keyed_draw
from demo.messages import advice_of
from demo.rules_endpoint import JUDGE_MODEL, misread, model_of, rules_endpoint
from demo.story import Calendar
from rubrics.acuity.framings import STARTERS
from rubrics.acuity.scales import FOUR
from rubrics.acuity.services import make_framing
from rubrics.models import Benchmark, Case
from scoring.acuity.read_advice import make_read_batch
from scoring.classification.runs import create_run as create_classification
from scoring.generation.due_responses import CaseFrame
from scoring.generation.runs import create_run as create_generation
from scoring.judges.services import create_acuity_judge
from scoring.models import JudgeRun, PipelineRun
from scoring.pipelines.working import work_on_run
from scoring.runs.services import RunFrame, create_run
from scoring.work.slice import work_on_slice

LEVEL_JUDGE = "Demo judge of levels"
TAG = "made-up message"
SAMPLES = 3  # of a forced choice
READ, READERS = 32, 2  # responses that physicians read, and how many of them read each
MISREADING_RATE = 0.06  # of a physician


def ask_about_messages(demo: Benchmark, group: ExpertGroup, by: User, calendar: Calendar) -> JudgeRun:
    """Two candidates choose levels and answer the messages, a judge reads the answers, and ``group`` checks the judge.

    The runs are done here and not by a worker: the endpoint that they ask is there for this moment alone.
    """
    at = calendar.days_ago(4)
    _describe(demo)
    framing = make_framing(benchmark=demo, text=STARTERS["en"], by=by, at=at)
    frame = CaseFrame(tag=TAG)
    common: dict[str, Any] = {"benchmark": demo, "by": by, "at": at}
    with rules_endpoint(SEED) as url:
        for number, reader in enumerate(ASKED):
            config = {"endpoint": url, "model": model_of(reader), "seed": 0}
            choices = create_classification(
                candidate=reader.name,
                scale=FOUR.name,
                config={**config, "confidence": True, "logprobs": number == 1},
                frame=frame,
                samples=SAMPLES,
                **common,
            )
            responses = create_generation(
                candidate=reader.name, config=config, frame=frame, samples=1, framing=framing.version, **common
            )
            for run in (choices, responses):
                _work(run, at)
        judged = _judge_levels(url, common)
    _read_advice(group, judged, by, calendar)
    return judged


def _describe(demo: Benchmark) -> None:
    """What the file with the texts has no columns for, and that the messages are made up."""
    keys = [case_key(number) for number in range(1, N_MESSAGES + 1)]
    cases = list(Case.objects.filter(benchmark=demo, key__in=keys))
    for case in cases:
        case.tags, case.language, case.register = [TAG], "en", "lay"
        case.metadata = {**case.metadata, "made_up": True}
    Case.objects.bulk_update(cases, ["tags", "language", "register", "metadata"])


def _work(run: PipelineRun, at: datetime) -> None:
    while work_on_run(run.pk, clock=lambda: at):
        continue
    run.refresh_from_db()
    assert run.status == PipelineRun.Status.FINISHED, run.error


def _judge_levels(url: str, common: Mapping[str, Any]) -> JudgeRun:
    benchmark, by, at = common["benchmark"], common["by"], common["at"]
    config = {"endpoint": url, "model": JUDGE_MODEL}
    judge = create_acuity_judge(benchmark=benchmark, name=LEVEL_JUDGE, scale=FOUR.name, config=config, by=by, at=at)
    names = tuple(reader.name for reader in ASKED)
    run = create_run(benchmark=benchmark, judge=judge, frame=RunFrame(candidates=names), by=by, at=at)
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=lambda: at)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.FINISHED, run.error
    return run


def _read_advice(group: ExpertGroup, run: JudgeRun, by: User, calendar: Calendar) -> None:
    """Physicians of ``group`` read a part of the responses, and the batch is closed."""
    start = calendar.days_ago(3)
    terms = ReadTerms(title="Which level is advised?", readers=READERS, size=READ, seed=SEED)
    batch = make_read_batch(group=group, run=run, terms=terms, by=by, at=start)
    question = LabelQuestion.objects.get(public_id=batch.frame["questions"][0])
    tasks = LabelTask.objects.filter(batch=batch).select_related("annotator", "response", "case", "batch")
    for task in tasks.order_by("annotator__email", "position"):
        at = calendar.session(start, 1)
        save_answer(task=task, annotator=task.annotator, change=_reading(task, question), at=at)
        submit_labels(task=task, annotator=task.annotator, at=at)
    annotation_services.close_batch(batch=Batch.objects.get(pk=batch.pk), at=calendar.before_now(calendar.now))


def _reading(task: LabelTask, question: LabelQuestion) -> AnswerInput:
    """What a physician marks: now and then the level next to the one that the response advises."""
    assert task.response is not None
    text = task.response.text
    known = advice_of(text)
    if known.level is None:
        return AnswerInput(question=question.public_id, value=NO_LEVEL)
    draw = keyed_draw(SEED, "read", task.case.key, task.response.sample, text, task.annotator.email)
    start = text.index(known.quote)
    span = {"quote": known.quote, "start": start, "end": start + len(known.quote)}
    return AnswerInput(
        question=question.public_id,
        value=FOUR.values[misread(known.level, MISREADING_RATE, draw)],
        escalation=FOUR.values[-1] if known.escalates else "",
        evidence=[span],
    )
