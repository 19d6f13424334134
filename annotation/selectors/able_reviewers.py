"""Which checkers and adjudicators can do the work that waits for them, and why the others cannot.

The rules of `access.waiting_checks` and `access.open_adjudications`, for everybody at once. Somebody who has not opened
their account yet, or whose account is deactivated, can do nothing; nor can somebody who does not read the case.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.models import Adjudication, Assignment, Involvement, Membership, Part
from consilium.core.language_tags import can_read
from consilium.core.languages import language_name


@dataclass(frozen=True, slots=True)
class WaitingPiece:
    """Work that waits for a reviewer: who can do it, and if nobody can, why (one sentence for each reason)."""

    pk: int
    batch: int  # 0 for a conflict
    group: int
    other_group: int  # of a conflict between two groups, else 0
    annotator: int  # 0 for a conflict
    case: str
    candidate: str
    language: str
    since: datetime | None
    able: tuple[int, ...]
    reasons: tuple[str, ...]

    @property
    def language_name(self) -> str:
        """In the reader's language; empty where the language of the case is not known."""
        return language_name(self.language) if self.language else ""


@dataclass(frozen=True, slots=True)
class _Reviewers:
    """The members with one role: group → users, and what is known of the users."""

    by_group: dict[int, list[int]]
    languages: dict[int, list[str]]
    invited: set[int]
    inactive: set[int]

    def reason(self, user: int, language: str) -> str:
        """Why ``user`` can do no work on a case in ``language``; empty if they can."""
        if user in self.inactive:
            return "inactive"
        if user in self.invited:
            return "invited"
        return "" if can_read(self.languages[user], language) else "language"


def _reviewers(role: str, groups: Collection[int]) -> _Reviewers:
    members = Membership.objects.filter(group__in=groups, role=role, active=True).order_by("pk")
    reviewers = _Reviewers(defaultdict(list), {}, set(), set())
    members = members.annotate(is_invited=Exists(User.objects.filter(User.INVITED, pk=OuterRef("user"))))
    columns = ("group_id", "user_id", "user__is_active", "is_invited", "user__physician_profile__languages")
    for group, user, is_active, is_invited, languages in members.values_list(*columns):
        reviewers.by_group[group].append(user)
        reviewers.languages[user] = languages or []
        if not is_active:
            reviewers.inactive.add(user)
        if is_invited:
            reviewers.invited.add(user)
    return reviewers


def waiting_for_checkers(batches: Collection[int]) -> list[WaitingPiece]:
    """Submitted work of ``batches`` that no checker has claimed; a fixed number of queries.

    Work that was resubmitted to a checker who is still one waits for that checker, and is left out.
    """
    still_checker = Membership.objects.filter(
        user=OuterRef("checker"), role=Membership.Role.CHECKER, active=True, group=OuterRef("batch__group")
    )
    rows = (
        Assignment.objects.filter(
            batch__in=batches,
            status=Assignment.Status.SUBMITTED,
            purpose=Assignment.Purpose.WORK,
            case__excluded_at=None,
        )
        .filter(Q(checker=None) | ~Q(Exists(still_checker)))
        .order_by("submitted_at", "pk")
        .values_list(
            "pk", "batch", "batch__group", "annotator", "case__key", "response__candidate__name", "case__language",
            "submitted_at", "response", "response__author", "batch__match_languages",
        )
    )  # fmt: skip
    pieces = list(rows)
    if not pieces:
        return []
    reviewers = _reviewers(Membership.Role.CHECKER, {row[2] for row in pieces})
    parts = _parts({row[8] for row in pieces}, reviewers)
    waiting = []
    for pk, batch, group, annotator, case, candidate, language, since, response, author, matched in pieces:
        able, why = [], Counter[str]()
        for user in reviewers.by_group.get(group, []):
            own = {part for part in parts.get((response, user), ()) if part != (Part.CHECKER, group)}
            if user in (annotator, author) or own:
                reason = "part"
            else:
                reason = reviewers.reason(user, language if matched else "")
            if reason:
                why[reason] += 1
            else:
                able.append(user)
        reasons = () if able else _checkers_in_words(why, language)
        waiting.append(
            WaitingPiece(pk, batch, group, 0, annotator, case, candidate, language, since, tuple(able), reasons)
        )
    return waiting


def stuck_checks(batches: Collection[int]) -> list[WaitingPiece]:
    """Submitted work of ``batches`` that no checker of the group can take."""
    return [piece for piece in waiting_for_checkers(batches) if not piece.able]


