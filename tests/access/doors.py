"""Which role may pass which door. An address that is not listed here fails a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agreement.stored import table_of
from annotation.models import WritingTask
from tests.access.world import ROLES, World

Arguments = Callable[[World], dict[str, Any]]

EVERYBODY = frozenset(ROLES)
SIGNED_IN = EVERYBODY - {"anonymous"}
STAFF = frozenset({"admin", "researcher"})
ADMIN = frozenset({"admin"})
CREATORS = frozenset(
    {"superuser"}
)  # in the test world the superuser is also a member of staff, who may create benchmarks
GROUP_A_ANNOTATORS = frozenset({"annotator", "second_annotator"})
AUTHORS = frozenset({"author"})
AUDITORS = frozenset({"auditor"})
WRITERS = STAFF | AUTHORS  # who reach the authors' desk
MEMBERS = frozenset({"annotator", "second_annotator", "checker", "adjudicator", "group_b_annotator"})


@dataclass(frozen=True, slots=True)
class Door:
    """Who gets in; what stands in the address; ``writes_only`` doors answer GET with 405.

    ``framework`` doors come with Django, allauth or DRF: they hold nothing of a benchmark, and their own tests.
    """

    roles: frozenset[str]
    arguments: Arguments | None = None
    writes_only: bool = False
    framework: bool = False


def slug(world: World) -> dict[str, Any]:
    return {"slug": world.benchmark.slug}


def of(**fields: Callable[[World], Any]) -> Arguments:
    """The benchmark's slug and what the fields give."""
    return lambda world: {"slug": world.benchmark.slug, **{name: field(world) for name, field in fields.items()}}


def bare(**fields: Callable[[World], Any]) -> Arguments:
    """What the fields give, without a benchmark."""
    return lambda world: {name: field(world) for name, field in fields.items()}


def open_batch(world: World) -> dict[str, Any]:
    """The batch of group A that its annotators work on."""
    return {"public_id": world.open_work.batch.public_id}


def framework(*names: str) -> dict[str, Door]:
    return {name: Door(EVERYBODY, framework=True) for name in names}


DOORS: dict[str, Door] = {}

# Framework -------------------------------------------------------------------------------------------------------
DOORS |= framework(
    "account_login", "account_logout", "account_inactive", "account_signup", "account_reauthenticate", "account_email",
    "account_email_verification_sent", "account_change_password", "account_set_password", "account_reset_password",
    "account_confirm_login_code", "account_confirm_email", "account_reset_password_from_key_done",
    "account_reset_password_from_key", "account_reset_password_done", "mfa_index", "mfa_authenticate",
    "mfa_reauthenticate", "mfa_activate_totp", "mfa_deactivate_totp", "mfa_view_recovery_codes",
    "mfa_generate_recovery_codes", "mfa_download_recovery_codes", "socialaccount_login_cancelled",
    "socialaccount_login_error", "socialaccount_signup", "socialaccount_connections", "openid_connect_login",
    "openid_connect_callback", "set_language", "healthz", "api:schema", "api:docs",
    # allauth's redirects of former addresses have no name
    "social/login/cancelled/", "social/login/error/", "social/signup/", "social/connections/",
)  # fmt: skip

ANNOTATOR, CHECKER, ADJUDICATOR = frozenset({"annotator"}), frozenset({"checker"}), frozenset({"adjudicator"})

# Accounts --------------------------------------------------------------------------------------------------------
DOORS |= {
    "accounts:home": Door(SIGNED_IN),
    "accounts:profile": Door(SIGNED_IN),
    "accounts:session": Door(EVERYBODY, framework=True),
    "accounts:deliveries": Door(SIGNED_IN),
    "accounts:notifications": Door(SIGNED_IN),
    "accounts:notifications-read": Door(SIGNED_IN, writes_only=True),
    "accounts:notification": Door(ANNOTATOR, bare(public_id=lambda world: world.notification)),
    "accounts:notification-read": Door(ANNOTATOR, bare(public_id=lambda world: world.notification), writes_only=True),
    # For whoever holds the link; tests/accounts has what they answer.
    "accounts:unsubscribe": Door(EVERYBODY, framework=True),
    "accounts:welcome": Door(EVERYBODY, framework=True),
}

