"""Benchmarks with near-miss pairs, whose texts tell `bench/loopback_judge.py` how each trial ends.

`worked_example` is the worked example that was computed by hand; the expected values are in the tests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from django.utils import timezone

from accounts.models import User
from rubrics.models import AuthoringRole, Benchmark
from scoring.models import PipelineRun
from scoring.pipelines.working import work_on_run
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.validation.coverage.coverage_world import QUICK, Texts, make_set
from tests.validation.files.made_up import PAIRS
from validation.models import NearMissPair, PairGroup, RubricSet, TrialRun
from validation.pairs.importing import import_pairs
from validation.pairs.services import Answers, judge
from validation.trials.services import create_run

DANGEROUS = Answers(is_single=True, harm="dangerous", has_other_flaw=False)
NINE: Texts = [(f"Criterion {number}", 1, "accuracy") for number in range(1, 10)]


@dataclass
class PairWorld:
    """A benchmark with a group of pairs, its sets by name, an admin, and physicians who may judge."""

    benchmark: Benchmark
    admin: User
    physicians: list[User]
    group: PairGroup
    sets: dict[str, RubricSet]

    def pair(self, key: str) -> NearMissPair:
        return NearMissPair.objects.get(group=self.group, key=key)

    def judge(self, key: str, answers: Answers = DANGEROUS, by: int = 0) -> NearMissPair:
        judge(pair=self.pair(key), answers=answers, by=self.physicians[by], at=timezone.now())
        return self.pair(key)

    def confirm_all(self) -> None:
        for key in NearMissPair.objects.filter(group=self.group).values_list("key", flat=True):
            self.judge(key)

    def begin(self, url: str, *names: str, model: str = "ok", which: str = "confirmed", **more: Any) -> TrialRun:
        """A run of trials by these sets, all by default."""
        config = {"endpoint": url, "model": model, "seed": 0, **QUICK, **more.pop("config", {})}
        return create_run(
            benchmark=self.benchmark, groups=[self.group], which=which,
            sets=[self.sets[name] for name in names or self.sets], config=config, by=self.admin, at=timezone.now(),
            **more,
        )  # fmt: skip

    def run(self, url: str, *names: str, **more: Any) -> TrialRun:
        """The same, worked to its end."""
        return TrialRun.objects.get(pk=work(self.begin(url, *names, **more)).pk)


def work(run: PipelineRun) -> PipelineRun:
    """What a worker does, until the run needs none."""
    while work_on_run(run.pk, clock=timezone.now):
        pass
    run.refresh_from_db()
    return run


def make_world(
    slug: str,
    pairs: Sequence[Mapping[str, str]],
    sets: Mapping[str, Mapping[str, Texts]],
    *,
    judgements: int = 1,
    **case: Any,
) -> PairWorld:
    """A benchmark with a case for each key that the pairs name, three authors, and these sets."""
    admin = UserFactory()
    benchmark = BenchmarkFactory(slug=slug, title="Pairs", admin=admin)
    for key in sorted({pair["case"] for pair in pairs}):
        CaseFactory(benchmark=benchmark, key=key, rubric=[1], **{"tags": ["theme:dosing"], **case})
    physicians = [UserFactory() for _ in range(3)]
    for user in physicians:
        AuthoringRole.objects.create(benchmark=benchmark, user=user, role=AuthoringRole.Role.AUTHOR)
    group = bring_in(benchmark, pairs, judgements=judgements)
    rubric_sets = {name: make_set(benchmark, name, own) for name, own in sets.items()}
    return PairWorld(benchmark, admin, physicians, group, rubric_sets)


def bring_in(
    benchmark: Benchmark, pairs: Sequence[Mapping[str, str]], *, group: str = "Doses", judgements: int = 1
) -> PairGroup:
    """The pairs of a file."""
    import_pairs(
        benchmark=benchmark,
        file=BytesIO("".join(json.dumps(pair) + "\n" for pair in pairs).encode()),
        options={"group": group, "judgements": str(judgements)},
        by=None,
        at=timezone.now(),
        progress=lambda done: None,
    )
    return PairGroup.objects.get(benchmark=benchmark, name=group)


def scripted(line: str, kind: str = "dose") -> dict[str, str]:
    """A pair, on a case of its own, whose trials end as a line of the worked example says."""
    key, script = line.split(" ", 1)
    text = f"Take one tablet {{}} a day, and see a doctor if it lasts. trials {script};"
    return {
        "case": key,
        "pair": key,
        "kind": kind,
        "reference": text.format("once"),
        "candidate": text.format("slip"),
        "why": "Too much.",
    }


def worked_example(slug: str = "worked") -> PairWorld:
    """Seven pairs and a set whose totals are those of the file in `tests.validation.files.made_up`."""
    lines = PAIRS.splitlines()
    return make_world(slug, [scripted(line) for line in lines], {"A": {line.split()[0]: NINE for line in lines}})
