"""Slots: work is claimed, returned, handed over, deferred, and released when its lease has expired."""

from annotation.services.slots.claims import available, available_in, claim_next
from annotation.services.slots.free_slots import StuckSlot, put_off, stuck_slots
from annotation.services.slots.leases import release_abandoned, release_expired, settle_gold
from annotation.services.slots.returns import (
    assign,
    put_back_check,
    reassign,
    release,
    release_held_adjudications_of,
    release_held_checks_of,
    release_if_left,
    release_open_work_of,
    skip,
    why_not,
)

__all__ = [
    "StuckSlot",
    "assign",
    "available",
    "available_in",
    "claim_next",
    "put_back_check",
    "put_off",
    "reassign",
    "release",
    "release_abandoned",
    "release_expired",
    "release_held_adjudications_of",
    "release_held_checks_of",
    "release_if_left",
    "release_open_work_of",
    "settle_gold",
    "skip",
    "stuck_slots",
    "why_not",
]
