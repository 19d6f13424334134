"""What a table or figure of a paper is made from: the kind of report, its parameters, table, columns and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agreement.replication.gaps import NOT_HERE, STEPS, Gap
from consilium.core.phrases import Phrase

if TYPE_CHECKING:
    from agreement.models import Report
    from agreement.replication.choosing import Choices

TABLE, FIGURE = "table", "figure"
ANY = "*"  # at the end of a value: every value that begins so
Row = dict[str, Any]
Choose = Callable[["Choices"], list[dict[str, Any]]]
Check = Callable[[list[Row]], list[Gap]]
LeavesOut = Callable[["Choices"], list[Gap]]
WhyEmpty = Callable[["Sequence[Report]"], Gap]


@dataclass(frozen=True, slots=True)
class Need:
    """What an artefact is about, without which it is there in part only: the gaps in its rows (and their reports) and,
    where it is cheap to see before anything is computed, the same gaps from the stored data.
    """

    in_rows: Callable[[list[Row], Sequence[Report]], list[Gap]]
    beforehand: Callable[[Choices], list[Gap]] | None = None


@dataclass(frozen=True, slots=True)
class Artefact:
    """A table or figure of a paper. ``place`` is where it stands there, empty where that is not known for certain.

    It is made of rows of ``table`` of the reports of a ``kind``, one for each of the parameters that ``choose`` gives.
    ``where`` says which rows (by column the values, `ANY` at their end), ``columns`` which columns; ``by`` names the
    parameter of the reports that becomes the first column where there may be several of them. ``row`` are the columns
    that name a row in a file of published values. ``expects`` are the values of columns that the paper has rows for.
    ``figures`` are figures of the reports, by name or its beginning.

    ``empty`` is the gap where the reports have no such rows, or ``why_empty`` finds it; ``valueless`` where rows have
    no value of the leading figures. ``refused`` has the next step where its report cannot be computed. Without one of
    these the next step is that of the kind of report (`gaps.STEPS`). ``needs`` are what it is about, such as a theme;
    ``checks`` find other gaps in the rows, and ``leaves_out`` finds whom the parameters have no place for. ``partly``
    are parts that Consilium does not make. Where nothing of it is made of any data, ``kind`` is empty and ``lacks``
    says why; where it is not made from data at all, such as a drawing of the method, ``not_data`` says what it is.
    """

    key: str
    title: Phrase
    form: str = TABLE
    place: str = ""
    kind: str = ""
    choose: Choose | None = None
    table: str = ""
    columns: tuple[str, ...] = ()
    row: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: str = ""
    figures: tuple[str, ...] = ()
    needs_k: bool = False
    empty: Gap | None = None
    why_empty: WhyEmpty | None = None
    valueless: Gap | None = None
    refused: Gap | None = None
    needs: tuple[Need, ...] = ()
    checks: tuple[Check, ...] = ()
    leaves_out: LeavesOut | None = None
    partly: tuple[Gap, ...] = ()
    lacks: Gap = NOT_HERE
    not_data: Phrase | None = None

    @property
    def is_made_here(self) -> bool:
        """Whether Consilium makes it of any data."""
        return bool(self.kind)

    @property
    def step(self) -> Gap:
        """The next step where the artefact names none of its own for what is missing."""
        return STEPS[self.kind]

    @property
    def why_not_made(self) -> Gap:
        """Why Consilium does not make it of any data."""
        return Gap(self.not_data) if self.not_data else self.lacks


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its name in addresses and commands, its short name, how it is cited, and its tables and figures."""

    key: str
    name: str
    title: str
    citation: str
    artefacts: tuple[Artefact, ...]

    @property
    def number(self) -> str:
        """The number of the paper, such as arXiv 2505.08775, which is the same in every language."""
        return self.citation.rpartition(", ")[2]

    def artefact(self, key: str) -> Artefact | None:
        """The artefact of that name."""
        return next((artefact for artefact in self.artefacts if artefact.key == key), None)


def is_among(value: Any, values: tuple[str, ...]) -> bool:
    """Whether a value is one of those, or begins as one with `ANY` at its end does."""
    text = str(value)
    return any(
        text.startswith(pattern[: -len(ANY)]) if pattern.endswith(ANY) else text == pattern for pattern in values
    )
