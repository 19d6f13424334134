"""Writes to groups, batches and physicians' work; each function is one transaction."""

from annotation.services.adjudications import (
    Undecided,
    claim_adjudication,
    finish_adjudication,
    next_adjudication,
    release_adjudication,
    rule,
)
from annotation.services.batch_terms import BatchTerms, new_seed
from annotation.services.batch_titles import TitleRefused, rename_batch
from annotation.services.batches import (
    close_batch,
    create_batch,
    extend_batch,
    make_batch,
    open_batch,
    pause_batch,
    settings_not_taken,
)
from annotation.services.checks import (
    WouldDiscard,
    accept_check,
    amend,
    claim_check,
    next_check,
    release_check,
    return_check,
)
from annotation.services.conflicts import open_conflicts_between, unclosed_batches
from annotation.services.decisions import (
    DecisionInput,
    Unanswered,
    criteria_of,
    next_open,
    save_decision,
    save_decisions,
    save_each_decision,
    submit,
)
from annotation.services.drawing import ResponseFilter
from annotation.services.groups import (
    add_member,
    create_group,
    delete_group,
    held_in,
    invite_member,
    is_unused,
    physician_of,
    rename_group,
    set_capacity,
    set_member_active,
)
from annotation.services.planning import BatchPlan, PhysicianLoad, plan_batch
from annotation.services.previews import AlreadyCreated
from annotation.services.rules import NoLongerOpen, Unseen
from annotation.services.undo import UNDO_SECONDS, undo_accept, undo_finish, undo_submit, undo_submit_until

__all__ = [
    "UNDO_SECONDS",
    "AlreadyCreated",
    "BatchPlan",
    "BatchTerms",
    "DecisionInput",
    "NoLongerOpen",
    "PhysicianLoad",
    "ResponseFilter",
    "TitleRefused",
    "Unanswered",
    "Undecided",
    "Unseen",
    "WouldDiscard",
    "accept_check",
    "add_member",
    "amend",
    "claim_adjudication",
    "claim_check",
    "close_batch",
    "create_batch",
    "create_group",
    "criteria_of",
    "delete_group",
    "extend_batch",
    "finish_adjudication",
    "held_in",
    "invite_member",
    "is_unused",
    "make_batch",
    "new_seed",
    "next_adjudication",
    "next_check",
    "next_open",
    "open_batch",
    "open_conflicts_between",
    "pause_batch",
    "physician_of",
    "plan_batch",
    "release_adjudication",
    "release_check",
    "rename_batch",
    "rename_group",
    "return_check",
    "rule",
    "save_decision",
    "save_decisions",
    "save_each_decision",
    "set_capacity",
    "set_member_active",
    "settings_not_taken",
    "submit",
    "unclosed_batches",
    "undo_accept",
    "undo_finish",
    "undo_submit",
    "undo_submit_until",
]
