"""Keyed responses: their correct decisions, where these come from, and how they are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from typing import BinaryIO

import numpy as np
from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.imports.decisions import Places
from annotation.models import (
    Assignment,
    BatchItem,
    ExpertGroup,
    Involvement,
    KeyedDecision,
    KeyedResponse,
    Outcome,
    QualificationAttempt,
    QualificationRule,
)
from annotation.selectors.ratings import consensus_ratings, unanimous_ratings
from consilium.core.errors import Conflict, DomainError
from consilium.core.ratings import Ratings
from rubrics.models import Benchmark, Response, Rubric, RubricItem
from rubrics.parsing.decisions import DecisionReader
from rubrics.parsing.faults import Faults

MAX_EXPLANATION_LENGTH = 2_000
LARGEST_FILE = 5 << 20
WORDS = {int(outcome.code): outcome.value for outcome in Outcome}
CSV_COLUMNS = ("case", "candidate", "sample", "criterion", "outcome", "explanation", "setting")


@dataclass(frozen=True, slots=True)
class Agreed:
    """A response with an agreed decision on every criterion of its current rubric, and who agreed."""

    response: int
    rubric: int
    decisions: Mapping[int, str]  # criterion → outcome
    source: str

    @property
    def met(self) -> int:
        """How many criteria are met."""
        return sum(outcome == Outcome.MET for outcome in self.decisions.values())


@dataclass(frozen=True, slots=True)
class ImportedKeys:
    """How many keys of a file are new, how many existed before, and how many are of responses in ordinary batches."""

    new: int
    known: int
    in_batches: int


def agreed_responses(benchmark: Benchmark, only: Iterable[str] | None = None) -> dict[int, Agreed]:
    """Response id → its agreed decisions, for responses without a key; limited to the public ids ``only`` where given.

    A decision is agreed if two groups decided alike or an adjudicator ruled between them (the consensus), or else if
    at least two annotators of one group decided alike after the secondary check. Every criterion must be agreed.
    """
    groups = list(ExpertGroup.objects.filter(benchmark=benchmark).order_by("name"))
    sources: list[tuple[str, Ratings]] = [
        (
            _("Consensus of %(one)s and %(two)s") % {"one": first.name, "two": second.name},
            consensus_ratings(first, second),
        )
        for first, second in combinations(groups, 2)
    ]
    sources += [
        (_("All annotators of %(group)s") % {"group": group.name}, unanimous_ratings(group)) for group in groups
    ]
    responses = Response.objects.filter(case__benchmark=benchmark, key=None)
    if only is not None:
        responses = responses.filter(public_id__in=list(only))
    case_of = dict(responses.values_list("pk", "case_id"))
    criteria: dict[int, tuple[int, set[int]]] = {}
    items = RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case__benchmark=benchmark))
    for at_case, rubric, criterion in items.values_list("rubric__case_id", "rubric_id", "criterion_id"):
        criteria.setdefault(at_case, (rubric, set()))[1].add(criterion)
    agreed_by_response: dict[int, Agreed] = {}
    for source, ratings in sources:
        for response, codes in _by_response(ratings):
            case = case_of.get(response)
            if case is None or response in agreed_by_response or case not in criteria:
                continue
            rubric, criterion_ids = criteria[case]
            decisions = {criterion: WORDS[code] for criterion, code in codes.items() if code in WORDS}
            if criterion_ids <= decisions.keys():
                agreed_by_response[response] = Agreed(
                    response, rubric, {c: decisions[c] for c in criterion_ids}, source
                )
    return agreed_by_response


def _by_response(ratings: Ratings) -> Iterator[tuple[int, dict[int, int]]]:
    bounds = [*np.flatnonzero(np.diff(ratings.response, prepend=-1)).tolist(), len(ratings)]
    for start, end in pairwise(bounds):
        yield (
            int(ratings.response[start]),
            dict(zip(ratings.criterion[start:end].tolist(), ratings.outcome[start:end].tolist(), strict=True)),
        )


@transaction.atomic
def key_from_consensus(
    *, benchmark: Benchmark, responses: Sequence[str], use: str, by: User | None, at: datetime
) -> list[KeyedResponse]:
    """Make keys of responses (public ids) from their agreed decisions: all of them, or none with a `DomainError`."""
    if use not in KeyedResponse.Use.values:
        raise DomainError(_("An answer key must be for qualification or for gold items."))
    if not responses:
        raise DomainError(_("Choose at least one response."))
    agreed = agreed_responses(benchmark, responses)
    if len(agreed) != len(set(responses)):
        raise Conflict(
            _("Some of these responses already have an answer key or are no longer agreed on. Choose again.")
        )
    keyed_responses = KeyedResponse.objects.bulk_create(
        KeyedResponse(
            benchmark=benchmark, response_id=row.response, rubric_id=row.rubric, use=use, created_by=by, created_at=at
        )
        for row in agreed.values()
    )
    KeyedDecision.objects.bulk_create(
        KeyedDecision(keyed=keyed, criterion_id=criterion, outcome=outcome)
        for keyed in keyed_responses
        for criterion, outcome in agreed[keyed.response_id].decisions.items()
    )
    return keyed_responses


@transaction.atomic
def edit_key(*, keyed: KeyedResponse, decisions: Mapping[int, tuple[str, str]]) -> None:
    """Set outcome and explanation of every criterion: criterion id → (outcome, explanation).

    Earlier marks are kept; only work that is handed in from now on is compared with the new key.
    """
    rows = {row.criterion_id: row for row in keyed.decisions.select_for_update()}
    if rows.keys() != decisions.keys():
        raise DomainError(_("An answer key must have a decision on each criterion of the rubric."))
    changed = []
    for criterion, (outcome, explanation) in decisions.items():
        if outcome not in Outcome.values:
            raise DomainError(_("The outcome must be met, not met or can’t assess."))
        if len(explanation) > MAX_EXPLANATION_LENGTH:
            raise DomainError(_("An explanation has at most %(most)d characters.") % {"most": MAX_EXPLANATION_LENGTH})
        row = rows[criterion]
        if (row.outcome, row.explanation) != (outcome, explanation):
            row.outcome, row.explanation = outcome, explanation
            changed.append(row)
    KeyedDecision.objects.bulk_update(changed, ["outcome", "explanation"])


@transaction.atomic
def set_key_active(*, keyed: KeyedResponse, active: bool) -> None:
    """Withdraw a key, or activate it again. The last key of a required qualification cannot be withdrawn."""
    QualificationRule.objects.select_for_update().filter(benchmark=keyed.benchmark_id).first()
    if not active and keyed.use == KeyedResponse.Use.QUALIFICATION:
        under_way = QualificationAttempt.objects.filter(
            status=QualificationAttempt.Status.OPEN, batch__assignments__response=keyed.response_id
        )
        if under_way.exists():
            raise Conflict(_("Someone is qualifying on this response now. Withdraw it when they have finished."))
        rest = KeyedResponse.objects.filter(benchmark=keyed.benchmark_id, use=keyed.use, active=True)
        required = QualificationRule.objects.filter(benchmark=keyed.benchmark_id, required=True).exists()
        if required and not rest.exclude(pk=keyed.pk).exists():
            raise DomainError(
                _("Qualification is required, and this is its last response. Remove the requirement first.")
            )
    KeyedResponse.objects.filter(pk=keyed.pk).update(active=active)
    keyed.active = active


@transaction.atomic
def set_key_use(*, keyed: KeyedResponse, use: str) -> None:
    """Use a key for the other purpose, as long as it was given to nobody."""
    if use not in KeyedResponse.Use.values:
        raise DomainError(_("An answer key must be for qualification or for gold items."))
    given = Assignment.objects.filter(response=keyed.response_id).exclude(purpose=Assignment.Purpose.WORK)
    if use != keyed.use and given.exists():
        raise Conflict(_("This response has already been assigned for this use, so the use cannot change."))
    KeyedResponse.objects.filter(pk=keyed.pk).update(use=use)
    keyed.use = use


@transaction.atomic
def import_keys(*, benchmark: Benchmark, file: BinaryIO, use: str, by: User | None, at: datetime) -> ImportedKeys:
    """Import keys from JSONL or CSV (case, candidate, sample, criterion, outcome, explanation), one row per decision.

    A response that has a key of this use gets the file's decisions; others get a new key. `ImportRefused` names every
    fault, and then nothing is written.
    """
    faults = Faults()
    places = Places(benchmark, faults)
    decisions_by_response: dict[int, dict[int, tuple[str, str]]] = {}
    rubric_of: dict[int, tuple[int, frozenset[int]]] = {}
    first_line: dict[int, int] = {}
    for record, sheet, response, criterion in places.placed(DecisionReader(file, faults, rater=False)):
        rubric_of[response] = (sheet.rubric, frozenset(sheet.by_position.values()))
        first_line.setdefault(response, record.line)
        if criterion in decisions_by_response.setdefault(response, {}):
            faults.add(record.line, "criterion", _("The file has two decisions on this criterion of the response."))
        explanation = record.explanation or record.note
        if len(explanation) > MAX_EXPLANATION_LENGTH:
            message = _("An explanation has at most %(most)d characters.") % {"most": MAX_EXPLANATION_LENGTH}
            faults.add(record.line, "explanation", message)
        decisions_by_response[response][criterion] = (record.outcome, explanation)
    for response, decisions in decisions_by_response.items():
        missing = len(rubric_of[response][1]) - len(decisions)
        if missing:
            message = ngettext(
                "%(n)d criterion of this response has no decision in the file.",
                "%(n)d criteria of this response have no decision in the file.",
                missing,
            )
            faults.add(first_line[response], "criterion", message % {"n": missing})
    known = {
        row.response_id: row
        for row in KeyedResponse.objects.filter(response__in=decisions_by_response).select_for_update()
    }
    for response, row in known.items():
        if row.use != use:
            message = _("This response already has an answer key for another use (%(use)s).") % {
                "use": row.get_use_display()
            }
            faults.add(first_line[response], "candidate", message)
        elif row.rubric_id != rubric_of[response][0]:
            message = _("The answer key of this response belongs to an earlier version of the rubric.")
            faults.add(first_line[response], "case", message)
    faults.refuse_if_any()
    if not decisions_by_response:
        raise DomainError(_("The file contains no decisions."))
    fresh = KeyedResponse.objects.bulk_create(
        KeyedResponse(
            benchmark=benchmark, response_id=response, rubric_id=rubric_of[response][0], use=use,
            created_by=by, created_at=at,
        )
        for response in decisions_by_response
        if response not in known
    )  # fmt: skip
    KeyedDecision.objects.bulk_create(
        KeyedDecision(keyed=keyed, criterion_id=criterion, outcome=outcome, explanation=explanation)
        for keyed in fresh
        for criterion, (outcome, explanation) in decisions_by_response[keyed.response_id].items()
    )
    for response, row in known.items():
        edit_key(keyed=row, decisions=decisions_by_response[response])
    return ImportedKeys(len(fresh), len(known), len(ordinary_batches_of(decisions_by_response)))


def key_rows(benchmark: Benchmark, use: str) -> Iterator[dict[str, object]]:
    """Rows of the CSV of the active keys of one use, in the order of names; `import_keys` reads them back."""
    decisions = KeyedDecision.objects.filter(keyed__benchmark=benchmark, keyed__use=use, keyed__active=True)
    position = {
        (rubric, criterion): place
        for rubric, criterion, place in RubricItem.objects.filter(
            rubric__in=KeyedResponse.objects.filter(benchmark=benchmark).values("rubric")
        ).values_list("rubric_id", "criterion_id", "position")
    }
    columns = (
        "keyed__response__case__key", "keyed__response__candidate__name", "keyed__response__sample",
        "keyed__rubric_id", "criterion_id", "outcome", "explanation", "keyed__response__setting",
    )  # fmt: skip
    rows = [
        (case, candidate, sample, position[rubric, criterion], outcome, explanation, setting)
        for case, candidate, sample, rubric, criterion, outcome, explanation, setting in decisions.values_list(*columns)
    ]
    for row in sorted(rows):
        yield dict(zip(CSV_COLUMNS, row, strict=True))


@transaction.atomic
def set_rule(*, benchmark: Benchmark, values: Mapping[str, object]) -> QualificationRule:
    """Set what is required of annotators. Qualification can be required only once a qualification key is there."""
    rule, _created = QualificationRule.objects.select_for_update().get_or_create(benchmark=benchmark)
    for name, value in values.items():
        setattr(rule, name, value)
    keys = KeyedResponse.objects.filter(benchmark=benchmark, active=True, use=KeyedResponse.Use.QUALIFICATION)
    if rule.required and not keys.exists():
        raise DomainError(
            _("There is no response to qualify on yet. Add answer keys below, then require qualification.")
        )
    if rule.attempt_size is not None and rule.attempt_size > keys.count():
        raise DomainError(
            _("An attempt cannot have %(size)d responses: the qualification set has %(n)d.")
            % {"size": rule.attempt_size, "n": keys.count()}
        )
    rule.save()
    return rule


def uses_of_keys(benchmark: Benchmark) -> dict[int, int]:
    """Keyed response id → how many times it was given to somebody."""
    rows = KeyedResponse.objects.filter(
        benchmark=benchmark, response__assignments__purpose__in=["gold", "qualification"]
    )
    return dict(rows.values_list("pk").annotate(Count("response__assignments")).order_by())


def ordinary_batches_of(responses: Iterable[int]) -> dict[int, int]:
    """Response id → in how many ordinary batches it is; responses in none are missing.

    Such a response may have a key all the same: its decisions in these batches count in results as before.
    """
    rows = BatchItem.objects.filter(response__in=responses)
    return dict(rows.values_list("response").annotate(Count("pk")).order_by())


def sizes_of_keys(benchmark: Benchmark) -> dict[int, int]:
    """Keyed response id → how many decisions it holds."""
    rows = KeyedDecision.objects.filter(keyed__benchmark=benchmark)
    return dict(rows.values_list("keyed").annotate(Count("pk")).order_by())


def annotators_behind(responses: Sequence[int]) -> dict[int, int]:
    """Response id → how many people have a part in it and can therefore not qualify on it or get it as a gold item."""
    rows = Involvement.objects.filter(response__in=responses)
    return dict(rows.values_list("response").annotate(Count("pk")).order_by())
