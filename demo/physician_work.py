"""The work of simulated physicians: every action calls the service that the pages call."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from accounts.models import User
from annotation import access
from annotation import services as annotation_services
from annotation.models import Adjudication, Assignment, Batch, ExpertGroup, RulingOutcome
from demo import PEOPLE, DemoPerson
from demo.cases import DemoCase
from demo.responses import DemoResponse
from demo.simulator import Correction, Grading, Simulator
from demo.story import Calendar
from rubrics.models import Benchmark, Response, Rubric, RubricItem

FAULTY = "As worded, this can be read in two ways; it should name the act or the figure that it asks for."


@dataclass(frozen=True)
class Task:
    """An assignment with everything the simulator needs of it."""

    assignment: Assignment
    case: DemoCase
    response: DemoResponse
    person: DemoPerson
    user: User
    criteria: Sequence[int]


class PhysicianWork:
    """Carries out what simulated physicians do."""

    def __init__(
        self,
        demo: Benchmark,
        people: dict[str, User],
        cases: Sequence[DemoCase],
        responses: Sequence[DemoResponse],
        simulator: Simulator,
        calendar: Calendar,
    ) -> None:
        self.users = people
        self.persons = {people[person.email].pk: person for person in PEOPLE}
        self.cases = {case.key: case for case in cases}
        self.simulator = simulator
        self.calendar = calendar
        composed = {item.key: item for item in responses}
        rows = Response.objects.filter(case__benchmark=demo).select_related("case", "candidate")
        self.responses = {row.pk: composed[f"{row.case.key}/{row.candidate.name}/{row.sample}"] for row in rows}
        criteria: dict[int, list[int]] = defaultdict(list)
        items = RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case__benchmark=demo))
        for rubric, criterion in items.order_by("rubric_id", "position").values_list("rubric_id", "criterion_id"):
            criteria[rubric].append(criterion)
        self.criteria = dict(criteria)

    def members(self, group: ExpertGroup, role: str) -> list[User]:
        """The users who have this role in the group."""
        people = [person for person in PEOPLE if person.group == group.name and person.role == role]
        return [self.users[person.email] for person in people]

    def tasks(self, batch: Batch) -> list[Task]:
        """All work of a batch, by annotator and queue."""
        rows = Assignment.objects.filter(batch=batch).select_related("batch__group", "annotator")
        return [
            Task(
                assignment=row,
                case=self.cases[self.responses[row.response_id].case],
                response=self.responses[row.response_id],
                person=self.persons[row.annotator_id],
                user=row.annotator,
                criteria=self.criteria[row.rubric_id],
            )
            for row in rows.order_by("annotator__email", "position")
        ]

    def gradings(self, task: Task) -> list[Grading]:
        """The decisions of a task's annotator on every criterion."""
        return self.simulator.grade(task.case, task.response, task.person)

    def decide(self, task: Task, count: int, at: datetime) -> None:
        """Begin a task at the moment ``at``, and save the first ``count`` decisions."""
        changes = [
            annotation_services.DecisionInput(
                criterion=criterion,
                outcome=grading.outcome,
                borderline=grading.borderline,
                note=grading.note,
                evidence=[{"quote": s.quote, "start": s.start, "end": s.end} for s in grading.evidence],
            )
            for criterion, grading in zip(task.criteria, self.gradings(task)[:count], strict=False)
        ]
        annotation_services.save_decisions(assignment=task.assignment, annotator=task.user, changes=changes, at=at)

    def hand_in(self, task: Task, *, start: datetime, end: datetime) -> None:
        """Decide every criterion and submit."""
        self.decide(task, len(task.criteria), start)
        annotation_services.submit(assignment=task.assignment, annotator=task.user, at=end)

    def claim(self, task: Task, checker: User, at: datetime) -> list[Correction]:
        """Take a task for a check; returns what this checker would amend."""
        waiting = access.get_waiting_check(checker, task.assignment.public_id)
        annotation_services.claim_check(checker=checker, waiting=waiting, at=at)
        task.assignment.refresh_from_db()
        return self.simulator.check(task.case, task.response, self.gradings(task), self.persons[checker.pk])

    def amend(self, task: Task, checker: User, corrections: Iterable[Correction], at: datetime) -> None:
        """Save the corrections as amendments of the annotator's decisions."""
        for correction in corrections:
            annotation_services.amend(
                assignment=task.assignment,
                checker=checker,
                criterion=task.criteria[correction.position],
                outcome=correction.outcome,
                reason=correction.reason,
                at=at,
            )

    def check(self, task: Task, checker: User, at: datetime) -> None:
        """Check a task and accept it."""
        self.amend(task, checker, self.claim(task, checker, at), at)
        annotation_services.accept_check(assignment=task.assignment, checker=checker, at=at)

    def send_back(self, task: Task, checker: User, at: datetime) -> None:
        """Check a task and return it with a note."""
        self.claim(task, checker, at)
        note = self.simulator.phrase(task.case, "return", random.Random(task.response.key))
        annotation_services.return_check(assignment=task.assignment, checker=checker, note=note, at=at)

    def adjudicate(
        self, row: Adjudication, adjudicator: User, at: datetime, *, only: int | None = None, faulty: bool = False
    ) -> None:
        """Rule on the conflicts of a response, and finish the adjudication.

        ``only``: rule on this many conflicts, and leave the adjudication open. ``faulty``: the first conflict is blamed
        on its criterion.
        """
        annotation_services.claim_adjudication(adjudicator=adjudicator, waiting=Adjudication.objects.filter(pk=row.pk))
        response = self.responses[row.response_id]
        case, criteria = self.cases[response.case], self.criteria[row.rubric_id]
        for number, criterion in enumerate(row.criteria[:only]):
            outcome, reason = self.simulator.rule(
                case, response, criteria.index(criterion), self.persons[adjudicator.pk]
            )
            if faulty and number == 0:
                outcome, reason = RulingOutcome.FAULTY.value, FAULTY
            annotation_services.rule(
                adjudication=row, adjudicator=adjudicator, criterion=criterion, outcome=outcome, reason=reason, at=at
            )
        if only is None:
            annotation_services.finish_adjudication(adjudication=row, adjudicator=adjudicator, at=at)
