"""Stores the decisions of an imported file: a closed batch, with checks and adjudications."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F
from django.utils.translation import gettext as _
from psycopg.types.json import Jsonb

from accounts.models import User
from annotation.imports.raters import Raters
from annotation.models import (
    Adjudication,
    Amendment,
    Assignment,
    Batch,
    BatchItem,
    Check,
    Decision,
    ExpertGroup,
    Involvement,
    Ruling,
)
from annotation.services.conflicts import Opened, open_group_conflicts
from annotation.services.rules import readable_constraint_errors
from annotation.services.staff_notices import notify_adjudicators, notify_of_conflicts
from consilium.core.identifiers import new_public_id
from rubrics.imports.bulk import chunks, copy_rows, reserve_ids
from rubrics.models import Response, RubricItem
from rubrics.parsing.faults import Faults

CHUNK = 5000
# Stored decisions are looked up for so many responses at a time.
LOOKUP = 500


@dataclass(frozen=True, slots=True)
class Vote:
    """One decision with its rows found: ``stage`` is annotator, checker or adjudicator."""

    line: int
    case: int
    response: int
    rubric: int
    criterion: int
    rater: str
    outcome: str
    stage: str = "annotator"
    note: str = ""


# (response, rubric, rater) → {criterion: vote}
Sheets = dict[tuple[int, int, str], dict[int, Vote]]


class VoteWriter:
    """Collects the votes of a file, compares them with the stored ones, and writes the new ones as one closed batch.

    ``conflicts`` are then the conflicts within the group that the import opened, as closing a batch does. The admins
    and the adjudicators are notified of them.
    """

    def __init__(self, group: ExpertGroup, faults: Faults, *, by: User | None, at: datetime, rater_field: str) -> None:
        self.group = group
        self.faults = faults
        self.by = by
        self.at = at
        self.rater_field = rater_field
        self.raters = Raters(group, faults)
        self.created = 0
        self.unchanged = 0
        self.conflicts = Opened()
        self._sheets: dict[str, Sheets] = {"annotator": {}, "checker": {}, "adjudicator": {}}
        self._parts: dict[tuple[int, str], str] = {}

    def add(self, vote: Vote) -> None:
        """Add a vote; a second vote of the same rater on the same pair, or in another part, is a fault."""
        if not self.raters.sound(vote.rater, vote.line, self.rater_field):
            return
        part = self._parts.setdefault((vote.response, vote.rater), vote.stage)
        if part != vote.stage:
            message = _("For one response, a physician can have only one role: annotator, checker or adjudicator.")
            self.faults.add(vote.line, self.rater_field, message)
            return
        sheet = self._sheets[vote.stage].setdefault((vote.response, vote.rubric, vote.rater), {})
        first = sheet.setdefault(vote.criterion, vote)
        if first is not vote:
            message = _("This rater already decided on this criterion of this response on line %(line)s.")
            self.faults.add(vote.line, "criterion", message % {"line": first.line})

    def write(self) -> None:
        """Write everything that is not stored yet, if the file has no fault."""
        self._compare()
        self._refuse_second_parts()
        self.faults.refuse_if_any()
        annotators, checkers, adjudicators = (self._sheets[part] for part in ("annotator", "checker", "adjudicator"))
        parts: dict[str, set[str]] = defaultdict(set)
        for part, sheets in self._sheets.items():
            for _response, _rubric, rater in sheets:
                parts[rater].add(part)
        with readable_constraint_errors():
            self.raters.enrol(parts)
            assignments = self._write_batch(annotators, checkers)
            self._write_decisions(annotators, assignments)
            self._write_checks(checkers)
            self._write_adjudications(adjudicators)
            self.faults.refuse_if_any()
            works = {key[:2] for sheets in self._sheets.values() for key in sheets}
            self.conflicts = open_group_conflicts(group=self.group, works=works, at=self.at)
        if self.conflicts.responses:
            notify_of_conflicts(benchmark=self.group.benchmark, count=self.conflicts.responses, at=self.at)
            notify_adjudicators(opened=self.conflicts.adjudications, at=self.at)
        self.created = sum(len(sheet) for sheets in self._sheets.values() for sheet in sheets.values())

    # Stored votes -------------------------------------------------------------------------------------------------

    def _compare(self) -> None:
        """Remove votes that are stored already from the sheets; a stored vote with another content is a fault."""
        names = {user: name for name, user in self.raters.users.items()}
        for part, rows in (
            ("annotator", self._stored_decisions),
            ("checker", self._stored_checks),
            ("adjudicator", self._stored_rulings),
        ):
            sheets = self._sheets[part]
            raters = {self.raters.users[rater] for _r, _b, rater in sheets if rater in self.raters.users}
            if not raters:
                continue
            by_vote = {
                (key[0], vote.criterion, key[2]): (key, vote)
                for key, sheet in sheets.items()
                for vote in sheet.values()
            }
            for some in chunks(sorted({key[0] for key in sheets}), LOOKUP):
                for response, criterion, user, outcome, note in rows(some, raters):
                    match = by_vote.get((response, criterion, names.get(user, "")))
                    if match is not None:
                        self._settle(sheets, *match, outcome, note)
            self._sheets[part] = {key: sheet for key, sheet in sheets.items() if sheet}

    def _settle(self, sheets: Sheets, key: tuple[int, int, str], vote: Vote, outcome: str, note: str) -> None:
        if sheets[key].pop(vote.criterion, None) is None:
            return  # it is stored twice, in two batches
        if (outcome, note) == (vote.outcome, vote.note):
            self.unchanged += 1
        else:
            message = _(
                "This decision already exists with a different outcome or note. Imported decisions never change."
            )
            self.faults.add(vote.line, "outcome" if outcome != vote.outcome else "note", message)

    def _stored_decisions(self, responses: list[int], raters: set[int]) -> Iterable[tuple[Any, ...]]:
        rows = Decision.objects.filter(
            assignment__batch__group=self.group,
            assignment__response__in=responses,
            assignment__annotator__in=raters,
            round=1,
            outcome__isnull=False,
        )
        return rows.values_list(
            "assignment__response_id", "criterion_id", "assignment__annotator_id", "outcome", "note"
        )

    def _stored_checks(self, responses: list[int], raters: set[int]) -> Iterator[tuple[Any, ...]]:
        """What a checker accepted or amended, each as the outcome after the check."""
        checks = Check.objects.filter(
            assignment__batch__group=self.group,
            assignment__response__in=responses,
            checker__in=raters,
            result=Check.Result.ACCEPTED,
        )
        amended = {
            (check, criterion): (outcome, reason)
            for check, criterion, outcome, reason in Amendment.objects.filter(check_row__in=checks)
            .exclude(outcome="")
            .values_list("check_row_id", "criterion_id", "outcome", "reason")
        }
        rows = Decision.objects.filter(assignment__checks__in=checks, round=F("assignment__checks__round"))
        for check, response, criterion, user, outcome in rows.values_list(
            "assignment__checks__id",
            "assignment__response_id",
            "criterion_id",
            "assignment__checks__checker_id",
            "outcome",
        ):
            new, reason = amended.get((check, criterion), (outcome, ""))
            yield response, criterion, user, new, "" if reason == unexplained() else reason

    def _stored_rulings(self, responses: list[int], raters: set[int]) -> Iterable[tuple[Any, ...]]:
        """Rulings of adjudications that one of ``raters`` holds, or held before another adjudicator continued."""
        rows = Ruling.objects.filter(
            adjudication__group=self.group,
            adjudication__other_group=None,
            adjudication__response__in=responses,
            adjudication__events__adjudicator__in=raters,
        ).exclude(outcome="")
        columns = ("adjudication__response_id", "criterion_id", "adjudication__events__adjudicator_id")
        return rows.values_list(*columns, "outcome", "reason").distinct()

    def _refuse_second_parts(self) -> None:
        """Refuse a physician of the file who already has another part for a response."""
        by_user: dict[tuple[int, int], Vote] = {}
        for sheets in self._sheets.values():
            for (response, _rubric, rater), sheet in sheets.items():
                if rater in self.raters.users:
                    by_user[response, self.raters.users[rater]] = next(iter(sheet.values()))
        for some in chunks(sorted(by_user), LOOKUP):
            responses, users = [pair[0] for pair in some], [pair[1] for pair in some]
            rows = Involvement.objects.filter(response__in=responses, user__in=users)
            for response, user, part, group in rows.values_list("response_id", "user_id", "part", "group_id"):
                vote = by_user.get((response, user))
                if vote is not None and (part, group) != (vote.stage, self.group.pk):
                    message = _("This physician already has another role for this response.")
                    self.faults.add(vote.line, self.rater_field, message)
            for response, author in Response.objects.filter(pk__in=responses, author__in=users).values_list(
                "pk", "author_id"
            ):
                vote = by_user.get((response, author or 0))
                if vote is not None:
                    message = _("Physicians cannot grade, check or adjudicate their own responses.")
                    self.faults.add(vote.line, self.rater_field, message)

    # Writing ------------------------------------------------------------------------------------------------------

    def _write_batch(self, sheets: Sheets, checkers: Sheets) -> dict[tuple[int, int, str], int]:
        """The closed batch with its items and assignments; the ids of the assignments by sheet."""
        if not sheets:
            return {}
        items = {(response, rubric) for response, rubric, _rater in sheets}
        raters_of: dict[int, int] = defaultdict(int)
        for response, _rubric, _rater in sheets:
            raters_of[response] += 1
        batch = Batch.objects.create(
            group=self.group,
            title=_("Imported decisions"),
            status=Batch.Status.CLOSED,
            imported=True,
            annotators_per_item=max(raters_of.values()),
            check_policy=Batch.CheckPolicy.ALL if checkers else Batch.CheckPolicy.NONE,
            seed=0,
            frame={"imported": True, "responses": len(items)},
            created_by=self.by,
            created_at=self.at,
            closed_at=self.at,
        )
        copy_rows(
            BatchItem,
            ("batch", "response", "rubric", "inclusion_probability"),
            ((batch.pk, response, rubric, 1.0) for response, rubric in sorted(items)),
        )
        sizes = self._rubric_sizes({rubric for _response, rubric in items})
        checked = {key[:2] for key in checkers}
        ids = dict(zip(sheets, reserve_ids(Assignment, len(sheets)), strict=True))
        copy_rows(
            Assignment,
            (
                *("id", "public_id", "batch", "case", "response", "rubric", "criteria", "annotator", "status", "round"),
                *("position", "purpose", "to_check", "started_at", "submitted_at", "accepted_at"),
            ),
            (
                (
                    *(ids[key], new_public_id(), batch.pk, next(iter(sheet.values())).case, key[0], key[1]),
                    *(None if len(sheet) == sizes[key[1]] else sorted(sheet), self.raters.users[key[2]]),
                    *("accepted", 1, position, "work", key[:2] in checked, self.at, self.at, self.at),
                )
                for position, (key, sheet) in enumerate(sheets.items(), start=1)
            ),
        )
        return ids

    def _rubric_sizes(self, rubrics: Iterable[int]) -> dict[int, int]:
        sizes: dict[int, int] = defaultdict(int)
        for rubric in RubricItem.objects.filter(rubric__in=list(rubrics)).values_list("rubric_id", flat=True):
            sizes[rubric] += 1
        return sizes

    def _write_decisions(self, sheets: Sheets, assignments: dict[tuple[int, int, str], int]) -> None:
        rows = (
            (assignments[key], vote.criterion, 1, vote.outcome, False, vote.note, Jsonb([]), 1, self.at, self.at)
            for key, sheet in sheets.items()
            for vote in sheet.values()
        )
        columns = (
            *("assignment", "criterion", "round", "outcome", "borderline", "note", "evidence", "version"),
            *("created_at", "updated_at"),
        )
        for some in chunks(rows, CHUNK):
            copy_rows(Decision, columns, some)

    def _write_checks(self, sheets: Sheets) -> None:
        """A check of every annotator of the response; where the checker's outcome differs, an amendment."""
        for some in chunks(sheets.items(), LOOKUP):
            decided: dict[tuple[int, int], dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
            rows = Decision.objects.filter(
                assignment__batch__group=self.group,
                assignment__response__in={key[0] for key, _sheet in some},
                assignment__status=Assignment.Status.ACCEPTED,
                round=F("assignment__round"),
            )
            for response, rubric, assignment, criterion, outcome in rows.values_list(
                "assignment__response_id", "assignment__rubric_id", "assignment_id", "criterion_id", "outcome"
            ):
                decided[response, rubric][assignment][criterion] = outcome or ""
            for key, sheet in some:
                self._write_check(key[2], sheet, decided[key[0], key[1]])

    def _write_check(self, rater: str, sheet: dict[int, Vote], decided: dict[int, dict[int, str]]) -> None:
        user = self.raters.users[rater]
        for vote in sheet.values():
            if not any(vote.criterion in decisions for decisions in decided.values()):
                message = _("There is no annotator’s decision on this criterion to check.")
                self.faults.add(vote.line, "criterion", message)
                return
        for assignment, decisions in decided.items():
            seen = {criterion: vote for criterion, vote in sheet.items() if criterion in decisions}
            if not seen:
                continue
            first = next(iter(seen.values()))
            check, created = Check.objects.get_or_create(
                assignment_id=assignment,
                round=1,
                defaults={
                    "checker_id": user,
                    "result": Check.Result.ACCEPTED,
                    "created_at": self.at,
                    "finished_at": self.at,
                },
            )
            if check.checker_id != user:
                message = _("Another checker has already checked this response.")
                self.faults.add(first.line, self.rater_field, message)
                return
            if created:
                Assignment.objects.filter(pk=assignment).update(checker_id=user, to_check=True)
            Amendment.objects.bulk_create(
                Amendment(
                    check_row=check,
                    criterion_id=criterion,
                    outcome=vote.outcome,
                    reason=vote.note or unexplained(),
                    created_at=self.at,
                    updated_at=self.at,
                )
                for criterion, vote in seen.items()
                if vote.outcome != decisions[criterion]
            )

    def _write_adjudications(self, sheets: Sheets) -> None:
        sizes = self._rubric_sizes({key[1] for key in sheets})
        for (response, rubric, rater), sheet in sheets.items():
            user = self.raters.users[rater]
            adjudication, created = Adjudication.objects.get_or_create(
                response_id=response,
                rubric_id=rubric,
                group=self.group,
                other_group=None,
                defaults={
                    "criteria": sorted(sheet),
                    "agreement": 1 - len(sheet) / sizes[rubric],
                    "adjudicator_id": user,
                    "status": Adjudication.Status.DONE,
                    "created_at": self.at,
                    "finished_at": self.at,
                },
            )
            free = adjudication.status == Adjudication.Status.OPEN and adjudication.adjudicator_id is None
            own = adjudication.status == Adjudication.Status.DONE and adjudication.adjudicator_id == user
            ruled = set(adjudication.rulings.values_list("criterion_id", flat=True))
            if not (own or free) or ruled & set(sheet):
                message = _("The conflicts of this response belong to another adjudicator.")
                self.faults.add(next(iter(sheet.values())).line, self.rater_field, message)
                continue
            if not created:
                self._take_over(adjudication, user, sheet, sizes[rubric])
            Ruling.objects.bulk_create(
                Ruling(
                    adjudication=adjudication,
                    criterion_id=criterion,
                    outcome=vote.outcome,
                    reason=vote.note,
                    final_at=self.at,
                    created_at=self.at,
                    updated_at=self.at,
                )
                for criterion, vote in sheet.items()
            )

    def _take_over(self, adjudication: Adjudication, user: int, sheet: dict[int, Vote], size: int) -> None:
        """Make a file's rulings part of an adjudication; it is done where they leave no conflict open."""
        decided = adjudication.rulings.exclude(outcome="")
        adjudication.criteria = sorted({*adjudication.criteria, *sheet})
        adjudication.agreement = 1 - len(adjudication.criteria) / size
        adjudication.adjudicator_id = user
        # Saved twice, so that an event records the file's adjudicator even where the row does not keep them: by that
        # event `_stored_rulings` knows whose the rulings are, and the trigger notes their part in the response.
        adjudication.save(update_fields=["criteria", "agreement", "adjudicator"])
        if not set(adjudication.criteria) - set(decided.values_list("criterion_id", flat=True)) - set(sheet):
            adjudication.status, adjudication.finished_at = Adjudication.Status.DONE, self.at
            decided.filter(final_at=None).update(final_at=self.at)
        else:
            # The file's adjudicator has no account: another one of the group decides the rest.
            adjudication.adjudicator_id = None
        adjudication.save(update_fields=["status", "finished_at", "adjudicator"])


def unexplained() -> str:
    """The reason of an amendment whose file gave none."""
    return "Imported without a reason."