def waiting_for_adjudicators(groups: Collection[int]) -> list[WaitingPiece]:
    """Open conflicts of ``groups`` that no adjudicator has claimed; a fixed number of queries."""
    matched_work = Assignment.objects.filter(response=OuterRef("response"), batch__match_languages=True)
    rows = Adjudication.objects.filter(group__in=groups, status=Adjudication.Status.OPEN, adjudicator=None)
    rows = rows.filter(response__case__excluded_at=None)
    rows = rows.annotate(matched=Exists(matched_work))
    conflicts = list(
        rows.order_by("created_at", "pk").values_list(
            "pk", "group", "other_group", "response__case__key", "response__candidate__name",
            "response__case__language", "created_at", "response", "response__author", "matched",
        )
    )  # fmt: skip
    if not conflicts:
        return []
    both = {group for row in conflicts for group in row[1:3] if group}
    reviewers = _reviewers(Membership.Role.ADJUDICATOR, both)
    parts = _parts({row[7] for row in conflicts}, reviewers)
    waiting = []
    for pk, group, other, case, candidate, language, since, response, author, matched in conflicts:
        able, why = [], Counter[str]()
        users = [user for each in (group, other) if each for user in reviewers.by_group.get(each, [])]
        for user in users:
            allowed = (Part.ADJUDICATOR, None if other else group)
            own = {part for part in parts.get((response, user), ()) if part != allowed}
            reason = "part" if user == author or own else reviewers.reason(user, language if matched else "")
            if reason:
                why[reason] += 1
            else:
                able.append(user)
        reasons = () if able else _adjudicators_in_words(why, language)
        waiting.append(
            WaitingPiece(pk, 0, group, other or 0, 0, case, candidate, language, since, tuple(able), reasons)
        )
    return waiting


def _parts(responses: Collection[int], reviewers: _Reviewers) -> dict[tuple[int, int], set[tuple[str, int | None]]]:
    """(response, user) → the user's parts in it, each with its group."""
    users = {user for members in reviewers.by_group.values() for user in members}
    parts: dict[tuple[int, int], set[tuple[str, int | None]]] = defaultdict(set)
    rows: QuerySet[Involvement] = Involvement.objects.filter(response__in=responses, user__in=users)
    for response, user, part, group in rows.values_list("response_id", "user_id", "part", "group_id"):
        parts[response, user].add((part, group))
    return parts


def _checkers_in_words(why: Counter[str], language: str) -> tuple[str, ...]:
    if not why:
        return (_("The group has no checker."),)
    words = {
        "part": ngettext(
            "%(n)d checker has another role in this response.",
            "%(n)d checkers have another role in this response.",
            why["part"],
        ),
        "language": ngettext(
            "%(n)d checker does not read %(language)s.", "%(n)d checkers do not read %(language)s.", why["language"]
        ),
        "invited": ngettext(
            "%(n)d checker has not accepted the invitation yet.",
            "%(n)d checkers have not accepted the invitation yet.",
            why["invited"],
        ),
        "inactive": ngettext(
            "The account of %(n)d checker is deactivated.",
            "The accounts of %(n)d checkers are deactivated.",
            why["inactive"],
        ),
    }
    return _filled(words, why, language)


def _adjudicators_in_words(why: Counter[str], language: str) -> tuple[str, ...]:
    if not why:
        return (_("The group has no adjudicator."),)
    words = {
        "part": ngettext(
            "%(n)d adjudicator has another role in this response.",
            "%(n)d adjudicators have another role in this response.",
            why["part"],
        ),
        "language": ngettext(
            "%(n)d adjudicator does not read %(language)s.",
            "%(n)d adjudicators do not read %(language)s.",
            why["language"],
        ),
        "invited": ngettext(
            "%(n)d adjudicator has not accepted the invitation yet.",
            "%(n)d adjudicators have not accepted the invitation yet.",
            why["invited"],
        ),
        "inactive": ngettext(
            "The account of %(n)d adjudicator is deactivated.",
            "The accounts of %(n)d adjudicators are deactivated.",
            why["inactive"],
        ),
    }
    return _filled(words, why, language)


def _filled(words: dict[str, str], why: Counter[str], language: str) -> tuple[str, ...]:
    name = language_name(language) if language else ""
    return tuple(text % {"n": why[key], "language": name} for key, text in words.items() if why[key])
