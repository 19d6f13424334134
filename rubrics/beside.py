"""Registry of the panels beside the rubric editor; apps above this one fill it in ``AppConfig.ready``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounts.models import User
from rubrics.models import Case

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise


@dataclass(frozen=True, slots=True)
class Side:
    """What a panel brings that stands right of the criteria: its module in `static/js`, its style sheet, templates.

    ``words`` has the words of its script, ``keys`` what the list of keys says of it. ``key`` opens and folds it, with
    Alt.
    """

    script: str
    style: str
    words: str
    keys: str
    key: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A drawer of the editor, or with ``side`` a column beside the criteria. Its content is fetched when it is opened.

    ``name`` is that of its element, ``address`` gives the address of the content for a case.
    """

    name: str
    title: Text
    address: Callable[[Case], str]
    may_see: Callable[[User, Case], bool]
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class ShownPanel:
    """A panel that the reader may open."""

    name: str
    title: Text
    address: str
    side: Side | None = None


_panels: list[Panel] = []


def register(panel: Panel) -> None:
    """Add a panel."""
    if panel not in _panels:
        _panels.append(panel)


def panels_for(user: User, case: Case) -> list[ShownPanel]:
    """The panels that ``user`` may open beside the rubric of ``case``."""
    return [
        ShownPanel(panel.name, panel.title, panel.address(case), panel.side)
        for panel in _panels
        if panel.may_see(user, case)
    ]
