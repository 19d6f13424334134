"""Data of a review: each criterion with its changes, evidence against it, and the reviewer's remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User
from consilium.core.phrases import Phrase
from rubrics import access, cited, origins
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.editor.privacy import waivers_of
from rubrics.lint import lint
from rubrics.lint.remark import PROBLEM, Remark
from rubrics.models import Case, Rubric, RubricDraft, RubricReview
from rubrics.selectors.conversation import turns_of
from rubrics.services.publishing import approvals_missing, what_is_in_the_way
from rubrics.versions import selectors
from rubrics.versions.diff import CriterionChange, Diff, Kind, compare
from rubrics.versions.grading_evidence import RewordingEvidence, evidence_for


@dataclass(frozen=True, slots=True)
class EarlierComment:
    """A comment of an earlier review on a criterion; ``wording``: its text then, where it differs and is on record."""

    review: RubricReview
    text: str
    is_of_this_wording: bool
    wording: str = ""


@dataclass(slots=True)
class Row:
    """One criterion on the review page."""

    line: CriterionChange
    number: int = 0  # its place on the page, from 1
    evidence: list[RewordingEvidence] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    comment: str = ""
    earlier: list[EarlierComment] = field(default_factory=list)
    since: str = ""  # ``new``, ``changed`` or ``removed`` since this reader's last review
    since_line: CriterionChange | None = None  # the comparison with what this reader reviewed, where both have it

    @property
    def shown(self) -> CriterionChange:
        """What is shown first: without a published version, the comparison with what the reader reviewed."""
        return self.since_line if self.since_line and self.line.kind is Kind.NEW else self.line

    @property
    def item(self) -> DraftItem:
        """The current criterion, or the last state of a removed one."""
        return self.line.item

    @property
    def differs(self) -> bool:
        """Whether there is anything to look at."""
        return self.line.kind is not Kind.SAME or self.line.moved or bool(self.evidence)

    @property
    def comes_first(self) -> bool:
        """Whether it stands before the criteria that are as they were."""
        return self.differs or bool(self.since)


def sheet(user: User, case: Case, rubric: Rubric, comments: dict[str, str]) -> dict[str, Any]:
    """Everything that the page of one rubric shows; a fixed number of queries."""
    draft = selectors.draft_of(rubric)
    assert draft is not None
    items = items_of(draft.content)
    before = rubric.based_on
    diff = selectors.difference(before, rubric)
    evidence = evidence_for(user, case)
    reviews = list(rubric.reviews.all())
    mine = next((row for row in reviews if row.reviewer_id == user.pk and row.content is not None), None)
    since = _since(mine, items)
    remarks: dict[str, list[Remark]] = {}
    criteria = [(item.id, item.text, item.points, item.tags) for item in items]
    for remark in lint(criteria, reference_answer=case.reference_answer):
        remarks.setdefault(remark.item, []).append(remark)
    rows = []
    for line in diff.lines:
        new_item = line.new
        rows.append(
            Row(
                line=line,
                evidence=evidence.get(line.item.criterion or 0, []),
                remarks=remarks.get(new_item.id, []) if new_item else [],
                comment=comments.get(new_item.id, "") if new_item else "",
                earlier=_earlier(new_item, reviews, draft) if new_item else [],
                since=_SINCE[since.present[new_item.id].kind] if new_item and new_item.id in since.present else "",
                since_line=_in_both(since.present.get(new_item.id)) if new_item else None,
            )
        )
    listed = {line.old.id for line in diff.lines if line.old is not None}
    rows += [Row(line=line, since="removed") for line in since.gone if line.item.id not in listed]
    if before is not None:
        rows.sort(key=lambda row: not row.comes_first)
    for number, row in enumerate(rows, start=1):
        row.number = number
    changed = [row for row in rows if row.comes_first] if before is not None else []
    wrote = draft.saved_by_id == user.pk or any(row.user_id == user.pk for row in rubric.contributors.all())
    is_author = access.is_author(user, case.benchmark)
    in_review = rubric.status == Rubric.Status.IN_REVIEW
    approvers = [row for row in reviews if row.outcome == RubricReview.Outcome.APPROVED and row.digest == draft.digest]
    hidden = origins.is_hidden_from(user, rubric)
    shown_citations = cited.describe(case.benchmark, [*diff.citations, *Diff(since.lines).citations])
    return {
        "suggested": None if hidden else origins.describe(case.benchmark, diff.suggestions),
        "turns": turns_of(case),
        "criteria": len(items),
        "draft": draft,
        "seen": {"version": draft.version},
        "before": before,
        "diff": diff,
        "cited": shown_citations,
        "rows": rows,
        # The first of the criteria that are as they were, below those that changed.
        "first_unchanged": len(changed) + 1 if changed and len(changed) < len(rows) else 0,
        "problems": _problems(rows, shown_citations),
        "n_unchanged": len(rows) - len(changed),
        "positive": sum(item.points for item in items if item.points > 0),
        "reviews": reviews,
        "kept": waivers_of(case, items),
        "mine": mine,
        "seen_before": mine is not None and mine.digest != draft.digest,
        "unchanged_since": mine is not None and mine.digest == draft.digest,
        "wrote": wrote,
        "is_author": is_author,
        "may_decide": in_review and is_author and not wrote,
        "approved_by_me": any(row.reviewer_id == user.pk for row in approvers),
        "approvers": approvers,
        "missing": approvals_missing(rubric, draft),
        "in_the_way": what_is_in_the_way(rubric, items),
        "writers": [row.user for row in rubric.contributors.all()],
        "position": _position(user, case),
    }


def _problems(rows: Sequence[Row], shown: Mapping[Citation, cited.ShownCitation]) -> list[tuple[int, str]]:
    """What is wrong but keeps nothing from review, by the place of its criterion.

    They are the remarks that are problems, and citations of superseded editions. A placeholder is in the way by itself.
    """
    problems: list[tuple[int, str]] = []
    for row in rows:
        if row.line.new is None or row.line.new_place is None:
            continue
        problems += [
            (row.line.new_place, remark.why)
            for remark in row.remarks
            if remark.severity == PROBLEM and remark.rule != "placeholder"
        ]
        if any(each in shown and shown[each].is_superseded for each in row.line.new.citations):
            problems.append((row.line.new_place, Phrase("It cites a superseded edition of a document.")))
    return sorted(problems, key=lambda problem: problem[0])


def _earlier(item: DraftItem, reviews: Sequence[RubricReview], draft: RubricDraft) -> list[EarlierComment]:
    comments = []
    for review in reviews:
        if item.id in review.item_comments:
            _number, wording = selectors.read_in(review, draft).get(item.id, (0, ""))
            is_same = wording == item.text
            comments.append(EarlierComment(review, review.item_comments[item.id], is_same, "" if is_same else wording))
    return comments


_SINCE = {Kind.NEW: "new", Kind.CHANGED: "changed", Kind.REWORDED: "changed"}


@dataclass(frozen=True, slots=True)
class Since:
    """What changed since this reader reviewed the rubric; criteria that are the same are in neither.

    A criterion whose text the author replaced by a wholly other one in the same row is in both, under the same id: the
    new text in ``present``, the former one in ``gone``.
    """

    present: dict[str, CriterionChange] = field(default_factory=dict)  # by the id of the current item
    gone: list[CriterionChange] = field(default_factory=list)

    @property
    def lines(self) -> list[CriterionChange]:
        """All of them."""
        return [*self.present.values(), *self.gone]


def _since(mine: RubricReview | None, items: list[DraftItem]) -> Since:
    if mine is None or mine.content is None:
        return Since()
    changed = [line for line in compare(items_of(mine.content), items).lines if line.kind is not Kind.SAME]
    return Since(
        present={line.new.id: line for line in changed if line.new is not None},
        gone=[line for line in changed if line.new is None],
    )


def _in_both(line: CriterionChange | None) -> CriterionChange | None:
    """A comparison that has a former text to show."""
    return line if line is not None and line.old is not None else None


def next_to_review(user: User, case: Case) -> Case | None:
    """The next case by key that waits for ``user``; after the last one, the first."""
    rows = selectors.reviewable_by(user, case.benchmark).exclude(case=case).order_by("case__key", "pk")
    rubric = rows.filter(case__key__gt=case.key).first() or rows.first()
    return rubric.case if rubric is not None and access.is_author(user, case.benchmark) else None


def _position(user: User, case: Case) -> dict[str, Any]:
    """How many rubrics wait for this reader, the place of this one among them, and the next one."""
    waiting = selectors.reviewable_by(user, case.benchmark).order_by("case__key", "pk")
    keys = list(waiting.values_list("case__public_id", flat=True))
    others = [key for key in keys if key != case.public_id]
    at = keys.index(case.public_id) if case.public_id in keys else -1
    following = (keys[at + 1 :] + keys[: max(at, 0)]) if at >= 0 else others
    return {"waiting": len(keys), "place": at + 1, "next": following[0] if following else ""}
