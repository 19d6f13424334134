"""Options of a release; stored with it, and written into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from django.utils.translation import gettext as _

from consilium.core.errors import DomainError

PARTS = ("responses", "decisions", "verdicts")


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """Cases, rubrics and prompts are always in it; everything else only where it is asked for.

    ``raters`` are whose decisions (empty: each physician's own, under their pseudonym), ``judges`` whose verdicts
    (empty: of all; each by its newest run, or all its imported ones), ``candidates`` about whose responses (empty: of
    all).
    """

    reference_answers: bool = False
    responses: bool = False
    decisions: bool = False
    verdicts: bool = False
    notes: bool = False  # physicians' notes on their decisions
    names: bool = False  # of contributors who agreed to be named
    raters: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    no_licence: bool = False
    url: str = ""  # where it will be found

    def as_json(self) -> dict[str, Any]:
        """As `Release.options` holds it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def read_options(stored: Mapping[str, Any]) -> ReleaseOptions:
    """Options from JSON; `DomainError` where a name or a value is none of them."""
    known = {field.name: field.default for field in fields(ReleaseOptions)}
    values: dict[str, Any] = {}
    for name, value in stored.items():
        if name not in known:
            raise DomainError(_("A release has no option “%(name)s”.") % {"name": name})
        if isinstance(known[name], tuple):
            if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
                raise DomainError(_("“%(name)s” is a list of names.") % {"name": name})
            values[name] = tuple(dict.fromkeys(value))
        elif type(value) is not type(known[name]):
            raise DomainError(_("“%(name)s” has the wrong kind of value.") % {"name": name})
        else:
            values[name] = value
    return ReleaseOptions(**values)
