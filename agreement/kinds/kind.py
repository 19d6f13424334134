"""The interface of a report kind: all that forms, worker, page, files and API need to know of it.

A kind is one module of this package that ends in ``KIND = Kind(...)``; the package's own module lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agreement.counting.frame import Frame
from agreement.counting.pairs import Pairs
from agreement.models import SECTION_OF, Report
from agreement.reports.tables import Result
from consilium.figures.render import Drawing
from rubrics.models import Benchmark

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

    from agreement.forms import ReportForm

Context = dict[str, Any]
Parameters = Mapping[str, Any]
Read = tuple[tuple[str, str], Pairs, Frame, str]


@dataclass(frozen=True)
class Figure:
    """A figure of a report. ``table`` names the stored table that holds its numbers.

    Of the figures of one ``choice`` a page shows one at a time, in a menu that calls it ``option``. A figure with
    ``is_on_request`` is drawn when it is chosen or its file is asked for, and is no part of the archive.
    """

    name: str
    title: str
    caption: str
    table: str
    drawing: Drawing
    choice: str = ""
    option: str = ""
    is_on_request: bool = False


@dataclass(frozen=True)
class Invitation:
    """The text above the form for a new report; ``missing`` says what is still needed where there is not enough yet."""

    heading: _StrOrPromise
    why: _StrOrPromise
    missing: _StrOrPromise


def nothing_to_draw(report: Report) -> Iterator[Figure]:
    """For a kind without figures."""
    return iter(())


def no_methods(report: Report) -> list[str]:
    """For a kind whose methods need no sentence of their own."""
    return []


@dataclass(frozen=True)
class Kind:
    """One kind of report.

    ``complete`` checks the given parameters and fills in the others (`WrongParameters`, `UnknownRater`); ``compute``
    makes the tables from them and writes nothing; ``pairs`` gives raters, pairs, frame and digest for the page of
    decisions behind a slice, of two of the raters where there are more (``side``, one of ``sides``, which names them
    with their labels; by default the first; ``sides_of`` where they differ from report to report). ``headline`` is the
    name of the kind's leading figure, and its number of decimals; ``headline_unit`` is "%" for a share that its page
    shows in percent. ``methods`` are English sentences for a paper. ``digest`` reads the inputs as they stand now and
    gives the digest that ``compute`` would: a report is stale where it differs from its own. ``interval_rules`` are
    those that intervals of the kind can be made by.
    """

    value: str
    parameters: frozenset[str]
    complete: Callable[[Benchmark, Parameters], dict[str, Any]]
    compute: Callable[..., Result]
    title: Callable[[Parameters, Mapping[str, str] | None], str]
    form: type[ReportForm]
    invitation: Invitation
    template: str
    body: Callable[[Report, str], Context]
    figures: Callable[[Report], Iterator[Figure]] = nothing_to_draw
    headline: tuple[_StrOrPromise, int] | None = None
    headline_unit: str = ""
    pairs: Callable[[Report, str], Read] | None = None
    sides: Mapping[str, _StrOrPromise] = field(default_factory=dict)
    sides_of: Callable[[Report], Mapping[str, _StrOrPromise]] | None = None
    methods: Callable[[Report], list[str]] = no_methods
    body_of_slice: Callable[[Report, str, str], Context] | None = None
    body_of_page: Callable[[Report, str, str], Context] | None = None
    digest: Callable[[Benchmark, Parameters], str] | None = None
    interval_rules: Collection[str] = tuple(Report.Interval.values)

    @property
    def section(self) -> str:
        """The part of the benchmark's pages that reports of the kind stand in."""
        return SECTION_OF[self.value]
