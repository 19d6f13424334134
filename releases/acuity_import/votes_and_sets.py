"""Questions, votes, rulings and signed reference sets of a release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.acuity.services import ITEM_COLUMNS
from annotation.imports.acuity_votes import make_closed_batch
from annotation.imports.decisions import group_called
from annotation.imports.handed_in import HandedIn, store_handed_in
from annotation.imports.raters import Raters
from annotation.models import (
    AcuityRuling,
    ExpertGroup,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Membership,
    ReferenceItem,
    ReferenceSet,
)
from annotation.services.rules import readable_constraint_errors
from releases.acuity_import.importing import AcuityImporting, checked_moment
from releases.content import acuity_files as files
from releases.verification.acuity_content import Row, places_of
from rubrics.acuity.scales import Scale
from rubrics.imports.bulk import copy_rows
from rubrics.parsing.faults import Faults

_Votes = list[tuple[int, Row]]


def write_votes_and_sets(importing: AcuityImporting) -> dict[str, int]:
    """Write what is not there yet; what is there otherwise is a fault. Returns the user of each pseudonym."""
    questions = _questions(importing)
    users, groups = _physicians(importing)
    importing.refuse_if_any()
    with readable_constraint_errors():
        _votes(importing, questions, users, groups)
        importing.refuse_if_any()
        _rulings(importing, questions, users)
    importing.refuse_if_any()
    _sets(importing)
    return users


def _handed_in(importing: AcuityImporting, first_set: int | None) -> datetime:
    """When a vote counts as handed in: with the first set that has it, the last moment at which that can have been."""
    if first_set is None:
        return importing.at
    return checked_moment(importing.content.sets[first_set][1]["signed_at"])


def _questions(importing: AcuityImporting) -> dict[str, LabelQuestion]:
    questions: dict[str, LabelQuestion] = {}
    for name, row in importing.content.questions.items():
        scale = importing.scales[row["scale"], row["scale_version"]]
        question = LabelQuestion.objects.filter(benchmark=importing.benchmark, name=name).first()
        importing.count("questions", created=question is None, unchanged=question is not None)
        if question is None:
            own = LabelQuestion.objects.filter(benchmark=importing.benchmark)
            question = LabelQuestion.objects.create(
                benchmark=importing.benchmark,
                name=name,
                text=row["text"],
                kind=LabelQuestion.Kind.LEVELS,
                scale=scale,
                threshold=row["threshold"],
                minimum_answers=row["minimum_answers"],
                position=(own.aggregate(last=Max("position"))["last"] or 0) + 1,
                created_at=importing.at,
            )
        elif question.scale_id != scale.pk:
            message = _("The question “%(name)s” uses a different scale in this benchmark.")
            importing.faults.add(files.SCALE, 0, "questions", message % {"name": name[:80]})
        questions[name] = question
    return questions


def _physicians(importing: AcuityImporting) -> tuple[dict[str, int], dict[str, ExpertGroup]]:
    """The user of each pseudonym, and the group; new ones have no address and cannot sign in."""
    users: dict[str, int] = {}
    groups: dict[str, ExpertGroup] = {}
    parts: dict[str, set[str]] = defaultdict(set)
    for _line, row in importing.content.votes:
        parts[row["physician"]].add(Membership.Role.ANNOTATOR)
    for _line, row in importing.content.rulings:
        parts[row["adjudicator"]].add(Membership.Role.ADJUDICATOR)
    for _line, row in importing.content.advice:
        parts[row["physician"]].add(Membership.Role.ANNOTATOR)
    members: dict[str, list[str]] = defaultdict(list)
    for name, own_group in importing.content.physicians.items():
        members[own_group].append(name)
    for group_name in sorted(members):
        group, created = group_called(importing.benchmark, group_name)
        importing.count("groups", created=created, unchanged=not created)
        faults = Faults()
        raters = Raters(group, faults)
        for name in members[group_name]:
            raters.sound(name, 0, "physician")
            groups[name] = group
        for fault in faults.first:
            importing.faults.add(files.PHYSICIANS, 0, fault.field, fault.message)
        if not faults.total:
            raters.enrol({name: parts[name] for name in members[group_name]})
        users.update({name: raters.users[name] for name in members[group_name] if name in raters.users})
        importing.count("physicians", created=raters.created, unchanged=len(members[group_name]) - raters.created)
    return users, groups


# Votes ----------------------------------------------------------------------------------------------------------------


def _votes(
    importing: AcuityImporting,
    questions: Mapping[str, LabelQuestion],
    users: Mapping[str, int],
    groups: Mapping[str, ExpertGroup],
) -> None:
    rows = LabelAnswer.objects.filter(
        question__in=[question.pk for question in questions.values()], task__status=LabelTask.Status.SUBMITTED
    )
    columns = ("question_id", "task__case_id", "task__annotator_id", "task__round")
    values = ("value", "upper", "certainty", "note", "reason")
    stored = {tuple(row[:4]): row[4:] for row in rows.values_list(*columns, *values)}
    new: _Votes = []
    for line, row in importing.content.votes:
        place = (questions[row["question"]].pk, importing.cases[row["case"]], users[row["physician"]], row["round"])
        before = stored.get(place)
        if before is None:
            new.append((line, row))
        elif not _is_same(before, row):
            message = _("The physician “%(name)s” has already voted differently on this case.")
            importing.faults.add(files.VOTES, line, "level", message % {"name": row["physician"][:80]})
    importing.count("votes", created=len(new), unchanged=len(importing.content.votes) - len(new))
    if new and not importing.faults.total:
        _write_votes(importing, new, questions, users, groups)


def _is_same(before: Sequence[Any], row: Row) -> bool:
    """Whether a vote is the stored one; a certainty and a note that are not in the release are not compared."""
    value, upper, certainty, note, reason = before
    if (value, upper, reason) != (*_values(row), row["reason"]):
        return False
    return row["certainty"] in (None, certainty) and row["note"] in ("", note)


def _values(row: Row) -> tuple[str, str]:
    value, _bar, upper = row["level"].partition("|")
    return value, upper


def _write_votes(
    importing: AcuityImporting,
    votes: _Votes,
    questions: Mapping[str, LabelQuestion],
    users: Mapping[str, int],
    groups: Mapping[str, ExpertGroup],
) -> None:
    """A closed batch for each question, group and round; the order of the file decides where somebody voted twice."""
    batches = _batches(importing, votes, questions, groups)
    answers = []
    for _line, row in votes:
        value, upper = _values(row)
        answers.append(
            HandedIn(
                batch=batches[_batch_key(row, groups)],
                case=importing.cases[row["case"]],
                annotator=users[row["physician"]],
                question=questions[row["question"]].pk,
                value=value,
                at=_handed_in(importing, row["first_set"]),
                round=row["round"],
                upper=upper,
                reason=row["reason"],
                certainty=row["certainty"],
                note=row["note"],
            )
        )
    store_handed_in(answers, at=importing.at)


def _batch_key(row: Row, groups: Mapping[str, ExpertGroup]) -> tuple[str, int, int]:
    return row["question"], groups[row["physician"]].pk, row["round"]


def _batches(
    importing: AcuityImporting,
    votes: _Votes,
    questions: Mapping[str, LabelQuestion],
    groups: Mapping[str, ExpertGroup],
) -> dict[tuple[str, int, int], int]:
    cases: dict[tuple[str, int, int], Counter[str]] = defaultdict(Counter)
    by_key: dict[int, ExpertGroup] = {group.pk: group for group in groups.values()}
    for _line, row in votes:
        cases[_batch_key(row, groups)][row["case"]] += 1
    return {
        key: make_closed_batch(
            group=by_key[key[1]],
            question=questions[key[0]],
            title=_("Votes of a release"),
            per_case=max(own.values()),
            round=key[2],
            by=importing.by,
            at=importing.at,
        ).pk
        for key, own in sorted(cases.items())
    }


# Rulings --------------------------------------------------------------------------------------------------------------


def _rulings(importing: AcuityImporting, questions: Mapping[str, LabelQuestion], users: Mapping[str, int]) -> None:
    own = AcuityRuling.objects.filter(question__in=[question.pk for question in questions.values()])
    stored = {(ruling.question_id, ruling.case_id): ruling for ruling in own}
    new = []
    for line, row in importing.content.rulings:
        question = questions[row["question"]]
        question_row = importing.content.questions[row["question"]]
        scale = importing.content.scales[question_row["scale"], question_row["scale_version"]]
        low, high = places_of(row, scale) or (None, None)
        ruling = AcuityRuling(
            question=question,
            case_id=importing.cases[row["case"]],
            adjudicator_id=users[row["adjudicator"]],
            low=low,
            high=high,
            reason=row["reason"],
            note=row["note"],
            created_at=_handed_in(importing, row["first_set"]),
        )
        before = stored.get((question.pk, ruling.case_id))
        if before is None:
            new.append(ruling)
        elif _ruling_key(before) != _ruling_key(ruling) or ruling.note not in ("", before.note):
            message = _("A different ruling on this case already exists here.")
            importing.faults.add(files.RULINGS, line, "case", message)
    importing.refuse_if_any()
    for ruling in new:
        ruling.save()
    importing.count("rulings", created=len(new), unchanged=len(importing.content.rulings) - len(new))


def _ruling_key(ruling: AcuityRuling) -> tuple[Any, ...]:
    return ruling.adjudicator_id, ruling.low, ruling.high, ruling.reason


# Reference sets -------------------------------------------------------------------------------------------------------


def _sets(importing: AcuityImporting) -> None:
    """Signed sets with number, signer, date and digest, which the checks have computed again from their items."""
    stored = {own.number: own for own in ReferenceSet.objects.filter(benchmark=importing.benchmark)}
    for number, (line, row) in sorted(importing.content.sets.items()):
        scale = importing.scales[row["scale"], row["scale_version"]]
        new = ReferenceSet(
            benchmark=importing.benchmark,
            number=number,
            scale=scale,
            datasets=row["datasets"].split(),
            ambiguous_rule=row["ambiguous_rule"],
            ambiguous_threshold=float(row["ambiguous_threshold"]),
            minimum_votes=row["minimum_votes"],
            round=row["round"],
            note=row["note"],
            digest=row["digest"],
            signed_by=None,
            signed_as=row["signed_by"],
            signed_at=checked_moment(row["signed_at"]),
            imported_from=importing.release,
        )
        before = stored.get(number)
        importing.count("reference sets", created=before is None, unchanged=before is not None)
        if before is None:
            new.save()
            levels = importing.content.scales[row["scale"], row["scale_version"]]
            items = [item for _line, item in importing.content.items.get(number, [])]
            copy_rows(ReferenceItem, ITEM_COLUMNS, (_item_row(importing, new, item, levels) for item in items))
        elif _set_key(before) != _set_key(new):
            message = _("A different reference set %(number)s already exists in this benchmark.")
            importing.faults.add(files.SETS, line, "set", message % {"number": number})


def _set_key(own: ReferenceSet) -> tuple[Any, ...]:
    settings = (own.ambiguous_rule, own.ambiguous_threshold, own.minimum_votes, own.round)
    return own.scale_id, [*own.datasets], *settings, own.digest, own.signed_at


def _item_row(importing: AcuityImporting, own: ReferenceSet, item: Row, scale: Scale) -> tuple[Any, ...]:
    low, high = places_of(item, scale) or (None, None)
    votes, later = ([int(vote) for vote in item[name].split()] for name in ("votes", "later_votes"))
    return (
        *(own.pk, importing.cases[item["case"]], item["status"], item["source"], low, high),
        *(votes, item["n_cannot_tell"], item["certainty"], later),
    )
