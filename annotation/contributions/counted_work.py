"""Pieces of work and time spent on them, by physician and role, in one query.

A piece counts on the day on which it was handed in, and a case that somebody wrote or reviewed counts on the day of
their first save or review of it. So counts for a period that is over do not change later. Imported decisions,
qualification, and raters without an account are not counted. Gold items are work like any other, and so are votes of
both rounds on how urgent a case is: each task with label questions is a piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal

from django.db import connection
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.order import natural
from rubrics.models import Benchmark

# In the order of the steps by which a benchmark is made; the names are those of columns in files.
ROLES = {
    "author": _("Author"),
    "reviewer": _("Reviewer"),
    "auditor": _("Senior auditor"),
    "annotator": _("Annotator"),
    "checker": _("Secondary checker"),
    "adjudicator": _("Adjudicator"),
    "labeller": _("Labeller"),
    "urgency_adjudicator": _("Adjudicator of urgency"),
    "code_adjudicator": _("Adjudicator of codes"),
    "writer": _("Writer of responses"),
}
ITEMS = {
    "author": _("cases written"),
    "reviewer": _("cases reviewed"),
    "auditor": _("cases audited"),
    "annotator": _("responses graded"),
    "checker": _("checks"),
    "adjudicator": _("responses adjudicated"),
    "labeller": _("cases labelled"),
    "urgency_adjudicator": _("rulings on urgency"),
    "code_adjudicator": _("rulings on codes"),
    "writer": _("responses written"),
}
CENT = Decimal("0.01")

# One row for each piece: role, who, when, seconds (empty where no browser reported any).
PIECES = """
    SELECT 'author' AS role, c.user_id, min(c.first_at) AS at, max(t.seconds)::float8 AS seconds
    FROM rubrics_rubriccontributor c
    JOIN rubrics_rubric r ON r.id = c.rubric_id
    JOIN rubrics_case k ON k.id = r.case_id AND k.benchmark_id = %(benchmark)s
    LEFT JOIN rubrics_authoringtime t ON t.case_id = k.id AND t.user_id = c.user_id AND t.activity = 'write'
    GROUP BY c.user_id, k.id
  UNION ALL
    SELECT 'reviewer', v.reviewer_id, min(v.created_at), max(t.seconds)
    FROM rubrics_rubricreview v
    JOIN rubrics_rubric r ON r.id = v.rubric_id
    JOIN rubrics_case k ON k.id = r.case_id AND k.benchmark_id = %(benchmark)s
    LEFT JOIN rubrics_authoringtime t ON t.case_id = k.id AND t.user_id = v.reviewer_id AND t.activity = 'review'
    GROUP BY v.reviewer_id, k.id
  UNION ALL
    SELECT 'auditor', i.auditor_id, i.done_at, t.seconds
    FROM rubrics_audititem i
    JOIN rubrics_caseaudit a ON a.id = i.audit_id AND a.benchmark_id = %(benchmark)s
    LEFT JOIN rubrics_authoringtime t ON t.case_id = i.case_id AND t.user_id = i.auditor_id AND t.activity = 'audit'
    WHERE i.done_at IS NOT NULL
  UNION ALL
    SELECT 'annotator', a.annotator_id, a.submitted_at, t.seconds
    FROM annotation_assignment a
    JOIN annotation_batch b ON b.id = a.batch_id AND NOT b.imported AND b.kind <> 'qualify'
    JOIN annotation_expertgroup g ON g.id = b.group_id AND g.benchmark_id = %(benchmark)s
    LEFT JOIN annotation_attention t ON t.assignment_id = a.id AND t.user_id = a.annotator_id
    WHERE a.submitted_at IS NOT NULL AND a.status IN ('submitted', 'in_check', 'returned', 'accepted')
  UNION ALL
    -- Two rounds of one piece of work are two checks, and its time is shared between them.
    SELECT 'checker', c.checker_id, c.finished_at,
           t.seconds::float8 / count(*) OVER (PARTITION BY c.checker_id, c.assignment_id)
    FROM annotation_check c
    JOIN annotation_assignment a ON a.id = c.assignment_id
    JOIN annotation_batch b ON b.id = a.batch_id AND NOT b.imported
    JOIN annotation_expertgroup g ON g.id = b.group_id AND g.benchmark_id = %(benchmark)s
    LEFT JOIN annotation_attention t ON t.assignment_id = a.id AND t.user_id = c.checker_id
    WHERE c.finished_at IS NOT NULL
  UNION ALL
    SELECT 'adjudicator', j.adjudicator_id, j.finished_at, t.seconds
    FROM annotation_adjudication j
    JOIN annotation_expertgroup g ON g.id = j.group_id AND g.benchmark_id = %(benchmark)s
    LEFT JOIN annotation_attention t ON t.adjudication_id = j.id AND t.user_id = j.adjudicator_id
    WHERE j.finished_at IS NOT NULL
  UNION ALL
    SELECT 'labeller', l.annotator_id, l.submitted_at, t.seconds
    FROM annotation_labeltask l
    JOIN annotation_batch b ON b.id = l.batch_id AND NOT b.imported
    JOIN annotation_expertgroup g ON g.id = b.group_id AND g.benchmark_id = %(benchmark)s
    LEFT JOIN annotation_attention t ON t.label_task_id = l.id AND t.user_id = l.annotator_id
    WHERE l.status = 'submitted'
  UNION ALL
    -- Rulings that came with a release have no request here.
    SELECT 'urgency_adjudicator', r.adjudicator_id, r.created_at, t.seconds
    FROM annotation_acuityruling r
    JOIN annotation_rulingrequest q ON q.question_id = r.question_id AND q.case_id = r.case_id
    JOIN annotation_expertgroup g ON g.id = q.group_id AND g.benchmark_id = %(benchmark)s
    LEFT JOIN annotation_attention t ON t.ruling_request_id = q.id AND t.user_id = r.adjudicator_id
  UNION ALL
    SELECT 'code_adjudicator', r.adjudicator_id, r.ruled_at, t.seconds
    FROM annotation_coderuling r
    JOIN annotation_expertgroup g ON g.id = r.group_id AND g.benchmark_id = %(benchmark)s
    LEFT JOIN annotation_attention t ON t.code_ruling_id = r.id AND t.user_id = r.adjudicator_id
    WHERE r.ruled_at IS NOT NULL
  UNION ALL
    SELECT 'writer', w.writer_id, w.submitted_at, w.seconds
    FROM annotation_writingtask w
    JOIN annotation_batch b ON b.id = w.batch_id AND NOT b.imported
    JOIN annotation_expertgroup g ON g.id = b.group_id AND g.benchmark_id = %(benchmark)s
    WHERE w.status = 'submitted'
