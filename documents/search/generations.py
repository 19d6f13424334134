"""Generations of a collection's index: when a new one is due, and the job that builds it."""

from __future__ import annotations

from datetime import datetime

from accounts.models import User
from documents.models import Collection, SearchGeneration


def passages_added(*, collection: Collection, by: User | None, at: datetime) -> SearchGeneration | None:
    """Ask for a new generation if too many passages are not in the index; call it in the transaction of an import."""
    raise NotImplementedError


def rebuild(*, collection: Collection, by: User | None, at: datetime) -> SearchGeneration:
    """Ask for a new generation of the index."""
    raise NotImplementedError
