"""Options of a release; stored with it, and written into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Annotated, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from consilium.core.commands import Label
from consilium.core.errors import DomainError

PARTS = ("responses", "decisions", "verdicts", "codes", "acuity", "votes")


@command(frozen=True, slots=True)
class ReleaseOptions:
    """Options of a release. Cases, rubrics and prompts are always included; everything else only on request.

    ``raters`` are those whose decisions are included (empty: each physician's own, under their pseudonym), ``judges``
    those whose verdicts are (empty: all; each by its newest run, or all its imported ones). ``candidates`` limit all of
    these to their responses (empty: all candidates). ``codes`` are those of all physicians and of ``judges``.
    """

    reference_answers: Annotated[bool, Label(gettext_lazy("Reference answers"))] = False
    responses: Annotated[bool, Label(gettext_lazy("Responses of candidates"))] = False
    decisions: Annotated[bool, Label(gettext_lazy("Physicians’ decisions, under pseudonyms"))] = False
    verdicts: Annotated[bool, Label(gettext_lazy("Verdicts of judges"))] = False
    codes: Annotated[
        bool,
        Field(description="The code book, and the codes that physicians, adjudicators and judges gave to responses."),
        Label(gettext_lazy("Codes of failures, with the code book")),
    ] = False
    acuity: Annotated[
        bool,
        Field(
            description="Scales, labels, reference sets, runs and readings on how urgent cases are. Readings of judges "
            "are beside responses only."
        ),
        Label(gettext_lazy("Acuity: labels, reference sets and readings")),
    ] = False
    reading_texts: Annotated[
        bool,
        Field(description="With what candidates said, word for word; the report on acuity needs it to come back."),
        Label(gettext_lazy("… with the readings word for word")),
    ] = False
    votes: Annotated[bool, Label(gettext_lazy("… with physicians’ votes on urgency, under pseudonyms"))] = False
    certainty: Annotated[
        bool,
        Field(description="With the certainty of each vote."),
        Label(gettext_lazy("… and how certain each vote is")),
    ] = False
    notes: Annotated[
        bool,
        Field(description="With physicians' notes on their decisions, codes and votes, and those of who signed."),
        Label(gettext_lazy("… with physicians’ notes on their decisions, codes and votes")),
    ] = False
    names: Annotated[
        bool,
        Field(description="Of contributors who agreed to be named, and of those who signed reference sets."),
        Label(gettext_lazy("Names of contributors who agreed to be named, and of those who signed reference sets")),
    ] = False
    raters: tuple[str, ...] = ()
    judges: Annotated[tuple[str, ...], Label(gettext_lazy("Only these judges"))] = ()
    candidates: Annotated[tuple[str, ...], Label(gettext_lazy("Only these candidates"))] = ()
    no_licence: Annotated[bool, Label(gettext_lazy("Release it without a licence: all rights stay with you"))] = False
    url: Annotated[
        str,
        Label(
            gettext_lazy("Where it will be available"),
            gettext_lazy("For the citation and the metadata, such as a DOI."),
        ),
    ] = ""

    def as_json(self) -> dict[str, Any]:
        """As `Release.options` holds it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def read_options(stored: Mapping[str, Any]) -> ReleaseOptions:
    """Options from JSON; `DomainError` where a name or a value is not valid."""
    known = {field.name: field.default for field in fields(ReleaseOptions)}
    values: dict[str, Any] = {}
    for name, value in stored.items():
        if name not in known:
            raise DomainError(_("A release has no option “%(name)s”.") % {"name": name})
        if isinstance(known[name], tuple):
            if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
                raise DomainError(_("“%(name)s” must be a list of names.") % {"name": name})
            values[name] = tuple(dict.fromkeys(value))
        elif type(value) is not type(known[name]):
            raise DomainError(_("“%(name)s” has the wrong kind of value.") % {"name": name})
        else:
            values[name] = value
    return ReleaseOptions(**values)
