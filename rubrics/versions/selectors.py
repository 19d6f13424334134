"""Data of rubric versions for pages, files and endpoints: the history, and the comparison of two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.unread_cases import unread_by
from rubrics.editor.draft_content import DraftItem, from_rubric, items_of
from rubrics.models import Benchmark, Case, Rubric, RubricContributor, RubricDraft, RubricItem, RubricReview
from rubrics.origins import describe, origin_of
from rubrics.versions.diff import Diff, Kind, compare

Status = Rubric.Status
TRACK = "gold"
ITEMS = Prefetch("items", RubricItem.objects.select_related("criterion").order_by("position"))


def versions_of(case: Case) -> QuerySet[Rubric]:
    """Versions of the gold track, the newest first, with all that their history shows; in a fixed number of queries."""
    people = RubricContributor.objects.select_related("user").order_by("first_at", "pk")
    reviews = RubricReview.objects.select_related("reviewer")
    return (
        Rubric.objects.filter(case=case, track=TRACK)
        .select_related("draft", "created_by", "based_on")
        .prefetch_related(ITEMS, Prefetch("contributors", people), Prefetch("reviews", reviews))
        .order_by("-version")
    )


def items_at(rubric: Rubric) -> list[DraftItem]:
    """The criteria of a version: as they stand in its draft, or as they were published."""
    if rubric.status in (Status.DRAFT, Status.IN_REVIEW):
        draft = draft_of(rubric)
        return items_of(draft.content) if draft is not None else []
    return from_rubric(list(rubric.items.all()))


def draft_of(rubric: Rubric) -> RubricDraft | None:
    """The draft of a version, kept after publication; None where the version was imported."""
    return getattr(rubric, "draft", None)


def difference(old: Rubric | None, new: Rubric) -> Diff:
    """What became of each criterion of ``old`` in ``new``; without an older version, all criteria are new."""
    after = items_at(new)
    draft = draft_of(new)
    if old is not None and draft is not None and new.status in (Status.PUBLISHED, Status.SUPERSEDED):
        # A reworded item has a new row by now; the draft still names the row from which it came.
        stood = {item.criterion for item in items_at(old)}
        written = items_of(draft.content)
        if len(written) == len(after):
            after = [
                replace(item, criterion=source.criterion)
                if item.criterion not in stood and source.criterion in stood
                else item
                for item, source in zip(after, written, strict=True)
            ]
    return compare(items_at(old) if old is not None else [], after)


@dataclass(frozen=True, slots=True)
class CriterionComment:
    """A reviewer's comment beside a criterion, which had this number and text when it was read.

    Where no copy of what was read is on record, ``number`` is 0, and ``text`` the present one, if there is any.
    """

    number: int
    text: str
    comment: str


@dataclass(frozen=True, slots=True)
class ShownReview:
    """A review in the history, with the comments beside criteria in their order."""

    review: RubricReview
    comments: list[CriterionComment]


def read_in(review: RubricReview, draft: RubricDraft | None) -> dict[str, tuple[int, str]]:
    """Number and text of each criterion that was read in a review, by the id of its item; empty if it is unknown.

    Of a review that kept no copy, the draft has the text as long as it is the same.
    """
    content = review.content
    if content is None and draft is not None and draft.digest == review.digest:
        content = draft.content
    return {item.id: (number, item.text) for number, item in enumerate(items_of(content or {}), start=1)}


def shown_review(review: RubricReview, draft: RubricDraft | None) -> ShownReview:
    """A review with its comments beside criteria, in the order in which these were read."""
    read = read_in(review, draft)
    present = {item.id: item.text for item in items_of(draft.content)} if draft is not None else {}
    comments = [
        CriterionComment(*read.get(name, (0, present.get(name, ""))), comment)
        for name, comment in review.item_comments.items()
    ]
    return ShownReview(review, sorted(comments, key=lambda entry: entry.number))


@dataclass(frozen=True, slots=True)
class Version:
    """A version in the history, and what it changed."""

    rubric: Rubric
    before: Rubric | None
    diff: Diff
    writers: list[User]
    approvals: list[ShownReview]
    returns: list[ShownReview]
    criteria: int
    positive: int  # points to gain
    origins: dict[str, int]  # how many criteria are of each `rubrics.origins.Origin`; empty where nobody may see it


def history(case: Case) -> list[Version]:
    """Every version, the newest first."""
    rubrics = list(versions_of(case))
    stood = [items_at(rubric) for rubric in rubrics]
    suggested = describe(case.benchmark, (item.suggestion for items in stood for item in items))
    entries = []
    for rubric, before, items in zip(rubrics, [*rubrics[1:], None], stood, strict=False):  # a case may have none
        draft = draft_of(rubric)
        reviews = list(rubric.reviews.all())
        entries.append(
            Version(
                rubric=rubric,
                before=before,
                diff=difference(before, rubric),
                writers=[row.user for row in rubric.contributors.all()],
                approvals=[
                    shown_review(row, draft)
                    for row in reversed(reviews)
                    if row.outcome == RubricReview.Outcome.APPROVED and draft is not None and row.digest == draft.digest
                ],
                returns=[
                    shown_review(row, draft)
                    for row in reversed(reviews)
                    if row.outcome == RubricReview.Outcome.RETURNED
                ],
                criteria=len(items),
                positive=sum(item.points for item in items if item.points > 0),
                origins=dict(Counter(str(origin_of(item, suggested).origin) for item in items)),
            )
        )
    return entries


def open_rubrics(benchmark: Benchmark, status: str) -> QuerySet[Rubric]:
    """Drafts, or rubrics in review, of cases that count; with draft, writers and the version they are based on."""
    return (
        Rubric.objects.filter(
            case__benchmark=benchmark, case__excluded_at=None, track=TRACK, status=status, draft__isnull=False
        )
        .select_related("case__benchmark", "draft__saved_by", "based_on", "created_by")
        .prefetch_related(
            Prefetch("based_on__items", RubricItem.objects.select_related("criterion").order_by("position")),
            Prefetch("contributors", RubricContributor.objects.select_related("user").order_by("first_at", "pk")),
        )
        .order_by("case__key", "pk")
    )


def reviewable_by(user: User, benchmark: Benchmark) -> QuerySet[Rubric]:
    """Rubrics in review of cases that ``user`` reads, that they wrote nothing of and have not approved as they are."""
    mine = RubricContributor.objects.filter(user=user.pk).values("rubric")
    rows = open_rubrics(benchmark, Status.IN_REVIEW).exclude(pk__in=mine).exclude(draft__saved_by=user.pk)
    rows = rows.exclude(unread_by(user.pk, "case"))
    approved = RubricReview.objects.filter(reviewer=user.pk, outcome=RubricReview.Outcome.APPROVED)
    done = [
        rubric
        for rubric, digest, status in approved.filter(
            rubric__case__benchmark=benchmark, rubric__status=Status.IN_REVIEW
        ).values_list("rubric", "digest", "rubric__draft__digest")
        if digest == status
    ]
    return rows.exclude(pk__in=done)


# Files ----------------------------------------------------------------------------------------------------------------

CSV_COLUMNS = (
    *("change", "moved", "old_number", "new_number", "old_text", "new_text", "old_points", "new_points"),
    *("old_tags", "new_tags", "also_changed"),
)
CSV_TEXT = ("old_text", "new_text", "old_tags", "new_tags")


def csv_rows(diff: Diff) -> Iterator[Sequence[object]]:
    """One line for each criterion of either version."""
    for line in diff.lines:
        old, new = line.old, line.new
        yield (
            str(line.kind),
            line.moved,
            *(line.old_place, line.new_place),
            *(old.text if old else None, new.text if new else None),
            *(old.points if old else None, new.points if new else None),
            *("; ".join(old.tags) if old else None, "; ".join(new.tags) if new else None),
            "; ".join(name for name in line.fields if name not in ("points", "tags")) or None,
        )


def kind_words() -> dict[str, str]:
    """What each kind of change is called on pages."""
    return {
        Kind.SAME: _("Unchanged"),
        Kind.CHANGED: _("Points, tags or source changed"),
        Kind.REWORDED: _("Reworded"),
        Kind.NEW: _("New"),
        Kind.REMOVED: _("Removed"),
    }
