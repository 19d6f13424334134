"""What pages of reports show: headings, headline figures, tables with intervals, figures, remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agreement.failures.inputs import coding_judges
from agreement.judged.judges_in_report import judges_in_report
from agreement.kinds import kind_of
from agreement.models import Report
from agreement.reports import files
from agreement.reports.changes import CONTENT_KINDS, LEVEL_KINDS, last_changes
from agreement.reports.figures import figures_of, inline
from agreement.reports.methods import methods_of
from agreement.reports.numbers import Number
from agreement.reports.stored import table_names
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import names_in
from consilium.core.i18n import translate_remark
from consilium.core.jobs import JobStatus
from consilium.figures.render import ONE_COLUMN, TWO_COLUMNS
from consilium.statistics.case_numbers import CASES_FOR_A_CLAIM

Context = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """A figure on the page with the addresses of its files."""

    name: str
    title: str
    caption: str
    table_name: str
    draw: Callable[[], SafeString]
    csv_url: str
    urls: dict[str, str]  # of the figure itself, by format
    print_files: list[tuple[str, dict[str, str]]]  # the same by width and colours
    choice: str = ""  # the menu in which it is one of several, which calls it ``option``
    option: str = ""

    @property
    def svg(self) -> SafeString:
        """The figure as markup; only the figures that a page shows are drawn."""
        return self.draw()


@dataclass(frozen=True)
class FigureChoice:
    """A menu of figures: one of them, ``figure``, is on the page. ``others`` keep what other menus have chosen."""

    name: str
    figure: Shown
    options: list[Shown]
    others: list[str]


def title(report: Report, runs: Mapping[str, str] | None = None) -> str:
    """What a report is called; ``runs`` are the `names_in` of a page that shows
    many.
    """
    return kind_of(report).title(report.parameters, names_in([report]) if runs is None else runs)


def heading(report: Report) -> Context:
    """The heading of every report, finished or not."""
    own = title(report)
    return {"report": report, "title": report.name or own, "full_title": own if report.name else ""}


def listed(reports: QuerySet[Report]) -> QuerySet[Report]:
    """Reports for a list, without the tables, which only the page of a report needs."""
    return reports.select_related("recomputes").defer("result", "recomputes__result")


def list_rows(reports: Iterable[Report]) -> list[Context]:
    """Reports of a list: the title of each and, when it is done, its one figure; one query for all of them."""
    shown = list(reports)
    done = [report.pk for report in shown if report.status == JobStatus.DONE]
    columns = ("result__facts__headline", "result__facts__raters", "result__facts__n_cases")
    facts = list(Report.objects.filter(pk__in=done).values_list("pk", *columns))
    stored = {pk: headline for pk, headline, _raters, _cases in facts}
    raters_of = {pk: raters or [] for pk, _headline, raters, _cases in facts}
    cases_of = {pk: cases for pk, _headline, _raters, cases in facts}
    behind = {pk: judges_in_report(raters) for pk, raters in raters_of.items()}
    stale = may_be_stale([report for report in shown if report.pk in raters_of], raters_of)
    runs = names_in(shown)
    rows = []
    for report in shown:
        headline = None
        kind = kind_of(report)
        shown_as = kind.headline
        if shown_as and stored.get(report.pk):
            name, digits = shown_as
            scale = 100.0 if kind.headline_unit == "%" else 1.0
            # An older report does not say whose figure it is.
            figure = {"of": "", **stored[report.pk]}
            headline = name, figure.pop("of"), Number(**figure, digits=digits, unit=kind.headline_unit, scale=scale)
        rows.append(
            {
                "report": report,
                "title": report.name or title(report, runs),
                "full_title": title(report, runs) if report.name else "",
                "headline": headline,
                "n_cases": cases_of.get(report.pk),  # tells reports of one title apart
                "behind": [judge for judge in behind.get(report.pk, []) if judge.hash],
                "may_be_stale": report.pk in stale,
            }
        )
    times = Counter(row["title"] for row in rows)
    return [{**row, "is_namesake": times[row["title"]] > 1} for row in rows]


def may_be_stale(done: list[Report], raters_of: Mapping[int, list[Row]]) -> set[int]:
    """Reports of one benchmark for which a change of their raters was recorded since they began; one query for all.

    Only the page of a report checks whether the change affects a figure, by reading the inputs again.
    """
    began = {report: report.started_at or report.created_at for report in done}
    if not began:
        return set()
    changes = last_changes(done[0].benchmark, min(began.values()))
    return {report.pk for report, at in began.items() if changes.after(at, _rests_on(report, raters_of[report.pk]))}


def _rests_on(report: Report, raters: list[Row]) -> list[Row]:
    """The raters whose work went into a report, as rows of raters.csv; empty where it may be any rater."""
    # A scoreboard also counts the work of all physicians on its candidates, whoever its rater is.
    if report.kind == Report.Kind.SCORES:
        return []
    if report.kind in LEVEL_KINDS:  # readings and which cases count; no rater
        return [{"rater": "", "kind": "acuity", "judge": ""}]
    if report.kind == Report.Kind.COVERAGE:  # answers of a run, and physicians' decisions on them
        return [{"rater": "", "kind": "coverage", "judge": ""}]
    if report.kind == Report.Kind.PAIRS:  # answers of a run, and what physicians say about its pairs
        return [{"rater": "", "kind": "pairs", "judge": ""}]
    if report.kind == Report.Kind.FAILURES:  # codes of responses, and decisions of who grades coverage
        coders = [{"rater": "", "kind": "coding", "judge": name} for name in coding_judges(report.parameters)]
        return [{"rater": "", "kind": "failures", "judge": ""}, *coders, *raters]
    if report.kind == Report.Kind.DRAFTING:  # decisions on suggestions, and published rubrics
        return [{"rater": "", "kind": "drafting", "judge": ""}]
    if report.kind == Report.Kind.COMPOSITION:  # published rubrics, and what is recorded of cases
        return [{"rater": "", "kind": kind, "judge": ""} for kind in ("content", "source_labels")]
    if report.kind == Report.Kind.COHORT:  # applications, licences, members, and who has taken part
        return [{"rater": "", "kind": "cohort", "judge": ""}]
    if report.kind in CONTENT_KINDS:  # responses, and what is known of candidates, beside the decisions
        others = ("content", "attributes") if report.kind == Report.Kind.FRONTIER else ("content",)
        return [*raters, *({"rater": "", "kind": kind, "judge": ""} for kind in others)]
    if report.kind in (Report.Kind.ALTERNATIVE, Report.Kind.META_EVAL):  # their tables of raters have only judges
        group = str(report.parameters["group"])
        return [*raters, {"rater": f"{group}@first", "kind": "group", "judge": ""}] if ":" in group else []
    return raters


def body(report: Report, *, sort: str = "", part: str = "", page: str = "", chosen: Collection[str] = ()) -> Context:
    """Everything on the page of a finished report; ``page`` is the number of a page of its long tables, ``chosen`` are
    names of figures that menus of the page have chosen.
    """
    context = heading(report)
    context["figures"] = {shown.name: shown for shown in _shown(report)}
    context["choices"] = _choices(context["figures"].values(), chosen)
    context["view"] = {"sort": sort, "slice": part, "page": page}
    context["facts"] = report.result["facts"]
    context["effective"] = effective = context["facts"].get("effective")
    context["few_for_claim"] = effective is not None and effective < CASES_FOR_A_CLAIM
    context["methods"] = methods_of(report)
    context["table_names"] = table_names(report)
    context["behind"] = judges_in_report(context["facts"].get("raters", []))
    context["notes"] = [translate_remark(note) for note in report.result["notes"]]
    kind = kind_of(report)
    if kind.body_of_page:
        context |= kind.body_of_page(report, sort, page)
    else:
        context |= kind.body_of_slice(report, sort, part) if kind.body_of_slice else kind.body(report, sort)
    context["template"] = kind.template
    return context


def _shown(report: Report) -> Iterable[Shown]:
    place = [report.benchmark.slug, report.section, report.public_id]
    for figure in figures_of(report):
        urls = {
            ending.upper(): reverse("agreement:figure", args=[*place, figure.name, ending])
            for ending in files.FIGURE_TYPES
        }
        yield Shown(
            name=figure.name,
            title=figure.title,
            caption=figure.caption,
            table_name=figure.table,
            draw=partial(inline, report, figure),
            csv_url=reverse("agreement:table-csv", args=[*place, figure.table]),
            urls=urls,
            print_files=list(_print_files(urls)),
            choice=figure.choice,
            option=figure.option,
        )


def _choices(figures: Iterable[Shown], chosen: Collection[str]) -> dict[str, FigureChoice]:
    """The menus by name; without a choice the first figure of each is shown."""
    options: dict[str, list[Shown]] = {}
    for figure in figures:
        if figure.choice:
            options.setdefault(figure.choice, []).append(figure)
    now = {name: next((figure for figure in own if figure.name in chosen), own[0]) for name, own in options.items()}
    return {
        name: FigureChoice(name, now[name], own, [figure.name for other, figure in now.items() if other != name])
        for name, own in options.items()
    }


def _print_files(urls: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    for grey in (False, True):
        for width, label in (
            (ONE_COLUMN, _("one column, %(mm)s mm, in greys") if grey else _("one column, %(mm)s mm")),
            (TWO_COLUMNS, _("two columns, %(mm)s mm, in greys") if grey else _("two columns, %(mm)s mm")),
        ):
            query = urlencode({"width": width, **({"grey": 1} if grey else {})})
            yield label % {"mm": width}, {format_: f"{url}?{query}" for format_, url in urls.items()}
