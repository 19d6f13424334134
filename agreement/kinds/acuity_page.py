"""The page of a report of acuity: who costs the least, how everybody errs, and what was not answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from string import ascii_uppercase
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agreement.acuity.parameters import INCLUDE, exponent_in_words, level_label
from agreement.acuity.readings import IMPORTED
from agreement.kinds.kind import Context
from agreement.kinds.slice_menu import slice_label, slice_menu, titles_of_named
from agreement.models import Report
from agreement.reports.numbers import Number, PValue, Tile, n_not_compared, number
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Row
from consilium.core.i18n import translate_remark
from consilium.statistics.triage_cost import CURVE
from rubrics.parsing.acuity_files import ALL
from scoring.models import AcuityReading

FORMATS = ("qa", "chat")
# The page shows at most so many pairs; the file has all of them.
SHOWN_PAIRS = 60
# Of readings without a single level, in words that follow their number.
STATES = {
    "n_refused": gettext_lazy("refused"),
    "n_no_level": gettext_lazy("without a level"),
    "n_several": gettext_lazy("with several levels"),
    "n_invalid": gettext_lazy("unreadable"),
    "n_missing": gettext_lazy("missing"),
}
RANKED = ("cost_all", "under_all", "qwk")
BOARD = ("accuracy", "over", "under", "severe_under", "cost", "cost_all", "qwk")
PAIRED = ("accuracy", "over", "under", "cost_all")
COMPARED = ("accuracy", "over", "under", "cost", "shift")
POWERED = ("cost", "under", "severe_under", "over", "accuracy")


def format_label(format_: str) -> str:
    """A format as pages and figures call it."""
    return {"qa": _("Forced choice"), "chat": _("Advice to a patient")}.get(format_, format_)


def level_names(report: Report) -> dict[str, str]:
    """By its value, each level with its letter: ``A Self-care``."""
    levels = report.result["facts"]["levels"]
    return {
        level["value"]: f"{letter} {level_label(level)}" for letter, level in zip(ascii_uppercase, levels, strict=False)
    }


def readings_url(report: Report, series: tuple[str, str], reference: str, level: str) -> str:
    """The page of the readings of a series that name ``level`` on cases of the level ``reference``."""
    candidate, format_ = series
    query = urlencode({"candidate": candidate, "format": format_, "reference": reference, "level": level})
    return f"{reverse('agreement:readings', args=[report.benchmark.slug, report.public_id])}?{query}"


def acuity_rows(report: Report, part: str = ALL) -> list[Row]:
    """The rows of ``acuity.csv`` of one slice, by default of all cases that count."""
    return [row for row in table_of(report, "acuity").dicts() if row["slice"] == part]


def leading(rows: Iterable[Row]) -> Row | None:
    """The candidate that costs the least over everything asked, each case counting 1, in the first format."""
    expected = _ranked_rows(rows)
    for format_ in FORMATS:
        own = [row for row in expected if row["format"] == format_]
        if own:
            return min(own, key=lambda row: (row["cost_all"], row["candidate"]))
    return None


def _ranked_rows(rows: Iterable[Row]) -> list[Row]:
    return [
        row
        for row in rows
        if row["slice"] == ALL
        and row["aggregate"] == "expected"
        and row["candidate"] != ALL
        and row["cost_all"] is not None
    ]


def in_order(report: Report) -> list[tuple[str, str]]:
    """The candidates with their formats: the forced choice first, in each those that cost the least over everything
    asked; those without such a figure last.
    """
    rows = [row for row in acuity_rows(report) if row["aggregate"] == "expected"]
    own = [row for row in rows if row["candidate"] != ALL]

    def place(row: Row) -> tuple[Any, ...]:
        cost = row["cost_all"]
        return FORMATS.index(row["format"]), cost is None, cost or 0.0, row["candidate"]

    return [(row["candidate"], row["format"]) for row in sorted(own, key=place)]


def body(report: Report, sort: str) -> Context:
    """The page with all cases that count; see `body_of_slice`."""
    return body_of_slice(report, sort, "")


def body_of_slice(report: Report, sort: str, part: str) -> Context:
    """The page with ranking and figures of the slice called ``part``, or of all cases where there is no such slice;
    ``sort`` is the measure to rank by. The sections below are of all cases.
    """
    facts = report.result["facts"]
    slices = facts.get("slices", [])
    part = part if part in slices else ALL
    rows = acuity_rows(report)
    best = leading(rows)
    order = in_order(report)
    names = level_names(report)
    several = len({format_ for _name, format_ in order}) > 1
    titles = _titles(report, names)
    return {
        "price": f"{facts['ratio']:g} : 1",
        "exponent": exponent_in_words(facts),
        "levels": list(names.values()),
        "highest": list(names.values())[-1],
        "several_formats": several,
        "finding": " ".join(filter(None, (_finding(report, rows, best), _as_to_a_patient(rows, best)))),
        "best": {"candidate": best["candidate"], "format": format_label(best["format"])} if best else None,
        "tiles": _tiles(report, best) if best else [],
        **_ranking(report, sort, part),
        "board": _board(acuity_rows(report, part), order, facts),
        "part": part,
        "one_level": part.startswith("reference:") and "|" not in part,
        "part_label": "" if part == ALL else slice_label(part, titles),
        "menu": slice_menu(slices, part, titles, whole=ALL),
        "statuses": _statuses(facts),
        "levels_rows": _level_rows(report, order, names),
        "missed": _missed(report, order, names),
        "boundary": _boundary(report, order, names),
        **_pairs(report),
        **_crossings(report),
        "powered": _powered(report),
        "frontier": _frontier(report, order),
        "confidence": _confidence(report, order),
        "both_formats": _both_formats(report),
        "unusable": _unusable(report),
    }


def _titles(report: Report, names: Mapping[str, str]) -> dict[str, str]:
    """Titles of slices that are no values of their kind: reference levels, and named slices."""
    levels = {f"reference:{value}": label for value, label in names.items()}
    values = list(names)
    levels |= {f"reference:{low}|{high}": f"{names[low]} | {names[high]}" for low, high in pairwise(values)}
    return {**titles_of_named(report.benchmark), **levels}


def _statuses(facts: Mapping[str, Any]) -> list[str]:
    """How many cases count, and why others do not."""
    counts = facts["statuses"]
    words = {
        "clear": _("with one clear level, in the main figures"),
        "boundary": _("between two levels, also in the main figures")
        if facts.get("boundary") == INCLUDE
        else _("between two levels, in a separate table"),
        "ambiguous": _("ambiguous"),
        "set_aside": _("set aside"),
        "without_reference": _("without a reference"),
    }
    return [
        ngettext("%(n)s case %(status)s", "%(n)s cases %(status)s", counts[status])
        % {"n": f"{counts[status]:,}", "status": word}
        for status, word in words.items()
        if counts[status]
    ]


def _finding(report: Report, rows: Sequence[Row], best: Row | None) -> str:
    facts = report.result["facts"]
    if best is None or not facts["n_cases"]:
        return ""
    formats = {row["format"] for row in _ranked_rows(rows)}
    candidate = best["candidate"]
    given = {
        "candidate": f"{candidate} ({format_label(best['format'])})" if len(formats) > 1 else candidate,
        "cost": Number(best["cost_all"], digits=2).shown,
        "price": f"{facts['ratio']:g} : 1",
    }
    others = [row for row in _ranked_rows(rows) if row["format"] == best["format"] and row is not best]
    if not others:
        return (
            _("%(candidate)s costs %(cost)s per case over all questions asked, at a relative cost of %(price)s.")
            % given
        )
    least = (
        _(
            "%(candidate)s has the lowest cost over all questions asked: %(cost)s per case, at a relative cost "
            "of %(price)s."
        )
        % given
    )
    rank = next(
        (row for row in ranks_by(report, "cost_all", ALL) if _same(row, (best["candidate"], best["format"]))), {}
    )
    if rank.get("rank_high") is None:
        return least
    if rank["rank_high"] == 1:
        return " ".join([least, _("It leads: on these cases it costs less than every other candidate.")])
    more = _("No candidate leads: on these cases its rank may be anywhere from %(low)s to %(high)s.")
    return " ".join([least, more % {"low": rank["rank_low"], "high": rank["rank_high"]}, *_not_compared(rank)])


def _not_compared(rank: Row) -> list[str]:
    """With how many candidates the one of a rank is not compared; nothing where it is compared with all."""
    n = n_not_compared(rank, "rank")
    words = ngettext(
        "It shares no case, or too few cases, with %(n)s other candidate, and is not compared with it.",
        "It shares no case, or too few cases, with %(n)s other candidates, and is not compared with them.",
        n,
    )
    return [words % {"n": n}] if n else []


def _as_to_a_patient(rows: Iterable[Row], best: Row | None) -> str:
    """What the candidate advises that costs the least in the forced choice: it may know more than it says."""
    if best is None or best["format"] != FORMATS[0]:
        return ""
    for row in _ranked_rows(rows):
        if (row["candidate"], row["format"]) == (best["candidate"], FORMATS[1]) and row["under"] is not None:
            shown = {"under": f"{row['under']:.1%}", "cost": Number(row["cost_all"], digits=2).shown}
            return _("In advice to a patient, it is too low in %(under)s of cases and costs %(cost)s per case.") % shown
    return ""


def ranks_by(report: Report, measure: str, part: str) -> list[Row]:
    """The rows of ``ranking.csv`` by one measure in one slice; none of a report that is older than that table."""
    if "ranking" not in table_names(report):
        return []
    return [row for row in table_of(report, "ranking").dicts() if (row["measure"], row["slice"]) == (measure, part)]


def _ranking(report: Report, sort: str, part: str) -> Context:
    """The candidates ranked by one measure, both formats side by side (`side_by_side`)."""
    measure = sort if sort in RANKED else RANKED[0]
    ranks = ranks_by(report, measure, part)
    figures = {
        (row["candidate"], row["format"]): row
        for row in acuity_rows(report, part)
        if row["aggregate"] == "expected" and row["candidate"] != ALL
    }
    formats = [format_ for format_ in FORMATS if any(row["format"] == format_ for row in ranks)]
    rows: list[Context] = [
        {
            "candidate": name,
            "formats": [row and _ranked(row, figures[name, row["format"]], measure) for row in own],
        }
        for name, own in side_by_side(ranks, formats)
    ]
    labels = ranking_labels()
    return {
        "ranking": rows,
        "ranking_formats": [format_label(format_) for format_ in formats],
        "ranked_by": labels[measure],
        "ranked_by_key": measure,
        "rankings": [(key, label, key == measure) for key, label in labels.items()],
        "any_rank_differs": any(own and own["differs"] for row in rows for own in row["formats"]),
        "any_not_compared": any(n_not_compared(row, "rank") for row in ranks),
    }


def ranking_labels() -> dict[str, str]:
    """The measures that candidates are ranked by, the default first; accuracy is none of them."""
    labels = {"cost_all": _("Cost, refusals included"), "under_all": _("Too low, refusals included"), "qwk": "QWK"}
    return {measure: labels[measure] for measure in RANKED}


def side_by_side(rows: Sequence[Row], formats: Sequence[str]) -> list[tuple[str, list[Row | None]]]:
    """Each candidate with its rows in ``formats``: in the order of the first of them, then of the others."""
    own = {(row["candidate"], row["format"]): row for row in rows}
    names = dict.fromkeys(row["candidate"] for format_ in formats for row in rows if row["format"] == format_)
    return [(name, [own.get((name, format_)) for format_ in formats]) for name in names]


def has_other_rank(row: Row) -> bool:
    """Whether a candidate has another rank over usable readings alone."""
    return None not in (row["rank"], row["rank_usable"]) and row["rank"] != row["rank_usable"]


def _ranked(row: Row, figures: Row, measure: str) -> Context:
    return {
        "rank": number(row, "rank", digits=0),
        "usable": row["rank_usable"],
        "differs": has_other_rank(row),
        "figure": _share(figures, measure) if measure == "under_all" else number(figures, measure),
        "index": number(row, "rli", digits=1),
    }


def _share(row: Row, name: str) -> Number:
    return number(row, name, scale=100, digits=1, unit="%")


def _tiles(report: Report, best: Row) -> list[Tile]:
    missed = [row for row in _whole_missed(report) if _same(row, (best["candidate"], best["format"]))]
    tiles = [
        Tile(_("Accuracy"), _share(best, "accuracy")),
        Tile(_("Over-triage (too high)"), _share(best, "over")),
        Tile(_("Under-triage (too low)"), _share(best, "under")),
        Tile(_("Too low by two levels"), _share(best, "severe_under")),
    ]
    if missed and missed[0]["n"]:
        of_all = _("%(k)s of %(n)s readings") % {"k": f"{missed[0]['missed']:,}", "n": f"{missed[0]['n']:,}"}
        tiles.append(Tile(_("Missed emergencies"), missed[0]["number"], detail=of_all))
    else:
        tiles.append(Tile(_("Missed emergencies"), text="–", detail=_("no case of the highest level")))
    tiles.append(Tile(_("Cost, refusals included"), number(best, "cost_all")))
    return tiles


def _same(row: Row, series: tuple[str, str]) -> bool:
    return (row["candidate"], row["format"]) == series


def _board(rows: Sequence[Row], order: Sequence[tuple[str, str]], facts: Mapping[str, Any]) -> list[Context]:
    """A group of rows for each format, with the pooled row of all candidates at its end."""
    is_unchecked = not facts.get("level_judge", {}).get("is_checked", True)
    has_sources = any(row["source"] != IMPORTED for row in rows)
    expected = {(row["candidate"], row["format"]): row for row in rows if row["aggregate"] == "expected"}
    groups = []
    for format_ in FORMATS:
        series = [name for name in order if name[1] == format_ and name in expected]
        if not series:
            continue
        shown = [_board_row(expected[name]) for name in series]
        if has_sources:
            shown = [{**row, **_source(row["source"], is_unchecked)} for row in shown]
        if (ALL, format_) in expected:
            shown.append({**_board_row(expected[ALL, format_]), "is_all": True})
        groups.append({"format": format_label(format_), "rows": shown})
    return groups


def _source(source: str, is_unchecked: bool) -> Context:
    """Where readings come from, and of those of a judge whether physicians still have to check it."""
    label = AcuityReading.Source(source).label
    return {"source_label": label, "is_unchecked": is_unchecked and source == AcuityReading.Source.JUDGE}


def _board_row(row: Row) -> Context:
    shares = ("accuracy", "over", "under", "severe_under")
    return {
        **row,
        "figures": {name: _share(row, name) if name in shares else number(row, name) for name in BOARD},
        "n_asked": row["n_readings"] + row["n_missing"],
        "states": [(row[state], label) for state, label in STATES.items() if row[state]],
    }


def _level_rows(report: Report, order: Sequence[tuple[str, str]], names: Mapping[str, str]) -> list[Context]:
    rows = [row for row in table_of(report, "levels").dicts() if row["aggregate"] == "expected"]
    return [
        {
            **row,
            "first": place == 0,
            "span": len(names),
            "format_label": format_label(row["format"]),
            "label": names[row["level"]],
            "recall_number": _share(row, "recall"),
            "over_number": Number(row["over"], scale=100, digits=1, unit="%"),
            "under_number": Number(row["under"], scale=100, digits=1, unit="%"),
            "f1_number": Number(row["f1"]),
        }
        for series in order
        for place, row in enumerate(row for row in rows if _same(row, series))
    ]


def _whole_missed(report: Report) -> list[Row]:
    """The rows of all emergencies missed, each reading counting 1, with their share as a number."""
    return [
        {
            **row,
            "number": Number(row["share"], row["low"], row["high"], scale=100, digits=1, unit="%"),
        }
        for row in table_of(report, "missed").dicts()
        if row["aggregate"] == "pooled" and not row["sent_to"]
    ]


def _missed(report: Report, order: Sequence[tuple[str, str]], names: Mapping[str, str]) -> list[Context]:
    sent = [row for row in table_of(report, "missed").dicts() if row["aggregate"] == "pooled" and row["sent_to"]]
    return [
        {
            **row,
            "format_label": format_label(row["format"]),
            "sent": [
                {
                    "label": names[part["sent_to"]],
                    "n": part["n_sent"],
                    "url": readings_url(report, series, list(names)[-1], part["sent_to"]),
                }
                for part in sent
                if _same(part, series) and part["n_sent"]
            ],
            "net": _share(row, "net_share"),
            "low_to": [
                {"label": names[part["sent_to"]], "n": part["n_stated"], "n_net": part["n_net"]}
                for part in sent
                if _same(part, series) and part.get("n_stated")
            ],
        }
        for series in order
        for row in _whole_missed(report)
        if _same(row, series) and (row["n"] or row.get("n_low"))
    ]


def _powered(report: Report) -> list[Context]:
    """Rates of advice by the judge and put right by physicians, a row for each candidate; all of them last."""
    if "powered" not in table_names(report):
        return []
    rows: dict[str, dict[str, Row]] = {}
    for row in table_of(report, "powered").dicts():
        rows.setdefault(row["candidate"], {})[row["measure"]] = row
    whole = rows.pop(ALL, None)
    if whole and len(rows) > 1:
        rows[ALL] = whole
    return [
        {
            "candidate": name,
            "is_all": name == ALL,
            "n_judged": own["accuracy"]["n_judged"],
            "n_read": own["accuracy"]["n_read"],
            "enough_read": own["accuracy"]["enough_read"],
            "figures": [_powered_figure(own.get(measure), measure) for measure in POWERED],
        }
        for name, own in rows.items()
    ]


def _powered_figure(row: Row | None, measure: str) -> Context | None:
    """The rate put right, and that by the judge alone; None for a severe error on a scale of two levels."""
    if row is None:
        return None
    shown = {"scale": 1.0} if measure == "cost" else {"scale": 100, "digits": 1, "unit": "%"}
    why = translate_remark(row["note"])
    return {
        "powered": Number(row["powered"], row["powered_low"], row["powered_high"], reason=why, **shown),
        "judge": Number(row["judge"], **shown),
    }


def frontier_rows(report: Report) -> list[Row]:
    """The rows of ``frontier.csv``; none of a report that is older than that table."""
    return table_of(report, "frontier").dicts() if "frontier" in table_names(report) else []


def _frontier(report: Report, order: Sequence[tuple[str, str]]) -> Context:
    """What the answers of each candidate took, in the order of the board; those without a recorded call apart."""
    rows = frontier_rows(report)
    shown = [
        {
            **row,
            "format_label": format_label(row["format"]),
            "cost_number": number(row, "cost_all"),
            "accuracy_number": _share(row, "accuracy_all"),
            "median": number(row, "latency_median", digits=3),
            "p90": Number(row["latency_p90"], digits=3),
            "price": number(row, "price_1000", digits=3),
            "why": number(row, "price_1000").reason,
        }
        for series in order
        for row in rows
        if _same(row, series)
    ]
    return {
        "rows": [row for row in shown if row["n_answers"]],
        "without": [row for row in shown if not row["n_answers"]],
        "in_report": bool(rows),
    }


def _boundary(report: Report, order: Sequence[tuple[str, str]], names: Mapping[str, str]) -> list[Context]:
    rows = [row for row in table_of(report, "boundary").dicts() if row["aggregate"] == "pooled"]
    return [
        {
            **row,
            "format_label": format_label(row["format"]),
            "label": " | ".join(names[value] for value in row["reference"].split("|")),
        }
        for series in order
        for row in rows
        if _same(row, series)
    ]


def _pairs(report: Report) -> Context:
    """A row for each two candidates: differences of the leading measures, and the tests of their modes."""
    by_pair: dict[tuple[str, str, str], dict[tuple[str, str], Row]] = {}
    for row in table_of(report, "pairs").dicts():
        pair = row["first"], row["second"], row["format"]
        by_pair.setdefault(pair, {})[row["aggregate"], row["measure"]] = row
    shown = []
    for (first, second, format_), rows in list(by_pair.items())[:SHOWN_PAIRS]:
        tests = rows["mode", "accuracy"]
        shown.append(
            {
                "first": first,
                "second": second,
                "format_label": format_label(format_),
                "n_cases": rows["expected", "accuracy"]["n_cases"],
                "differences": [_difference(rows["expected", name], name) for name in PAIRED],
                "only_first": tests["only_first"],
                "only_second": tests["only_second"],
                "p": [_p(tests, name) for name in ("p_exact", "p_holm", "bowker_p", "stuart_maxwell_p")],
            }
        )
    return {"pairs": shown, "more_pairs": len(by_pair) - len(shown)}


def _difference(row: Row, measure: str) -> Number:
    """A difference of costs as it is, of shares in percentage points."""
    return number(row, "difference") if measure == "cost_all" else number(row, "difference", scale=100, digits=1)


def _p(row: Row, name: str) -> PValue:
    # Remarks name the test, not the column of its p.
    return PValue(row[name], reason="" if row[name] is not None else translate_remark(row["note"]))


def _crossings(report: Report) -> Context:
    shared = _shared_cases(report)
    crossings = [
        {
            **row,
            "n_cases": shared.get((frozenset((row["first"], row["second"])), row["format"])),
            "format_label": format_label(row["format"]),
            "ratio_shown": Number(row["ratio"], digits=2).shown,
            "share": Number(row["share_below"], scale=100, digits=0, unit="%").shown,
            "remark": translate_remark(row["note"]),
        }
        for row in table_of(report, "crossings").dicts()
    ]
    cheapest = table_of(report, "cheapest").dicts()
    # A report that is older than the fact does not say on how many cases.
    cases = report.result["facts"].get("cheapest_cases", {})
    groups = [[row for row in cheapest if row["format"] == format_] for format_ in FORMATS]
    return {
        "crossings": crossings,
        "cheapest": [
            {
                "format": format_label(rows[0]["format"]),
                "cases": _cases_of_all(cases.get(rows[0]["format"])),
                "words": _cheapest(rows),
            }
            for rows in groups
            if rows
        ],
    }


def _cases_of_all(n: int | None) -> str:
    """The cases on which the cheapest candidate was found."""
    if n is None:
        return _("On the cases with a usable reading of every candidate:")
    return ngettext(
        "On the %(n)s case with a usable reading of every candidate:",
        "On the %(n)s cases with a usable reading of every candidate:",
        n,
    ) % {"n": f"{n:,}"}


def _shared_cases(report: Report) -> dict[tuple[frozenset[str], str], int]:
    """How many cases both of two candidates have a usable reading of, by the two and their format."""
    return {
        (frozenset((row["first"], row["second"])), row["format"]): row["n_cases"]
        for row in table_of(report, "pairs").dicts()
        if (row["aggregate"], row["measure"]) == ("expected", "accuracy")
    }


def _cheapest(rows: Sequence[Row]) -> str:
    """Who costs the least, from the first ratio of the curve to its last."""
    first, *later = rows
    span = {"candidate": first["candidate"], "start": f"{CURVE[0]:g}", "end": f"{CURVE[-1]:g}"}
    if not later:
        return (
            _("%(candidate)s has the lowest cost at every relative cost of a level too low from %(start)s to %(end)s.")
            % span
        )
    steps = [
        _("from %(ratio)s it is %(candidate)s") % {"ratio": f"{row['from_ratio']:.2f}", "candidate": row["candidate"]}
        for row in later
    ]
    return _("At a relative cost of %(start)s, %(candidate)s has the lowest cost; %(steps)s.") % {
        **span,
        "steps": ", ".join(steps),
    }


def _confidence(report: Report, order: Sequence[tuple[str, str]]) -> list[Context]:
    # What each source is called, and what says more of it.
    labels = {
        "stated": (_("Stated"), _("As stated with each reading")),
        "logprobs": (
            _("Log probabilities"),
            _("The probability of the level that was read, from the log probabilities of the answer"),
        ),
        "samples": (_("Share of the most frequent level"), _("Among the readings of a case")),
    }
    rows = table_of(report, "confidence").dicts()
    figures = ("ece_mass", "ece_width", "brier", "auroc")
    return [
        {
            **row,
            "format_label": format_label(row["format"]),
            "source": labels.get(row["confidence_source"], ("", ""))[0],
            "about_source": labels.get(row["confidence_source"], ("", ""))[1],
            "remark": "" if row["confidence_source"] else translate_remark(row["note"]),
            "accuracy_number": Number(row["accuracy"], scale=100, digits=1, unit="%"),
            "mean_number": Number(row["mean_confidence"], scale=100, digits=1, unit="%"),
            "numbers": [number(row, name) for name in figures],
        }
        for series in order
        for row in rows
        if _same(row, series)
    ]


def _both_formats(report: Report) -> list[Context]:
    """Each candidate in both formats: the leading measures, and who is right on which cases."""
    if "formats" not in table_names(report):
        return []
    labels = {
        "accuracy": _("Accuracy"),
        "over": _("Too high"),
        "under": _("Too low"),
        "cost": _("Cost per case"),
        "shift": _("Mean level, from 0"),
    }
    rows = [row for row in table_of(report, "formats").dicts() if row["slice"] == ALL and row["measure"] in COMPARED]
    return [
        {
            **row,
            "label": labels[row["measure"]],
            "first": row["measure"] == COMPARED[0],
            "span": len(COMPARED),
            "qa_number": Number(row["qa"], **_share_units(row["measure"], "%")),
            "chat_number": Number(row["chat"], **_share_units(row["measure"], "%")),
            "difference_number": number(row, "difference", **_share_units(row["measure"])),
        }
        for row in rows
    ]


def _share_units(measure: str, unit: str = "") -> dict[str, Any]:
    """How the page writes a figure: a share in percent, its differences in percentage points, others as they are."""
    return {"scale": 100, "digits": 1, "unit": unit} if measure in ("accuracy", "over", "under") else {}


def _unusable(report: Report) -> list[tuple[str, int]]:
    """How many readings say no one level, by what they are."""
    labels = {
        "refused": _("refused"),
        "no-level": _("without a level"),
        "several": _("with several levels"),
        "invalid": _("unreadable"),
    }
    counts = dict.fromkeys(labels, 0)
    for row in table_of(report, "unusable").dicts():
        counts[row["state"]] += 1
    return [(labels[state], n) for state, n in counts.items() if n]
