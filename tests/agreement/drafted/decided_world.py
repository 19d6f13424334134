"""Suggestions on four cases that physicians decided on, with figures that are counted by hand.

- ``a``: full 1, by a model: 1 as it is (a note as its finding), 2 reworded, 3 rejected as wrong (a problem), 4 taken
  and then removed from the draft. The rubric has one criterion of the author's own.
- ``b``: direct 2, by rules: 1 with other points, 2 rejected as said twice. The author wrote two criteria before.
- ``c``: decided on, but not published. ``d``: as a, and excluded later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone

from drafting.suggestions import services
from rubrics.models import AuthoringTime, Benchmark, Case
from tests import factories
from tests.documents.cited_documents import add_document
from tests.drafting.suggestions.drafted import Drafted, own, taken

BEFORE = "Advises emergency care if chest pain occurs"
AFTER = "Advises calling emergency services if chest pain lasts over 15 minutes"  # 32 of 70 code points
PROBLEM = [{"code": "unsupported", "severity": "problem", "why": "It does not say so."}]
NOTE = [{"code": "moved_quote", "severity": "note", "fact": 1}]


@dataclass
class DecidedWorld:
    """The benchmark and what is in it, by the key of the case."""

    benchmark: Benchmark
    admin: Any
    drafted: dict[str, Drafted] = field(default_factory=dict)

    def add(self, key: str, rows: Sequence[dict[str, Any]], *, kind: str, recipe: tuple[str, int]) -> Drafted:
        """A case with suggestions of one run."""
        case = factories.CaseFactory(rubric=0, benchmark=self.benchmark, key=key)
        drafted = self.drafted[key] = Drafted(0, case=case, opened=False)
        drafted.run = factories.DraftingRunFactory(
            benchmark=self.benchmark,
            endpoint_kind=kind,
            terms={"recipe": recipe[0], "version": recipe[1], "models": []},
        )
        drafted.suggestions = [
            factories.SuggestionFactory(case=case, run=drafted.run, number=number, **row)
            for number, row in enumerate(rows, start=1)
        ]
        return drafted


def _first(world: DecidedWorld, key: str) -> Drafted:
    """Case a, not yet published."""
    rows = [
        {"text": "Names the dose", "findings": NOTE, "facts": [1], "axis": "accuracy"},
        {"text": BEFORE, "facts": [2], "needs": [1], "axis": "completeness"},
        {"text": "Recommends aspirin", "findings": PROBLEM, "facts": [1], "points": -8},
        {"text": "Is kind", "axis": "communication"},
    ]
    drafted = world.add(key, rows, kind="model", recipe=("full", 1))
    dose, flag = add_document(world.benchmark, key=f"fever-{key}")
    factories.FactFactory(run=drafted.run, case=drafted.case, number=1, kind="number", passage=dose)
    factories.FactFactory(run=drafted.run, case=drafted.case, number=2, kind="red_flag", passage=flag)
    drafted.open(drafted.author)
    first, second, third, fourth = drafted.suggestions
    kept = [own("Asks for the weight"), taken(first), taken(second, text=AFTER)]
    drafted.save([*kept, taken(fourth)])
    drafted.save(kept)
    services.reject(suggestion=third, reason=1, by=drafted.author, at=timezone.now())
    return drafted


def decided_world() -> DecidedWorld:
    """The world above."""
    admin = factories.UserFactory()
    world = DecidedWorld(factories.BenchmarkFactory(admin=admin), admin)
    _first(world, "a").publish()
    b = world.add("b", [{"text": "Names a rash"}, {"text": "Calls for help"}], kind="rules", recipe=("direct", 2))
    listed = [own("Names fever"), own("Names drowsiness")]
    b.save(listed)
    b.open(b.author)
    services.reject(suggestion=b.suggestions[1], reason=3, by=b.author, at=timezone.now(), seconds=0)
    b.publish([*listed, taken(b.suggestions[0], points=7)])
    _first(world, "c")
    _first(world, "d").publish()
    Case.objects.filter(key="d").update(excluded_at=timezone.now(), exclusion_reason="It is there twice.")
    at = timezone.now() - timedelta(minutes=1)
    for key, activity, seconds in (("a", "write", 600), ("b", "write", 300), ("a", "review", 90)):
        drafted = world.drafted[key]
        AuthoringTime.objects.create(
            case=drafted.case, user=drafted.author, activity=activity, seconds=seconds, reported_at=at
        )
    return world
