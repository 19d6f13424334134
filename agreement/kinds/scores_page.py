"""The page of a report of scores: the scoreboard of one slice, and the sections below it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agreement.calibration.thresholds import threshold_in_force
from agreement.kinds.kind import Context
from agreement.kinds.powered import powered_number
from agreement.kinds.scores_rows import evidence_url, labels_of, measure_words, rows_of, short
from agreement.kinds.shared import row_label
from agreement.kinds.slice_menu import slice_label, slice_menu, titles_of_named
from agreement.models import Report
from agreement.reports.links import pairs_url
from agreement.reports.numbers import Number, n_not_compared, number
from agreement.reports.tables import Row
from agreement.scoreboard.scoreboard import FAMILY_KINDS, RANKED, effective_cases
from agreement.selectors.rater_choices import display_name, rater_names, shown_name
from consilium.core.from_english import from_english
from consilium.core.jobs import JobStatus
from consilium.core.phrases import Phrase, parts_of
from consilium.core.reasons import Reason, code_of
from rubrics.selectors.consensus_criteria import CONSENSUS_TAG
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.score_tables import MEAN_OF_REPLICATES
from scoring.scores.sheet import OVERALL

# Columns of the scoreboard that it can be sorted by, the best first; a minus in front reverses the order.
SORTABLE = ("cacs_at_k", "rubric_accuracy", "pass_at_k", "rubric_score", "worst_at_k", "gap_cacs", "n")
PAIRS_ON_PAGE = 5


def body(report: Report, sort: str) -> Context:
    """The whole benchmark; see `body_of_slice`."""
    return body_of_slice(report, sort, "")


def body_of_slice(report: Report, sort: str, part: str) -> Context:
    """The page with the scoreboard of the slice called ``part``, or of the whole where there is no such slice."""
    facts = report.result["facts"]
    names = facts.get("slices", [OVERALL])
    part = part if part in names else OVERALL
    titles = _titles(report, names)
    board = _board(report, sort, part)
    effective = effective_cases(board["scoreboard"])
    return {
        **board,
        "effective": min(effective, default=None),
        "effective_most": max(effective, default=None),
        "rater": shown_name(report.benchmark, facts["rater"]),
        "counting": counting(facts["rules"]),
        "undecided": _undecided_pairs(board["scoreboard"], facts.get("undecided_by", "")),
        # None for a report that is older than the count.
        "n_faulty": sum(row.get("n_faulty") or 0 for row in board["scoreboard"]),
        "part": part,
        "part_label": "" if part == OVERALL else slice_label(part, titles),
        "menu": slice_menu(names, part, titles, whole=OVERALL),
        "threshold": threshold_in_force(report.benchmark),
        "families": _families(report),
        "registers": _registers(report),
        "difficulty": _difficulty(report),
        "both_sides": rows_of(report, "both_sides")[:PAIRS_ON_PAGE],
        "n_both_sides": len(rows_of(report, "both_sides")),
        "counts": _counts(report),
        "length": _lengths(report),
        "adjusted": _adjusted(report, part),
        # None for a report that is older than the length-adjusted score.
        "adjustment": {name: facts[name] for name in ("length_centre", "length_penalty")}
        if "length_centre" in facts
        else None,
        "robustness": _robustness(report),
        "group_names": " · ".join(shown_name(report.benchmark, group) for group in facts.get("groups", [])),
    }


def _titles(report: Report, names: Iterable[str]) -> dict[str, str]:
    """Titles of those of the slices ``names`` whose title is not their tag."""
    consensus = {CONSENSUS_TAG: _("Consensus criteria, as in HealthBench Consensus")}
    return consensus | titles_of_named(report.benchmark, names)


def _board(report: Report, sort: str, part: str) -> Context:
    rows = (
        rows_of(report, "scoreboard")
        if part == OVERALL
        else [row for row in rows_of(report, "scoreboard_slices") if row["slice"] == part]
    )
    facts = report.result["facts"]
    gaps = {row["candidate"]: row for row in rows_of(report, "gap") if row["slice"] == part}
    for row in rows:
        row["gap_cacs"] = gaps.get(row["candidate"], {}).get("gap_cacs")
    column, upwards = sort.removeprefix("-"), sort.startswith("-")
    if column == "candidate":
        rows.sort(key=lambda row: row["candidate"], reverse=upwards)
    else:
        column = column if column in SORTABLE else SORTABLE[0]
        defined = sorted(
            (row for row in rows if row.get(column) is not None), key=lambda row: row[column], reverse=not upwards
        )
        rows = [*defined, *(row for row in rows if row.get(column) is None)]
    behind = [_behind_figures(row, gaps.get(row["candidate"], {})) for row in rows]
    for name in ("n_hits", "n_cacs"):
        # What differs from n for one candidate is shown for all of them.
        if all(own[name] in (None, row["n"]) for own, row in zip(behind, rows, strict=True)):
            behind = [{**own, name: None} for own in behind]
    ranked_by = column if column in RANKED else RANKED[0]
    worst_k = facts.get("worst_k", 1)
    powered = _powered(report, part)
    labels = {
        "candidate": _("Candidate"),
        "n": _("Responses"),
        "cacs_at_k": f"CACS@{facts['k']}",
        "rubric_accuracy": _("Rubric Accuracy"),
        "gap_cacs": _("Gap"),
        "pass_at_k": f"Pass@{facts['k']}",
        "rubric_score": _("Rubric score"),
        "worst_at_k": _("Worst-at-%(k)s") % {"k": worst_k},
    }
    if worst_k < 2:
        del labels["worst_at_k"]
    return {
        "powered": powered,
        "ranked_by": labels.get(ranked_by, ""),
        "n_ranked": sum(row.get(f"{ranked_by}_rank") is not None for row in rows),
        "any_not_compared": any(n_not_compared(row, f"{ranked_by}_rank") for row in rows),
        "worst_k": worst_k,
        "scoreboard": [
            {
                **row,
                **own,
                "url": evidence_url(report, row["candidate"], "" if part == OVERALL else part),
                "figures": {
                    "cacs": number(row, "cacs_at_k", digits=1),
                    "accuracy": number(row, "rubric_accuracy", digits=1),
                    "gap": number(gaps.get(row["candidate"], {}), "gap_cacs", digits=1),
                    "pass": number(row, "pass_at_k", scale=100, digits=1, unit="%"),
                    "score": number(row, "rubric_score"),
                    "worst": number(row, "worst_at_k"),
                    "rank": number(row, f"{ranked_by}_rank", digits=0),
                    "powered": powered.get(row["candidate"]) if powered else None,
                },
            }
            for row, own in zip(rows, behind, strict=True)
        ],
        "headers": [
            {
                "column": name,
                "label": label,
                "sort": f"-{name}" if name == column and not upwards else name,
                "aria": ("ascending" if upwards != (name == "candidate") else "descending") if name == column else "",
            }
            for name, label in labels.items()
        ],
    }


def _behind_figures(row: Row, gap: Row) -> Context:
    """How many responses are behind the figures; the row's own ``n`` is that of the rubric score.

    ``n_hits``: behind Rubric Accuracy, Pass@k and the gap; ``n_cacs``: behind CACS@k, which leaves out responses with
    too few positive criteria, as ``short`` says; they cannot pass, as ``cannot_pass`` says. None in a report that is
    older than the gaps.
    """
    if gap.get("n") is None:
        return {"n_hits": None, "n_cacs": None, "short": "", "cannot_pass": ""}
    remarks = parts_of(from_english(gap.get("note") or ""))
    n_short = sum(
        int(str(part.values["n"]).replace(",", ""))
        for part in remarks
        if isinstance(part, Phrase) and code_of(part) is Reason.SHORT_RESPONSES
    )
    text = ngettext(
        "excluded: %(n)s response with fewer than %(k)s positive criteria",
        "excluded: %(n)s responses with fewer than %(k)s positive criteria",
        n_short,
    )
    cannot_pass = ngettext(
        "%(n)s response has fewer than %(k)s positive criteria and counts as not passed",
        "%(n)s responses have fewer than %(k)s positive criteria and count as not passed",
        n_short,
    )
    facts = {"n": f"{n_short:,}", "k": gap["k"]}
    n_hits, n_cacs = gap["n"], gap["n"] - n_short
    return {
        "n_hits": n_hits,
        "n_cacs": n_cacs,
        "short": text % facts if n_short else "",
        "cannot_pass": cannot_pass % facts if n_short else "",
    }


@dataclass(frozen=True)
class Powered:
    """Prediction-powered CACS@k of the slice on the page, from a report of its own."""

    report: Report
    numbers: dict[str, Number]

    def get(self, candidate: str) -> Number | None:
        """Of one candidate; None where it has none."""
        return self.numbers.get(candidate)


def _powered(report: Report, part: str) -> Powered | None:
    """The newest prediction-powered report with this k, and with this rater as its judge or as its physicians."""
    facts = report.result["facts"]
    reports = (
        Report.objects.current()
        .filter(
            Q(parameters__judge=facts["rater"]) | Q(parameters__reference=facts["rater"]),
            benchmark=report.benchmark,
            kind=Report.Kind.POWERED,
            status=JobStatus.DONE,
            parameters__k=facts["k"],
        )
        .select_related("benchmark")
    )
    newest = reports.first()
    if newest is None:
        return None
    rows = [row for row in rows_of(newest, "powered") if row["slice"] == part and row["measure"] == "cacs_at_k"]
    return Powered(
        newest,
        {row["candidate"]: powered_number(row, digits=1) for row in rows},
    )


def _families(report: Report) -> Context | None:
    rows = rows_of(report, "families")
    if not rows:
        return None
    kind = report.result["facts"]["family_kind"]
    names = list(dict.fromkeys(row["family"] for row in rows))
    candidates = list(dict.fromkeys(row["candidate"] for row in rows))
    by_place = {(row["family"], row["candidate"]): row for row in rows}
    labels = dict(zip(FAMILY_KINDS, (_("capability family"), _("task"), _("task theme"), _("axis")), strict=True))
    return {
        "kind": labels[kind],
        "candidates": candidates,
        "rows": [
            {
                "label": short(family),
                "url": pairs_url(report, family),
                "cells": [
                    {
                        "row": by_place.get((family, name)),
                        "url": evidence_url(report, name, family),
                        "number": _deviation(by_place.get((family, name))),
                    }
                    for name in candidates
                ],
            }
            for family in names
        ],
    }


def _deviation(row: Row | None) -> Number | None:
    return None if row is None else number(row, "rubric_accuracy_deviation", digits=1)


def _registers(report: Report) -> list[Row]:
    return [
        {
            **row,
            "url": evidence_url(report, row["candidate"]),
            "lay_url": evidence_url(report, row["candidate"], "register:lay"),
            "professional_url": evidence_url(report, row["candidate"], "register:professional"),
            "cells": {
                "cacs": _three(row, "cacs_at_k", digits=1),
                "accuracy": _three(row, "rubric_accuracy", digits=1),
            },
        }
        for row in rows_of(report, "registers")
    ]


def _difficulty(report: Report) -> Context | None:
    """Each figure on the easiest and the hardest cases, and the fall from one to the other."""
    rows = rows_of(report, "difficulty")
    if not rows:
        return None
    words, units = measure_words(report), {"pass_at_k": 100.0}
    names = labels_of("difficulty", [f"difficulty:{rows[0][end]}" for end in ("easiest", "hardest")])
    return {
        "easiest": names[f"difficulty:{rows[0]['easiest']}"],
        "hardest": names[f"difficulty:{rows[0]['hardest']}"],
        "rows": [
            {
                **row,
                "url": evidence_url(report, row["candidate"]),
                "label": words[row["measure"]],
                "numbers": [
                    number(
                        row,
                        name,
                        digits=3 if row["measure"] == "rubric_score" else 1,
                        scale=units.get(row["measure"], 1.0),
                        unit="%" if row["measure"] in units else "",
                    )
                    for name in ("value_easiest", "value_hardest", "drop")
                ],
            }
            for row in rows
        ],
    }


def _three(row: Row, name: str, digits: int) -> tuple[Number, Number, Number]:
    """Lay, professional, and the one less the other."""
    ends = ("lay", "professional", "difference")
    first, second, apart = (number(row, f"{name}_{end}", digits=digits) for end in ends)
    return first, second, apart


def _of_slice(report: Report, row: Row) -> Context:
    """What rows by slice have in common: the name of the whole, and the names of candidates."""
    whole = row["slice"] == "all"
    return {
        **row,
        "label": row_label(row["slice"]),
        "is_all": whole,
        "url": pairs_url(report, row["slice"]),
    }


def _counts(report: Report) -> list[Context]:
    facts = report.result["facts"]
    # The decisions behind a report of scores are its rater's; these counts link to them where the rater is a group.
    leads = facts["rater"] in facts.get("groups", [])
    # Older reports have only the rows of all groups. With a single group these equal its own.
    rows = [{"group": "", **row} for row in rows_of(report, "counts")]
    if len({row["group"] for row in rows if row["group"]}) < 2:
        rows = [row for row in rows if not row["group"]]
    return [
        {
            **_of_slice(report, row),
            "leads": leads and not row["group"],
            "mf1": None if row["group"] else number(row, "mf1"),
        }
        for row in rows
    ]


def _lengths(report: Report) -> list[Context]:
    names = [
        f"{score}_{coefficient}" for score in ("hits", "cacs") for coefficient in ("pearson", "spearman", "residual")
    ]
    return [
        {
            **_of_slice(report, row),
            "mean": number(row, "mean_length", digits=0),
            "numbers": [number(row, name, digits=2) for name in names],
        }
        for row in rows_of(report, "length")
    ]


def _adjusted(report: Report, part: str) -> list[Context]:
    """The length-adjusted scores of a slice, the best first; none of a slice of criteria."""
    rows = [row for row in rows_of(report, "length_adjusted") if row["slice"] == part]
    rows.sort(key=lambda row: (row["length_adjusted"] is None, -(row["length_adjusted"] or 0), row["candidate"]))
    return [
        {
            **row,
            "url": evidence_url(report, row["candidate"], "" if part == OVERALL else part),
            "mean": number({"mean_length": row["mean_length"], "note": ""}, "mean_length", digits=0),
            "score": number(row, "rubric_score"),
            "adjusted": number(row, "length_adjusted"),
            "rank": number(row, "rubric_score_rank", digits=0),
            "adjusted_rank": number(row, "length_adjusted_rank", digits=0),
            "change": Number(row["rank_change"], digits=0, signed=True).shown if row["rank_change"] else "–",
        }
        for row in rows
    ]


def _robustness(report: Report) -> list[Context]:
    rows = rows_of(report, "robustness")
    runs = rater_names(report.benchmark, [row["other"] for row in rows])
    k = report.result["facts"]["k"]
    labels = {"cacs_at_k": f"CACS@{k}", "rubric_accuracy": _("Rubric Accuracy"), "rubric_score": _("Rubric score")}
    return [
        {
            **row,
            "label": display_name(row["other"], runs),
            "setting": labels[row["setting"]],
            "numbers": [
                number(row, "spearman"),
                number(row, "kendall"),
                number(row, "mean_absolute_difference", digits=1),
                number(row, "top3", digits=2),
                number(row, "top5", digits=2),
            ],
        }
        for row in rows
    ]


def counting(rules: str) -> str:
    """The rules of a report of scores, in words."""
    default = str(DEFAULT_RULES)
    if not rules.startswith(default):
        return rules
    words = _("invalid and missing verdicts count against the candidate; no score if a criterion could not be assessed")
    if not rules.endswith(MEAN_OF_REPLICATES):
        return words
    return "; ".join([words, _("the rubric score uses the mean of each criterion’s valid replicates")])


def _undecided_pairs(rows: list[Any], undecided_by: str) -> Row | None:
    """Undecided pairs, and pairs, of all candidates; None if none is undecided or the report has no count."""
    n = sum(row.get("n_undecided", 0) for row in rows)
    return {"n": n, "all": sum(row["n_criteria"] for row in rows), "by": undecided_by} if n else None
