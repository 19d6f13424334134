"""Writes to benchmarks, cases, candidates, responses and imports."""

from rubrics.services.authoring_roles import give_authoring_role, withdraw_authoring_role
from rubrics.services.benchmarks import (
    create_benchmark,
    replace_maps,
    set_authoring_rules,
    update_benchmark,
)
from rubrics.services.candidate_attributes import check_attribute_options, import_attributes, set_attributes
from rubrics.services.import_cases import check_case_options, import_cases
from rubrics.services.import_jobs import create_import, repeat_import, restart_import
from rubrics.services.import_responses import add_responses, check_response_options, import_responses
from rubrics.services.import_rubrics import check_rubric_options, import_rubrics
from rubrics.services.revisions import dismiss_revisions, request_revision, withdraw_revision
from rubrics.services.roles import LastAdmin, grant_role, invite_to_run, withdraw_role

__all__ = [
    "LastAdmin",
    "add_responses",
    "check_attribute_options",
    "check_case_options",
    "check_response_options",
    "check_rubric_options",
    "create_benchmark",
    "create_import",
    "dismiss_revisions",
    "give_authoring_role",
    "grant_role",
    "import_attributes",
    "import_cases",
    "import_responses",
    "import_rubrics",
    "invite_to_run",
    "repeat_import",
    "replace_maps",
    "request_revision",
    "restart_import",
    "set_attributes",
    "set_authoring_rules",
    "update_benchmark",
    "withdraw_authoring_role",
    "withdraw_revision",
    "withdraw_role",
]
