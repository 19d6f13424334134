"""A benchmark whose responses advise known levels, and a judge that reads them."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from rubrics.acuity.services import get_or_make_scale
from rubrics.models import Benchmark, Response
from scoring.judges.services import create_acuity_judge
from scoring.models import AcuityReading, Judge, JudgeRun, JudgeRunItem
from scoring.runs.services import RunFrame, create_run
from scoring.work.slice import work_on_slice
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory
from tests.scoring.conftest import QUICK, Loopback

# Text → the place of the level that it advises on the scale of four, and that of its escalation; None for none.
ADVICE: dict[str, tuple[int | None, int | None]] = {
    "Stay at home and drink enough.": (0, None),
    "You can make an appointment this week. If it gets worse, call an ambulance.": (1, 3),
    "Go to urgent care.\nBring your papers.": (2, None),
    "Call an ambulance now.": (3, None),
    "Since when have you had this?": (None, None),
    "I'm sorry, I cannot help with that.": (None, None),
}
LEVELS = ("self-care", "primary-care", "urgent-care", "emergency")


def advised_benchmark() -> Benchmark:
    """Three cases without rubrics; each candidate answers each with one of the texts, in turn."""
    benchmark = BenchmarkFactory(slug="advised", title="Advised")
    texts = list(ADVICE)
    candidates = [CandidateFactory(benchmark=benchmark, name=name) for name in ("alpha", "beta")]
    for number in range(3):
        case = CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=0)
        for place, candidate in enumerate(candidates):
            ResponseFactory(case=case, candidate=candidate, text=texts[number * 2 + place])
    # Of another setting: it is no answer as to a patient.
    ResponseFactory(case=case, candidate=candidates[0], setting="aided", text="Call an ambulance now.")
    return benchmark


def judged(benchmark: Benchmark) -> JudgeRun:
    """A finished run that read what the texts advise, without an endpoint."""
    at = timezone.now()
    scale = get_or_make_scale(benchmark=benchmark, name="four", by=None, at=at)
    config = {"endpoint": "http://127.0.0.1:1/v1", "model": "none"}
    judge = create_acuity_judge(benchmark=benchmark, name="levels", scale="four", config=config, by=None, at=at)
    run = JudgeRun.objects.create(
        benchmark=benchmark,
        judge=judge,
        purpose="acuity",
        status="finished",
        expected=6,
        snapshot={"levels": scale.levels},
        created_at=at,
        finished_at=at,
    )
    for response in Response.objects.filter(case__benchmark=benchmark, setting="chat").order_by("pk"):
        level, escalation = ADVICE[response.text]
        JudgeRunItem.objects.create(run=run, response=response)
        AcuityReading.objects.create(
            scale=scale,
            case=response.case,
            candidate=response.candidate,
            format="chat",
            sample=response.sample,
            source="judge",
            judge_run=run,
            response=response,
            state="level" if level is not None else "refused" if response.text.startswith("I'm sorry") else "no-level",
            level=level,
            escalation=escalation,
            quote="" if level is None else response.text[:4],
            quote_start=None if level is None else 0,
            quote_end=None if level is None else 4,
            created_at=at,
        )
    return run


def level_judge(benchmark: Benchmark, loopback: Loopback, model: str = "ok", **config: Any) -> Judge:
    """A judge of the loopback endpoint that reads levels of the scale of four."""
    return create_acuity_judge(
        benchmark=benchmark,
        name=config.pop("name", f"levels {model}"),
        scale="four",
        config={"endpoint": loopback.url, "model": model, **QUICK, **config},
        by=None,
        at=timezone.now(),
    )


def start(benchmark: Benchmark, judge: Judge, frame: RunFrame | None = None, **more: Any) -> JudgeRun:
    return create_run(benchmark=benchmark, judge=judge, frame=frame or RunFrame(), by=None, at=timezone.now(), **more)


def work(run: JudgeRun, **more: Any) -> JudgeRun:
    """Do the work of a worker on all slices of a run."""
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=timezone.now, **more)
    run.refresh_from_db()
    return run
