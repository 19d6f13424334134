"""Two benchmarks with work in every state, and a canary in everything that a blinded role must not see."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from io import BytesIO

from django.core.files.base import ContentFile
from django.db import connection

from accounts.models import ApiToken, Invitation, Notification, User
from agreement import services as agreement_services
from agreement.models import NamedSlice, Replication, Report
from agreement.planning.acuity_plan import plan_of
from agreement.planning.services import import_plan
from agreement.replication.choosing import Options
from annotation.access import open_adjudications, waiting_checks
from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousRule
from annotation.acuity.round_plan import RoundTerms, open_round
from annotation.acuity.rulings import RulingInput, give_ruling, request_rulings
from annotation.acuity.services import sign_reference_set
from annotation.codes.batches import CodingTerms, make_coding_batch
from annotation.codes.rulings import request_code_rulings
from annotation.cohort.services import draw_up_rotation, set_call, submit_application
from annotation.labels.batches import CaseFilter, LabelTerms, create_label_batch, plan_labels
from annotation.labels.services import AnswerInput, Option, QuestionInput, make_question, save_answer, submit_labels
from annotation.models import (
    Adjudication,
    Assignment,
    Batch,
    CodeRuling,
    ExpertGroup,
    KeyedDecision,
    KeyedResponse,
    LabelQuestion,
    LabelTask,
    Membership,
    QualificationAttempt,
    RulingRequest,
)
from annotation.qualification.keys import set_rule
from annotation.qualification.services import start_attempt
from annotation.services import (
    BatchTerms,
    DecisionInput,
    ResponseFilter,
    accept_check,
    add_member,
    amend,
    claim_adjudication,
    claim_check,
    create_batch,
    create_group,
    criteria_of,
    plan_batch,
    save_decisions,
    set_member_active,
    submit,
)
from annotation.writing.batches import create_writing_batch
from annotation.writing.writing_plan import WritingFilter, WritingOrder
from consilium.core.jobs import no_progress
from documents.models import Collection, Document, Passage
from documents.services import import_documents
from drafting.models import DraftingRecipe, DraftingRun, SuggestionsOpened
from releases.models import Release
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.acuity.services import get_or_make_scale, make_framing, make_scheme
from rubrics.acuity.stored import scale_of
from rubrics.audits.services import AuditTerms, create_audit, take_case
from rubrics.codes.services import adopt_starter
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import DraftItem
from rubrics.models import (
    AcuityScale,
    Bank,
    BankItem,
    Benchmark,
    Candidate,
    CandidateAttributes,
    Case,
    ImportJob,
    PrivacyWaiver,
    Response,
    Rubric,
)
from rubrics.services import give_authoring_role
from rubrics.services.drafts import open_draft, save_draft
from scoring.acuity.importing import import_acuity
from scoring.models import (
    AcuityReading,
    ClassificationRun,
    CodedResponse,
    CodingBook,
    CodingRun,
    EndpointTrial,
    GenerationRun,
    Judge,
    JudgeRun,
    JudgeRunItem,
    PipelineStep,
    ScreenedCase,
    Screening,
    TrainedModel,
    Verdict,
)
from tests.documents.parsing.pdf_writer import Page, write_pdf
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    DraftingRunFactory,
    FactFactory,
    ResponseFactory,
    SuggestionFactory,
    UserFactory,
)
from tests.scoring.trained.cards import small_card
from tests.waiting import wait_until
from validation.coverage.services import ask_physicians
from validation.models import (
    CoverageRun,
    MakingRun,
    NearMissPair,
    PairGroup,
    PointsCorrection,
    RefinementRun,
    SplittingRun,
    TrialRun,
)
from validation.sets.frames import Frame
from validation.sets.services import import_rubric_set, make_set
from validation.sets.storing import SetName
from validation.splitting.services import freeze

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

# Who signs in. "left" was an annotator of group A and was deactivated.
ROLES = (
    "anonymous", "outsider", "superuser", "other_admin", "other_physician", "admin", "researcher",
    "annotator", "second_annotator", "checker", "adjudicator", "group_b_annotator", "left",
    "author", "auditor",
)  # fmt: skip


def sign_references(benchmark: Benchmark, note: str) -> None:
    """A signed reference set of what the labels say."""
    sign_reference_set(
        scale=AcuityScale.objects.get(benchmark=benchmark, name="four"),
        datasets=["elsewhere"],
        ambiguous=AmbiguousRule(),
        minimum_votes=MINIMUM_VOTES,
        note=note,
        seen=None,
        by=None,
        at=AT,
    )


def freeze_criteria(case: Case, text: str) -> None:
    """A rubric set of a file whose name, description, criterion and mend have ``text``, and one of generic criteria."""
    make_set(benchmark=case.benchmark, name=SetName(f"{text} generic"), track="", frame=Frame(), by=None, at=AT)
    criteria = [{"criterion": f"{text} is named", "points": 5}, {"criterion": f"{text} is dropped", "points": 0}]
    import_rubric_set(
        benchmark=case.benchmark,
        file=BytesIO(json.dumps({"case": case.key, "rubrics": criteria}).encode()),
        options={"name": text, "description": f"{text} described", "file_name": f"{text}.jsonl", "mend": "1"},
        by=None,
        at=AT,
        progress=lambda _bytes: None,
    )


def write_recipe(benchmark: Benchmark, secret: str) -> None:
    """A recipe of drafting with two versions; ``secret`` is in its name, that of its model, and its text."""
    for version in (1, 2):
        text = {"system": f"{secret} {version}", "user": "{{case}} {{axes}}"}
        content = {
            "form": "direct",
            "models": {"strong": {"endpoint": "http://127.0.0.1:1/v1", "model": secret}},
            "stages": {"direct": {"prompts": {"en": text}}, "audit": {"on": False}},
        }
        DraftingRecipe.objects.create(
            benchmark=benchmark, name=f"{secret} recipe", version=version, content=content, sha256="0" * 64,
            created_at=AT,
        )  # fmt: skip


def suggest_criterion(case: Case, author: User, fact: str) -> None:
    """A suggestion for ``case`` that has opened to ``author``; ``fact`` is in what it rests on."""
    run = DraftingRunFactory(benchmark=case.benchmark)
    passage = Passage.objects.get(document__collection__benchmark=case.benchmark)
    FactFactory(run=run, case=case, number=1, text=fact, passage=passage)
    citation = {"passage": passage.public_id, "start": None, "end": None, "quote": ""}
    SuggestionFactory(
        case=case, run=run, number=1, text="Asks whether swallowing hurts", axis="completeness", facts=[1],
        citations=[citation], source="Made-up guideline",
    )  # fmt: skip
    SuggestionsOpened.objects.get_or_create(case=case, author=author, defaults={"opened_at": AT})


def draft_criteria(case: Case, secret: str, author: User) -> None:
    """A run that drafted a criterion for a case, to whose suggestions the author has come.

    ``secret`` is in the recipe, the model and the criterion.
    """
    text = {"system": secret, "user": "{{case}} {{axes}}"}
    content = {
        "form": "direct",
        "models": {"strong": {"endpoint": "http://127.0.0.1:1/v1", "model": secret}},
        "stages": {"direct": {"prompts": {"en": text}}, "audit": {"on": False}},
    }
    run = DraftingRun.objects.create(
        kind="drafting", benchmark=case.benchmark, status="finished", created_at=AT, finished_at=AT,
        config={
            "recipe": {"name": secret, "version": 1, "sha256": "0" * 64, "content": content},
            "axes": ["accuracy"], "cases": [{"key": case.key}],
        },
        frame={"cases": 1, "seed": 1},
        terms={"recipe": secret, "version": 1, "form": "direct", "models": [secret], "cases": 1},
    )  # fmt: skip
    criterion = {
        "number": 1, "text": f"{secret} is named", "points": 5, "axis": "accuracy", "facts": [], "needs": [],
        "why": "", "findings": [], "citations": [], "source": "",
    }  # fmt: skip
    result = {"criteria": [criterion], "facts": [], "needs": [], "ledger": [], "findings": []}
    for stage, output in (("direct", {"criteria": [criterion]}), ("result", result)):
        PipelineStep.objects.create(run=run, case=case, stage=stage, state="done", output=output)
    SuggestionsOpened.objects.create(case=case, author=author, opened_at=AT)


def split_criteria(case: Case, admin: User) -> None:
    """A run that split the generic criteria of a case, points that an admin corrected, and the set they became.

    The names of the set, of the model and of the admin are what authors must not see; the criteria they may.
    """
    source = case.benchmark.rubric_sets.get(origin="generic")
    criteria = [[item.text, item.points, item.axis] for item in source.items.filter(case=case).order_by("position")]
    points = [[number, text] for number, (text, *_rest) in enumerate(criteria, 1)]
    run = SplittingRun.objects.create(
        kind="splitting", benchmark=case.benchmark, status="finished", created_at=AT, finished_at=AT,
        config={
            "endpoint": "http://127.0.0.1:1/v1", "model": source.name,
            "gold": {"name": source.name, "id": source.public_id, "digest": source.digest},
            "cases": [{"key": case.key, "criteria": criteria}],
        },
        terms={"gold": source.name, "gold_id": source.public_id, "model": source.name, "cases": 1},
    )  # fmt: skip
    PipelineStep.objects.create(run=run, case=case, stage="split_points", state="done", output={"points": points})
    PointsCorrection.objects.create(run=run, case=case, points=points, version=1, saved_by=admin, saved_at=AT)
    freeze(run=run, name=SetName(f"{source.name} split"), by=admin, at=AT)


def measure_coverage(case: Case, secret: str) -> None:
    """A run that held a copy of the gold track and another set against each other, with questions to physicians.

    The questions are about one point and one criterion. ``secret`` is in the names of the sets, that of the model, and
    what it answered.
    """
    own = make_set(
        benchmark=case.benchmark, name=SetName(f"{secret} gold"), track="gold", frame=Frame(), by=None, at=AT
    )
    sets = {
        "gold": {"name": own.name, "id": own.public_id, "digest": own.digest},
        "drafted": {"name": f"{secret} drafted", "id": "none", "digest": "0" * 64},
    }
    criteria = {"key": case.key, "gold": [["Asks since when.", 5, ""]], "sets": [[["Asks about the onset.", 3, ""]]]}
    run = CoverageRun.objects.create(
        kind="coverage", benchmark=case.benchmark, status="finished", created_at=AT, finished_at=AT,
        config={
            "endpoint": "http://127.0.0.1:1/v1", "model": secret, "gold": sets["gold"], "sets": [sets["drafted"]],
            "cases": [criteria],
        },
        terms={"gold": sets["gold"]["name"], "sets": [sets["drafted"]["name"]], "model": secret, "share": 0.2},
    )  # fmt: skip
    for stage, key in (("coverage", "0.1"), ("coverage", "g.1"), ("coverage_back", "0.1")):
        output = {"extent": "partly", "by": [1], "why": f"{secret} said"}
        PipelineStep.objects.create(run=run, case=case, stage=stage, key=key, state="done", output=output)
    ask_physicians(run=run, at=AT)


def make_pair(case: Case, secret: str) -> None:
    """A pair that waits for physicians, the run that made it, and a run of trials on it by a copy of the gold track.

    ``secret`` is in all that physicians who judge the pair must not see: its group, its key, why the error matters, the
    model that made it, and what was answered about it.
    """
    benchmark = case.benchmark
    group = PairGroup.objects.create(benchmark=benchmark, name=f"{secret} group", created_at=AT)
    endpoint = {"endpoint": "http://127.0.0.1:1/v1", "model": f"{secret} model"}
    reference, candidate = "Rest for two days.", "Rest for nine days."
    making = MakingRun.objects.create(
        kind="near_miss", benchmark=benchmark, status="finished", created_at=AT, finished_at=AT,
        config={**endpoint, "kinds": ["timing"], "cases": [{"key": case.key, "reference": reference}]},
        terms={"group": group.name, "group_id": group.public_id, "model": endpoint["model"]},
    )  # fmt: skip
    output = {"kind": "timing", "find": "two", "replace": "nine", "why": secret}
    step = PipelineStep.objects.create(run=making, case=case, stage="near_miss", key="0", state="done", output=output)
    pair = NearMissPair.objects.create(
        group=group, case=case, key=f"{secret} pair", reference=reference, candidate=candidate, start=9,
        reference_end=12, candidate_end=13, kind="timing", change=f"{secret} changed", why=f"{secret} matters",
        origin="generated", step=step, created_at=AT,
    )  # fmt: skip
    stored = {
        "id": pair.public_id, "key": pair.key, "kind": "timing", "axis": "", "reference": reference,
        "candidate": candidate, "change": pair.change, "why": pair.why, "grade": "open",
    }  # fmt: skip
    digest = case.benchmark.rubric_sets.get(origin="gold").digest
    run = TrialRun.objects.create(
        kind="trials", benchmark=benchmark, status="finished", created_at=AT, finished_at=AT,
        config={
            **endpoint, "trials": 1, "sets": [{"name": f"{secret} set", "id": "none", "digest": digest}],
            "cases": [{"key": case.key, "tags": [], "pairs": [stored], "sets": [[["Names two days.", 5, ""]]]}],
        },
        terms={"sets": [f"{secret} set"], "model": endpoint["model"], "trials": 1, "pairs": 1},
        frame={"groups": [group.name], "which": "all"},
    )  # fmt: skip
    output = {
        "total_reference": 5, "total_candidate": 0, "stated": "reference", "decision": "A", "met_reference": [True],
        "met_candidate": [False],
    }  # fmt: skip
    PipelineStep.objects.create(run=run, case=case, stage="side_by_side", key="0.0.r.0", state="done", output=output)


def refine_response(case: Case, secret: str) -> None:
    """A run that refined a response. ``secret`` is in its set, its model, the plan and the refined text."""
    arm = {
        "name": f"{secret} set",
        "kind": "set",
        "rubric_set": {"id": "none", "name": f"{secret} set", "digest": "0" * 64},
        "candidate": f"{secret} candidate",
        "upper_bound": False,
        "overlaps": 0,
    }
    base = "Rest for two days."
    run = RefinementRun.objects.create(
        kind="refinement", benchmark=case.benchmark, status="finished", created_at=AT, finished_at=AT,
        config={
            "endpoint": "http://127.0.0.1:1/v1", "model": f"{secret} model", "arms": [arm],
            "cases": [{"key": case.key, "base": base, "base_id": "none", "arms": [[["Names two days.", 5, ""]]]}],
        },
        terms={
            "base": f"{secret} base", "arms": [{**arm, "taken_out": 0}], "model": f"{secret} model",
            "edit_model": f"{secret} model",
        },
    )  # fmt: skip
    edit = {"number": 1, "priority": "high", "action": "add", "find": None, "instruction": secret, "criteria": [1]}
    plan = {"status": [{"criterion": 1, "met": "no", "why": secret}], "edits": [edit], "must_not": []}
    edited = {"edits_done": [1], "edits_refused": [], "text": f"{base} {secret}"}
    for stage, output in (("plan", plan), ("edit", edited)):
        PipelineStep.objects.create(run=run, case=case, stage=stage, key="0", state="done", output=output)


def plan_acuity(benchmark: Benchmark, judge: str) -> None:
    """A plan of a study of acuity, which is not signed."""
    penalties, ambiguous = {"r": 5.0}, {"rule": "dispersion", "threshold": 0.75}
    levels = ["SELF_CARE", "PRIMARY_CARE", "URGENT_CARE", "EMERGENCY"]
    plan = plan_of(
        {"levels": levels, "formats": ["qa"], "measures": ["qwk"], "penalties": penalties, "ambiguous": ambiguous}
        | {"judge": judge}
    )
    import_plan(benchmark=benchmark, plan=plan, by=None, at=AT)


def choose_level(case: Case, candidate: Candidate, answer: str) -> None:
    """A finished run that asked for the level of one case, with an answer that names none."""
    scale = AcuityScale.objects.get(benchmark=case.benchmark, name="four")
    run = ClassificationRun.objects.create(
        kind="classify", benchmark=case.benchmark, candidate=candidate, status="finished",
        config={"endpoint": "", "model": "m", "scale": "four", "levels": [], "ask": "letter"},
        terms={"scale": scale.pk, "samples": 1}, created_at=AT, finished_at=AT,
    )  # fmt: skip
    PipelineStep.objects.create(
        run=run, case=case, stage="choice", key="0", state="done",
        output={"state": "invalid", "level": None, "text": answer, "distribution": None, "left_out": []},
    )  # fmt: skip
    AcuityReading.objects.create(
        scale=scale, case=case, candidate=candidate, format="qa", sample=0, source="parsed", pipeline_run=run,
        descending=False, state="invalid", text=answer, created_at=AT,
    )  # fmt: skip


def code_by_judge(response: Response, judge: str, explanation: str) -> None:
    """A finished run in which a judge coded one response by the code book."""
    benchmark = response.case.benchmark
    run = CodingRun.objects.create(
        kind="code", benchmark=benchmark, status="finished", created_at=AT, finished_at=AT,
        config={"judge": judge, "endpoint": "", "model": "m", "codes": [], "per_case": 1},
        terms={"judge": judge, "book": 1, "model": "m", "endpoint": "", "settings": {}, "language": "en"},
    )  # fmt: skip
    CodingBook.objects.create(run=run, book=benchmark.code_books.get())
    given = {"code": "overconfidence", "why": explanation, "evidence": [], "absent": [], "criterion": None}
    step = PipelineStep.objects.create(
        run=run, case=response.case, stage="code", key="0", state="done",
        output={"state": "coded", "codes": [given], "fault": ""},
    )  # fmt: skip
    CodedResponse.objects.create(step=step, response=response)


def read_level(response: Response, judge: str, explanation: str) -> JudgeRun:
    """A judge's finished run that read in one response which level of care it advises."""
    scale = AcuityScale.objects.get(benchmark=response.case.benchmark, name="four")
    config = {"endpoint": "http://127.0.0.1:1/v1", "model": "none"}
    row = Judge.objects.create(
        benchmark=scale.benchmark, name=judge, kind="chat", task="acuity", scale=scale, config=config
    )
    run = JudgeRun.objects.create(
        benchmark=scale.benchmark, judge=row, purpose="acuity", status="finished", expected=1,
        created_at=AT, started_at=AT, finished_at=AT,
    )  # fmt: skip
    JudgeRunItem.objects.create(run=run, response=response)
    AcuityReading.objects.create(
        scale=scale, case=response.case, candidate=response.candidate, format="chat", sample=response.sample,
        source="judge", judge_run=run, response=response, state="level", level=2, explanation=explanation,
        quote=response.text[:6], quote_start=0, quote_end=6, created_at=AT,
    )  # fmt: skip
    return run


