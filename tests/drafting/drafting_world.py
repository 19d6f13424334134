"""A benchmark with a made-up document, two cases, and runs of drafting that a scripted endpoint answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils import timezone

from consilium.llm.rules.completion import envelope
from consilium.llm.rules.misbehaving import written
from consilium.llm.rules.names import MODEL
from consilium.llm.staged import read_fences, read_numbered, read_stage
from documents.models import Collection, Passage
from drafting.models import DraftingRun
from drafting.runs.kind import KIND
from rubrics.models import Benchmark, Case
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import StepName
from scoring.pipelines.runs import create_run
from tests.documents.library import add, lines, make_collection
from tests.factories import BenchmarkFactory, CaseFactory
from tests.scoring.pipelines.verdict_chain import work

AXES = ["accuracy", "completeness", "context awareness"]
REFERENCE_CANARY, GOLD_CANARY = "REFERENCE-CANARY-8271", "GOLD-CANARY-5519"
TITLE = "Invented guideline: fever in small children"
DOSE = "Give 15 mg/kg of paracetamol every 4 to 6 hours, and no more than four doses in 24 hours."
URGENT = "Seek help at once if the child is younger than three months, is drowsy, or has a rash that does not fade."
ASPIRIN = "Do not give aspirin to children with fever."
DRINKS = "Offer small drinks often; a child with fever loses more water than usual."
SECTIONS = [
    {"headings": ["Medicine"], "text": f"{DOSE} {ASPIRIN}"},
    {"headings": ["When to seek help"], "text": URGENT},
    {"headings": ["Drinking"], "text": DRINKS},
]
ASKED = "My daughter has had a fever of 39 °C since yesterday. How much paracetamol may I give her?"
FREE = {"licence": "CC0-1.0", "may_send": True, "may_quote": True, "may_redistribute": True}


def import_document(collection: Collection, key: str, sections: list[dict[str, Any]], **fields: Any) -> None:
    """A document of one file, free to be sent."""
    described = {"title": TITLE, "language": "en", "kind": "guideline", "tier": 1, **FREE, **fields}
    first, *others = ({"key": key, **section} for section in sections)
    add(collection, lines({**described, **first}, *others), f"{key}.jsonl")


@dataclass
class DraftingWorld:
    """A benchmark whose cases can be drafted for."""

    benchmark: Benchmark
    collection: Collection
    cases: list[Case] = field(default_factory=list)

    def config(self, url: str, *, model: str = MODEL, **recipe: Any) -> dict[str, Any]:
        """Settings of a run; ``recipe`` are fields of the recipe's content."""
        of_model = {"endpoint": url, "model": model, "attempts": 1, "first_wait_s": 0.0, "longest_wait_s": 0.0}
        content = {"models": dict.fromkeys(("strong", "fast", "checker"), of_model), **recipe}
        return {
            "recipe": {"name": "full", "version": 1, "sha256": "0" * 64, "content": content},
            "axes": AXES,
            "cases": [{"key": case.key, "language": case.language} for case in self.cases],
            "pauses": 0,
        }

    def begin(self, config: dict[str, Any], *, budget: Decimal | None = None) -> PipelineRun:
        """A run over all cases with these settings."""
        ids = [case.pk for case in self.cases]
        return create_run(
            kind=KIND, benchmark=self.benchmark, config=config, cases=ids, by=None, at=timezone.now(),
            terms={"recipe": "full", "version": 1, "cases": len(ids)}, budget=budget, currency="USD" if budget else "",
        )  # fmt: skip

    def worked(self, run: PipelineRun) -> DraftingRun:
        """A run, worked to its end."""
        return DraftingRun.objects.get(pk=work(run).pk)

    def run_config(self, config: dict[str, Any]) -> DraftingRun:
        """A run with these settings, worked to its end."""
        return self.worked(self.begin(config))

    def run(self, url: str, **recipe: Any) -> DraftingRun:
        """A run with the settings of `config`, worked to its end."""
        return self.run_config(self.config(url, **recipe))

    def passages(self) -> dict[str, Passage]:
        """The passages by their first heading."""
        rows = Passage.objects.filter(document__collection=self.collection)
        return {row.headings[-1]: row for row in rows}


def build_world(*, sections: list[dict[str, Any]] | None = None, cases: int = 2) -> DraftingWorld:
    """The world; its cases have reference answers and gold rubrics, which no request may hold."""
    benchmark = BenchmarkFactory(slug="nursery")
    collection = make_collection(benchmark)
    import_document(collection, "fever", sections or SECTIONS)
    world = DraftingWorld(benchmark, collection)
    for number in range(cases):
        case = CaseFactory(
            benchmark=benchmark, key=f"fever-{number}", rubric=[5, -3],
            rubric__texts=[f"{GOLD_CANARY} {place}" for place in range(2)], reference_answer=REFERENCE_CANARY,
            conversation=[{"role": "user", "content": f"{ASKED} She is {number + 2} years old."}],
        )  # fmt: skip
        world.cases.append(case)
    return world


def output(run: PipelineRun, case: Case, stage: str, number: int = 0) -> Any:
    """The output of a step."""
    return step(run, case, stage, number).output


def step(run: PipelineRun, case: Case, stage: str, number: int = 0) -> PipelineStep:
    """A step of a case."""
    name = StepName(stage, round=number)
    return run.steps.get(case=case, stage=name.stage, key=name.key, round=name.round)


