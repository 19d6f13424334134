"""Benchmarks with a gold set and others, whose texts tell `bench/loopback_judge.py` how far they cover each other.

`worked_example` and `matching` are worked examples that were computed by hand; the expected values are in the tests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from django.utils import timezone

from accounts.models import User
from rubrics.models import AuthoringRole, Benchmark, Case
from scoring.pipelines.working import work_on_run
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.validation.files.made_up import COVERAGE
from validation.coverage.services import create_run
from validation.models import CoverageRun, RubricSet
from validation.sets.services import import_rubric_set

# Criteria as (text, points, axis).
Texts = Sequence[tuple[str, int, str]]
WORDS = {"f": "full", "p": "partly", "i": "invalid"}
QUICK = {"attempts": 2, "first_wait_s": 0.01, "longest_wait_s": 0.02, "timeout_s": 30.0, "concurrency": 8, "pauses": 0}
MATCHING_POINTS = (10, 5, 7, -8, 3, 6, -4, 2)
# What each of ten drafted criteria says of the gold points g1 to g8.
MATCHING = ("fg1 fg2", "pg6", "", "fg3", "fg4", "fg4", "fg5", "", "", "")


@dataclass
class CoverageWorld:
    """A benchmark with its sets by name, an admin, and physicians who may decide."""

    benchmark: Benchmark
    admin: User
    physicians: list[User]
    sets: dict[str, RubricSet]

    def begin(self, url: str, *names: str, model: str = "ok", **more: Any) -> CoverageRun:
        """A run that measures these sets, all but gold by default."""
        config = {"endpoint": url, "model": model, **QUICK, **more.pop("config", {})}
        chosen = [self.sets[name] for name in names or [name for name in self.sets if name != "gold"]]
        return create_run(
            benchmark=self.benchmark, gold=self.sets["gold"], sets=chosen, config=config, by=self.admin,
            at=timezone.now(), **more,
        )  # fmt: skip

    def run(self, url: str, *names: str, **more: Any) -> CoverageRun:
        """The same, worked to its end."""
        return work(self.begin(url, *names, **more))


def work(run: CoverageRun) -> CoverageRun:
    """What a worker does, until the run needs none."""
    while work_on_run(run.pk, clock=timezone.now):
        pass
    return CoverageRun.objects.get(pk=run.pk)


def make_set(benchmark: Benchmark, name: str, criteria: Mapping[str, Texts]) -> RubricSet:
    """A set of a file, by the keys of cases."""
    lines = [
        json.dumps(
            {
                "case": key,
                "rubrics": [{"criterion": text, "points": points, "axis": axis} for text, points, axis in own],
            }
        )
        for key, own in criteria.items()
    ]
    import_rubric_set(
        benchmark=benchmark,
        file=BytesIO("\n".join([*lines, ""]).encode()),
        options={"name": name, "file_name": f"{name}.jsonl"},
        by=None,
        at=timezone.now(),
        progress=lambda done: None,
    )
    return RubricSet.objects.get(benchmark=benchmark, name=name)


def make_world(slug: str, sets: Mapping[str, Mapping[str, Texts]], **case: Any) -> CoverageWorld:
    """A benchmark with a case for each key of the gold set, two authors, and these sets."""
    admin = UserFactory()
    benchmark = BenchmarkFactory(slug=slug, title="Coverage", admin=admin)
    for key in sets["gold"]:
        # A published rubric of the axis accuracy, which the benchmark knows from then on.
        CaseFactory(benchmark=benchmark, key=key, rubric=[1], **case)
    physicians = [UserFactory(), UserFactory()]
    for user in physicians:
        AuthoringRole.objects.create(benchmark=benchmark, user=user, role=AuthoringRole.Role.AUTHOR)
    return CoverageWorld(
        benchmark, admin, physicians, {name: make_set(benchmark, name, own) for name, own in sets.items()}
    )


def worked_example(slug: str = "worked") -> CoverageWorld:
    """Twelve cases and the sets A and B, whose answers are those of the file in `tests.validation.files.made_up`."""
    gold: dict[str, Texts] = {}
    measured: dict[str, dict[str, list[tuple[str, int, str]]]] = {"A": {}, "B": {}}
    for own in COVERAGE.split(" · "):
        number, *points = own.split()
        key = f"c{number}"
        gold[key] = [(f"Gold {key} {place}", 1, "accuracy") for place in range(len(points))]
        for place, letters in enumerate(points):
            for name, letter in zip("AB", letters, strict=True):
                text = f"Set {name}: {WORDS[letter]}: Gold {key} {place};" if letter in WORDS else f"Other {place}"
                measured[name].setdefault(key, []).append((text, 2, "accuracy"))
    return make_world(slug, {"gold": gold, **measured})


def matching(slug: str = "matching") -> CoverageWorld:
    """One case with eight gold points and ten drafted criteria."""
    gold = [(f"g{number}", points, "accuracy") for number, points in enumerate(MATCHING_POINTS, start=1)]
    drafted = []
    for number, text in enumerate(MATCHING, start=1):
        words = " ".join(f"{WORDS[each[0]]}: {each[1:]};" for each in text.split())
        drafted.append((f"d{number} {words}".strip(), 1, "accuracy"))
    return make_world(slug, {"gold": {"only": gold}, "drafted": {"only": drafted}})


def case_of(world: CoverageWorld, key: str) -> Case:
    return Case.objects.get(benchmark=world.benchmark, key=key)
