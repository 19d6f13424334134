"""Comment threads about a piece of work: participants see each other by role, never by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import Assignment, Batch, Check, Comment, Membership, Physician
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark

AuthorRole = Comment.AuthorRole
MAX_COMMENT_LENGTH = 2000


def participants(user: User) -> QuerySet[Assignment]:
    """Work whose comments ``user`` may read: their own work, and work that they check or checked in an earlier round.

    Former members may read none. An annotator may no longer read those of work that they gave back.
    """

    def member(role: str) -> Exists:
        rows = Membership.objects.filter(user=user.pk, role=role, active=True, group=OuterRef("batch__group"))
        return Exists(rows)

    checked = Exists(Check.objects.filter(assignment=OuterRef("pk"), checker=user.pk))
    return Assignment.objects.filter(
        Q(member(Membership.Role.ANNOTATOR), annotator=user.pk)
        | (Q(member(Membership.Role.CHECKER)) & (Q(checker=user.pk) | Q(checked)) & ~Q(annotator=user.pk)),
        batch__imported=False,
    ).exclude(status=Assignment.Status.RELEASED)


def get_own_thread(user: User, public_id: str) -> tuple[Assignment, Comment.AuthorRole]:
    """A piece of work and the role in which ``user`` comments on it; 404 for everybody else."""
    rows = participants(user).select_related("batch__group__benchmark", "annotator", "checker", "case")
    row = get_object_or_404(rows, public_id=public_id)
    return row, AuthorRole.ANNOTATOR if row.annotator_id == user.pk else AuthorRole.CHECKER


def get_administered_thread(user: User, slug: str, public_id: str) -> Assignment:
    """A piece of work of a benchmark that ``user`` is an admin of."""
    benchmark = get_administered_benchmark(user, slug)
    rows = Assignment.objects.filter(batch__group__benchmark=benchmark, batch__imported=False)
    rows = rows.select_related("batch__group__benchmark", "annotator", "checker", "case")
    return get_object_or_404(rows, public_id=public_id)


@dataclass(frozen=True, slots=True)
class CommentLine:
    """A comment as one reader sees it."""

    who: str
    own: bool
    text: str
    at: datetime


def thread_of(assignment: Assignment, reader: User, author_role: Comment.AuthorRole) -> list[CommentLine]:
    """All comments, the oldest first, in two queries at most. Admins see pseudonyms, physicians see roles."""
    rows = list(Comment.objects.filter(assignment=assignment))
    names = pseudonyms(assignment.batch.group.benchmark, rows) if author_role == AuthorRole.ADMIN else {}
    return [CommentLine(_who(row, reader, names), row.author_id == reader.pk, row.text, row.created_at) for row in rows]


def pseudonyms(benchmark: Benchmark, comments: Iterable[Comment]) -> dict[int, str]:
    """Author → pseudonym; one query."""
    rows = Physician.objects.filter(benchmark=benchmark, user__in={row.author_id for row in comments})
    return dict(rows.values_list("user_id", "pseudonym"))


def _who(row: Comment, reader: User, names: dict[int, str]) -> str:
    if row.author_id == reader.pk:
        return _("You")
    parts = {AuthorRole.ANNOTATOR: _("Annotator"), AuthorRole.CHECKER: _("Checker"), AuthorRole.ADMIN: _("Admin")}
    part = parts[AuthorRole(row.author_role)]
    name = names.get(row.author_id, "")
    return f"{part} {name}" if name and row.author_role != AuthorRole.ADMIN else part


def writable(assignment: Assignment) -> bool:
    """Whether comments may still be added."""
    return assignment.batch.status != Batch.Status.CLOSED


def discussed(benchmark: Benchmark) -> QuerySet[Assignment]:
    """Work of the benchmark with comments, the latest first, annotated with ``count`` and ``latest``."""
    rows = Assignment.objects.filter(batch__group__benchmark=benchmark, comments__isnull=False)
    rows = rows.annotate(count=Count("comments"), latest=Max("comments__created_at"))
    return rows.select_related("batch", "case").order_by("-latest", "-pk")