def import_levels(case: Case, candidate: Candidate, label: str, reading: str) -> None:
    """Import how urgent a case is by others, and what a candidate says of it, which is no level."""
    scale = get_or_make_scale(benchmark=case.benchmark, name="four", by=None, at=AT)
    make_scheme(
        scale=scale, scheme=Scheme("elsewhere", scale_of(scale), {label: Mapped(How.DIRECT, 3, 3)}), by=None, at=AT
    )
    import_acuity(
        benchmark=case.benchmark,
        file=BytesIO(f"case,candidate,level,reference\n{case.key},{candidate.name},{reading},{label}\n".encode()),
        options={"dataset": "elsewhere", "scheme": "elsewhere", "file_name": "levels.csv"},
        by=None,
        at=AT,
        progress=no_progress,
    )
    with connection.cursor() as cursor:
        # An import checks references at once, and the world is made in one transaction with all that is done in it.
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def import_document(benchmark: Benchmark, words: str) -> Document:
    """A document of one page, whose original may be passed on."""
    import_documents(
        benchmark=benchmark,
        file=BytesIO(write_pdf([Page().text(72, 720, words)])),
        options={
            "collection": "Guidelines", "create_collection": "1", "file_name": "fever.pdf", "title": "Fever",
            "licence": "CC0-1.0", "may_redistribute": "1",
        },
        by=None,
        at=AT,
        progress=no_progress,
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")  # as in `import_levels`
    return Document.objects.get()


@dataclass
class World:
    """The rows, and who is who."""

    users: dict[str, User | None]
    benchmark: Benchmark
    other: Benchmark
    groups: dict[str, ExpertGroup]
    batches: dict[str, Batch]
    case: Case
    candidate: Candidate
    response: Response
    judge: Judge
    run: JudgeRun
    level_judge: Judge  # which reads levels of care
    level_run: JudgeRun
    jury: Judge
    trained: Judge
    report: Report
    items: Report  # of the kind that leads to pairs of responses
    scores: Report  # with a pair of responses on both sides of k
    acuity_report: Report
    replication: Replication
    job: ImportJob
    released: Release
    open_work: Assignment  # the annotator's
    in_check: Assignment  # the annotator's, held by the checker
    adjudication: Adjudication  # held by the adjudicator
    question: LabelQuestion
    label_task: LabelTask  # the annotator's
    panel_question: LabelQuestion  # with a second round and rulings
    second_round: LabelTask  # the annotator's
    to_rule: RulingRequest  # the adjudicator's
    code_ruling: CodeRuling  # the adjudicator's
    membership: int  # the first annotator's
    key: KeyedResponse
    attempt: QualificationAttempt  # the first annotator's, finished
    role: int  # the researcher's
    notification: str  # the first annotator's, of their new work
    api_token: str  # the first annotator's
    invitation: str  # the checker's
    authoring_role: int  # the author's
    draft_case: Case  # written by the author, its rubric a draft
    draft: Rubric
    waiver: int  # of the draft case
    collection: Collection
    document: Document
    passage: Passage
    canaries: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def criterion_of(assignment: Assignment) -> int:
        """The first criterion to decide."""
        return criteria_of(assignment)[0]


def build_world(suffix: str = "") -> World:
    """Make it through the services. ``suffix`` changes every hidden fact and nothing else."""
    users: dict[str, User | None] = {"anonymous": None}
    for role in ROLES[1:]:
        users[role] = UserFactory(username=role, email=f"{role}@example.org", name=f"Person {role.title()}")
    superuser = users["superuser"]
    assert superuser is not None
    User.objects.filter(pk=superuser.pk).update(is_superuser=True, is_staff=True)
    superuser.refresh_from_db()

    canaries = {
        "reference set": f"zqreferenceset{suffix}",
        "plan of acuity": f"zqacuityplan{suffix}",
        "candidate": f"zqcandidate{suffix}",
        "other candidate": f"zqothercand{suffix}",
        "external id": f"zqexternal{suffix}",
        "candidate's metadata": f"zqcandmeta{suffix}",
        "candidate's attributes": f"zqcandattr{suffix}",
        "response's metadata": f"zqrespmeta{suffix}",
        "label from elsewhere": f"zqlabel{suffix}",
        "note of round 1": f"zqroundone{suffix}",
        "note to rule on": f"zqtorule{suffix}",
        "note that was ruled on": f"zqwasruled{suffix}",
        "ruling": f"zqruling{suffix}",
        "reading": f"zqreading{suffix}",
        "forced choice": f"zqchoice{suffix}",
        "framing": f"zqframing{suffix}",
        "rubric set": f"zqrubricset{suffix}",
        "recipe": f"zqrecipe{suffix}",
        "drafting run": f"zqdrafted{suffix}",
        "coverage run": f"zqcoverage{suffix}",
        "near-miss pair": f"zqpair{suffix}",
        "refinement": f"zqrefined{suffix}",
        "document": f"zqdocument{suffix}",
        "judge": f"zqjudge{suffix}",
        "verdict": f"zqverdict{suffix}",
        "judge's reading": f"zqlevelread{suffix}",
        "applicant": f"zqapplicant{suffix}",
        "group B": f"zqgroupb{suffix}",
        "group B's note": f"zqnoteb{suffix}",
        "group B's batch": f"zqbatchb{suffix}",
    }
    benchmark = BenchmarkFactory(
        slug="own", title="Own benchmark", admin=users["admin"], researcher=users["researcher"]
    )
    other = BenchmarkFactory(slug="other", title="Other benchmark", admin=users["other_admin"])
    # An axis whose code has a blank in its words: no page may show the code.
    cases = [CaseFactory(benchmark=benchmark, key=f"case-{n}", rubric__axis="context_awareness") for n in range(3)]
    names = (canaries["candidate"], canaries["other candidate"])
    candidates = [
        CandidateFactory(benchmark=benchmark, name=name, metadata={"vendor": canaries["candidate's metadata"]})
        for name in names
    ]
    for place, candidate in enumerate(candidates):
        secret = canaries["candidate's attributes"] + str(place)
        CandidateAttributes.objects.create(
            candidate=candidate, family=secret, developer=secret, base_model=secret, effort=secret, open_weights=True,
            release_date=date(2025, 1, 1 + place), size_total=70 + place, size_active=7 + place, price_in=1 + place,
            price_out=4 + place, currency="USD", price_date=date(2025, 2, 1 + place),
        )  # fmt: skip
    responses = [
        ResponseFactory(
            case=case,
            candidate=candidate,
            text=f"Answer number {number} to {case.key}.",
            external_id=canaries["external id"],
            metadata={"run": canaries["response's metadata"]},
        )
        for number, candidate in enumerate(candidates)
        for case in cases
    ]

    groups, batches = {}, {}
    members = {
        "A": {
            "annotator": ["annotator", "second_annotator", "left"],
            "checker": ["checker"],
            "adjudicator": ["adjudicator"],
        },
        "B": {"annotator": ["group_b_annotator"]},
    }
    for letter, roles in members.items():
        name = "Group A" if letter == "A" else canaries["group B"]
        groups[letter] = create_group(benchmark=benchmark, name=name)
        for role, people in roles.items():
            for person in people:
                user = users[person]
                assert user is not None
                membership = add_member(group=groups[letter], email=user.email, role=role)
                if person == "left":
                    set_member_active(membership=membership, active=False, at=AT)
    other_group = create_group(benchmark=other, name="Group of the other benchmark")
    physician = users["other_physician"]
    assert physician is not None
    add_member(group=other_group, email=physician.email, role="annotator")

    for letter, per_item in (("A", 2), ("B", 1)):
        terms = BatchTerms(
            title="Batch A" if letter == "A" else canaries["group B's batch"],
            annotators_per_item=per_item,
            check_policy="all" if letter == "A" else "none",
            seed=5,
        )
        plan = plan_batch(group=groups[letter], terms=terms, filter=ResponseFilter())
        batches[letter] = create_batch(plan=plan, by=users["admin"], at=AT)

    def grade(assignment: Assignment, outcomes: str, note: str = "") -> None:
        chosen = {"m": "met", "n": "not_met"}
        changes = [
            DecisionInput(criterion=criterion, outcome=chosen[letter], note=note)
            for criterion, letter in zip(criteria_of(assignment), outcomes, strict=True)
        ]
        save_decisions(assignment=assignment, annotator=assignment.annotator, changes=changes, at=AT)
        submit(assignment=assignment, annotator=assignment.annotator, at=AT)

    work = {
        (row.annotator_id, row.response_id): row
        for row in Assignment.objects.select_related("annotator", "response", "batch__group", "rubric")
    }
    annotator, second, checker = users["annotator"], users["second_annotator"], users["checker"]
    adjudicator, from_b = users["adjudicator"], users["group_b_annotator"]
    assert annotator and second and checker and adjudicator and from_b
    grade(work[annotator.pk, responses[0].pk], "mmn", note="note of the first annotator")
    grade(work[second.pk, responses[0].pk], "mnn", note="zqsecondnote" + suffix)
    canaries["second annotator's note"] = "zqsecondnote" + suffix
    grade(work[from_b.pk, responses[0].pk], "nnn", note=canaries["group B's note"])
    for _ in range(2):
        held = claim_check(checker=checker, waiting=waiting_checks(checker), at=AT)
        assert held is not None
        if held.annotator_id == second.pk:
            amend(
                assignment=held, checker=checker, criterion=criteria_of(held)[2], outcome="met",
                reason="zqamendment" + suffix, at=AT,
            )  # fmt: skip
        accept_check(assignment=held, checker=checker, at=AT)
    canaries["amendment of another's work"] = "zqamendment" + suffix
    adjudication = claim_adjudication(adjudicator=adjudicator, waiting=open_adjudications(adjudicator))
    assert adjudication is not None
    grade(work[annotator.pk, responses[1].pk], "mmm")
    in_check = claim_check(checker=checker, waiting=waiting_checks(checker), at=AT)
    assert in_check is not None
    open_work = work[annotator.pk, responses[2].pk]
    save_decisions(
        assignment=open_work, annotator=annotator, at=AT,
        changes=[DecisionInput(criterion=criteria_of(open_work)[0], outcome="met")],
    )  # fmt: skip

    question = make_question(
        benchmark=benchmark, at=AT,
        question_input=QuestionInput(
            "urgency", "How urgent is it?", "choice", [Option("urgent", "Urgent"), Option("calm", "Calm")]
        ),
    )  # fmt: skip
    care = make_question(
        benchmark=benchmark, at=AT,
        question_input=QuestionInput("care", "What care, how soon?", "levels", [], scale="four"),
    )  # fmt: skip
    label_plan = plan_labels(
        group=groups["A"], questions=[question, care], filter=CaseFilter(),
        terms=LabelTerms(title="Urgency of the cases", annotators_per_case=2, seed=5),
    )  # fmt: skip
    labels = create_label_batch(plan=label_plan, by=users["admin"], at=AT)
    label_task = LabelTask.objects.get(batch=labels, annotator=annotator, position=1)
    theirs = LabelTask.objects.get(batch=labels, annotator=second, case=label_task.case)
    answer = AnswerInput(question=question.public_id, value="calm", note=canaries["second annotator's note"])
    save_answer(task=theirs, annotator=second, change=answer, at=AT)
    vote = AnswerInput(
        question=care.public_id, value="cannot-tell", reason="other", note=canaries["second annotator's note"]
    )
    save_answer(task=theirs, annotator=second, change=vote, at=AT)
    submit_labels(task=theirs, annotator=second, at=AT)

    # A second round on the first case; of the two others one waits for a ruling, and one has it.
    triage = make_question(
        benchmark=benchmark, at=AT,
        question_input=QuestionInput("triage", "How soon?", "levels", [], scale="three", minimum_answers=2),
    )  # fmt: skip
    panel_plan = plan_labels(
        group=groups["A"], questions=[triage], filter=CaseFilter(),
        terms=LabelTerms(title="Panel", annotators_per_case=2, seed=5),
    )  # fmt: skip
    panel_batch = create_label_batch(plan=panel_plan, by=users["admin"], at=AT)

    def disagree(case: Case, note: str) -> None:
        """A vote of each annotator, as far apart as can be; the second one's has the note."""
        for person, level, own_note in ((annotator, "self-care", ""), (second, "emergency", note)):
            task = LabelTask.objects.get(batch=panel_batch, case=case, annotator=person)
            vote = AnswerInput(question=triage.public_id, value=level, certainty=50, note=own_note)
            save_answer(task=task, annotator=person, change=vote, at=AT)
            submit_labels(task=task, annotator=person, at=AT)

    disagree(cases[1], canaries["note to rule on"])
    disagree(cases[2], canaries["note that was ruled on"])
    request_rulings(group=groups["A"], question=triage, rule=AmbiguousRule(), seed=5, by=users["admin"], at=AT)
    ruled = RulingRequest.objects.get(case=cases[2])
    ruling = RulingInput("stays-ambiguous", "border", note=canaries["ruling"])
    give_ruling(request=ruled, adjudicator=adjudicator, ruling=ruling, at=AT)
    disagree(cases[0], canaries["note of round 1"])
    open_round(
        group=groups["A"], question=triage, rule=AmbiguousRule(), by=users["admin"], at=AT,
        terms=RoundTerms("Panel again", seed=5),
    )  # fmt: skip

    # Two annotators code the responses by the starter; on one they differ, and an adjudicator rules.
    coding = make_coding_batch(
        group=groups["A"], book=adopt_starter(benchmark=benchmark, by=users["admin"], at=AT),
        terms=CodingTerms(title="Failures", coders=2, seed=5, size=1, candidates=[candidates[0].name]),
        by=users["admin"], at=AT,
    )  # fmt: skip
    code_question = LabelQuestion.objects.get(kind="codes")
    given = [{"code": "overconfidence", "criterion": None, "evidence": [{"start": 0, "end": 5}]}]
    for task, value, codes in zip(
        coding.label_tasks.order_by("annotator"), ("coded", "none"), (given, []), strict=True
    ):
        note = canaries["second annotator's note"] if task.annotator == second else ""
        coded = AnswerInput(question=code_question.public_id, value=value, codes=codes, note=note)
        save_answer(task=task, annotator=task.annotator, change=coded, at=AT)
        submit_labels(task=task, annotator=task.annotator, at=AT)
    request_code_rulings(group=groups["A"], question=code_question, seed=5, by=users["admin"], at=AT)

    # Beside the editor stand both candidates' answers, under letters.
    to_write = WritingOrder(
        group=groups["A"], title="Answers of our own", seed=5, mode="aided", candidate="physician", mode_name="older",
        references=candidates, writers_per_case=2,
    )  # fmt: skip
    create_writing_batch(order=to_write, filter=WritingFilter(), by=users["admin"], at=AT)

    judge = Judge.objects.create(
        benchmark=benchmark, name=canaries["judge"], kind="imported", created_by=users["admin"]
    )
    run = JudgeRun.objects.create(
        benchmark=benchmark, judge=judge, status="finished", expected=12, imported=True,
        created_by=users["admin"], created_at=AT, started_at=AT, finished_at=AT,
    )  # fmt: skip
    jury = Judge.objects.create(
        benchmark=benchmark, name=f"{canaries['judge']} and others", kind="jury", created_by=users["admin"],
        config={"members": [judge.name, "another"], "rule": "majority"},
    )  # fmt: skip
    trained = Judge.objects.create(
        benchmark=benchmark, name=f"{canaries['judge']} that learned", kind="trained", created_by=users["admin"],
        config={"group": "", "seed": 0, "held_out": []},
    )  # fmt: skip
    card = small_card([canaries["candidate"], canaries["other candidate"]])
    TrainedModel.objects.create(judge=trained, status="done", sha256="d" * 64, trained_at=AT, card=card)
    for response in responses[:4]:  # the last is to the same case as the first, and meets nothing
        rubric = response.case.rubrics.get()
        JudgeRunItem.objects.create(run=run, response=response, rubric=rubric)
        for item in rubric.items.all():
            Verdict.objects.create(
                run=run, response=response, criterion_id=item.criterion_id,
                outcome="met" if response != responses[3] else "not_met",
                explanation=canaries["verdict"], created_at=AT,
            )  # fmt: skip
    report = agreement_services.create_report(
        benchmark=benchmark, kind="agreement", at=AT, by=users["admin"],
        parameters={"rater_a": "group:Group A@first", "rater_b": canaries["judge"]},
    )  # fmt: skip
    items = agreement_services.create_report(
        benchmark=benchmark, kind="items", at=AT, by=users["admin"], parameters=report.parameters
    )
    scores = agreement_services.create_report(
        benchmark=benchmark, kind="scores", at=AT, by=users["admin"],
        parameters={"rater": canaries["judge"], "k": 1, "also": []},
    )  # fmt: skip
    for pending_report in (report, items, scores):
        agreement_services.run(report_id=pending_report.pk, clock=lambda: AT)

    def done() -> bool:  # a worker of the session may have taken it first
        report.refresh_from_db()
        items.refresh_from_db()
        scores.refresh_from_db()
        return report.status == items.status == scores.status == "done"

    wait_until(done, message="the report is done")
    call = set_call(benchmark=benchmark, values={"is_open": True, "min_years": 3})
    submit_application(
        call=call,
        fields={"email": "applicant@example.org", "name": canaries["applicant"], "years_in_practice": 2},
        at=AT,
    )
    draw_up_rotation(
        benchmark=benchmark, title="Rotation", group=groups["A"], parts={"annotator": 1}, rounds=2, seed=1,
        by=users["admin"], at=AT,
    )  # fmt: skip
    NamedSlice.objects.create(
        benchmark=benchmark, slug="hardest", title="The hardest", rule="hard", case_ids=[cases[0].pk],
        input_digest="d" * 64, created_by=users["admin"], created_at=AT,
    )  # fmt: skip
    job = ImportJob.objects.create(
        benchmark=benchmark, kind="cases", file="imports/none.jsonl", file_name="none.jsonl", status="done",
        created_by=users["admin"], created_at=AT,
    )  # fmt: skip
    released = Release(
        benchmark=benchmark, version="1.0", status="done", created_by=users["admin"], created_at=AT, digest="d" * 64
    )
    released.archive.save(f"{released.public_id}.zip", ContentFile(b"an archive"), save=False)
    released.save()
    keyed = CaseFactory(benchmark=benchmark, key="keyed")
    key = KeyedResponse.objects.create(
        benchmark=benchmark, response=ResponseFactory(case=keyed, candidate=candidates[0]),
        rubric=keyed.rubrics.get(), use="qualification", created_at=AT,
    )  # fmt: skip
    for criterion in keyed.criteria.all():
        KeyedDecision.objects.create(keyed=key, criterion=criterion, outcome="met")
    set_rule(benchmark=benchmark, values={"required": True})
    attempt = start_attempt(user=annotator, group=groups["A"], at=AT, seed=1)
    grade(Assignment.objects.select_related("annotator").get(batch=attempt.batch), "mmm")
    attempt.refresh_from_db()
    set_rule(benchmark=benchmark, values={"required": False})
    author, auditor = users["author"], users["auditor"]
    assert author and auditor
    authoring_role = give_authoring_role(benchmark=benchmark, user=author, role="author", at=AT)
    give_authoring_role(benchmark=benchmark, user=auditor, role="auditor", at=AT)
    own_bank = Bank.objects.create(benchmark=benchmark, slug="own", title="Own", created_at=AT)
    BankItem.objects.create(bank=own_bank, key="k1", section="evidence", text={"en": "Names the guideline"})
    draft_case = CaseFactory(benchmark=benchmark, key="draft-case", rubric=0, created_by=author)
    draft = open_draft(case=draft_case, by=author, at=AT)
    document = import_document(benchmark, canaries["document"])
    item = DraftItem(
        "a", "Asks how long the throat has been sore", 5, ("axis:context_seeking",),
        citations=(Citation(document.passages.get().public_id),),
    )  # fmt: skip
    save_draft(
        rubric=draft, items=[item],
        version=1, client_id=None, by=author, at=AT,
    )  # fmt: skip
    suggest_criterion(draft_case, author, canaries["document"])
    EndpointTrial.objects.create(
        benchmark=benchmark, kind="criterion", judge=judge, status="failed", error=canaries["judge"],
        created_by=users["admin"], created_at=AT, finished_at=AT,
    )  # fmt: skip
    GenerationRun.objects.create(
        kind="responses", benchmark=benchmark, candidate=candidates[0], status="finished",
        config={"endpoint": "", "model": "m"}, terms={"setting": "chat", "samples": 1},
        created_by=users["admin"], created_at=AT, finished_at=AT,
    )  # fmt: skip
    screening = Screening.objects.create(
        benchmark=benchmark, title="Stage one", rater=judge.name, candidates=list(names), created_by=users["admin"],
        created_at=AT, facts={"rules": "", "at_least": 2},
    )  # fmt: skip
    ScreenedCase.objects.create(screening=screening, case=cases[0], score=0.75, n_responses=2, flagged=True)
    import_levels(cases[0], candidates[0], canaries["label from elsewhere"], canaries["reading"])
    choose_level(cases[0], candidates[0], canaries["forced choice"])
    make_framing(benchmark=benchmark, text=f"{canaries['framing']} {{{{case}}}}", by=None, at=AT)
    freeze_criteria(cases[0], canaries["rubric set"])
    write_recipe(benchmark, canaries["recipe"])
    draft_criteria(cases[0], canaries["drafting run"], author)
    split_criteria(cases[0], users["admin"])
    measure_coverage(cases[0], canaries["coverage run"])
    make_pair(cases[0], canaries["near-miss pair"])
    refine_response(cases[0], canaries["refinement"])
    code_by_judge(responses[0], f"{canaries['judge']} that codes", canaries["verdict"])
    level_run = read_level(responses[0], f"{canaries['judge']} of levels", canaries["judge's reading"])
    sign_references(benchmark, canaries["reference set"])
    acuity_report = agreement_services.create_report(
        benchmark=benchmark, kind="acuity", at=AT, by=users["admin"], parameters={}
    )
    agreement_services.run(report_id=acuity_report.pk, clock=lambda: AT)

    def is_compared() -> bool:
        acuity_report.refresh_from_db()
        return acuity_report.status == "done"

    wait_until(is_compared, message="the report on acuity is done")
    plan_acuity(benchmark, canaries["plan of acuity"])
    create_audit(benchmark=benchmark, terms=AuditTerms(title="Stage two", share=1), by=users["admin"], at=AT)
    take_case(auditor=auditor, benchmark=benchmark, at=AT)
    return World(
        collection=document.collection, document=document, passage=document.passages.get(),
        users=users, benchmark=benchmark, other=other, groups=groups, batches=batches, case=cases[0],
        candidate=candidates[0], response=responses[0], judge=judge, run=run, jury=jury, trained=trained,
        level_judge=level_run.judge, level_run=level_run,
        report=report, items=items, scores=scores, acuity_report=acuity_report, job=job, released=released,
        replication=Replication.objects.create(
            benchmark=benchmark, paper="clinconsensus", options=Options().as_json(), status="done",
            created_by=users["admin"], created_at=AT, finished_at=AT,
            result=[{"artefact": "groups", "state": "made", "gaps": [], "reports": [report.public_id]}],
        ),
        open_work=open_work, in_check=in_check, adjudication=adjudication, canaries=canaries,
        question=question, label_task=label_task,
        panel_question=triage, second_round=LabelTask.objects.get(annotator=annotator, round=2),
        to_rule=RulingRequest.objects.get(case=cases[1]), code_ruling=CodeRuling.objects.get(),
        membership=Membership.objects.get(user=annotator).pk, key=key, attempt=attempt,
        role=benchmark.roles.get(role="researcher").pk, authoring_role=authoring_role.pk,
        draft_case=draft_case, draft=draft,
        waiver=PrivacyWaiver.objects.create(
            case=draft_case, kind="phone", quote="555 0100", reason="made up", waived_by=author, waived_at=AT
        ).pk,
        notification=Notification.objects.filter(user=annotator, kind="new_work").latest("pk").public_id,
        api_token=ApiToken.objects.create(
            user=annotator, name="Notebook", token_hash="0" * 64, prefix="consilium_abc123", scopes=["read"],
            created_at=AT, expires_at=AT + timedelta(days=90),
        ).public_id,
        invitation=Invitation.objects.create(
            user=checker, scope=benchmark.slug, title=benchmark.title, part="checker", invited_by=users["admin"],
            created_at=AT, sent_at=AT, expires_at=AT,
        ).public_id,
    )  # fmt: skip
