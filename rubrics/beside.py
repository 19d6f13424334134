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
class Panel:
    """A drawer of the editor, whose content is fetched when it is opened for the first time.

    ``name`` is that of its script, ``address`` gives the address of the content for a case.
    """

    name: str
    title: Text
    address: Callable[[Case], str]
    may_see: Callable[[User, Case], bool]


@dataclass(frozen=True, slots=True)
class ShownPanel:
    """A panel that the reader may open."""

    name: str
    title: Text
    address: str


_panels: list[Panel] = []


def register(panel: Panel) -> None:
    """Add a panel."""
    if panel not in _panels:
        _panels.append(panel)


def panels_for(user: User, case: Case) -> list[ShownPanel]:
    """The panels that ``user`` may open beside the rubric of ``case``."""
    return [ShownPanel(panel.name, panel.title, panel.address(case)) for panel in _panels if panel.may_see(user, case)]
