"""Registry of functions to call when a draft is saved or published; apps above this one fill it in ``AppConfig.ready``.

All of them are called inside the transaction of the write. An exception undoes the write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from accounts.models import User
from consilium.core.errors import FaultsRefused, LineError
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Rubric


@dataclass(frozen=True, slots=True)
class DraftSave:
    """A save of a draft. ``by`` makes it; ``writer`` wrote the words; ``before`` are the items stored until now.

    ``in_editor``: a person decided on each item on a page. False for the API, files, and other lists that are put in
    place of what stands.
    """

    rubric: Rubric
    before: Sequence[DraftItem]
    by: User
    writer: User
    at: datetime
    in_editor: bool = False


T = TypeVar("T")
# The items of a draft as they are to be stored, and what is wrong with them; ``line`` is the place of an item.
DraftCheck = Callable[[DraftSave, Sequence[DraftItem]], tuple[Sequence[DraftItem], Sequence[LineError]]]
DraftListener = Callable[[DraftSave, Sequence[DraftItem]], None]
# A draft that is about to be deleted, with its items.
DiscardListener = Callable[[Rubric, Sequence[DraftItem]], None]
# What keeps a draft from review and from being published.
PublicationCheck = Callable[[Rubric, Sequence[DraftItem]], Sequence[LineError]]
# The version before (None for the first), the published one, and the time.
PublicationListener = Callable[[Rubric | None, Rubric, datetime], None]

_draft_checks: list[DraftCheck] = []
_draft_listeners: list[DraftListener] = []
_discard_listeners: list[DiscardListener] = []
_publication_checks: list[PublicationCheck] = []
_publication_listeners: list[PublicationListener] = []


class DraftRefused(FaultsRefused):
    """Items that cannot be stored; ``errors`` name them by their place."""


def register(
    *,
    draft_check: DraftCheck | None = None,
    draft_listener: DraftListener | None = None,
    discard_listener: DiscardListener | None = None,
    publication_check: PublicationCheck | None = None,
    publication_listener: PublicationListener | None = None,
) -> None:
    """Add functions, each of them once."""
    _add(draft_check, _draft_checks)
    _add(draft_listener, _draft_listeners)
    _add(discard_listener, _discard_listeners)
    _add(publication_check, _publication_checks)
    _add(publication_listener, _publication_listeners)


def _add(function: T | None, functions: list[T]) -> None:
    if function is not None and function not in functions:
        functions.append(function)


def check_draft(save: DraftSave, items: Sequence[DraftItem]) -> list[DraftItem]:
    """The items as they are to be stored; `DraftRefused` where any of them cannot be."""
    faults: list[LineError] = []
    for check in _draft_checks:
        items, refused = check(save, items)
        faults += refused
    if faults:
        raise DraftRefused(faults)
    return list(items)


def draft_saved(save: DraftSave, items: Sequence[DraftItem]) -> None:
    """Call what is to know of a saved draft."""
    for listener in _draft_listeners:
        listener(save, items)


def draft_discarded(rubric: Rubric, items: Sequence[DraftItem]) -> None:
    """Call what is to know of a draft that nobody will go on with."""
    for listener in _discard_listeners:
        listener(rubric, items)


def check_publication(rubric: Rubric, items: Sequence[DraftItem]) -> list[LineError]:
    """What higher apps know that keeps this draft from review and from being published."""
    return [fault for check in _publication_checks for fault in check(rubric, items)]


def published(before: Rubric | None, after: Rubric, at: datetime) -> None:
    """Call what is to know of a new version: ``after`` replaces ``before``, if there was one."""
    for listener in _publication_listeners:
        listener(before, after, at)
