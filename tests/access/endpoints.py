"""Which role may pass which endpoint. An address that is not listed here fails a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agreement.reports.stored import table_of
from annotation.models import WritingTask
from drafting.models import DraftingRun
from tests.access.world import ROLES, World
from validation.models import (
    CoverageDecision,
    CoverageRun,
    MakingRun,
    NearMissPair,
    RefinementRun,
    SplittingRun,
    TrialRun,
)

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
WRITERS = STAFF | AUTHORS  # who reach the authors' dashboard
MEMBERS = frozenset({"annotator", "second_annotator", "checker", "adjudicator", "group_b_annotator"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who gets in; what stands in the address; ``writes_only`` endpoints answer GET with 405.

    ``framework`` endpoints come with Django, allauth or DRF: they hold nothing of a benchmark, and their own tests.
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


def both_sides(world: World) -> dict[str, Any]:
    """The first pair of responses on both sides of k."""
    row = table_of(world.scores, "both_sides").dicts()[0]
    return of(public_id=lambda _: world.scores.public_id, response_id=lambda _: row["response_above"])(world)


def open_batch(world: World) -> dict[str, Any]:
    """The batch of group A that its annotators work on."""
    return {"public_id": world.open_work.batch.public_id}


def framework(*names: str) -> dict[str, Endpoint]:
    return {name: Endpoint(EVERYBODY, framework=True) for name in names}


ENDPOINTS: dict[str, Endpoint] = {}

# Framework -------------------------------------------------------------------------------------------------------
ENDPOINTS |= framework(
    "account_login", "account_logout", "account_inactive", "account_signup", "account_reauthenticate", "account_email",
    "account_email_verification_sent", "account_change_password", "account_set_password", "account_reset_password",
    "account_confirm_login_code", "account_confirm_email", "account_reset_password_from_key_done",
    "account_reset_password_from_key", "account_reset_password_done", "mfa_index", "mfa_authenticate",
    "mfa_reauthenticate", "mfa_activate_totp", "mfa_deactivate_totp", "mfa_view_recovery_codes",
    "mfa_generate_recovery_codes", "mfa_list_webauthn", "mfa_add_webauthn", "mfa_edit_webauthn", "mfa_remove_webauthn",
    "mfa_login_webauthn", "mfa_reauthenticate_webauthn", "mfa_download_recovery_codes", "socialaccount_login_cancelled",
    "socialaccount_login_error", "socialaccount_signup", "socialaccount_connections", "openid_connect_login",
    "openid_connect_callback", "set_language", "healthz", "metrics", "security-txt", "rule-endpoint", "api:schema",
    "api:docs",
    # allauth's redirects of former addresses have no name
    "social/login/cancelled/", "social/login/error/", "social/signup/", "social/connections/",
)  # fmt: skip

ANNOTATOR, CHECKER, ADJUDICATOR = frozenset({"annotator"}), frozenset({"checker"}), frozenset({"adjudicator"})

# Accounts --------------------------------------------------------------------------------------------------------
ENDPOINTS |= {
    "accounts:home": Endpoint(SIGNED_IN),
    "accounts:profile": Endpoint(SIGNED_IN),
    "accounts:session": Endpoint(EVERYBODY, framework=True),
    "accounts:second-step": Endpoint(SIGNED_IN),
    "accounts:confirmed": Endpoint(SIGNED_IN),
    "accounts:deliveries": Endpoint(SIGNED_IN),
    "accounts:api-tokens": Endpoint(SIGNED_IN),
    "accounts:api-tokens-revoke-all": Endpoint(SIGNED_IN, writes_only=True),
    "accounts:api-token-revoke": Endpoint(ANNOTATOR, bare(public_id=lambda world: world.api_token), writes_only=True),
    "accounts:sessions": Endpoint(SIGNED_IN),
    "api:api-sessions": Endpoint(SIGNED_IN),
    "api:api-session": Endpoint(frozenset(), bare(number=lambda _world: "0" * 16), writes_only=True),  # there is none
    "api:api-tokens": Endpoint(SIGNED_IN),
    "api:api-token": Endpoint(ANNOTATOR, bare(public_id=lambda world: world.api_token), writes_only=True),
    "accounts:notifications": Endpoint(SIGNED_IN),
    "accounts:notifications-read": Endpoint(SIGNED_IN, writes_only=True),
    "accounts:notification": Endpoint(ANNOTATOR, bare(public_id=lambda world: world.notification)),
    "accounts:notification-read": Endpoint(
        ANNOTATOR, bare(public_id=lambda world: world.notification), writes_only=True
    ),
    # For whoever holds the link; tests/accounts has what they answer.
    "accounts:unsubscribe": Endpoint(EVERYBODY, framework=True),
    "accounts:welcome": Endpoint(EVERYBODY, framework=True),
    "accounts:first-run": Endpoint(EVERYBODY, framework=True),
}

# The server ------------------------------------------------------------------------------------------------------
OPERATORS = frozenset({"superuser"})
an_account = bare(username=lambda world: world.users["annotator"].username)
ENDPOINTS |= {
    "operations:status": Endpoint(OPERATORS),
    "operations:status-table": Endpoint(OPERATORS, bare(table=lambda _world: "parts")),
    "operations:keys": Endpoint(OPERATORS),
    "operations:keys-csv": Endpoint(OPERATORS),
    "operations:key-grant": Endpoint(OPERATORS, writes_only=True),
    "operations:key-withdraw": Endpoint(OPERATORS, writes_only=True),
    "operations:security-log": Endpoint(OPERATORS),
    "operations:security-log-csv": Endpoint(OPERATORS),
    "operations:security-log-jsonl": Endpoint(OPERATORS),
    "operations:records": Endpoint(ADMIN, slug),
    "operations:records-csv": Endpoint(ADMIN, slug),
    "operations:records-jsonl": Endpoint(ADMIN, slug),
    "operations:server-changes": Endpoint(OPERATORS),
    "operations:server-changes-csv": Endpoint(OPERATORS),
    "operations:changes": Endpoint(ADMIN, slug),
    "operations:changes-csv": Endpoint(ADMIN, slug),
    "operations:activity": Endpoint(SIGNED_IN),
    "operations:activity-csv": Endpoint(SIGNED_IN),
    "operations:accounts": Endpoint(OPERATORS),
    "operations:accounts-csv": Endpoint(OPERATORS),
    "operations:account": Endpoint(OPERATORS, an_account),
    "operations:account-rights": Endpoint(OPERATORS, an_account, writes_only=True),
    "operations:account-deactivate": Endpoint(OPERATORS, an_account, writes_only=True),
    "operations:account-activate": Endpoint(OPERATORS, an_account, writes_only=True),
    "api:api-security-log": Endpoint(OPERATORS),
    "api:api-records": Endpoint(ADMIN, slug),
    "api:api-activity": Endpoint(SIGNED_IN),
    "api:api-server-changes": Endpoint(OPERATORS),
    "api:api-changes": Endpoint(ADMIN, slug),
    "api:api-accounts": Endpoint(OPERATORS),
    "api:api-account-deactivate": Endpoint(OPERATORS, writes_only=True),
    "api:api-account-activate": Endpoint(OPERATORS, writes_only=True),
    "operations:backups": Endpoint(OPERATORS),
    "operations:backups-csv": Endpoint(OPERATORS),
}

# Rubrics ---------------------------------------------------------------------------------------------------------
a_case = of(public_id=lambda world: world.case.public_id)
a_draft_case = of(public_id=lambda world: world.draft_case.public_id)
a_candidate = of(public_id=lambda world: world.candidate.public_id)
an_invitation = of(public_id=lambda world: world.invitation)
a_job = of(public_id=lambda world: world.job.public_id)
an_example = of(kind=lambda _world: "cases", name=lambda _world: "cases.csv")
ENDPOINTS |= {
    "rubrics:benchmarks": Endpoint(SIGNED_IN),
    "rubrics:benchmark-new": Endpoint(CREATORS),
    "rubrics:overview": Endpoint(STAFF, slug),
    "rubrics:settings": Endpoint(ADMIN, slug),
    "rubrics:rules": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:second-step": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:maps": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:maps-csv": Endpoint(ADMIN, slug),
    "rubrics:people": Endpoint(ADMIN, slug),
    "rubrics:person-withdraw": Endpoint(ADMIN, of(role=lambda world: world.role), writes_only=True),
    "rubrics:authors": Endpoint(ADMIN, slug),
    "rubrics:author-withdraw": Endpoint(ADMIN, of(role=lambda world: world.authoring_role), writes_only=True),
    "rubrics:write": Endpoint(WRITERS, slug),
    "rubrics:write-csv": Endpoint(WRITERS, slug),
    "rubrics:write-new": Endpoint(WRITERS, slug),
    "rubrics:write-case": Endpoint(WRITERS, a_draft_case),
    "rubrics:write-case-save": Endpoint(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-preview": Endpoint(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-erratum": Endpoint(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-delete": Endpoint(WRITERS, a_case, writes_only=True),
    "rubrics:write-time": Endpoint(WRITERS | AUDITORS, a_draft_case, writes_only=True),
    "rubrics:write-waive": Endpoint(WRITERS, a_draft_case, writes_only=True),
    "rubrics:write-ask-again": Endpoint(
        WRITERS,
        of(public_id=lambda world: world.draft_case.public_id, waiver=lambda world: world.waiver),
        writes_only=True,
    ),
    "rubrics:revision-open": Endpoint(WRITERS, slug, writes_only=True),
    "rubrics:reviews": Endpoint(WRITERS, slug),
    "rubrics:drafts": Endpoint(WRITERS, slug),
    "rubrics:review": Endpoint(WRITERS, a_draft_case),
    "rubrics:send-to-review": Endpoint(WRITERS, a_draft_case),
    "rubrics:take-back": Endpoint(WRITERS, a_draft_case),
    "rubrics:discard-draft": Endpoint(WRITERS, a_draft_case),
    "rubrics:history": Endpoint(WRITERS, a_draft_case),
    "rubrics:diff": Endpoint(WRITERS, a_draft_case),
    "rubrics:diff-csv": Endpoint(WRITERS, a_draft_case),
    "rubrics:invite": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:password-link": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:invitation-again": Endpoint(ADMIN, an_invitation, writes_only=True),
    "rubrics:invitation-withdraw": Endpoint(ADMIN, an_invitation, writes_only=True),
    "rubrics:cases": Endpoint(STAFF, slug),
    "rubrics:cases-csv": Endpoint(STAFF, slug),
    "rubrics:case": Endpoint(STAFF, a_case),
    "rubrics:excluded": Endpoint(STAFF, slug),
    "rubrics:excluded-csv": Endpoint(STAFF, slug),
    "rubrics:case-languages": Endpoint(STAFF, slug),
    "rubrics:case-languages-set": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:case-languages-detect": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:case-exclude": Endpoint(ADMIN, a_case, writes_only=True),
    "rubrics:case-restore": Endpoint(ADMIN, a_case, writes_only=True),
    "rubrics:revisions": Endpoint(STAFF, slug),
    "rubrics:revisions-csv": Endpoint(STAFF, slug),
    "rubrics:revision-dismiss": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:candidates": Endpoint(STAFF, slug),
    "rubrics:candidate": Endpoint(STAFF, a_candidate),
    "rubrics:candidate-attributes": Endpoint(STAFF, slug),
    "rubrics:candidate-attributes-csv": Endpoint(STAFF, slug),
    "rubrics:candidate-attributes-edit": Endpoint(STAFF, a_candidate),
    "rubrics:imports": Endpoint(STAFF, slug),
    "rubrics:import": Endpoint(STAFF, a_job),
    "rubrics:import-state": Endpoint(STAFF, a_job),
    "rubrics:import-restart": Endpoint(STAFF, a_job, writes_only=True),
    "rubrics:import-faults": Endpoint(STAFF, a_job),
    "rubrics:import-preview": Endpoint(STAFF, a_job, writes_only=True),
    "rubrics:import-example": Endpoint(STAFF, an_example),
}

a_bank = of(bank=lambda world: "own")
ENDPOINTS |= {
    "rubrics:bank": Endpoint(WRITERS, slug),
    "rubrics:bank-csv": Endpoint(WRITERS, slug),
    "rubrics:bank-search": Endpoint(WRITERS, slug),
    "rubrics:bank-clusters": Endpoint(WRITERS, slug),
    "rubrics:banks": Endpoint(WRITERS, slug),
    "rubrics:bank-use": Endpoint(WRITERS, a_bank, writes_only=True),
    "rubrics:bank-export": Endpoint(WRITERS, of(bank=lambda world: "own", ending=lambda world: "jsonl")),
    "rubrics:bank-item": Endpoint(WRITERS, of(bank=lambda world: "own", key=lambda world: "k1")),
    "api:api-bank": Endpoint(WRITERS, slug),
    "api:api-banks": Endpoint(WRITERS, slug),
}

a_code_book = of(version=lambda world: 1)
a_code = of(key=lambda world: "overconfidence")
ENDPOINTS |= {
    "rubrics:codes": Endpoint(STAFF, slug),
    "rubrics:codes-version": Endpoint(STAFF, a_code_book),
    "rubrics:codes-export": Endpoint(STAFF, of(version=lambda world: 1, ending=lambda world: "csv")),
    "rubrics:codes-adopt": Endpoint(ADMIN, slug, writes_only=True),
    "rubrics:code-new": Endpoint(ADMIN, slug),
    "rubrics:code": Endpoint(ADMIN, a_code),
    "rubrics:code-remove": Endpoint(ADMIN, a_code, writes_only=True),
    "api:api-code-books": Endpoint(STAFF, slug),
    "api:api-code-book": Endpoint(STAFF, a_code_book),
}

# Documents -------------------------------------------------------------------------------------------------------
READERS = STAFF | AUTHORS | AUDITORS | MEMBERS
a_collection = of(public_id=lambda world: world.collection.public_id)
a_document = of(public_id=lambda world: world.document.public_id)
a_passage = of(public_id=lambda world: world.passage.public_id)
ENDPOINTS |= {
    "documents:documents": Endpoint(READERS, slug),
    "documents:documents-csv": Endpoint(READERS, slug),
    "documents:document": Endpoint(READERS, a_document),
    "documents:passages-csv": Endpoint(READERS, a_document),
    "documents:document-file": Endpoint(READERS, a_document),
    "documents:document-page": Endpoint(
        READERS, of(public_id=lambda world: world.document.public_id, number=lambda world: 1)
    ),
    "documents:passage": Endpoint(READERS, a_passage),
    "documents:search": Endpoint(READERS, slug),
    "documents:find": Endpoint(READERS, slug),
    "documents:beside": Endpoint(READERS, slug),
    "documents:newer": Endpoint(READERS, a_passage),
    "documents:document-edit": Endpoint(STAFF, a_document),
    "documents:document-retire": Endpoint(STAFF, a_document, writes_only=True),
    "documents:document-restore": Endpoint(STAFF, a_document, writes_only=True),
    "documents:collections": Endpoint(STAFF, slug),
    "documents:collection": Endpoint(STAFF, a_collection),
    "documents:collection-edit": Endpoint(STAFF, a_collection),
    "documents:collection-import": Endpoint(STAFF, a_collection),
    "documents:collection-rebuild": Endpoint(STAFF, a_collection, writes_only=True),
    "documents:edition-citations": Endpoint(STAFF, a_document),
    "documents:edition-citations-csv": Endpoint(STAFF, a_document),
    "documents:edition-look": Endpoint(STAFF, a_document, writes_only=True),
    "api:api-edition-citations": Endpoint(STAFF, a_document),
    "api:api-collections": Endpoint(READERS, slug),
    "api:api-collection": Endpoint(READERS, a_collection),
    "api:api-collection-documents": Endpoint(STAFF, a_collection, writes_only=True),
    "api:api-documents": Endpoint(READERS, slug),
    "api:api-passages": Endpoint(READERS, slug),
    "api:api-document": Endpoint(READERS, a_document),
    "api:api-document-passages": Endpoint(READERS, a_document),
    "api:api-passage": Endpoint(READERS, a_passage),
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
ENDPOINTS |= {
    "annotation:release-unread": Endpoint(SIGNED_IN, writes_only=True),
    "annotation:work": Endpoint(SIGNED_IN),
    "annotation:work-in": Endpoint(MEMBERS | {"left"}, slug),
    "annotation:checks": Endpoint(SIGNED_IN),
    "annotation:checks-in": Endpoint(MEMBERS, slug),
    "annotation:check-next": Endpoint(SIGNED_IN, writes_only=True),
    "annotation:check": Endpoint(CHECKER, held_check),
    "annotation:check-claim": Endpoint(CHECKER, held_check, writes_only=True),
    "annotation:amend": Endpoint(CHECKER, held_criterion, writes_only=True),
    "annotation:check-accept": Endpoint(CHECKER, held_check, writes_only=True),
    "annotation:check-undo": Endpoint(CHECKER, held_check, writes_only=True),
    "annotation:check-return": Endpoint(CHECKER, held_check, writes_only=True),
    "annotation:check-release": Endpoint(CHECKER, held_check, writes_only=True),
    "annotation:adjudications": Endpoint(SIGNED_IN),
    "annotation:adjudications-in": Endpoint(MEMBERS, slug),
    "annotation:adjudicate-next": Endpoint(SIGNED_IN, writes_only=True),
    "annotation:adjudication": Endpoint(ADJUDICATOR, conflict),
    "annotation:adjudication-claim": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "annotation:rule": Endpoint(ADJUDICATOR, conflict_criterion, writes_only=True),
    "annotation:adjudication-finish": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "annotation:adjudication-release": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "annotation:adjudication-undo": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "annotation:take": Endpoint(GROUP_A_ANNOTATORS, open_batch, writes_only=True),
    "annotation:grade": Endpoint(ANNOTATOR, open_work),
    "annotation:decisions": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "annotation:next": Endpoint(ANNOTATOR, open_work),
    "annotation:undo": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "annotation:skip": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "annotation:submit": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "annotation:time": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "annotation:comments": Endpoint(ANNOTATOR | CHECKER, held_check),
    "annotation:threads": Endpoint(ADMIN, slug),
    "annotation:comments-csv": Endpoint(ADMIN, slug),
    "annotation:comments-of": Endpoint(ADMIN, of(public_id=lambda world: world.in_check.public_id)),
    "annotation:people-list": Endpoint(ADMIN, slug),
    "annotation:groups": Endpoint(STAFF, slug),
    "annotation:regrading": Endpoint(STAFF, slug),
    "annotation:regrading-csv": Endpoint(STAFF, slug),
    "annotation:group-new": Endpoint(ADMIN, slug, writes_only=True),
    "annotation:group": Endpoint(STAFF, a_group),
    "annotation:apply": Endpoint(EVERYBODY, bare(token=lambda world: world.benchmark.application_call.token)),
    "annotation:applied": Endpoint(EVERYBODY, bare(token=lambda world: world.benchmark.application_call.token)),
    "annotation:cohort": Endpoint(ADMIN, slug),
    "api:api-applications": Endpoint(ADMIN, slug),
    "api:api-application-reviews": Endpoint(
        ADMIN, of(public_id=lambda world: world.benchmark.applications.get().public_id), writes_only=True
    ),
    "api:api-application-erase": Endpoint(
        ADMIN, of(public_id=lambda world: world.benchmark.applications.get().public_id), writes_only=True
    ),
    "api:api-cohort-flow": Endpoint(ADMIN, slug),
    "annotation:cohort-call": Endpoint(ADMIN, slug),
    "annotation:cohort-import": Endpoint(ADMIN, slug, writes_only=True),
    "annotation:cohort-flow-csv": Endpoint(ADMIN, slug),
    "annotation:cohort-applications-csv": Endpoint(ADMIN, slug),
    "annotation:cohort-reviews-csv": Endpoint(ADMIN, slug),
    "annotation:cohort-licences": Endpoint(ADMIN, slug),
    "annotation:cohort-licences-csv": Endpoint(ADMIN, slug),
    "annotation:cohort-rotation": Endpoint(ADMIN, slug),
    "annotation:cohort-rotation-csv": Endpoint(
        ADMIN, of(public_id=lambda world: world.benchmark.rotation_plans.get().public_id)
    ),
    "annotation:cohort-application": Endpoint(
        ADMIN, of(public_id=lambda world: world.benchmark.applications.get().public_id)
    ),
    "annotation:cohort-erase": Endpoint(
        ADMIN, of(public_id=lambda world: world.benchmark.applications.get().public_id)
    ),
    "annotation:people-all": Endpoint(ADMIN, slug),
    "annotation:people-all-csv": Endpoint(ADMIN, slug),
    "annotation:person-account": Endpoint(ADMIN, slug, writes_only=True),
    "annotation:group-rename": Endpoint(ADMIN, a_group, writes_only=True),
    "annotation:group-delete": Endpoint(ADMIN, a_group, writes_only=True),
    "annotation:member-add": Endpoint(ADMIN, a_group, writes_only=True),
    "annotation:member": Endpoint(ADMIN, a_member, writes_only=True),
    "annotation:member-capacity": Endpoint(ADMIN, a_member, writes_only=True),
    "annotation:progress": Endpoint(STAFF, slug),
    "annotation:progress-table": Endpoint(STAFF, of(table=lambda world: "physicians")),
    "annotation:batches-csv": Endpoint(STAFF, slug),
    "annotation:conflicts-csv": Endpoint(STAFF, slug),
    "annotation:batch-pieces": Endpoint(STAFF, a_batch),
    "annotation:batch-handover": Endpoint(ADMIN, a_batch),
    "annotation:batches": Endpoint(STAFF, slug),
    "annotation:batch-new": Endpoint(ADMIN, slug),
    "annotation:batch-preview": Endpoint(ADMIN, slug),
    "annotation:batch": Endpoint(STAFF, a_batch),
    "annotation:batch-pause": Endpoint(ADMIN, a_batch, writes_only=True),
    "annotation:batch-open": Endpoint(ADMIN, a_batch, writes_only=True),
    "annotation:batch-close": Endpoint(ADMIN, a_batch, writes_only=True),
    "annotation:batch-extend": Endpoint(ADMIN, a_batch, writes_only=True),
    "annotation:batch-remind": Endpoint(ADMIN, a_batch, writes_only=True),
    "annotation:batch-rename": Endpoint(ADMIN, a_batch, writes_only=True),
    "annotation:batch-reviewed": Endpoint(ADMIN, a_batch),
    "annotation:batch-progress": Endpoint(STAFF, a_batch),
    "annotation:conflicts": Endpoint(STAFF, slug),
}

# Written responses -----------------------------------------------------------------------------------------------


def _written(world: World) -> WritingTask:
    """The first case that the annotator is to write to."""
    return WritingTask.objects.select_related("batch").filter(writer=world.users["annotator"]).order_by("pk")[0]


a_writing_task = bare(public_id=lambda world: _written(world).public_id)
ENDPOINTS |= {
    "annotation:writing-task": Endpoint(ANNOTATOR, a_writing_task),
    "annotation:writing-save": Endpoint(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-check": Endpoint(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-submit": Endpoint(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-time": Endpoint(ANNOTATOR, a_writing_task, writes_only=True),
    "annotation:writing-new": Endpoint(ADMIN, slug),
    "annotation:writing-preview": Endpoint(ADMIN, slug),
    "annotation:writing-csv": Endpoint(STAFF, of(public_id=lambda world: _written(world).batch.public_id)),
    "api:api-writing-new": Endpoint(ADMIN, slug, writes_only=True),
    "api:api-writing-tasks": Endpoint(SIGNED_IN),
    "api:api-writing-task": Endpoint(ANNOTATOR, a_writing_task),
    "api:api-writing-save": Endpoint(ANNOTATOR, a_writing_task, writes_only=True),
    "api:api-writing-submit": Endpoint(ANNOTATOR, a_writing_task, writes_only=True),
}

# Qualification, keys and quality ----------------------------------------------------------------------------------
of_member = of(membership=lambda world: world.membership)
a_key = of(public_id=lambda world: world.key.public_id)
ENDPOINTS |= {
    "annotation:own-quality": Endpoint(SIGNED_IN),
    "annotation:own-quality-csv": Endpoint(SIGNED_IN),
    "annotation:qualification-feedback": Endpoint(ANNOTATOR, bare(public_id=lambda world: world.attempt.public_id)),
    "annotation:qualification-start": Endpoint(
        frozenset({"annotator", "second_annotator"}),
        bare(public_id=lambda world: world.groups["A"].public_id),
        writes_only=True,
    ),
    "annotation:quality": Endpoint(STAFF, slug),
    "annotation:quality-csv": Endpoint(STAFF, slug),
    "annotation:quality-person": Endpoint(STAFF, of_member),
    "annotation:quality-person-csv": Endpoint(STAFF, of_member),
    "annotation:quality-hold": Endpoint(ADMIN, of_member, writes_only=True),
    "annotation:quality-lift": Endpoint(ADMIN, of_member, writes_only=True),
    "annotation:qualification": Endpoint(STAFF, slug),
    "annotation:key-choose": Endpoint(ADMIN, slug),
    "annotation:key-import": Endpoint(ADMIN, slug, writes_only=True),
    "annotation:keys-example": Endpoint(STAFF, slug),
    "annotation:keys-csv": Endpoint(STAFF, of(use=lambda world: "qualification")),
    "annotation:key": Endpoint(STAFF, a_key),
    "annotation:key-active": Endpoint(ADMIN, a_key, writes_only=True),
    "annotation:key-use": Endpoint(ADMIN, a_key, writes_only=True),
}

# Codes of responses ------------------------------------------------------------------------------------------------
to_rule_on_codes = bare(public_id=lambda world: world.code_ruling.public_id)
ENDPOINTS |= {
    "annotation:code-rulings": Endpoint(SIGNED_IN),
    "annotation:code-ruling": Endpoint(frozenset({"adjudicator"}), to_rule_on_codes),
    "annotation:code-ruling-time": Endpoint(frozenset({"adjudicator"}), to_rule_on_codes, writes_only=True),
    "annotation:coding": Endpoint(STAFF, slug),
    "annotation:coding-batch-new": Endpoint(ADMIN, slug),
    "annotation:coding-batch-preview": Endpoint(ADMIN, slug),
    "annotation:coding-rulings": Endpoint(ADMIN, a_code_book, writes_only=True),
    "annotation:coding-csv": Endpoint(STAFF, a_code_book),
    "api:api-codings": Endpoint(STAFF, a_code_book),
}

# Case labels -----------------------------------------------------------------------------------------------------
a_question = of(public_id=lambda world: world.question.public_id)
a_panel_question = of(public_id=lambda world: world.panel_question.public_id)
to_rule = bare(public_id=lambda world: world.to_rule.public_id)
a_reference_set = of(number=lambda world: 1)
two_reference_sets = of(number=lambda world: 1, earlier=lambda world: 1)
label_task = bare(public_id=lambda world: world.label_task.public_id)
ENDPOINTS |= {
    "annotation:label": Endpoint(ANNOTATOR, label_task),
    "annotation:label-answer": Endpoint(ANNOTATOR, label_task, writes_only=True),
    "annotation:label-submit": Endpoint(ANNOTATOR, label_task, writes_only=True),
    "annotation:label-time": Endpoint(ANNOTATOR, label_task, writes_only=True),
    "annotation:second-round": Endpoint(ADMIN, a_panel_question),
    "annotation:second-round-preview": Endpoint(ADMIN, a_panel_question),
    "annotation:ask-for-rulings": Endpoint(ADMIN, a_panel_question),
    "annotation:ask-for-rulings-preview": Endpoint(ADMIN, a_panel_question),
    "annotation:label-moves-csv": Endpoint(STAFF, a_panel_question),
    "annotation:label-rulings-csv": Endpoint(STAFF, a_panel_question),
    "annotation:rulings": Endpoint(SIGNED_IN),
    "annotation:rulings-in": Endpoint(MEMBERS, slug),
    "annotation:ruling": Endpoint(ADJUDICATOR, to_rule),
    "annotation:ruling-time": Endpoint(ADJUDICATOR, to_rule, writes_only=True),
    "api:api-label-moves": Endpoint(STAFF, a_panel_question),
    "api:api-acuity-rulings": Endpoint(STAFF, a_panel_question),
    "api:api-second-round": Endpoint(ADMIN, a_panel_question, writes_only=True),
    "api:api-ask-for-rulings": Endpoint(ADMIN, a_panel_question, writes_only=True),
    "api:api-ruling-requests": Endpoint(SIGNED_IN),
    "api:api-ruling-request": Endpoint(ADJUDICATOR, to_rule),
    "annotation:reference-sets": Endpoint(STAFF, slug),
    "annotation:reference-sets-csv": Endpoint(STAFF, slug),
    "annotation:reference-set-new": Endpoint(ADMIN, slug),
    "annotation:reference-set-preview": Endpoint(ADMIN, slug),
    "annotation:reference-set": Endpoint(STAFF, a_reference_set),
    "annotation:reference-set-csv": Endpoint(STAFF, a_reference_set),
    "annotation:reference-set-difference": Endpoint(STAFF, two_reference_sets),
    "api:api-reference-sets": Endpoint(STAFF, slug),
    "api:api-reference-items": Endpoint(STAFF, a_reference_set),
    "annotation:labels": Endpoint(STAFF, slug),
    "annotation:label-new": Endpoint(ADMIN, slug),
    "annotation:label-batch-new": Endpoint(ADMIN, slug),
    "annotation:label-batch-preview": Endpoint(ADMIN, slug),
    "annotation:label-write-tags": Endpoint(ADMIN, slug, writes_only=True),
    "annotation:label-results": Endpoint(STAFF, a_question),
    "annotation:label-edit": Endpoint(ADMIN, a_question),
    "annotation:label-retire": Endpoint(ADMIN, a_question, writes_only=True),
    "annotation:label-restore": Endpoint(ADMIN, a_question, writes_only=True),
    "annotation:label-agreement-csv": Endpoint(STAFF, a_question),
    "annotation:label-cases-csv": Endpoint(STAFF, a_question),
    "annotation:label-answers-csv": Endpoint(STAFF, a_question),
    "api:api-label-questions": Endpoint(STAFF, slug),
    "api:api-label-question": Endpoint(STAFF, a_question),
    "api:api-label-tasks": Endpoint(SIGNED_IN),
    "api:api-label-task": Endpoint(ANNOTATOR, label_task),
    "api:api-label-answers": Endpoint(ANNOTATOR, label_task, writes_only=True),
    "api:api-label-submit": Endpoint(ANNOTATOR, label_task, writes_only=True),
}

# Agreement -------------------------------------------------------------------------------------------------------
a_report = of(section=lambda world: "agreement", public_id=lambda world: world.report.public_id)


a_replication = of(public_id=lambda world: world.replication.public_id)


def of_report(name: str) -> Arguments:
    return of(
        section=lambda world: "agreement", public_id=lambda world: world.report.public_id, name=lambda world: name
    )


ENDPOINTS |= {
    "agreement:reports": Endpoint(STAFF, slug),
    "agreement:scores": Endpoint(STAFF, slug),
    "agreement:acuity": Endpoint(STAFF, slug),
    "agreement:readings": Endpoint(STAFF, of(public_id=lambda world: world.acuity_report.public_id)),
    "agreement:leaderboard": Endpoint(STAFF, slug),
    "agreement:leaderboard-csv": Endpoint(STAFF, slug),
    "agreement:composition": Endpoint(STAFF, slug),
    "agreement:calibration": Endpoint(STAFF, slug),
    "agreement:replication": Endpoint(STAFF, slug),
    "agreement:replication-artefacts": Endpoint(STAFF, of(paper=lambda world: "healthbench")),
    "agreement:replication-progress": Endpoint(STAFF, a_replication),
    "agreement:replication-archive": Endpoint(STAFF, a_replication),
    "agreement:replication-published": Endpoint(STAFF, a_replication),
    "agreement:replication-freshness": Endpoint(STAFF, a_replication),
    "agreement:replication-table": Endpoint(
        STAFF,
        of(
            public_id=lambda world: world.replication.public_id,
            name=lambda world: "groups",
            ending=lambda world: "csv",
        ),
    ),
    "api:api-replications": Endpoint(STAFF, slug),
    "api:api-replication-papers": Endpoint(STAFF, slug),
    "api:api-replication": Endpoint(STAFF, a_replication),
    "api:api-replication-archive": Endpoint(STAFF, a_replication),
    "api:api-replication-published": Endpoint(STAFF, a_replication),
    "api:api-replication-table": Endpoint(
        STAFF, of(public_id=lambda world: world.replication.public_id, name=lambda world: "groups")
    ),
    "agreement:planning": Endpoint(STAFF, slug),
    "agreement:planning-csv": Endpoint(STAFF, of(name=lambda world: "budget")),
    "agreement:acuity-plans": Endpoint(STAFF, slug),
    "agreement:acuity-plan-file": Endpoint(STAFF, of(number=lambda world: 1)),
    "agreement:acuity-plan-sign": Endpoint(STAFF, of(number=lambda world: 1), writes_only=True),
    "agreement:planning-figure": Endpoint(STAFF, of(suffix=lambda world: "svg")),
    "agreement:report": Endpoint(STAFF, a_report),
    "agreement:progress": Endpoint(STAFF, a_report),
    "agreement:recompute": Endpoint(STAFF, a_report, writes_only=True),
    "agreement:naming": Endpoint(STAFF, a_report, writes_only=True),
    "agreement:decisions": Endpoint(STAFF, a_report),
    "agreement:pair": Endpoint(
        STAFF,
        of(
            public_id=lambda world: world.items.public_id,
            response_id=lambda world: table_of(world.items, "tail").dicts()[0]["response"],
        ),
    ),
    "agreement:both-sides": Endpoint(STAFF, of(public_id=lambda world: world.scores.public_id)),
    "agreement:both-sides-pair": Endpoint(STAFF, both_sides),
    "agreement:both-sides-file": Endpoint(STAFF, lambda world: {**both_sides(world), "ending": "md"}),
    "agreement:table-csv": Endpoint(STAFF, of_report("agreement")),
    "agreement:freshness": Endpoint(STAFF, a_report),
    "agreement:archive": Endpoint(STAFF, a_report),
    "agreement:workbook": Endpoint(STAFF, a_report),
    "agreement:methods": Endpoint(STAFF, lambda world: {**a_report(world), "ending": "md"}),
    "agreement:table": Endpoint(STAFF, lambda world: {**of_report("agreement")(world), "ending": "tex"}),
    "agreement:figure": Endpoint(STAFF, lambda world: {**of_report("distribution")(world), "ending": "svg"}),
}

# Scoring ---------------------------------------------------------------------------------------------------------
a_judge = of(public_id=lambda world: world.judge.public_id)
a_run = of(public_id=lambda world: world.run.public_id)
a_level_judge = of(public_id=lambda world: world.level_judge.public_id)
a_level_run = of(public_id=lambda world: world.level_run.public_id)
a_jury = of(public_id=lambda world: world.jury.public_id)
a_trained_judge = of(public_id=lambda world: world.trained.public_id)
ENDPOINTS |= {
    "scoring:judges": Endpoint(STAFF, slug),
    "scoring:judge-new-chat": Endpoint(STAFF, slug),
    "scoring:judge-new-acuity": Endpoint(STAFF, slug),
    "scoring:prompt-preview": Endpoint(STAFF, slug, writes_only=True),
    "scoring:level-preview": Endpoint(STAFF, slug, writes_only=True),
    "scoring:judge-new-trained": Endpoint(STAFF, slug),
    "scoring:judge-new-jury": Endpoint(STAFF, slug),
    "scoring:jury-csv": Endpoint(STAFF, a_jury),
    "scoring:run-comparison-csv": Endpoint(STAFF, a_run),
    "scoring:run-new": Endpoint(STAFF, slug),
    "scoring:run-size": Endpoint(STAFF, slug),
    "scoring:run": Endpoint(STAFF, a_run),
    "scoring:run-progress": Endpoint(STAFF, a_run),
    "scoring:run-cancel": Endpoint(STAFF, a_run, writes_only=True),
    "scoring:run-resume": Endpoint(STAFF, a_run, writes_only=True),
    "scoring:run-continue": Endpoint(STAFF, a_run, writes_only=True),
    "scoring:run-readings": Endpoint(STAFF, a_level_run),
    "scoring:run-readings-csv": Endpoint(STAFF, a_level_run),
    "scoring:read-batch-new": Endpoint(ADMIN, a_level_run),
    "scoring:read-batch-preview": Endpoint(ADMIN, a_level_run),
    "scoring:read-answers-csv": Endpoint(STAFF, a_level_run),
    "scoring:verdicts": Endpoint(STAFF, a_run),
    "scoring:verdicts-csv": Endpoint(STAFF, a_run),
    "scoring:judgements": Endpoint(STAFF, a_run),
    "scoring:judge": Endpoint(STAFF, a_judge),
    "scoring:judge-try": Endpoint(STAFF, a_judge, writes_only=True),
    "scoring:endpoint-trial": Endpoint(
        STAFF, of(public_id=lambda world: world.benchmark.endpoint_trials.get().public_id)
    ),
    "scoring:judge-training": Endpoint(STAFF, a_judge),
    "scoring:model-card-csv": Endpoint(STAFF, a_trained_judge),
    "scoring:calibration-svg": Endpoint(STAFF, a_trained_judge),
    "scoring:calibration-png": Endpoint(STAFF, a_trained_judge),
    "scoring:supervision": Endpoint(STAFF, slug),
    "scoring:training-script": Endpoint(STAFF, slug),
    "scoring:judge-train-again": Endpoint(STAFF, a_judge, writes_only=True),
    "scoring:judge-delete": Endpoint(STAFF, a_judge, writes_only=True),
    "scoring:judge-level-shifts": Endpoint(STAFF, a_level_judge, writes_only=True),
    "scoring:judge-level-shifts-size": Endpoint(STAFF, a_level_judge),
    "scoring:judge-level-shifts-csv": Endpoint(STAFF, a_level_judge),
    "scoring:judge-susceptibility": Endpoint(STAFF, a_judge),
    "scoring:judge-susceptibility-size": Endpoint(STAFF, a_judge),
    "scoring:judge-susceptibility-csv": Endpoint(STAFF, a_judge),
}

# API -------------------------------------------------------------------------------------------------------------
ENDPOINTS |= {
    "api:api-benchmarks": Endpoint(SIGNED_IN),
    "api:api-benchmark": Endpoint(STAFF, slug),
    "api:api-cases": Endpoint(STAFF, slug),
    "api:api-case": Endpoint(STAFF, a_case),
    "api:api-write-cases": Endpoint(WRITERS, slug),
    "api:api-write-case": Endpoint(WRITERS, a_draft_case),
    "api:api-write-privacy": Endpoint(WRITERS, a_draft_case),
    "api:api-second-step": Endpoint(ADMIN, slug),
    "api:api-staff": Endpoint(ADMIN, slug),
    "api:api-staff-member": Endpoint(ADMIN, of(role=lambda world: world.role), writes_only=True),
    "api:api-authors": Endpoint(ADMIN, slug),
    "api:api-author": Endpoint(ADMIN, of(role=lambda world: world.authoring_role), writes_only=True),
    "api:api-candidates": Endpoint(STAFF, slug),
    "api:api-candidate": Endpoint(STAFF, a_candidate),
    "api:api-candidate-attributes": Endpoint(STAFF, a_candidate),
    "api:api-responses": Endpoint(STAFF, slug),
    "api:api-response": Endpoint(STAFF, of(public_id=lambda world: world.response.public_id)),
    "api:api-imports": Endpoint(STAFF, slug),
    "api:api-import": Endpoint(STAFF, a_job),
    "api:api-import-restart": Endpoint(STAFF, a_job, writes_only=True),
    "api:api-groups": Endpoint(STAFF, slug),
    "api:api-group": Endpoint(STAFF, a_group),
    "api:api-members": Endpoint(STAFF, a_group),
    "api:api-member": Endpoint(ADMIN, a_member, writes_only=True),
    "api:api-batches": Endpoint(STAFF, slug),
    "api:api-batch-preview": Endpoint(ADMIN, slug, writes_only=True),
    "api:api-batch": Endpoint(STAFF, a_batch),
    "api:api-batch-pause": Endpoint(ADMIN, a_batch, writes_only=True),
    "api:api-batch-open": Endpoint(ADMIN, a_batch, writes_only=True),
    "api:api-batch-close": Endpoint(ADMIN, a_batch, writes_only=True),
    "api:api-conflicts": Endpoint(STAFF, slug),
    "api:api-assignments": Endpoint(SIGNED_IN),
    "api:api-assignment": Endpoint(ANNOTATOR, open_work),
    "api:api-decisions": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "api:api-submit": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "api:api-take": Endpoint(GROUP_A_ANNOTATORS, open_batch, writes_only=True),
    "api:api-undo": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "api:api-skip": Endpoint(ANNOTATOR, open_work, writes_only=True),
    "api:api-checks": Endpoint(SIGNED_IN),
    "api:api-check-next": Endpoint(SIGNED_IN, writes_only=True),
    "api:api-check": Endpoint(CHECKER, held_check),
    "api:api-check-claim": Endpoint(CHECKER, held_check, writes_only=True),
    "api:api-amendments": Endpoint(CHECKER, held_check, writes_only=True),
    "api:api-check-accept": Endpoint(CHECKER, held_check, writes_only=True),
    "api:api-check-undo": Endpoint(CHECKER, held_check, writes_only=True),
    "api:api-check-return": Endpoint(CHECKER, held_check, writes_only=True),
    "api:api-check-release": Endpoint(CHECKER, held_check, writes_only=True),
    "api:api-adjudications": Endpoint(SIGNED_IN),
    "api:api-adjudication-next": Endpoint(SIGNED_IN, writes_only=True),
    "api:api-adjudication": Endpoint(ADJUDICATOR, conflict),
    "api:api-adjudication-claim": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "api:api-rulings": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "api:api-adjudication-finish": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "api:api-adjudication-release": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "api:api-adjudication-undo": Endpoint(ADJUDICATOR, conflict, writes_only=True),
    "api:api-judges": Endpoint(STAFF, slug),
    "api:api-supervision": Endpoint(STAFF, slug, writes_only=True),
    "api:api-judge": Endpoint(STAFF, a_judge),
    "api:api-runs": Endpoint(STAFF, slug),
    "api:api-run": Endpoint(STAFF, a_run),
    "api:api-run-cancel": Endpoint(STAFF, a_run, writes_only=True),
    "api:api-run-resume": Endpoint(STAFF, a_run, writes_only=True),
    "api:api-run-continue": Endpoint(STAFF, a_run, writes_only=True),
    "api:api-regrading": Endpoint(STAFF, slug),
    "api:api-versions": Endpoint(WRITERS, a_draft_case),
    "api:api-versions-diff": Endpoint(WRITERS, a_draft_case),
    "api:api-review": Endpoint(frozenset(), a_draft_case),
    "api:api-send-to-review": Endpoint(WRITERS, a_draft_case, writes_only=True),
    "api:api-take-back": Endpoint(WRITERS, a_draft_case, writes_only=True),
    "api:api-discard-draft": Endpoint(WRITERS, a_draft_case, writes_only=True),
    "api:api-reviews": Endpoint(WRITERS, slug),
    "api:api-drafts-send": Endpoint(WRITERS, slug, writes_only=True),
    "api:api-verdicts": Endpoint(STAFF, a_run),
    "api:api-judgements": Endpoint(STAFF, a_run),
    "api:api-raters": Endpoint(STAFF, slug),
    "api:api-reports": Endpoint(STAFF, slug),
    "api:api-planning": Endpoint(STAFF, slug),
    "api:api-acuity-plans": Endpoint(STAFF, slug),
    "api:api-acuity-plan": Endpoint(STAFF, of(number=lambda world: 1)),
    "api:api-acuity-plan-sign": Endpoint(STAFF, of(number=lambda world: 1), writes_only=True),
    "api:api-report": Endpoint(STAFF, of(public_id=lambda world: world.report.public_id)),
    **{
        f"api:api-report-{name}": Endpoint(STAFF, of(public_id=lambda world: world.report.public_id))
        for name in ("freshness", "methods", "archive", "workbook")
    },
    "api:api-report-recompute": Endpoint(STAFF, of(public_id=lambda world: world.report.public_id), writes_only=True),
    "api:api-report-rows": Endpoint(
        STAFF, of(public_id=lambda world: world.report.public_id, name=lambda world: "agreement")
    ),
    "api:api-report-table": Endpoint(
        STAFF,
        of(
            public_id=lambda world: world.report.public_id,
            name=lambda world: "agreement",
            ending=lambda world: "csv",
        ),
    ),
    "api:api-report-figure": Endpoint(
        STAFF,
        of(
            public_id=lambda world: world.report.public_id,
            name=lambda world: "distribution",
            ending=lambda world: "svg",
        ),
    ),
}

# Signed thresholds -----------------------------------------------------------------------------------------------
ENDPOINTS |= {
    "agreement:sign-threshold": Endpoint(STAFF, slug),
    "agreement:thresholds-csv": Endpoint(STAFF, slug),
    "api:api-thresholds": Endpoint(STAFF, slug),
}

# Named slices ----------------------------------------------------------------------------------------------------
a_slice = of(name=lambda world: "hardest")
ENDPOINTS |= {
    "agreement:slices": Endpoint(STAFF, slug),
    "agreement:slices-preview": Endpoint(STAFF, slug),
    "agreement:slice-csv": Endpoint(STAFF, a_slice),
    "agreement:slice-retire": Endpoint(STAFF, a_slice, writes_only=True),
    "api:api-slices": Endpoint(STAFF, slug),
    "api:api-slices-preview": Endpoint(STAFF, slug, writes_only=True),
    "api:api-slice": Endpoint(STAFF, a_slice),
    "api:api-slice-cases": Endpoint(STAFF, a_slice),
    "api:api-slice-retire": Endpoint(STAFF, a_slice, writes_only=True),
}

# Decisions as a file ---------------------------------------------------------------------------------------------
ENDPOINTS |= {
    "agreement:decisions-csv": Endpoint(STAFF, slug),
    "api:api-decisions-csv": Endpoint(STAFF, slug),
}

# Generated responses ---------------------------------------------------------------------------------------------
a_generation = of(public_id=lambda world: world.benchmark.pipeline_runs.get(kind="responses").public_id)
ENDPOINTS |= {
    "scoring:generation": Endpoint(STAFF, slug),
    "scoring:generation-new": Endpoint(STAFF, slug),
    "scoring:generation-size": Endpoint(STAFF, slug, writes_only=True),
    "scoring:generation-trial": Endpoint(STAFF, slug, writes_only=True),
    "scoring:generation-run": Endpoint(STAFF, a_generation),
    "scoring:generation-progress": Endpoint(STAFF, a_generation),
    "scoring:generation-cancel": Endpoint(STAFF, a_generation, writes_only=True),
    "scoring:generation-resume": Endpoint(STAFF, a_generation, writes_only=True),
    "scoring:generation-csv": Endpoint(STAFF, a_generation),
    "api:api-generation": Endpoint(STAFF, slug),
    "api:api-generation-run": Endpoint(STAFF, a_generation),
    "api:api-generation-cancel": Endpoint(STAFF, a_generation, writes_only=True),
    "api:api-generation-resume": Endpoint(STAFF, a_generation, writes_only=True),
}

# Forced choices --------------------------------------------------------------------------------------------------
a_coding_run = of(public_id=lambda world: world.benchmark.pipeline_runs.get(kind="code").public_id)
a_choice = of(public_id=lambda world: world.benchmark.pipeline_runs.get(kind="classify").public_id)
ENDPOINTS |= {
    "scoring:classification": Endpoint(STAFF, slug),
    "scoring:classification-new": Endpoint(STAFF, slug),
    "scoring:classification-size": Endpoint(STAFF, slug, writes_only=True),
    "scoring:classification-run": Endpoint(STAFF, a_choice),
    "scoring:classification-progress": Endpoint(STAFF, a_choice),
    "scoring:classification-cancel": Endpoint(STAFF, a_choice, writes_only=True),
    "scoring:classification-resume": Endpoint(STAFF, a_choice, writes_only=True),
    "scoring:classification-csv": Endpoint(STAFF, a_choice),
    "agreement:failure-responses": Endpoint(STAFF, of(version=lambda world: 1, code=lambda world: "overconfidence")),
    "scoring:coding": Endpoint(STAFF, slug),
    "scoring:coding-new": Endpoint(STAFF, slug),
    "scoring:coding-size": Endpoint(STAFF, slug, writes_only=True),
    "scoring:coding-run": Endpoint(STAFF, a_coding_run),
    "scoring:coding-progress": Endpoint(STAFF, a_coding_run),
    "scoring:coding-cancel": Endpoint(STAFF, a_coding_run, writes_only=True),
    "scoring:coding-resume": Endpoint(STAFF, a_coding_run, writes_only=True),
    "scoring:coding-replay": Endpoint(STAFF, a_coding_run, writes_only=True),
    "scoring:coding-csv": Endpoint(STAFF, a_coding_run),
    "api:api-coding-runs": Endpoint(STAFF, slug),
    "api:api-coding-run": Endpoint(STAFF, a_coding_run),
    "api:api-coding-run-codes": Endpoint(STAFF, a_coding_run),
    "api:api-coding-run-cancel": Endpoint(STAFF, a_coding_run, writes_only=True),
    "api:api-coding-run-resume": Endpoint(STAFF, a_coding_run, writes_only=True),
    "api:api-coding-run-replay": Endpoint(STAFF, a_coding_run, writes_only=True),
    "api:api-acuity-runs": Endpoint(STAFF, slug),
    "api:api-acuity-run": Endpoint(STAFF, a_choice),
    "api:api-acuity-run-cancel": Endpoint(STAFF, a_choice, writes_only=True),
    "api:api-acuity-run-resume": Endpoint(STAFF, a_choice, writes_only=True),
}

# Drafting --------------------------------------------------------------------------------------------------------
the_suggestion = of(public_id=lambda world: world.draft_case.suggestions.get().public_id)
a_recipe = of(public_id=lambda world: world.benchmark.recipes.get(version=2).public_id)
ENDPOINTS |= {
    "drafting:recipes": Endpoint(STAFF, slug),
    "drafting:recipe-new": Endpoint(STAFF, slug),
    "drafting:recipe": Endpoint(STAFF, a_recipe),
    "drafting:recipe-edit": Endpoint(STAFF, a_recipe),
    "drafting:recipe-copy": Endpoint(STAFF, a_recipe),
    "drafting:recipe-preview": Endpoint(STAFF, a_recipe, writes_only=True),
    "drafting:recipe-difference": Endpoint(STAFF, a_recipe),
    "drafting:terms": Endpoint(ADMIN, slug),
    "api:api-recipes": Endpoint(STAFF, slug),
    "api:api-recipe": Endpoint(STAFF, a_recipe),
    "api:api-recipe-versions": Endpoint(STAFF, a_recipe),
    "api:api-drafting-terms": Endpoint(ADMIN, slug),
    "drafting:suggestions": Endpoint(AUTHORS, of(public_id=lambda world: world.draft_case.public_id)),
    "drafting:suggestions-open": Endpoint(
        AUTHORS, of(public_id=lambda world: world.draft_case.public_id), writes_only=True
    ),
    "drafting:suggestions-ask": Endpoint(
        AUTHORS, of(public_id=lambda world: world.draft_case.public_id), writes_only=True
    ),
    "drafting:suggestions-decide": Endpoint(
        AUTHORS, of(public_id=lambda world: world.draft_case.public_id), writes_only=True
    ),
    "drafting:origin": Endpoint(WRITERS, the_suggestion),
    "api:api-suggestions": Endpoint(WRITERS, slug),
    "api:api-suggestion": Endpoint(WRITERS, the_suggestion),
    "api:api-suggestions-open": Endpoint(AUTHORS, slug, writes_only=True),
    "api:api-suggestions-withdraw": Endpoint(ADMIN, slug, writes_only=True),
    "api:api-suggestion-decision": Endpoint(AUTHORS, the_suggestion, writes_only=True),
}


def drafting_run_of(world: World) -> str:
    """The run with steps; suggestions of the draft case come from another."""
    runs = DraftingRun.objects.filter(benchmark=world.benchmark, steps__isnull=False)
    return runs.earliest("pk").public_id


a_drafting_run = of(public_id=drafting_run_of)
a_drafted_case = of(public_id=drafting_run_of, case=lambda world: world.case.public_id)
a_drafting_table = of(public_id=drafting_run_of, table=lambda _world: "ledger")
ENDPOINTS |= {
    "drafting:drafting": Endpoint(STAFF, slug),
    "drafting:drafting-new": Endpoint(STAFF, slug),
    "drafting:drafting-size": Endpoint(STAFF, slug, writes_only=True),
    "drafting:drafting-run": Endpoint(STAFF, a_drafting_run),
    "drafting:drafting-progress": Endpoint(STAFF, a_drafting_run),
    "drafting:drafting-cancel": Endpoint(STAFF, a_drafting_run, writes_only=True),
    "drafting:drafting-resume": Endpoint(STAFF, a_drafting_run, writes_only=True),
    "drafting:drafting-replay": Endpoint(STAFF, a_drafting_run, writes_only=True),
    "drafting:drafting-csv": Endpoint(STAFF, a_drafting_run),
    "drafting:drafting-table": Endpoint(STAFF, a_drafting_table),
    "drafting:drafting-cases": Endpoint(STAFF, a_drafting_run),
    "drafting:drafting-case": Endpoint(WRITERS, a_drafted_case),
    "api:api-drafting-runs": Endpoint(STAFF, slug),
    "api:api-drafting-run": Endpoint(STAFF, a_drafting_run),
    "api:api-drafting-run-cancel": Endpoint(STAFF, a_drafting_run, writes_only=True),
    "api:api-drafting-run-resume": Endpoint(STAFF, a_drafting_run, writes_only=True),
    "api:api-drafting-run-case": Endpoint(STAFF, a_drafted_case),
}

# Validation ------------------------------------------------------------------------------------------------------
a_rubric_set = of(public_id=lambda world: world.benchmark.rubric_sets.get(origin="file").public_id)
two_rubric_sets = of(
    first=lambda world: world.benchmark.rubric_sets.get(origin="file").public_id,
    second=lambda world: world.benchmark.rubric_sets.get(origin="generic").public_id,
)
ENDPOINTS |= {
    "validation:rubric-sets": Endpoint(STAFF, slug),
    "validation:rubric-set-new": Endpoint(STAFF, slug),
    "validation:rubric-set-frame": Endpoint(STAFF, slug),
    "validation:rubric-sets-compare": Endpoint(STAFF, slug),
    "validation:rubric-sets-compare-csv": Endpoint(STAFF, two_rubric_sets),
    "validation:rubric-sets-cases-csv": Endpoint(STAFF, two_rubric_sets),
    "validation:rubric-set": Endpoint(STAFF, a_rubric_set),
    "validation:rubric-set-csv": Endpoint(STAFF, a_rubric_set),
    "validation:rubric-set-jsonl": Endpoint(STAFF, a_rubric_set),
    "validation:rubric-set-mends-csv": Endpoint(STAFF, a_rubric_set),
    "api:api-rubric-sets": Endpoint(STAFF, slug),
    "api:api-rubric-set-frame": Endpoint(STAFF, slug, writes_only=True),
    "api:api-rubric-set-uploads": Endpoint(STAFF, slug, writes_only=True),
    "api:api-rubric-sets-compare": Endpoint(STAFF, two_rubric_sets),
    "api:api-rubric-set": Endpoint(STAFF, a_rubric_set),
    "api:api-rubric-set-items": Endpoint(STAFF, a_rubric_set),
    "api:api-rubric-set-mends": Endpoint(STAFF, a_rubric_set),
}

DECIDERS = MEMBERS | AUTHORS
a_coverage_run = of(
    public_id=lambda world: CoverageRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id
)
a_covered_case = of(
    public_id=lambda world: CoverageRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id,
    case=lambda world: world.case.public_id,
)


def a_question(world: World) -> str:
    """The one about a gold point."""
    rows = CoverageDecision.objects.filter(run__benchmark=world.benchmark, stage="coverage")
    return str(rows.earliest("pk").public_id)


ENDPOINTS |= {
    "validation:coverage": Endpoint(STAFF, slug),
    "validation:coverage-new": Endpoint(STAFF, slug),
    "validation:coverage-size": Endpoint(STAFF, slug, writes_only=True),
    "validation:coverage-queue": Endpoint(DECIDERS, slug),
    "validation:coverage-decision": Endpoint(DECIDERS, of(decision=a_question)),
    "validation:coverage-skip": Endpoint(DECIDERS, of(decision=a_question), writes_only=True),
    "validation:coverage-run": Endpoint(STAFF, a_coverage_run),
    "validation:coverage-progress": Endpoint(STAFF, a_coverage_run),
    "validation:coverage-cancel": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "validation:coverage-resume": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "validation:coverage-replay": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "validation:coverage-ask": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "validation:coverage-csv": Endpoint(STAFF, a_coverage_run),
    # Authors see a case too, once nothing about it waits for a decision (tests/validation/coverage).
    "validation:coverage-case": Endpoint(STAFF, a_covered_case),
    "agreement:validity": Endpoint(STAFF, slug),
    # What waits for a decision or a judgement is hidden from authors (tests/validation/gaps).
    "validation:rubric-gaps": Endpoint(WRITERS, a_case),
    "api:api-coverage-runs": Endpoint(STAFF, slug),
    "api:api-coverage-run": Endpoint(STAFF, a_coverage_run),
    "api:api-coverage-cancel": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "api:api-coverage-resume": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "api:api-coverage-replay": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "api:api-coverage-ask": Endpoint(STAFF, a_coverage_run, writes_only=True),
    "api:api-coverage-next-question": Endpoint(DECIDERS, slug, writes_only=True),
    "api:api-coverage-question": Endpoint(DECIDERS, of(public_id=a_question)),
    "api:api-coverage-skip": Endpoint(DECIDERS, of(public_id=a_question), writes_only=True),
}

a_split_set = of(public_id=lambda world: world.benchmark.rubric_sets.get(origin="split").public_id)
a_splitting_run = of(
    public_id=lambda world: SplittingRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id
)
a_split_case = of(
    public_id=lambda world: SplittingRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id,
    case=lambda world: world.case.public_id,
)
ENDPOINTS |= {
    "validation:rubric-set-points-csv": Endpoint(STAFF, a_split_set),
    "validation:splitting": Endpoint(STAFF, slug),
    "validation:splitting-new": Endpoint(STAFF, slug),
    "validation:splitting-size": Endpoint(STAFF, slug, writes_only=True),
    "validation:splitting-run": Endpoint(STAFF, a_splitting_run),
    "validation:splitting-progress": Endpoint(STAFF, a_splitting_run),
    "validation:splitting-cancel": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "validation:splitting-resume": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "validation:splitting-replay": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "validation:splitting-freeze": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "validation:splitting-csv": Endpoint(STAFF, a_splitting_run),
    "validation:splitting-points": Endpoint(WRITERS, a_splitting_run),
    "validation:splitting-case": Endpoint(WRITERS, a_split_case),
    "validation:splitting-save": Endpoint(WRITERS, a_split_case, writes_only=True),
    "api:api-splitting-runs": Endpoint(STAFF, slug),
    "api:api-splitting-run": Endpoint(STAFF, a_splitting_run),
    "api:api-splitting-cancel": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "api:api-splitting-resume": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "api:api-splitting-replay": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "api:api-splitting-freeze": Endpoint(STAFF, a_splitting_run, writes_only=True),
    "api:api-splitting-points": Endpoint(WRITERS, a_splitting_run),
    "api:api-splitting-case": Endpoint(WRITERS, a_split_case),
}

a_pair = of(public_id=lambda world: NearMissPair.objects.get(group__benchmark=world.benchmark).public_id)
a_making_run = of(public_id=lambda world: MakingRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id)
a_trial_run = of(public_id=lambda world: TrialRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id)
ENDPOINTS |= {
    "validation:pairs": Endpoint(STAFF, slug),
    "validation:pair-new": Endpoint(STAFF, slug),
    "validation:pairs-import": Endpoint(STAFF, slug),
    "validation:pair": Endpoint(STAFF, a_pair),
    "validation:pair-queue": Endpoint(DECIDERS, slug),
    "validation:pair-judge": Endpoint(DECIDERS, a_pair),
    "validation:pair-skip": Endpoint(DECIDERS, a_pair, writes_only=True),
    "validation:making": Endpoint(STAFF, slug),
    "validation:making-new": Endpoint(STAFF, slug),
    "validation:making-size": Endpoint(STAFF, slug, writes_only=True),
    "validation:making-run": Endpoint(STAFF, a_making_run),
    "validation:making-progress": Endpoint(STAFF, a_making_run),
    "validation:making-cancel": Endpoint(STAFF, a_making_run, writes_only=True),
    "validation:making-resume": Endpoint(STAFF, a_making_run, writes_only=True),
    "validation:making-csv": Endpoint(STAFF, a_making_run),
    "validation:pair-runs": Endpoint(STAFF, slug),
    "validation:trial-new": Endpoint(STAFF, slug),
    "validation:trial-size": Endpoint(STAFF, slug, writes_only=True),
    "validation:trial-run": Endpoint(STAFF, a_trial_run),
    "validation:trial-progress": Endpoint(STAFF, a_trial_run),
    "validation:trial-cancel": Endpoint(STAFF, a_trial_run, writes_only=True),
    "validation:trial-resume": Endpoint(STAFF, a_trial_run, writes_only=True),
    "validation:trial-replay": Endpoint(STAFF, a_trial_run, writes_only=True),
    "validation:trial-csv": Endpoint(STAFF, a_trial_run),
    "api:api-pairs": Endpoint(STAFF, slug),
    "api:api-pair-uploads": Endpoint(STAFF, slug, writes_only=True),
    "api:api-pair": Endpoint(STAFF, a_pair),
    "api:api-next-pair": Endpoint(DECIDERS, slug, writes_only=True),
    "api:api-pair-judgement": Endpoint(DECIDERS, a_pair),
    "api:api-pair-skip": Endpoint(DECIDERS, a_pair, writes_only=True),
    "api:api-pair-making": Endpoint(STAFF, slug),
    "api:api-pair-making-run": Endpoint(STAFF, a_making_run),
    "api:api-pair-making-cancel": Endpoint(STAFF, a_making_run, writes_only=True),
    "api:api-pair-making-resume": Endpoint(STAFF, a_making_run, writes_only=True),
    "api:api-pair-runs": Endpoint(STAFF, slug),
    "api:api-pair-run": Endpoint(STAFF, a_trial_run),
    "api:api-pair-run-cancel": Endpoint(STAFF, a_trial_run, writes_only=True),
    "api:api-pair-run-resume": Endpoint(STAFF, a_trial_run, writes_only=True),
    "api:api-pair-run-replay": Endpoint(STAFF, a_trial_run, writes_only=True),
}

a_refinement_run = of(
    public_id=lambda world: RefinementRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id
)
a_refined_case = of(
    public_id=lambda world: RefinementRun.objects.filter(benchmark=world.benchmark).earliest("pk").public_id,
    case=lambda world: world.case.public_id,
)
ENDPOINTS |= {
    "validation:refinement": Endpoint(STAFF, slug),
    "validation:refinement-new": Endpoint(STAFF, slug),
    "validation:refinement-size": Endpoint(STAFF, slug, writes_only=True),
    "validation:refinement-run": Endpoint(STAFF, a_refinement_run),
    "validation:refinement-progress": Endpoint(STAFF, a_refinement_run),
    "validation:refinement-cancel": Endpoint(STAFF, a_refinement_run, writes_only=True),
    "validation:refinement-resume": Endpoint(STAFF, a_refinement_run, writes_only=True),
    "validation:refinement-replay": Endpoint(STAFF, a_refinement_run, writes_only=True),
    "validation:refinement-csv": Endpoint(STAFF, a_refinement_run),
    "validation:refinement-case": Endpoint(STAFF, a_refined_case),
    "api:api-refinements": Endpoint(STAFF, slug),
    "api:api-refinement-size": Endpoint(STAFF, slug, writes_only=True),
    "api:api-refinement": Endpoint(STAFF, a_refinement_run),
    "api:api-refinement-cancel": Endpoint(STAFF, a_refinement_run, writes_only=True),
    "api:api-refinement-resume": Endpoint(STAFF, a_refinement_run, writes_only=True),
    "api:api-refinement-replay": Endpoint(STAFF, a_refinement_run, writes_only=True),
    "api:api-refinement-grade": Endpoint(STAFF, a_refinement_run, writes_only=True),
}

# Screening -------------------------------------------------------------------------------------------------------
a_screening = of(public_id=lambda world: world.benchmark.screenings.get().public_id)
ENDPOINTS |= {
    **{
        f"scoring:acuity{name}": Endpoint(STAFF, slug)
        for name in (
            *("", "-flow-csv", "-labels-csv", "-source-labels-csv", "-candidates-csv", "-readings-csv"),
            *("-unusable-csv", "-imports-csv", "-import", "-scales", "-scales-csv", "-rules-csv", "-scale-new"),
            *("-scheme-new", "-map-again", "-framings"),
        )
    },
    "scoring:acuity-confirm": Endpoint(STAFF, a_job, writes_only=True),
    "api:api-leaderboard": Endpoint(STAFF, slug),
    "api:api-acuity-scales": Endpoint(STAFF, slug),
    "api:api-acuity-schemes": Endpoint(STAFF, slug),
    "api:api-acuity-source-labels": Endpoint(STAFF, slug),
    "api:api-acuity-readings": Endpoint(STAFF, slug),
    "api:api-acuity-framings": Endpoint(STAFF, slug),
    "scoring:screenings": Endpoint(STAFF, slug),
    "scoring:screening-new": Endpoint(STAFF, slug),
    "scoring:screening": Endpoint(STAFF, a_screening),
    "scoring:screening-decide": Endpoint(STAFF, a_screening, writes_only=True),
    "scoring:screening-close": Endpoint(STAFF, a_screening, writes_only=True),
    "scoring:screening-csv": Endpoint(STAFF, a_screening),
    "scoring:screening-distribution-csv": Endpoint(STAFF, a_screening),
    "api:api-screenings": Endpoint(STAFF, slug),
    "api:api-screening": Endpoint(STAFF, a_screening),
    "api:api-screened-cases": Endpoint(STAFF, a_screening),
    "api:api-screening-decisions": Endpoint(STAFF, a_screening, writes_only=True),
    "api:api-screening-close": Endpoint(STAFF, a_screening, writes_only=True),
}

# The rubric editor -----------------------------------------------------------------------------------------------
a_written_case = of(public_id=lambda world: world.draft_case.public_id)
a_written_table = of(public_id=lambda world: world.draft_case.public_id, kind=lambda _world: "csv")
ENDPOINTS |= {
    "rubrics:tag-suggestions": Endpoint(WRITERS, slug),
    "rubrics:rubrics-table": Endpoint(WRITERS, of(kind=lambda _world: "csv")),
    "rubrics:benchmark-traceability": Endpoint(WRITERS, slug),
    "rubrics:write-rubric": Endpoint(WRITERS, a_written_case),
    "rubrics:rubric-draft": Endpoint(WRITERS, a_written_case),
    "rubrics:rubric-lint": Endpoint(WRITERS, a_written_case, writes_only=True),
    "rubrics:rubric-paste": Endpoint(WRITERS, a_written_case, writes_only=True),
    "rubrics:begin-version": Endpoint(WRITERS, a_written_case, writes_only=True),
    "rubrics:rubric-table": Endpoint(WRITERS, a_written_table),
    "rubrics:traceability": Endpoint(WRITERS, a_written_case),
    "rubrics:traceability-table": Endpoint(WRITERS, a_written_table),
    "api:api-draft": Endpoint(WRITERS, a_written_case),
    "api:api-draft-lint": Endpoint(WRITERS, a_written_case, writes_only=True),
    "api:api-draft-table": Endpoint(WRITERS, a_written_case, writes_only=True),
}

# Contributions ---------------------------------------------------------------------------------------------------
ENDPOINTS |= {
    "annotation:contributions": Endpoint(ADMIN, slug),
    "annotation:contributions-csv": Endpoint(ADMIN, slug),
    "annotation:acknowledgement": Endpoint(ADMIN, slug),
    "annotation:payment-csv": Endpoint(ADMIN, slug, writes_only=True),
    "annotation:credentials-csv": Endpoint(ADMIN, slug),
}

# Releases --------------------------------------------------------------------------------------------------------
a_release = of(public_id=lambda world: world.released.public_id)
ENDPOINTS |= {
    "releases:releases": Endpoint(STAFF, slug),
    "releases:release-new": Endpoint(ADMIN, slug),
    "releases:release": Endpoint(STAFF, a_release),
    "releases:release-progress": Endpoint(STAFF, a_release),
    "releases:release-restart": Endpoint(ADMIN, a_release, writes_only=True),
    "releases:release-archive": Endpoint(STAFF, a_release),
    "releases:release-files": Endpoint(STAFF, a_release),
    "releases:release-changes": Endpoint(STAFF, a_release),
    "api:api-releases": Endpoint(STAFF, slug),
    "api:api-release": Endpoint(STAFF, a_release),
    "api:api-release-archive": Endpoint(STAFF, a_release),
}

# Senior audit ----------------------------------------------------------------------------------------------------
an_audit = of(public_id=lambda world: world.benchmark.audits.get().public_id)
an_audit_item = of(public_id=lambda world: world.benchmark.audits.get().items.get(auditor__isnull=False).public_id)
ENDPOINTS |= {
    "rubrics:audits": Endpoint(STAFF, slug),
    "rubrics:audit-new": Endpoint(ADMIN, slug),
    "rubrics:audit-draw": Endpoint(ADMIN, slug),
    "rubrics:audit": Endpoint(STAFF, an_audit),
    "rubrics:audit-rates-csv": Endpoint(STAFF, an_audit),
    "rubrics:audit-readings-csv": Endpoint(STAFF, an_audit),
    "rubrics:audit-close": Endpoint(ADMIN, an_audit, writes_only=True),
    "rubrics:audit-remove": Endpoint(
        ADMIN,
        of(
            public_id=lambda world: world.benchmark.audits.get().public_id,
            case=lambda world: world.benchmark.audits.get().items.first().case.public_id,
        ),
        writes_only=True,
    ),
    "rubrics:audit-keep": Endpoint(
        ADMIN,
        of(
            public_id=lambda world: world.benchmark.audits.get().public_id,
            case=lambda world: world.benchmark.audits.get().items.first().case.public_id,
        ),
        writes_only=True,
    ),
    "rubrics:audit-desk": Endpoint(AUDITORS, slug),
    "rubrics:audit-take": Endpoint(AUDITORS, slug, writes_only=True),
    "rubrics:audit-item": Endpoint(AUDITORS, an_audit_item),
    "rubrics:audit-item-save": Endpoint(AUDITORS, an_audit_item, writes_only=True),
    "rubrics:audit-item-submit": Endpoint(AUDITORS, an_audit_item, writes_only=True),
    "rubrics:audit-item-release": Endpoint(AUDITORS, an_audit_item, writes_only=True),
    "api:api-audits": Endpoint(STAFF, slug),
    "api:api-audit": Endpoint(STAFF, an_audit),
}
