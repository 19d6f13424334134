"""A study with a secret in everything that must not be exported by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accounts.models import PhysicianProfile, User
from annotation import services as annotation_services
from annotation.models import Assignment, Physician
from rubrics.models import (
    AuditItem,
    Benchmark,
    Case,
    CaseAudit,
    PrivacyWaiver,
    Response,
    Rubric,
    RubricDraft,
    RubricReview,
)
from scoring.models import JudgeCall, ScreenedCase, Screening, Verdict
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    JudgeFactory,
    JudgeRunFactory,
    ResponseFactory,
    UserFactory,
    make_batch,
)
from tests.releases.releasing import AT

_HIDDEN = (
    *("name of a physician", "mail of a physician", "name of an author", "mail of an author", "name of an admin"),
    *("affiliation of a physician", "name to be thanked by"),
    *("private metadata of a case", "excluded case", "why it was excluded", "unpublished case", "draft"),
    *("why a version was made", "comment of a reviewer", "what a waiver quotes", "why it was waived", "guidelines"),
    *("response", "self-identification", "external id", "metadata of a candidate", "reference answer"),
    *("note of a physician", "title of a batch", "explanation of a judge", "endpoint of a judge", "raw answer"),
    *("title of a screening", "reason of a screening", "title of an audit", "comment of an auditor"),
)
# A text that stands nowhere else, for each.
SECRETS = {name: f"zq{number:02d}{''.join(filter(str.isalpha, name))}" for number, name in enumerate(_HIDDEN)}


@dataclass(frozen=True)
class Study:
    """The rows that tests ask for. ``ids`` are public ids of rows."""

    benchmark: Benchmark
    admin: User
    researcher: User
    pseudonym: str
    ids: list[str]


def study_with_secrets() -> Study:
    """One case that is released, with a response, a physician's decisions and a judge's verdicts."""
    s = SECRETS
    admin, researcher = UserFactory(name=s["name of an admin"]), UserFactory()
    author = UserFactory(name=s["name of an author"], email=f"{s['mail of an author']}@example.org")
    physician = UserFactory(name=s["name of a physician"], email=f"{s['mail of a physician']}@example.org")
    PhysicianProfile.objects.update_or_create(
        user=physician, defaults={"acknowledge": True, "acknowledged_as": s["name to be thanked by"]}
    )
    benchmark = BenchmarkFactory(
        slug="secret", title="A study", licence="CC-BY-4.0", admin=admin, researcher=researcher,
        guidelines=s["guidelines"],
    )  # fmt: skip
    case = CaseFactory(
        benchmark=benchmark, key="in-it", created_by=author, metadata={"kept": s["private metadata of a case"]},
        reference_answer=s["reference answer"],
    )  # fmt: skip
    response = _response(case)
    _left_out(benchmark, author)
    _written_on(case, author)
    pseudonym = _graded(benchmark, physician)
    _judged(benchmark, response)
    _checked(benchmark, case, physician)
    ids = [case.public_id, response.public_id, response.candidate.public_id]
    return Study(benchmark, admin, researcher, pseudonym, ids)


def _response(case: Case) -> Response:
    s = SECRETS
    candidate = CandidateFactory(
        benchmark=case.benchmark, name="some model", metadata={"vendor": s["metadata of a candidate"]}
    )
    response: Response = ResponseFactory(
        case=case, candidate=candidate, text=s["response"], external_id=s["external id"],
        metadata={"self_identification": s["self-identification"]},
    )  # fmt: skip
    return response


def _left_out(benchmark: Benchmark, author: User) -> None:
    s = SECRETS
    CaseFactory(
        benchmark=benchmark, key="excluded", conversation=[{"role": "user", "content": s["excluded case"]}],
        excluded_at=AT, exclusion="screening", exclusion_reason=s["why it was excluded"],
    )  # fmt: skip
    CaseFactory(
        benchmark=benchmark, key="unpublished", rubric=0, created_by=author,
        conversation=[{"role": "user", "content": s["unpublished case"]}],
    )  # fmt: skip


def _written_on(case: Case, author: User) -> None:
    s = SECRETS
    Rubric.objects.filter(case=case).update(note=s["why a version was made"])
    draft = Rubric.objects.create(case=case, version=2, created_by=author, created_at=AT)
    items: list[dict[str, Any]] = [{"id": "a", "text": s["draft"], "points": 1, "tags": []}]
    RubricDraft.objects.create(rubric=draft, content={"items": items}, digest="d" * 64, saved_by=author, saved_at=AT)
    RubricReview.objects.create(
        rubric=draft, reviewer=UserFactory(), outcome="returned", digest="d" * 64, created_at=AT,
        comment=s["comment of a reviewer"],
    )  # fmt: skip
    PrivacyWaiver.objects.create(
        case=case, kind="phone", quote=s["what a waiver quotes"], reason=s["why it was waived"], waived_by=author,
        waived_at=AT,
    )  # fmt: skip


def _graded(benchmark: Benchmark, physician: User) -> str:
    group = ExpertGroupFactory(benchmark=benchmark, name="A")
    annotation_services.add_member(group=group, user=physician, role="annotator")
    make_batch(group, title=SECRETS["title of a batch"])
    assignment = Assignment.objects.get()
    first, *others = annotation_services.criteria_of(assignment)
    changes = [annotation_services.DecisionInput(criterion=first, outcome="met", note=SECRETS["note of a physician"])]
    changes += [annotation_services.DecisionInput(criterion=criterion, outcome="not_met") for criterion in others]
    annotation_services.save_decisions(assignment=assignment, annotator=physician, changes=changes, at=AT)
    annotation_services.submit(assignment=assignment, annotator=physician, at=AT)
    return Physician.objects.get(benchmark=benchmark, user=physician).pseudonym


def _judged(benchmark: Benchmark, response: Response) -> None:
    s = SECRETS
    judge = JudgeFactory(benchmark=benchmark, name="strict judge")
    snapshot = {
        "version": 1,
        "config": {"endpoint": f"http://{s['endpoint of a judge']}/v1", "model": "a-model"},
        "template": {"name": "own", "system": "Judge it.", "user": "{{criterion}}"},
        "rule_sheet": "All parts.",
    }
    run = JudgeRunFactory(judge=judge, snapshot=snapshot, prompt_hash="h" * 64)
    JudgeCall.objects.create(run=run, request_hash="r" * 64, raw=s["raw answer"], created_at=AT)
    for item in response.case.rubrics.get(status="published").items.all():
        Verdict.objects.create(
            run=run, response=response, criterion=item.criterion, outcome="met", created_at=AT,
            explanation=s["explanation of a judge"],
        )  # fmt: skip


def _checked(benchmark: Benchmark, case: Case, auditor: User) -> None:
    s = SECRETS
    screening = Screening.objects.create(
        benchmark=benchmark, title=s["title of a screening"], rater="strict judge", created_at=AT
    )
    ScreenedCase.objects.create(
        screening=screening, case=case, score=0.2, decision="keep", reason=s["reason of a screening"]
    )
    audit = CaseAudit.objects.create(benchmark=benchmark, title=s["title of an audit"], seed=1, created_at=AT)
    AuditItem.objects.create(
        audit=audit, case=case, rubric=case.rubrics.get(status="published"), auditor=auditor, outcome="revise",
        comment=s["comment of an auditor"], done_at=AT,
    )  # fmt: skip
