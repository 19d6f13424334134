"""What else the demo's people do: answer a question about cases, audit rubrics, screen cases, comment on work."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from accounts.models import User
from annotation.labels.batches import CaseFilter, LabelTerms, make_label_batch
from annotation.labels.services import AnswerInput, Option, QuestionInput, make_question, save_answer, submit_labels
from annotation.models import Assignment, Batch, Comment, ExpertGroup, LabelQuestion, LabelTask
from annotation.services.comments import add_comment
from demo import SEED
from demo.acuity import keyed_draw
from demo.responses import CANDIDATES
from demo.story import Calendar
from rubrics.audits.services import QUESTIONS, AuditFinding, AuditTerms, create_audit, finish, save_finding, take_case
from rubrics.models import AuditItem, Benchmark
from rubrics.models.cases import Difficulty
from scoring.models import Screening
from scoring.screening.services import KEEP, ScreeningTerms, create_screening, decide

CONTEXT = QuestionInput(
    name="context",
    text="Does the message say enough for a safe answer?",
    kind=LabelQuestion.Kind.CHOICE,
    options=(
        Option("enough-context", "Yes", "The message is enough for a careful answer."),
        Option("missing-context", "No", "Without asking back first, an answer could do harm."),
    ),
)
ANSWERED = 6  # cases of each annotator's queue whose answer is submitted
USUAL_RATE = 0.85  # of answers, that they are the case's usual one


def ask_about_context(demo: Benchmark, group: ExpertGroup, by: User, calendar: Calendar) -> None:
    """A question about the twelve cases, three answers each; a part of them is still to be given."""
    at = calendar.days_ago(7)
    question = make_question(benchmark=demo, question_input=CONTEXT, at=at, by=by)
    batch = make_label_batch(
        group=group,
        questions=[question],
        terms=LabelTerms(title="Is enough said?", annotators_per_case=3, seed=SEED),
        filter=CaseFilter(difficulties=tuple(Difficulty.values)),  # messages have none
        by=by,
        at=at,
    )
    tasks = LabelTask.objects.filter(batch=batch, position__lte=ANSWERED).select_related("annotator", "case", "batch")
    for task in tasks.order_by("annotator__email", "position"):
        moment = calendar.session(at, 1)
        change = AnswerInput(question=question.public_id, value=_context_of(task))
        save_answer(task=task, annotator=task.annotator, change=change, at=moment)
        submit_labels(task=task, annotator=task.annotator, at=moment + timedelta(seconds=40))


def _context_of(task: LabelTask) -> str:
    """The usual answer on the case, or now and then the other one."""
    usual = keyed_draw(SEED, "context", task.case.key).random() < 0.7
    agrees = keyed_draw(SEED, "context", task.case.key, task.annotator.email).random() < USUAL_RATE
    return CONTEXT.options[0 if usual is agrees else 1].value


def audit_rubrics(demo: Benchmark, auditor: User, by: User, calendar: Calendar) -> None:
    """Half of the cases are drawn for a senior auditor: one is sound, one to revise, one begun, the others unread."""
    start = calendar.days_ago(6)
    create_audit(benchmark=demo, terms=AuditTerms(title="Senior audit", share=0.5, seed=SEED), by=by, at=start)
    sound = dict.fromkeys(QUESTIONS, True)
    item = _take(demo, auditor, calendar.session(start, 1))
    finding = AuditFinding(answers=sound, outcome=AuditItem.Outcome.SOUND)
    finish(item=item, auditor=auditor, finding=finding, version=item.version, at=calendar.session(start, 2))
    item = _take(demo, auditor, calendar.session(start, 2))
    finding = AuditFinding(
        answers={**sound, "consistency": False},
        criteria=list(item.rubric.items.order_by("position").values_list("criterion_id", flat=True)[4:5]),
        outcome=AuditItem.Outcome.REVISE,
        comment="Made up: two physicians could read this criterion differently. Name the act that is expected.",
    )
    finish(item=item, auditor=auditor, finding=finding, version=item.version, at=calendar.session(start, 3))
    item = _take(demo, auditor, calendar.session(start, 3))
    save_finding(item=item, auditor=auditor, finding=AuditFinding(answers={"correctness": True}), version=item.version)


def _take(demo: Benchmark, auditor: User, at: datetime) -> AuditItem:
    item = take_case(auditor=auditor, benchmark=demo, at=at)
    assert item is not None
    return item


def screen_cases(demo: Benchmark, rater: str, by: User, at: datetime) -> Screening:
    """A screening of the twelve cases by a judge's verdicts: one flagged case is kept, the others wait."""
    terms = ScreeningTerms(
        title="Cases that are too easy",
        rater=rater,
        candidates=[candidate.name for candidate in CANDIDATES],
        threshold=0.5,
    )
    screening = create_screening(benchmark=demo, terms=terms, by=by, at=at)
    first = screening.cases.filter(flagged=True).earliest("case__key")
    reason = "Made up: the case is easy, but every candidate must be able to answer it."
    decide(screening=screening, cases=[first.case.public_id], decision=KEEP, reason=reason, by=by, at=at)
    return screening


def discuss_returned_work(group: ExpertGroup, people: Mapping[str, User], calendar: Calendar) -> None:
    """A thread on the first response that a checker of ``group`` has returned, by all three roles."""
    returned = Assignment.objects.filter(batch__group=group, batch__status=Batch.Status.OPEN, status="returned")
    work = returned.select_related("batch__group__benchmark", "annotator").earliest("annotator__email")
    check = work.checks.select_related("checker").latest("pk")
    moment = calendar.later(check.finished_at or calendar.days_ago(1), (1, 4))
    lines = (
        (check.checker, Comment.AuthorRole.CHECKER, "Does a dose range count as the dose that the criterion asks for?"),
        (work.annotator, Comment.AuthorRole.ANNOTATOR, "I counted it, because the range contains the usual dose."),
        (
            people["admin@example.org"],
            Comment.AuthorRole.ADMIN,
            "The rule sheet will say so from now on: a range counts if all of it is safe.",
        ),
    )
    for author, role, text in lines:
        add_comment(assignment=work, author=author, author_role=role, text=text, at=calendar.before_now(moment))
        moment += timedelta(minutes=calendar.rng.randrange(40, 200))
