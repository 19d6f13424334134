"""The small benchmark of `acuity_world` with all that runs can have: forced choices, a judge, and what physicians read.

Nothing asked an endpoint: runs, steps and readings are stored as runs store them.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation import services
from annotation.labels.advice import ReadTerms
from annotation.models import LabelAnswer, LabelQuestion, LabelTask
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityScale, Benchmark, Candidate, Case, Response
from scoring.acuity.read_advice import make_read_batch
from scoring.classification.config import classification_config, levels_of
from scoring.judges.services import create_acuity_judge
from scoring.keys.grants import grant_key
from scoring.models import AcuityReading, Judge, JudgeRun, JudgeRunItem, PipelineRun, PipelineStep
from scoring.runs.services import snapshot_of
from scoring.susceptibility.level_texts import level_suite_hash, with_level_text
from tests.factories import ExpertGroupFactory, ResponseFactory, UserFactory
from tests.releases.acuity_world import acuity_world

ENDPOINT, KEY_ENV = "http://127.0.0.1:1/zq-endpoint", "JUDGE_KEY_ZQ"
# By candidate and case: what the response says, and the place of the level that the judge reads; None: no level.
ADVICE: dict[tuple[str, str], tuple[str, int | None]] = {
    ("=Model", "open-0001"): ("Call an ambulance now. =1+1", 3),
    ("=Model", "open-0002"): ("中文：Stay at home.\nDrink enough.", 0),
    ("=Model", "open-0003"): ("Since when?", None),
    ("Advisor", "open-0001"): ("'Go to urgent care today.", 2),
    ("Advisor", "open-0002"): ("See your doctor this week; if it gets worse, call an ambulance.", 1),
    ("Advisor", "open-0003"): ("Stay at home.", 0),
}
WITHHELD = "zq-response-to-a-closed-case"
ALL_PARTS: dict[str, Any] = {
    "acuity": True, "votes": True, "certainty": True, "reading_texts": True, "notes": True, "names": True,
    "responses": True,
}  # fmt: skip
REPORTS = ("acuity", "acuity_uncertainty", "acuity_formats", "acuity_judge")


def runs_world(folder: Path, slug: str = "source", *, withheld: bool = False) -> Benchmark:
    """The benchmark; files go into ``folder``. ``withheld``: one response is to a case that may not be passed on."""
    benchmark = acuity_world(folder, slug)
    scale = AcuityScale.objects.get(benchmark=benchmark)
    choices(benchmark, scale, "=Model", logprobs=False)
    choices(benchmark, scale, "Chooser", logprobs=True)
    advisor = Candidate.objects.create(benchmark=benchmark, name="Advisor", kind="model")
    cases = {case.key: case for case in Case.with_stubs.filter(benchmark=benchmark)}
    candidates = {row.name: row for row in Candidate.objects.filter(benchmark=benchmark)}
    for (name, key), (text, _level) in ADVICE.items():
        ResponseFactory(case=cases[key], candidate=candidates[name], text=text)
    if withheld:
        ResponseFactory(case=cases["closed-0001"], candidate=advisor, text=f"Stay at home. {WITHHELD}")
    # A response that no reading came of.
    ResponseFactory(case=cases["open-0001"], candidate=advisor, sample=1, text="Wait.")
    grant_key(name=KEY_ENV, benchmark=benchmark, by=None, at=timezone.now())
    judge = create_acuity_judge(
        benchmark=benchmark, name="levels", scale="four", by=None, at=timezone.now(),
        config={"endpoint": ENDPOINT, "model": "reader-1", "key_env": KEY_ENV, "temperature": 0.5},
    )  # fmt: skip
    run = judged(judge, replicates=2)
    judged(judge, purpose="acuity-edited")
    read_by_physicians(benchmark, run)
    return benchmark


def choices(benchmark: Benchmark, scale: AcuityScale, candidate: str, *, logprobs: bool) -> PipelineRun:
    """A run of two samples; one of its steps failed, and one answer is a refusal."""
    at = timezone.now()
    values = {"endpoint": ENDPOINT, "model": "chooser-1", "key_env": KEY_ENV, "logprobs": logprobs, "confidence": True}
    config = classification_config(
        {**values, "scale": str(scale), "levels": levels_of(scale_of(scale))}, may_call=False
    ).model_dump(mode="json")
    own, _created = Candidate.objects.get_or_create(benchmark=benchmark, name=candidate)
    run = PipelineRun.objects.create(
        kind="classify", benchmark=benchmark, candidate=own, config=config, status="incomplete",
        terms={"scale": scale.pk, "samples": 2}, created_at=at, finished_at=at,
    )  # fmt: skip
    for i, case in enumerate(Case.with_stubs.filter(benchmark=benchmark, excluded_at=None).order_by("key")):
        for sample in range(2):
            if (i, sample) == (1, 1):
                PipelineStep.objects.create(
                    run=run, case=case, stage="choice", key="1", state="failed", error_kind="timeout"
                )
                continue
            level = None if (i, sample) == (2, 0) else (i + sample) % 4
            PipelineStep.objects.create(run=run, case=case, stage="choice", key=str(sample), state="done", output={})
            shares = [0.7 if place == level else 0.1 for place in range(4)]
            AcuityReading.objects.create(
                scale=scale, case=case, candidate=own, format="qa", sample=sample, pipeline_run=run,
                source="logprobs" if logprobs and level is not None else "parsed",
                descending=bool((i + sample) % 2), state="refused" if level is None else "level", level=level,
                confidence=None if level is None else 0.55 + 0.05 * i,
                distribution=shares if logprobs and level is not None else None,
                text="I will not say." if level is None else "ABCD"[level], created_at=at,
            )  # fmt: skip
    return run


def judged(judge: Judge, *, purpose: str = "acuity", replicates: int = 0, ago: int = 0) -> JudgeRun:
    """A finished run over all responses; in the second replicate it reads a level less where it can."""
    at = timezone.now() - timedelta(days=ago)
    edited = purpose == "acuity-edited"
    snapshot, prompt_hash = snapshot_of(judge, judge.benchmark)
    run = JudgeRun.objects.create(
        benchmark=judge.benchmark, judge=judge, purpose=purpose, status="finished", snapshot=snapshot,
        prompt_hash=prompt_hash, replicates=3 if edited else replicates,
        frame={"suite": level_suite_hash(), "harmless": 1} if edited else {}, created_at=at, finished_at=at,
    )  # fmt: skip
    for response in Response.objects.filter(case__benchmark=judge.benchmark).select_related("case", "candidate"):
        JudgeRunItem.objects.create(run=run, response=response)
        _text, level = ADVICE.get((response.candidate.name, response.case.key), ("", 0))
        if response.sample:
            continue
        for replicate in range(run.replicates):
            text = with_level_text(response.text, replicate) if edited else response.text
            own = level if not replicate or level is None else max(0, level - 1)
            words = {} if own is None else {"quote": text[1:7], "quote_start": 1, "quote_end": 7}
            AcuityReading.objects.create(
                scale=judge.scale, case=response.case, candidate=response.candidate, format="chat",
                sample=response.sample, source="edited" if edited else "judge", judge_run=run, response=response,
                replicate=replicate, state="no-level" if own is None else "level", level=own,
                escalation=3 if own == 1 else None, condition="it gets worse" if own == 1 else "",
                explanation=f"It says so, {replicate}.", created_at=at, **words,
            )  # fmt: skip
    return run


def read_by_physicians(benchmark: Benchmark, run: JudgeRun) -> None:
    """Two physicians read every response that was drawn; the second sees a level more than the judge."""
    group = ExpertGroupFactory(benchmark=benchmark, name="Readers")
    for number in range(2):
        user = UserFactory(name=f"Reader {number}", email=f"reader{number}@example.org")
        services.add_member(group=group, user=user, role="annotator")
    terms = ReadTerms("Read these", readers=2, size=7, seed=1)
    make_read_batch(group=group, run=run, terms=terms, by=None, at=timezone.now())
    question = LabelQuestion.objects.get(benchmark=benchmark, kind="read")
    values = [level["value"] for level in run.judge.scale.levels] if run.judge.scale else []
    readers = sorted(set(LabelTask.objects.filter(batch__group=group).values_list("annotator", flat=True)))
    tasks = list(LabelTask.objects.filter(batch__group=group).select_related("response__candidate", "case"))
    for task in tasks:
        assert task.response is not None
        _text, level = ADVICE.get((task.response.candidate.name, task.case.key), ("", 0))
        is_second = task.annotator_id == readers[1]
        place = None if level is None else min(3, level + is_second)
        quote = task.response.text[0:5]
        at = timezone.now()
        LabelAnswer.objects.create(
            task=task, question=question, value="no-level" if place is None else values[place],
            escalation="emergency" if place == 1 else "",
            evidence=[] if place is None else [{"quote": quote, "start": 0, "end": 5}],
            note="zq-note of a reader" if is_second else "", created_at=at, updated_at=at,
        )  # fmt: skip
    LabelTask.objects.filter(pk__in=[task.pk for task in tasks]).update(
        status=LabelTask.Status.SUBMITTED, submitted_at=timezone.now()
    )
