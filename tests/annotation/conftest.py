"""A group at work, for the tests of its pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from accounts.models import User
from annotation.models import Adjudication, Assignment, Batch, ExpertGroup
from rubrics.models import Benchmark, Case
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
)

TEXT = """Oozing for an hour **can happen** when you take a blood thinner, even from a shallow cut.

## What to do now

1. Press firmly with a clean cloth for fifteen minutes, without lifting it to look.
2. Raise the hand above your heart.

Do not skip or change a dose on your own: with a replaced valve, a missed tablet can let a clot form. \
Call the clinic that follows your blood thinner today and tell them what happened.

| Sign | What it means |
| --- | --- |
| soaked cloth | go to an emergency department |
| black stools | go to an emergency department |

When was your last INR? 😀 Do you take *aspirin*, ibuprofen or anything new from the pharmacy?"""


@dataclass
class Workshop:
    """A benchmark with one case, some responses, an admin, and a group with a batch."""

    benchmark: Benchmark
    admin: User
    group: ExpertGroup
    cases: list[Case]
    batch: Batch

    def people(self, role: str = "annotator") -> list[User]:
        return self.group.people[role]  # type: ignore[attr-defined, no-any-return]  # set by the factory

    @property
    def annotator(self) -> User:
        return self.people()[0]

    @property
    def checker(self) -> User:
        return self.people("checker")[0]

    @property
    def adjudicator(self) -> User:
        return self.people("adjudicator")[0]

    def queue(self, user: User | None = None) -> list[Assignment]:
        """The annotator's queue, in order."""
        rows = Assignment.objects.filter(batch=self.batch, annotator=user or self.annotator)
        return list(rows.select_related("annotator").order_by("position"))

    def conflict(self) -> Adjudication:
        """Two annotators who differ on the first two criteria of one response."""
        response = self.queue()[0].response_id
        for number, row in enumerate(Assignment.objects.filter(batch=self.batch, response=response).order_by("pk")):
            decide(row, *(["met", "not_met", "met"] if number == 0 else ["not_met", "met", "met"]))
        return Adjudication.objects.get(response=response)


def build_workshop(*, criteria: int | list[int] = 3, responses: int = 3, text: str = TEXT, **terms: Any) -> Workshop:
    """A workshop with 2 annotators, 2 checkers and an adjudicator; ``terms`` as in `make_batch`."""
    admin = UserFactory(name="Ada Admin")
    benchmark = BenchmarkFactory(title="Cardiology pilot", admin=admin, guidelines="Read *everything* first.")
    case = CaseFactory(
        benchmark=benchmark,
        rubric=criteria,
        conversation=[
            {
                "role": "user",
                "content": "I am 58 and take a blood thinner since my valve was replaced. I cut my hand an hour ago, "
                "not deep, but it keeps oozing. Should I skip tonight's tablet?",
            }
        ],
    )
    for number in range(responses):
        candidate = CandidateFactory(benchmark=benchmark, name=f"canary-candidate-{number}")
        ResponseFactory(case=case, candidate=candidate, text=text, external_id=f"canary-external-{number}")
    group = ExpertGroupFactory(benchmark=benchmark, name="Group A", annotators=2, checkers=2, adjudicators=1)
    return Workshop(benchmark, admin, group, [case], make_batch(group, by=admin, title="Pilot batch", **terms))


@pytest.fixture
def workshop(db: None) -> Workshop:
    """Two annotators share three responses of three criteria; nothing is checked."""
    return build_workshop()
