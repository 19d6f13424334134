"""Adds comments to a piece of work, and notifies the other participants of the thread."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import Notification, User
from accounts.services.notifications import notify_of_thread
from annotation.models import Assignment, Batch, Comment, Membership
from annotation.selectors.comment_threads import MAX_COMMENT_LENGTH
from annotation.services.rules import lock_batch_shared
from consilium.core.errors import Conflict, DomainError
from rubrics.models import BenchmarkRole


@transaction.atomic
def add_comment(*, assignment: Assignment, author: User, author_role: str, text: str, at: datetime) -> Comment:
    """Add ``text``; the other participants get a notification with the author's role, without the text."""
    cleaned_text = text.replace("\x00", "").replace("\r\n", "\n").strip()
    if not cleaned_text:
        raise DomainError(_("Enter a comment first."))
    if len(cleaned_text) > MAX_COMMENT_LENGTH:
        raise DomainError(_("A comment has at most %(most)d characters; this one has %(n)d.") % {
            "most": MAX_COMMENT_LENGTH, "n": len(cleaned_text)
        })  # fmt: skip
    lock_batch_shared(assignment.batch_id)
    if Batch.objects.filter(pk=assignment.batch_id, status=Batch.Status.CLOSED).exists():
        raise Conflict(_("This batch is closed. Its comments can be read, but none can be added."))
    comment = Comment.objects.create(
        assignment=assignment, author=author, author_role=author_role, text=cleaned_text, created_at=at
    )
    _tell(comment, at)
    return comment


def _tell(comment: Comment, at: datetime) -> None:
    assignment = comment.assignment
    batch = assignment.batch
    benchmark = batch.group.benchmark
    members = Membership.objects.filter(group=batch.group_id, active=True)
    work = reverse("annotation:comments", args=[assignment.public_id])
    admin_url = reverse("annotation:comments-of", args=[benchmark.slug, assignment.public_id])
    urls_by_user: dict[int, str] = {}
    theirs = assignment.status != Assignment.Status.RELEASED
    if theirs and members.filter(user=assignment.annotator_id, role=Membership.Role.ANNOTATOR).exists():
        urls_by_user[assignment.annotator_id] = work
    if members.filter(user=assignment.checker_id, role=Membership.Role.CHECKER).exists():
        urls_by_user[assignment.checker_id or 0] = work
    admins = BenchmarkRole.objects.filter(benchmark=benchmark, role=BenchmarkRole.Role.ADMIN, active=True)
    urls_by_user |= dict.fromkeys(admins.values_list("user_id", flat=True), admin_url)
    urls_by_user.pop(comment.author_id, None)
    for user in User.objects.filter(pk__in=urls_by_user, is_active=True):
        notify_of_thread(
            user=user,
            kind=Notification.Kind.COMMENT,
            benchmark_title=benchmark.title,
            url=urls_by_user[user.pk],
            at=at,
            voice=comment.author_role,
            batch=batch.title,
        )
