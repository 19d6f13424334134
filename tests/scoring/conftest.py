"""What the tests of scoring share: a loopback endpoint, a benchmark to judge, physicians' decisions."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Adjudication, Assignment, Batch, BatchItem, Decision, ExpertGroup, Ruling
from rubrics.models import Benchmark, Candidate, Case, Response, Rubric
from scoring.judges.services import create_chat_judge
from scoring.keys.grants import grant_key
from scoring.models import Judge
from scoring.tasks import judge_slice
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory, UserFactory
from tests.processes import Worker

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "loopback_judge.py"
QUICK = {
    "attempts": 3,
    "re_asks": 1,
    "first_wait_s": 0.01,
    "longest_wait_s": 0.02,
    "timeout_s": 60.0,
    "concurrency": 8,
    "pauses": 0,
}


@dataclass(frozen=True)
class Loopback:
    """A running `bench/loopback_judge.py`."""

    url: str

    def requests(self) -> int:
        """How many requests it has had."""
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/stats") as answer:
            return int(json.load(answer)["requests"])

    def start_afresh(self, latency: float = 0.0) -> None:
        """Forget the counts, and take another latency."""
        address = f"{self.url.removesuffix('/v1')}/reset?latency={latency}"
        urllib.request.urlopen(urllib.request.Request(address, method="POST")).close()


@pytest.fixture(scope="session")
def loopback_process() -> Iterator[Loopback]:
    """The endpoint's process, for all tests."""
    process = subprocess.Popen([sys.executable, str(SCRIPT)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Loopback(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


@pytest.fixture
def loopback(loopback_process: Loopback, settings: Any) -> Loopback:
    """An endpoint without latency, on the operator's list; it counts from 0 in every test."""
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    names = ("LOOPBACK_API_KEY", "GRADER_API_KEY", "SOME_API_KEY", "ABSENT_API_KEY")
    settings.ENDPOINT_KEYS = [f"{name}@127.0.0.1" for name in names]
    loopback_process.start_afresh()
    return loopback_process


@pytest.fixture
def start_judging(start_worker: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Worker]:
    """Start workers that alone take this test's runs and may call the endpoint; they can be killed, and end with it."""
    queue = "judging"
    monkeypatch.setattr(judge_slice, "delay", lambda *ids: judge_slice.apply_async(ids, queue=queue))

    def start(**environment: str) -> Worker:
        own = {"JUDGE_ALLOWED_HOSTS": "127.0.0.1", "ENDPOINT_KEYS": "LOOPBACK_API_KEY@127.0.0.1"}
        return start_worker(queue=queue, **{**own, **environment})

    return start


@pytest.fixture
def answered(db: None) -> Benchmark:
    """Four cases with criteria of +5, +3 and −4 points, each answered by two models and a physician."""
    benchmark = BenchmarkFactory(slug="answered", title="Answered")
    candidates = [
        CandidateFactory(benchmark=benchmark, name="alpha"),
        CandidateFactory(benchmark=benchmark, name="beta"),
        CandidateFactory(benchmark=benchmark, name="physician", kind="physician"),
    ]
    for number in range(4):
        case = CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=[5, 3, -4])
        for candidate in candidates:
            ResponseFactory(case=case, candidate=candidate)
    return benchmark


def grant(benchmark: Benchmark | None, name: str = "LOOPBACK_API_KEY") -> None:
    """Let a benchmark, or all of them, use a key."""
    grant_key(name=name, benchmark=benchmark, by=None, at=timezone.now())


def chat_judge(benchmark: Benchmark, loopback: Loopback, model: str = "ok", **config: Any) -> Judge:
    """A chat judge of the loopback endpoint; ``model`` names how it behaves."""
    return create_chat_judge(
        benchmark=benchmark,
        name=config.pop("name", f"judge {model}"),
        config={"endpoint": loopback.url, "model": model, **QUICK, **config},
        by=None,
    )


def decide(
    benchmark: Benchmark, group_name: str, outcomes: Mapping[tuple[str, str], list[str]], *, annotator: Any = None
) -> ExpertGroup:
    """Give a group accepted decisions: (case key, candidate) → outcomes in the order of the rubric."""
    group, _ = ExpertGroup.objects.get_or_create(benchmark=benchmark, name=group_name)
    user = annotator or UserFactory()
    now = timezone.now()
    batch = Batch.objects.create(
        group=group, title="Decided", seed=1, status="closed", created_at=now, closed_at=now, imported=True
    )
    responses = {
        (response.case.key, response.candidate.name): response
        for response in Response.objects.filter(case__benchmark=benchmark).select_related("case", "candidate")
    }
    rubrics = {
        rubric.case_id: rubric
        for rubric in Rubric.objects.current().filter(case__benchmark=benchmark).prefetch_related("items")
    }
    decided = [(responses[pair], given) for pair, given in outcomes.items()]
    BatchItem.objects.bulk_create(
        BatchItem(batch=batch, response=response, rubric=rubrics[response.case_id]) for response, _given in decided
    )
    assignments = Assignment.objects.bulk_create(
        Assignment(
            batch=batch,
            case=response.case,
            response=response,
            rubric=rubrics[response.case_id],
            annotator=user,
            status="accepted",
            submitted_at=now,
            accepted_at=now,
        )
        for response, _given in decided
    )
    Decision.objects.bulk_create(
        Decision(
            assignment=assignment,
            criterion_id=item.criterion_id,
            outcome=outcome,
            created_at=now,
            updated_at=now,
        )
        for assignment, (response, given) in zip(assignments, decided, strict=True)
        for item, outcome in zip(
            sorted(rubrics[response.case_id].items.all(), key=lambda item: item.position), given, strict=True
        )
    )
    return group


def mark_faulty(assignment: Assignment, *criteria: int) -> None:
    """An adjudicator of the group finds criteria themselves at fault."""
    now = timezone.now()
    adjudication = Adjudication.objects.create(
        response=assignment.response,
        rubric=assignment.rubric,
        group=assignment.batch.group,
        adjudicator=UserFactory(),
        status="done",
        criteria=list(criteria),
        agreement=0.5,
        created_at=now,
    )
    for criterion in criteria:
        Ruling.objects.create(
            adjudication=adjudication,
            criterion_id=criterion,
            outcome="faulty",
            reason="It asks for two things.",
            final_at=now,
            created_at=now,
            updated_at=now,
        )


# A criterion, how a response meets it, and how it only touches it with the criterion's own words.
TOPICS = {
    "en": [
        (
            "Advises to drink {n} mL of water every hour.",
            "Please drink {n} mL of water each hour.",
            "Many ask me what to drink; water advises itself every day. An hour passes quickly.",
        ),
        (
            "Warns against taking ibuprofen with kidney disease.",
            "Do not take ibuprofen, it can harm diseased kidneys.",
            "Kidney disease is common. Some people are taking ibuprofen for pain.",
        ),
        (
            "Recommends an appointment within {n} days.",
            "Make an appointment within the next {n} days.",
            "An appointment can be made. It recommends itself to sleep well. Some days are better.",
        ),
        (
            "Explains that antibiotics do not help against viruses.",
            "Antibiotics do nothing against a virus.",
            "Viruses are small. Antibiotics are a great invention.",
        ),
        (
            "Names stiffness of the neck as a warning sign.",
            "A stiff neck is a warning sign.",
            "Rest your neck. A sign in our hall names the doctors.",
        ),
    ],
    "zh": [
        ("建议每小时饮水{n}毫升。", "请每小时喝水{n}毫升。", "多喝水。"),
        ("提示肾病患者避免服用布洛芬。", "有肾病时不要服用布洛芬，以免损伤肾脏。", "肾病很常见。"),
        ("建议在{n}天内复诊。", "请在{n}天之内到门诊复诊。", "有空去看看。"),
        ("说明抗生素对病毒感染无效。", "抗生素对病毒感染没有作用。", ""),
        ("指出颈部僵硬是警示信号。", "颈部僵硬属于警示信号。", "注意休息颈部。"),
    ],
}


def learnable(
    slug: str, candidates: list[str], *, cases: int = 12, language: str = "en", group: str = "A"
) -> Benchmark:
    """A benchmark whose responses say what some criteria ask for, and a group that decided accordingly."""
    benchmark = BenchmarkFactory(slug=slug, title=slug)
    rows = {name: Candidate.objects.create(benchmark=benchmark, name=name) for name in candidates}
    outcomes: dict[tuple[str, str], list[str]] = {}
    for number in range(cases):
        topics = TOPICS[language]
        texts = [criterion.format(n=number + 2) for criterion, _, _ in topics]
        case = CaseFactory(
            benchmark=benchmark, key=f"{slug}-{number}", language=language, rubric=[1] * len(texts), rubric__texts=texts
        )
        assert isinstance(case, Case)
        for place, name in enumerate(candidates):
            met = [(number * 7 + place * 3 + i * (place + 2)) % 5 < 2 for i in range(len(topics))]
            sentences = [
                (sentence if is_met else filler).format(n=number + 2)
                for is_met, (_, sentence, filler) in zip(met, topics, strict=True)
            ]
            ResponseFactory(case=case, candidate=rows[name], text="\n".join(filter(None, sentences)) or "…")
            outcomes[case.key, name] = ["met" if is_met else "not_met" for is_met in met]
    decide(benchmark, group, outcomes)
    return benchmark