# Rubrics ---------------------------------------------------------------------------------------------------------
a_case = of(public_id=lambda world: world.case.public_id)
a_draft_case = of(public_id=lambda world: world.draft_case.public_id)
a_candidate = of(public_id=lambda world: world.candidate.public_id)
an_invitation = of(public_id=lambda world: world.invitation)
a_job = of(public_id=lambda world: world.job.public_id)
DOORS |= {
    "rubrics:benchmarks": Door(SIGNED_IN),
    "rubrics:benchmark-new": Door(CREATORS),
    "rubrics:overview": Door(STAFF, slug),
    "rubrics:settings": Door(ADMIN, slug),
    "rubrics:rules": Door(ADMIN, slug, writes_only=True),
    "rubrics:maps": Door(ADMIN, slug, writes_only=True),
    "rubrics:maps-csv": Door(ADMIN, slug),
    "rubrics:people": Door(ADMIN, slug),
    "rubrics:person-withdraw": Door(ADMIN, of(role=lambda world: world.role), writes_only=True),
    "rubrics:authors": Door(ADMIN, slug),
    "rubrics:author-withdraw": Door(ADMIN, of(role=lambda world: world.authoring_role), writes_only=True),
    "rubrics:write": Door(WRITERS, slug),
    "rubrics:write-csv": Door(WRITERS, slug),
    "rubrics:write-new": Door(WRITERS, slug),
    "rubrics:write-case": Door(WRITERS, a_draft_case),
    "rubrics:write-case-save": Door(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-preview": Door(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-erratum": Door(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-delete": Door(WRITERS, a_case, writes_only=True),
    "rubrics:write-time": Door(WRITERS | AUDITORS, a_draft_case, writes_only=True),
    "rubrics:write-waive": Door(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-ask-again": Door(
        WRITERS,
        of(public_id=lambda world: world.draft_case.public_id, waiver=lambda world: world.waiver),
        writes_only=True,
    ),
    "rubrics:revision-open": Door(WRITERS, slug, writes_only=True),
    "rubrics:reviews": Door(WRITERS, slug),
    "rubrics:drafts": Door(WRITERS, slug),
    "rubrics:review": Door(WRITERS, a_draft_case),
    "rubrics:send-to-review": Door(WRITERS, a_draft_case, writes_only=True),
    "rubrics:take-back": Door(WRITERS, a_draft_case, writes_only=True),
    "rubrics:discard-draft": Door(WRITERS, a_draft_case, writes_only=True),
    "rubrics:history": Door(WRITERS, a_draft_case),
    "rubrics:diff": Door(WRITERS, a_draft_case),
    "rubrics:diff-csv": Door(WRITERS, a_draft_case),
    "rubrics:invite": Door(ADMIN, slug, writes_only=True),
    "rubrics:invitation-again": Door(ADMIN, an_invitation, writes_only=True),
    "rubrics:invitation-withdraw": Door(ADMIN, an_invitation, writes_only=True),
    "rubrics:cases": Door(STAFF, slug),
    "rubrics:cases-csv": Door(STAFF, slug),
    "rubrics:case": Door(STAFF, a_case),
    "rubrics:excluded": Door(STAFF, slug),
    "rubrics:excluded-csv": Door(STAFF, slug),
    "rubrics:case-exclude": Door(ADMIN, a_case, writes_only=True),
    "rubrics:case-restore": Door(ADMIN, a_case, writes_only=True),
    "rubrics:revisions": Door(STAFF, slug),
    "rubrics:revisions-csv": Door(STAFF, slug),
    "rubrics:revision-dismiss": Door(ADMIN, slug, writes_only=True),
    "rubrics:candidates": Door(STAFF, slug),
    "rubrics:candidate": Door(STAFF, a_candidate),
    "rubrics:imports": Door(STAFF, slug),
    "rubrics:import": Door(STAFF, a_job),
    "rubrics:import-state": Door(STAFF, a_job),
    "rubrics:import-restart": Door(STAFF, a_job, writes_only=True),
    "rubrics:import-faults": Door(STAFF, a_job),
}

a_bank = of(bank=lambda world: "own")
DOORS |= {
    "rubrics:bank": Door(WRITERS, slug),
    "rubrics:bank-csv": Door(WRITERS, slug),
    "rubrics:bank-search": Door(WRITERS, slug),
    "rubrics:bank-clusters": Door(WRITERS, slug),
    "rubrics:banks": Door(WRITERS, slug),
    "rubrics:bank-use": Door(WRITERS, a_bank, writes_only=True),
    "rubrics:bank-export": Door(WRITERS, of(bank=lambda world: "own", ending=lambda world: "jsonl")),
    "rubrics:bank-item": Door(WRITERS, of(bank=lambda world: "own", key=lambda world: "k1")),
    "api:api-bank": Door(WRITERS, slug),
    "api:api-banks": Door(WRITERS, slug),
}

# Annotation ------------------------------------------------------------------------------------------------------
open_work = bare(public_id=lambda world: world.open_work.public_id)
held_check = bare(public_id=lambda world: world.in_check.public_id)
held_criterion = bare(
    public_id=lambda world: world.in_check.public_id, criterion_id=lambda world: world.criterion_of(world.in_check)
)
conflict = bare(public_id=lambda world: world.adjudication.public_id)
conflict_criterion = bare(
    public_id=lambda world: world.adjudication.public_id, criterion_id=lambda world: world.adjudication.criteria[0]
)
a_group = of(public_id=lambda world: world.groups["A"].public_id)
a_member = of(public_id=lambda world: world.groups["A"].public_id, membership=lambda world: world.membership)
a_batch = of(public_id=lambda world: world.batches["A"].public_id)
DOORS |= {
    "annotation:work": Door(SIGNED_IN),
    "annotation:work-in": Door(MEMBERS, slug),
    "annotation:checks": Door(SIGNED_IN),
    "annotation:checks-in": Door(MEMBERS, slug),
    "annotation:check-next": Door(SIGNED_IN, writes_only=True),
    "annotation:check": Door(CHECKER, held_check),
    "annotation:check-claim": Door(CHECKER, held_check, writes_only=True),
    "annotation:amend": Door(CHECKER, held_criterion, writes_only=True),
    "annotation:check-accept": Door(CHECKER, held_check, writes_only=True),
    "annotation:check-return": Door(CHECKER, held_check, writes_only=True),
    "annotation:check-release": Door(CHECKER, held_check, writes_only=True),
    "annotation:adjudications": Door(SIGNED_IN),
    "annotation:adjudications-in": Door(MEMBERS, slug),
    "annotation:adjudicate-next": Door(SIGNED_IN, writes_only=True),
    "annotation:adjudication": Door(ADJUDICATOR, conflict),
    "annotation:adjudication-claim": Door(ADJUDICATOR, conflict, writes_only=True),
    "annotation:rule": Door(ADJUDICATOR, conflict_criterion, writes_only=True),
    "annotation:adjudication-finish": Door(ADJUDICATOR, conflict, writes_only=True),
    "annotation:take": Door(GROUP_A_ANNOTATORS, open_batch, writes_only=True),
    "annotation:grade": Door(ANNOTATOR, open_work),
    "annotation:decisions": Door(ANNOTATOR, open_work, writes_only=True),
    "annotation:next": Door(ANNOTATOR, open_work),
    "annotation:skip": Door(ANNOTATOR, open_work, writes_only=True),
    "annotation:submit": Door(ANNOTATOR, open_work, writes_only=True),
    "annotation:time": Door(ANNOTATOR, open_work, writes_only=True),
    "annotation:comments": Door(ANNOTATOR | CHECKER, held_check),
    "annotation:threads": Door(ADMIN, slug),
    "annotation:comments-csv": Door(ADMIN, slug),
    "annotation:comments-of": Door(ADMIN, of(public_id=lambda world: world.in_check.public_id)),
    "annotation:groups": Door(STAFF, slug),
    "annotation:regrading": Door(STAFF, slug),
    "annotation:regrading-csv": Door(STAFF, slug),
    "annotation:group-new": Door(ADMIN, slug, writes_only=True),
    "annotation:group": Door(STAFF, a_group),
    "annotation:member-add": Door(ADMIN, a_group, writes_only=True),
    "annotation:member": Door(ADMIN, a_member, writes_only=True),
    "annotation:member-capacity": Door(ADMIN, a_member, writes_only=True),
    "annotation:progress": Door(STAFF, slug),
    "annotation:progress-table": Door(STAFF, of(table=lambda world: "physicians")),
    "annotation:batches-csv": Door(STAFF, slug),
    "annotation:conflicts-csv": Door(STAFF, slug),
    "annotation:batch-pieces": Door(STAFF, a_batch),
    "annotation:batch-handover": Door(ADMIN, a_batch),
    "annotation:batches": Door(STAFF, slug),
    "annotation:batch-new": Door(ADMIN, slug),
    "annotation:batch-preview": Door(ADMIN, slug),
    "annotation:batch": Door(STAFF, a_batch),
    "annotation:batch-pause": Door(ADMIN, a_batch, writes_only=True),
    "annotation:batch-open": Door(ADMIN, a_batch, writes_only=True),
    "annotation:batch-close": Door(ADMIN, a_batch, writes_only=True),
    "annotation:batch-extend": Door(ADMIN, a_batch, writes_only=True),
    "annotation:batch-progress": Door(STAFF, a_batch),
    "annotation:conflicts": Door(STAFF, slug),
}

# Written responses -----------------------------------------------------------------------------------------------


def _written(world: World) -> WritingTask:
    """The first case that the annotator is to write to."""
    return WritingTask.objects.select_related("batch").filter(writer=world.users["annotator"]).order_by("pk")[0]


a_writing_task = bare(public_id=lambda world: _written(world).public_id)
DOORS |= {
    "annotation:writing-task": Door(ANNOTATOR, a_writing_task),
    "annotation:writing-save": Door(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-check": Door(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-submit": Door(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-time": Door(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-new": Door(ADMIN, slug),
    "annotation:writing-preview": Door(ADMIN, slug),
    "annotation:writing-csv": Door(STAFF, of(public_id=lambda world: _written(world).batch.public_id)),
    "api:api-writing-new": Door(ADMIN, slug, writes_only=True),
    "api:api-writing-tasks": Door(SIGNED_IN),
    "api:api-writing-task": Door(ANNOTATOR, a_writing_task),
    "api:api-writing-save": Door(ANNOTATOR, a_writing_task, writes_only=True),
    "api:api-writing-submit": Door(ANNOTATOR, a_writing_task, writes_only=True),
}

# Qualification, keys and quality ----------------------------------------------------------------------------------
of_member = of(membership=lambda world: world.membership)
a_key = of(public_id=lambda world: world.key.public_id)
DOORS |= {
    "annotation:own-quality": Door(SIGNED_IN),
    "annotation:own-quality-csv": Door(SIGNED_IN),
    "annotation:qualification-feedback": Door(ANNOTATOR, bare(public_id=lambda world: world.attempt.public_id)),
    "annotation:qualification-start": Door(
        frozenset({"annotator", "second_annotator"}),
        bare(public_id=lambda world: world.groups["A"].public_id),
        writes_only=True,
    ),
    "annotation:quality": Door(STAFF, slug),
    "annotation:quality-csv": Door(STAFF, slug),
    "annotation:quality-person": Door(STAFF, of_member),
    "annotation:quality-person-csv": Door(STAFF, of_member),
    "annotation:quality-hold": Door(ADMIN, of_member, writes_only=True),
    "annotation:quality-lift": Door(ADMIN, of_member, writes_only=True),
    "annotation:qualification": Door(STAFF, slug),
    "annotation:key-choose": Door(ADMIN, slug),
    "annotation:key-import": Door(ADMIN, slug, writes_only=True),
    "annotation:keys-csv": Door(STAFF, of(use=lambda world: "qualification")),
    "annotation:key": Door(STAFF, a_key),
    "annotation:key-active": Door(ADMIN, a_key, writes_only=True),
    "annotation:key-use": Door(ADMIN, a_key, writes_only=True),
}

# Case labels -----------------------------------------------------------------------------------------------------
a_question = of(public_id=lambda world: world.question.public_id)
label_task = bare(public_id=lambda world: world.label_task.public_id)
DOORS |= {
    "annotation:label": Door(ANNOTATOR, label_task),
    "annotation:label-answer": Door(ANNOTATOR, label_task, writes_only=True),
    "annotation:label-submit": Door(ANNOTATOR, label_task, writes_only=True),
    "annotation:label-time": Door(ANNOTATOR, label_task, writes_only=True),
    "annotation:labels": Door(STAFF, slug),
    "annotation:label-new": Door(ADMIN, slug),
    "annotation:label-batch-new": Door(ADMIN, slug),
    "annotation:label-batch-preview": Door(ADMIN, slug),
    "annotation:label-write-tags": Door(ADMIN, slug, writes_only=True),
    "annotation:label-results": Door(STAFF, a_question),
    "annotation:label-edit": Door(ADMIN, a_question),
    "annotation:label-retire": Door(ADMIN, a_question, writes_only=True),
    "annotation:label-restore": Door(ADMIN, a_question, writes_only=True),
    "annotation:label-agreement-csv": Door(STAFF, a_question),
    "annotation:label-cases-csv": Door(STAFF, a_question),
    "annotation:label-answers-csv": Door(STAFF, a_question),
    "api:api-label-questions": Door(STAFF, slug),
    "api:api-label-question": Door(STAFF, a_question),
    "api:api-label-tasks": Door(SIGNED_IN),
    "api:api-label-task": Door(ANNOTATOR, label_task),
    "api:api-label-answers": Door(ANNOTATOR, label_task, writes_only=True),
    "api:api-label-submit": Door(ANNOTATOR, label_task, writes_only=True),
}

# Agreement -------------------------------------------------------------------------------------------------------
a_report = of(section=lambda world: "agreement", public_id=lambda world: world.report.public_id)


def of_report(name: str) -> Arguments:
    return of(
        section=lambda world: "agreement", public_id=lambda world: world.report.public_id, name=lambda world: name
    )


DOORS |= {
    "agreement:reports": Door(STAFF, slug),
    "agreement:scores": Door(STAFF, slug),
    "agreement:calibration": Door(STAFF, slug),
    "agreement:planning": Door(STAFF, slug),
    "agreement:planning-csv": Door(STAFF, of(name=lambda world: "budget")),
    "agreement:planning-figure": Door(STAFF, of(suffix=lambda world: "svg")),
    "agreement:report": Door(STAFF, a_report),
    "agreement:progress": Door(STAFF, a_report),
    "agreement:recompute": Door(STAFF, a_report, writes_only=True),
    "agreement:decisions": Door(STAFF, a_report),
    "agreement:pair": Door(
        STAFF,
        of(
            public_id=lambda world: world.items.public_id,
            response_id=lambda world: table_of(world.items, "tail").dicts()[0]["response"],
        ),
    ),
    "agreement:table-csv": Door(STAFF, of_report("agreement")),
    "agreement:freshness": Door(STAFF, a_report),
    "agreement:archive": Door(STAFF, a_report),
    "agreement:workbook": Door(STAFF, a_report),
    "agreement:methods": Door(STAFF, lambda world: {**a_report(world), "ending": "md"}),
    "agreement:table": Door(STAFF, lambda world: {**of_report("agreement")(world), "ending": "tex"}),
    "agreement:figure": Door(STAFF, lambda world: {**of_report("distribution")(world), "ending": "svg"}),
}

# Scoring ---------------------------------------------------------------------------------------------------------
a_judge = of(public_id=lambda world: world.judge.public_id)
a_run = of(public_id=lambda world: world.run.public_id)
a_jury = of(public_id=lambda world: world.jury.public_id)
a_trained_judge = of(public_id=lambda world: world.trained.public_id)
DOORS |= {
    "scoring:judges": Door(STAFF, slug),
    "scoring:judge-new-chat": Door(STAFF, slug),
    "scoring:prompt-preview": Door(STAFF, slug, writes_only=True),
    "scoring:judge-new-trained": Door(STAFF, slug),
    "scoring:judge-new-jury": Door(STAFF, slug),
    "scoring:jury-csv": Door(STAFF, a_jury),
    "scoring:run-comparison-csv": Door(STAFF, a_run),
    "scoring:run-new": Door(STAFF, slug),
    "scoring:run-size": Door(STAFF, slug),
    "scoring:run": Door(STAFF, a_run),
    "scoring:run-progress": Door(STAFF, a_run),
    "scoring:run-cancel": Door(STAFF, a_run, writes_only=True),
    "scoring:run-resume": Door(STAFF, a_run, writes_only=True),
    "scoring:run-continue": Door(STAFF, a_run, writes_only=True),
    "scoring:verdicts": Door(STAFF, a_run),
    "scoring:verdicts-csv": Door(STAFF, a_run),
    "scoring:judgements": Door(STAFF, a_run),
    "scoring:judge": Door(STAFF, a_judge),
    "scoring:judge-training": Door(STAFF, a_judge),
    "scoring:model-card-csv": Door(STAFF, a_trained_judge),
    "scoring:calibration-svg": Door(STAFF, a_trained_judge),
    "scoring:calibration-png": Door(STAFF, a_trained_judge),
    "scoring:supervision": Door(STAFF, slug),
    "scoring:judge-train-again": Door(STAFF, a_judge, writes_only=True),
    "scoring:judge-susceptibility": Door(STAFF, a_judge),
    "scoring:judge-susceptibility-size": Door(STAFF, a_judge),
    "scoring:judge-susceptibility-csv": Door(STAFF, a_judge),
}

# API -------------------------------------------------------------------------------------------------------------
DOORS |= {
    "api:api-benchmarks": Door(SIGNED_IN),
    "api:api-benchmark": Door(STAFF, slug),
    "api:api-cases": Door(STAFF, slug),
    "api:api-case": Door(STAFF, a_case),
    "api:api-write-cases": Door(WRITERS, slug),
    "api:api-write-case": Door(WRITERS, a_draft_case),
    "api:api-write-privacy": Door(WRITERS, a_draft_case),
    "api:api-authors": Door(ADMIN, slug),
    "api:api-author": Door(ADMIN, of(role=lambda world: world.authoring_role), writes_only=True),
    "api:api-candidates": Door(STAFF, slug),
    "api:api-candidate": Door(STAFF, a_candidate),
    "api:api-responses": Door(STAFF, slug),
    "api:api-response": Door(STAFF, of(public_id=lambda world: world.response.public_id)),
    "api:api-imports": Door(STAFF, slug),
    "api:api-import": Door(STAFF, a_job),
    "api:api-import-restart": Door(STAFF, a_job, writes_only=True),
    "api:api-groups": Door(STAFF, slug),
    "api:api-group": Door(STAFF, a_group),
    "api:api-members": Door(STAFF, a_group),
    "api:api-member": Door(ADMIN, a_member, writes_only=True),
    "api:api-batches": Door(STAFF, slug),
    "api:api-batch-preview": Door(ADMIN, slug, writes_only=True),
    "api:api-batch": Door(STAFF, a_batch),
    "api:api-batch-pause": Door(ADMIN, a_batch, writes_only=True),
    "api:api-batch-open": Door(ADMIN, a_batch, writes_only=True),
    "api:api-batch-close": Door(ADMIN, a_batch, writes_only=True),
    "api:api-conflicts": Door(STAFF, slug),
    "api:api-assignments": Door(SIGNED_IN),
    "api:api-assignment": Door(ANNOTATOR, open_work),
    "api:api-decisions": Door(ANNOTATOR, open_work, writes_only=True),
    "api:api-submit": Door(ANNOTATOR, open_work, writes_only=True),
    "api:api-take": Door(GROUP_A_ANNOTATORS, open_batch, writes_only=True),
    "api:api-skip": Door(ANNOTATOR, open_work, writes_only=True),
    "api:api-checks": Door(SIGNED_IN),
    "api:api-check-next": Door(SIGNED_IN, writes_only=True),
    "api:api-check": Door(CHECKER, held_check),
    "api:api-check-claim": Door(CHECKER, held_check, writes_only=True),
    "api:api-amendments": Door(CHECKER, held_check, writes_only=True),
    "api:api-check-accept": Door(CHECKER, held_check, writes_only=True),
    "api:api-check-return": Door(CHECKER, held_check, writes_only=True),
    "api:api-check-release": Door(CHECKER, held_check, writes_only=True),
    "api:api-adjudications": Door(SIGNED_IN),
    "api:api-adjudication-next": Door(SIGNED_IN, writes_only=True),
    "api:api-adjudication": Door(ADJUDICATOR, conflict),
    "api:api-adjudication-claim": Door(ADJUDICATOR, conflict, writes_only=True),
    "api:api-rulings": Door(ADJUDICATOR, conflict, writes_only=True),
    "api:api-adjudication-finish": Door(ADJUDICATOR, conflict, writes_only=True),
    "api:api-judges": Door(STAFF, slug),
    "api:api-supervision": Door(STAFF, slug, writes_only=True),
    "api:api-judge": Door(STAFF, a_judge),
    "api:api-runs": Door(STAFF, slug),
    "api:api-run": Door(STAFF, a_run),
    "api:api-run-cancel": Door(STAFF, a_run, writes_only=True),
    "api:api-run-resume": Door(STAFF, a_run, writes_only=True),
    "api:api-run-continue": Door(STAFF, a_run, writes_only=True),
    "api:api-regrading": Door(STAFF, slug),
    "api:api-versions": Door(WRITERS, a_draft_case),
    "api:api-versions-diff": Door(WRITERS, a_draft_case),
    "api:api-review": Door(frozenset(), a_draft_case),
    "api:api-send-to-review": Door(WRITERS, a_draft_case, writes_only=True),
    "api:api-take-back": Door(WRITERS, a_draft_case, writes_only=True),
    "api:api-discard-draft": Door(WRITERS, a_draft_case, writes_only=True),
    "api:api-reviews": Door(WRITERS, slug),
    "api:api-drafts-send": Door(WRITERS, slug, writes_only=True),
    "api:api-verdicts": Door(STAFF, a_run),
    "api:api-judgements": Door(STAFF, a_run),
    "api:api-raters": Door(STAFF, slug),
    "api:api-reports": Door(STAFF, slug),
    "api:api-planning": Door(STAFF, slug),
    "api:api-report": Door(STAFF, of(public_id=lambda world: world.report.public_id)),
    **{
        f"api:api-report-{name}": Door(STAFF, of(public_id=lambda world: world.report.public_id))
        for name in ("freshness", "methods", "archive", "workbook")
    },
    "api:api-report-recompute": Door(STAFF, of(public_id=lambda world: world.report.public_id), writes_only=True),
    "api:api-report-rows": Door(
        STAFF, of(public_id=lambda world: world.report.public_id, name=lambda world: "agreement")
    ),
    "api:api-report-table": Door(
        STAFF,
        of(
            public_id=lambda world: world.report.public_id,
            name=lambda world: "agreement",
            ending=lambda world: "csv",
        ),
    ),
    "api:api-report-figure": Door(
        STAFF,
        of(
            public_id=lambda world: world.report.public_id,
            name=lambda world: "distribution",
            ending=lambda world: "svg",
        ),
    ),
}

# Signed thresholds -----------------------------------------------------------------------------------------------
DOORS |= {
    "agreement:sign-threshold": Door(STAFF, slug),
    "agreement:thresholds-csv": Door(STAFF, slug),
    "api:api-thresholds": Door(STAFF, slug),
}

# Named slices ----------------------------------------------------------------------------------------------------
a_slice = of(name=lambda world: "hardest")
DOORS |= {
    "agreement:slices": Door(STAFF, slug),
    "agreement:slices-preview": Door(STAFF, slug),
    "agreement:slice-csv": Door(STAFF, a_slice),
    "agreement:slice-retire": Door(STAFF, a_slice, writes_only=True),
    "api:api-slices": Door(STAFF, slug),
    "api:api-slices-preview": Door(STAFF, slug, writes_only=True),
    "api:api-slice": Door(STAFF, a_slice),
    "api:api-slice-cases": Door(STAFF, a_slice),
    "api:api-slice-retire": Door(STAFF, a_slice, writes_only=True),
}

# Decisions as a file ---------------------------------------------------------------------------------------------
DOORS |= {
    "agreement:decisions-csv": Door(STAFF, slug),
    "api:api-decisions-csv": Door(STAFF, slug),
}

# Generated responses ---------------------------------------------------------------------------------------------
a_generation = of(public_id=lambda world: world.benchmark.generation_runs.get().public_id)
DOORS |= {
    "scoring:generation": Door(STAFF, slug),
    "scoring:generation-new": Door(STAFF, slug),
    "scoring:generation-size": Door(STAFF, slug, writes_only=True),
    "scoring:generation-trial": Door(STAFF, slug, writes_only=True),
    "scoring:generation-run": Door(STAFF, a_generation),
    "scoring:generation-progress": Door(STAFF, a_generation),
    "scoring:generation-cancel": Door(STAFF, a_generation, writes_only=True),
    "scoring:generation-resume": Door(STAFF, a_generation, writes_only=True),
    "scoring:generation-csv": Door(STAFF, a_generation),
    "api:api-generation": Door(STAFF, slug),
    "api:api-generation-run": Door(STAFF, a_generation),
    "api:api-generation-cancel": Door(STAFF, a_generation, writes_only=True),
    "api:api-generation-resume": Door(STAFF, a_generation, writes_only=True),
}

# Screening -------------------------------------------------------------------------------------------------------
a_screening = of(public_id=lambda world: world.benchmark.screenings.get().public_id)
DOORS |= {
    "scoring:screenings": Door(STAFF, slug),
    "scoring:screening-new": Door(STAFF, slug),
    "scoring:screening": Door(STAFF, a_screening),
    "scoring:screening-decide": Door(STAFF, a_screening, writes_only=True),
    "scoring:screening-close": Door(STAFF, a_screening, writes_only=True),
    "scoring:screening-csv": Door(STAFF, a_screening),
    "scoring:screening-distribution-csv": Door(STAFF, a_screening),
    "api:api-screenings": Door(STAFF, slug),
    "api:api-screening": Door(STAFF, a_screening),
    "api:api-screened-cases": Door(STAFF, a_screening),
    "api:api-screening-decisions": Door(STAFF, a_screening, writes_only=True),
    "api:api-screening-close": Door(STAFF, a_screening, writes_only=True),
}

# The rubric editor -----------------------------------------------------------------------------------------------
a_written_case = of(public_id=lambda world: world.draft_case.public_id)
a_written_table = of(public_id=lambda world: world.draft_case.public_id, kind=lambda _world: "csv")
DOORS |= {
    "rubrics:tag-suggestions": Door(WRITERS, slug),
    "rubrics:rubrics-table": Door(WRITERS, of(kind=lambda _world: "csv")),
    "rubrics:benchmark-traceability": Door(WRITERS, slug),
    "rubrics:write-rubric": Door(WRITERS, a_written_case),
    "rubrics:rubric-draft": Door(WRITERS, a_written_case),
    "rubrics:rubric-lint": Door(WRITERS, a_written_case, writes_only=True),
    "rubrics:rubric-paste": Door(WRITERS, a_written_case, writes_only=True),
    "rubrics:begin-version": Door(WRITERS, a_written_case, writes_only=True),
    "rubrics:rubric-table": Door(WRITERS, a_written_table),
    "rubrics:traceability": Door(WRITERS, a_written_case),
    "rubrics:traceability-table": Door(WRITERS, a_written_table),
    "api:api-draft": Door(WRITERS, a_written_case),
    "api:api-draft-lint": Door(WRITERS, a_written_case, writes_only=True),
    "api:api-draft-table": Door(WRITERS, a_written_case, writes_only=True),
}

# Contributions ---------------------------------------------------------------------------------------------------
DOORS |= {
    "annotation:contributions": Door(ADMIN, slug),
    "annotation:contributions-csv": Door(ADMIN, slug),
    "annotation:acknowledgement": Door(ADMIN, slug),
    "annotation:payment-csv": Door(ADMIN, slug, writes_only=True),
    "annotation:credentials-csv": Door(ADMIN, slug),
}

# Releases --------------------------------------------------------------------------------------------------------
a_release = of(public_id=lambda world: world.released.public_id)
DOORS |= {
    "releases:releases": Door(STAFF, slug),
    "releases:release-new": Door(ADMIN, slug),
    "releases:release": Door(STAFF, a_release),
    "releases:release-progress": Door(STAFF, a_release),
    "releases:release-restart": Door(ADMIN, a_release, writes_only=True),
    "releases:release-archive": Door(STAFF, a_release),
    "releases:release-files": Door(STAFF, a_release),
    "releases:release-changes": Door(STAFF, a_release),
    "api:api-releases": Door(STAFF, slug),
    "api:api-release": Door(STAFF, a_release),
    "api:api-release-archive": Door(STAFF, a_release),
}

# Senior audit ----------------------------------------------------------------------------------------------------
an_audit = of(public_id=lambda world: world.benchmark.audits.get().public_id)
an_audit_item = of(public_id=lambda world: world.benchmark.audits.get().items.get(auditor__isnull=False).public_id)
DOORS |= {
    "rubrics:audits": Door(STAFF, slug),
    "rubrics:audit-new": Door(ADMIN, slug),
    "rubrics:audit-draw": Door(ADMIN, slug),
    "rubrics:audit": Door(STAFF, an_audit),
    "rubrics:audit-rates-csv": Door(STAFF, an_audit),
    "rubrics:audit-readings-csv": Door(STAFF, an_audit),
    "rubrics:audit-close": Door(ADMIN, an_audit, writes_only=True),
    "rubrics:audit-remove": Door(
        ADMIN,
        of(
            public_id=lambda world: world.benchmark.audits.get().public_id,
            case=lambda world: world.benchmark.audits.get().items.first().case.public_id,
        ),
        writes_only=True,
    ),
    "rubrics:audit-desk": Door(AUDITORS, slug),
    "rubrics:audit-take": Door(AUDITORS, slug, writes_only=True),
    "rubrics:audit-item": Door(AUDITORS, an_audit_item),
    "rubrics:audit-item-save": Door(AUDITORS, an_audit_item, writes_only=True),
    "rubrics:audit-item-submit": Door(AUDITORS, an_audit_item, writes_only=True),
    "rubrics:audit-item-release": Door(AUDITORS, an_audit_item, writes_only=True),
    "api:api-audits": Door(STAFF, slug),
    "api:api-audit": Door(STAFF, an_audit),
}