"""
COUNTED = f"""
    SELECT p.user_id, u.name, u.email, p.role, count(*), count(NULLIF(p.seconds, 0)), COALESCE(sum(p.seconds), 0),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY NULLIF(p.seconds, 0)), min(p.at), max(p.at)
    FROM ({PIECES}) AS p
    JOIN accounts_user u ON u.id = p.user_id AND u.email <> ''
    WHERE p.at >= %(since)s AND p.at < %(until)s
    GROUP BY p.user_id, u.name, u.email, p.role
"""


@dataclass(frozen=True, slots=True)
class Period:
    """Days in UTC, both ends in it; None: open at this end."""

    since: date | None = None
    until: date | None = None

    def bounds(self) -> tuple[datetime, datetime]:
        """The first moment of the period, and the first moment after it."""
        first = datetime.combine(self.since, time(), UTC) if self.since else datetime(1, 1, 1, tzinfo=UTC)
        if self.until is None or self.until == date.max:
            return first, datetime(9999, 12, 31, tzinfo=UTC)
        return first, datetime.combine(self.until + timedelta(days=1), time(), UTC)


@dataclass(frozen=True, slots=True)
class Work:
    """What a physician did in one role. ``timed``: pieces for which a time was recorded; ``seconds``: all of it."""

    role: str
    items: int
    timed: int
    seconds: int
    median: float | None  # seconds a piece, of those with a time
    first: datetime
    last: datetime

    @property
    def hours(self) -> Decimal | None:
        """Hours at the usual pace: pieces times the median, so that a page that was left open adds nothing.

        To two places, half to even; None where no time was recorded.
        """
        if self.median is None:
            return None
        exact = self.items * Decimal(str(self.median)) / 3600
        return exact.quantize(CENT, ROUND_HALF_EVEN)


@dataclass(slots=True)
class Contributor:
    """A physician with all that they did, by role."""

    user: int
    name: str
    email: str
    work: dict[str, Work] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The name under which an admin knows them."""
        return self.name or self.email

    @property
    def rows(self) -> list[Work]:
        """The work in the order of `ROLES`."""
        return [self.work[role] for role in ROLES if role in self.work]

    @property
    def hours(self) -> Decimal:
        """Hours over all roles in which a time is known."""
        return sum((work.hours for work in self.work.values() if work.hours is not None), Decimal(0))


def contributors(benchmark: Benchmark, period: Period | None = None) -> list[Contributor]:
    """All who did something within the period, by name; one query."""
    since, until = (period or Period()).bounds()
    contributors_by_user: dict[int, Contributor] = {}
    with connection.cursor() as cursor:
        cursor.execute(COUNTED, {"benchmark": benchmark.pk, "since": since, "until": until})
        for user, name, email, role, *figures in cursor.fetchall():
            person = contributors_by_user.setdefault(user, Contributor(user, name, email))
            items, timed, seconds, median, first, last = figures
            person.work[role] = Work(role, items, timed, round(seconds), median, first, last)
    return sorted(
        contributors_by_user.values(), key=lambda contributor: (natural(contributor.shown.casefold()), contributor.user)
    )


def totals(people: Iterable[Contributor]) -> dict[str, int]:
    """Pieces by role, of the roles in which there are any."""
    counts = dict.fromkeys(ROLES, 0)
    for person in people:
        for work in person.work.values():
            counts[work.role] += work.items
    return {role: number for role, number in counts.items() if number}


def people_behind(benchmark: Benchmark) -> list[User]:
    """The users who did anything at all, with their profiles; two queries."""
    users = [person.user for person in contributors(benchmark)]
    return list(User.objects.filter(pk__in=users).select_related("physician_profile"))