class ScriptedEndpoint:
    """An endpoint whose answers a test writes; without one of its own, a stage has that of `GOOD`."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[Any] = []
        self.tokens_out = 0  # of all answers
        self.latency = 0.0  # seconds
        self.answers: dict[str, Callable[[Mapping[str, str]], Mapping[str, Any]]] = {}

    def complete(self, request: Any) -> Mapping[str, Any]:
        """The chat completion for a request."""
        self.requests.append(request)
        time.sleep(self.latency)
        stage, texts = read_stage(request["messages"]), read_fences(request["messages"])
        answer = envelope(request, written(self.answers.get(stage, GOOD[stage])(texts)))
        self.tokens_out += answer["usage"]["completion_tokens"]
        return answer

    def stages(self) -> list[str]:
        """The stage of each request, in order."""
        return [read_stage(request["messages"]) for request in self.requests]

    def sent(self, stage: str) -> list[dict[str, str]]:
        """The fenced texts of the requests of a stage."""
        messages = [request["messages"] for request in self.requests]
        return [read_fences(each) for each in messages if read_stage(each) == stage]


def passage_of(texts: Mapping[str, str], words: str) -> int:
    """The number of the passage that holds ``words``."""
    items = [item.text for item in read_numbered(texts["PASSAGES"])]
    return next(number for number, text in enumerate(items, 1) if words in text.split("\n", 2)[2])


def stated(texts: Mapping[str, str], text: str, quote: str, **more: Any) -> dict[str, Any]:
    """A statement with its quotation."""
    return {"text": text, "passage": passage_of(texts, quote), "quote": quote, **more}


def criterion(text: str, points: int, facts: list[int], needs: list[int] = [], **more: Any) -> dict[str, Any]:  # noqa: B006
    return {"text": text, "points": points, "axis": "accuracy", "facts": facts, "needs": needs, "why": "", **more}


def number_of(texts: Mapping[str, str], name: str, words: str) -> int:
    """The number of the item of a list that holds ``words``."""
    return next(n for n, item in enumerate(read_numbered(texts[name]), 1) if words in item.text)


DOSE_FACT = "The dose of paracetamol is 15 mg/kg every 4 to 6 hours."
LIMIT_FACT = "No more than four doses of paracetamol are given in 24 hours."
ASPIRIN_FACT = "Aspirin is not given to children with fever."
YOUNG_FACT = "A child younger than three months with fever needs help at once."
RASH_FACT = "A rash that does not fade needs help at once."
QUERIES = [
    {"text": "paracetamol dose fever child", "looking_for": "dose"},
    {"text": "fever drowsy rash help", "looking_for": "red_flag"},
    {"text": "aspirin children", "looking_for": "contraindication"},
]


def _evidence(texts: Mapping[str, str]) -> Mapping[str, Any]:
    return {
        "statements": [stated(texts, DOSE_FACT, DOSE), stated(texts, ASPIRIN_FACT, ASPIRIN)],
        "red_flags": [stated(texts, YOUNG_FACT, URGENT), stated(texts, RASH_FACT, URGENT)],
        "conflicts": [],
    }


def _facts(texts: Mapping[str, str]) -> Mapping[str, Any]:
    return {
        "facts": [
            stated(texts, DOSE_FACT, DOSE, kind="number"),
            stated(texts, LIMIT_FACT, DOSE, kind="number"),
            stated(texts, ASPIRIN_FACT, ASPIRIN, kind="prohibition"),
            stated(texts, YOUNG_FACT, URGENT, kind="red_flag"),
            stated(texts, RASH_FACT, URGENT, kind="red_flag"),
        ]
    }


def _support(texts: Mapping[str, str]) -> Mapping[str, Any]:
    count = len(read_numbered(texts["FACTS"]))
    return {"checks": [{"fact": n, "support": "entails", "why": "It says so."} for n in range(1, count + 1)]}


def _synthesis(texts: Mapping[str, str]) -> Mapping[str, Any]:
    def fact(words: str) -> list[int]:
        return [n for n, item in enumerate(read_numbered(texts["FACTS"]), 1) if words in item.text]

    weight = [number_of(texts, "NEEDS", "weigh")] if "weigh" in texts["NEEDS"] else []
    return {
        "criteria": [
            criterion("States that paracetamol is given at 15 mg/kg every 4 to 6 hours.", 7, fact(DOSE_FACT)),
            criterion("States that no more than four doses are given in 24 hours.", 6, fact(LIMIT_FACT)),
            criterion("Recommends aspirin for the fever.", -9, fact(ASPIRIN_FACT)),
            criterion("Says that a child younger than three months needs help at once.", 9, fact(YOUNG_FACT)),
            criterion("Names a rash that does not fade as a reason to seek help at once.", 9, fact(RASH_FACT)),
            criterion("Asks how much the child weighs.", 5, [], weight),
        ]
    }


GOOD: dict[str, Callable[[Mapping[str, str]], Mapping[str, Any]]] = {
    "draft_plan": lambda texts: {"intent": "How much paracetamol to give.", "queries": QUERIES},
    "rank": lambda texts: {
        "order": [{"passage": n, "why": "It fits."} for n, _item in enumerate(read_numbered(texts["PASSAGES"]), 1)]
    },
    "evidence": _evidence,
    "facts": _facts,
    "relevance": lambda texts: {"drop": []},
    "support": _support,
    "needs": lambda texts: {
        "register": "lay",
        "state": "A worried parent.",
        "asks": [{"text": "The dose of paracetamol.", "quote": "How much paracetamol may I give her?"}],
        "missing": [{"question": "How much does the child weigh?", "why": "The dose depends on it."}],
        "tone": ["calm"],
        "form": [],
    },
    "synthesis": _synthesis,
    "direct": lambda texts: {
        "criteria": [
            criterion("Asks how much the child weighs.", 5, []),
            criterion("Recommends aspirin for the fever.", -9, []),
        ]
    },
    "audit": lambda texts: {
        name: [] for name in ("add", "unsupported", "irrelevant", "contradicts", "merge", "split", "reword")
    },
}
