"""What the page of a calibration shows: hits, the threshold, its effect on ranks, the effect of a judge's errors, and
signatures.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from agreement.calibration.figures import judge_in_role, responses_of_roles, role_words, rows_of
from agreement.calibration.thresholds import threshold_choices
from agreement.models import Report, ThresholdChoice
from agreement.reports.links import pairs_url
from agreement.reports.numbers import Tile, number
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import shown_name
from consilium.core.from_english import from_english
from consilium.core.i18n import translate, translate_remark
from consilium.core.phrases import parts_of
from consilium.core.reasons import Reason, code_of
from consilium.statistics.sensitivity import REACH
from rubrics.models import Benchmark

Context = dict[str, Any]

RANKS = ("spearman", "kendall", "top3", "top5")


def body(report: Report, sort: str) -> Context:
    """Everything on the page of a finished calibration."""
    facts = report.result["facts"]
    ranks = rows_of(report, "sensitivity_all") or rows_of(report, "sensitivity")
    near = [row for row in ranks if row["k"] is None or abs(row["k"] - facts["k"]) <= REACH]
    return {
        "rater": shown_name(report.benchmark, facts["rater"]),
        "own_url": pairs_url(report, f"candidate:{facts['candidate']}"),
        "tiles": [
            Tile("k", number({**facts, "k_effective": facts.get("effective")}, "k", digits=0)),
            Tile(_("Mean hits"), number({**facts, "mean_effective": facts.get("effective")}, "mean", digits=2)),
            Tile(
                _("Median"),
                number(facts, "median", digits=1),
                detail=_("quartiles %(q1)g and %(q3)g") % facts,
            ),
            Tile(_("Hit rate"), text=f"{100 * facts['hit_rate']:.2f}%", detail=_("of all positive criteria")),
            Tile(
                _("Responses"),
                text=f"{facts['n']:,}",
                detail=_("with %(n)s positive criteria each") % {"n": facts["n_criteria"]},
            ),
        ],
        "spread": _spread(facts),
        "modes": _modes(report),
        "values": _values(report),
        "near": [_rank_row(row, facts["k"]) for row in near],
        "ranks": [_rank_row(row, facts["k"]) for row in ranks] if len(ranks) > len(near) else [],
        "undefined_ranks": _undefined(ranks),
        "has_kendall": any("kendall" in row for row in ranks),
        "judges": _judges(report),
        "error": _error(report),
        "order": _order(report),
        "error_reason": _error_reason(facts),
        **signing(report.benchmark, report),
    }


def signing(benchmark: Benchmark, report: Report | None = None) -> Context:
    """The thresholds signed on a benchmark, and the URL where ``report``'s k can be signed; one query."""
    choices = list(threshold_choices(benchmark))
    address = reverse("agreement:sign-threshold", args=[benchmark.slug])
    given = {"report": report.public_id, "k": report.result["facts"]["k"]} if report else {}
    return {
        "choices": [_choice(benchmark, choice) for choice in choices],
        "in_force": choices[0] if choices else None,
        "signed_here": bool(report and choices and choices[0].report_id == report.pk),
        "sign_url": f"{address}?{urlencode(given)}" if given else address,
    }


def _choice(benchmark: Benchmark, choice: ThresholdChoice) -> Context:
    return {
        "choice": choice,
        "url": reverse("agreement:report", args=[benchmark.slug, "calibration", choice.report.public_id])
        if choice.report
        else "",
        "by": shown_name(benchmark, choice.facts["rater"]) if choice.report else "",
        "digest": choice.input_digest[:12],
    }


def _spread(facts: Row) -> list[tuple[str, str]]:
    """Smallest, quartiles and largest number of hits, and their mean, each with its label."""
    hit_counts = [hits for hits, n in enumerate(facts["histogram"]) if n]
    shown = (
        (_("Smallest"), f"{hit_counts[0]}"),
        (_("First quartile"), f"{facts['q1']:g}"),
        (_("Median"), f"{facts['median']:g}"),
        (_("Third quartile"), f"{facts['q3']:g}"),
        (_("Largest"), f"{hit_counts[-1]}"),
        (_("Mean"), f"{facts['mean']:.2f}"),
    )
    return list(shown)


def _modes(report: Report) -> list[Row]:
    """How the responses were written, with the hits of each mode; none in a report that is older than this table."""
    words = {"unaided": _("Unaided"), "aided": _("With references"), "unknown": _("Not recorded")}
    return [
        {
            "label": words[row["mode"]],
            "name": row["mode_name"],
            "in_k": row["in_k"],
            "n_responses": row["n_responses"],
            "n": row["n"],
            "mean": number(row, "mean", digits=2),
            "hit_rate": "–" if row["hit_rate"] is None else f"{100 * row['hit_rate']:.1f}%",
        }
        for row in rows_of(report, "modes")
    ]


def _values(report: Report) -> Context:
    """Each candidate's CACS under k and its neighbours, with Pass@k and Rubric Accuracy, the best first."""
    facts = report.result["facts"]
    rows = rows_of(report, "candidates")
    if not rows or "low" not in rows[0]:
        return {}
    by = {(row["setting"], row["k"], row["candidate"]): row for row in rows}
    thresholds = sorted(k for k in {row["k"] for row in rows if row["k"] is not None} if abs(k - facts["k"]) <= REACH)
    names = list(dict.fromkeys(row["candidate"] for row in rows))
    names.sort(key=lambda name: (-(by["cacs_at_k", facts["k"], name]["value"] or -1), name))
    return {
        "with_intervals": any(row["low"] is not None for row in rows),
        "thresholds": [(k, k == facts["k"]) for k in thresholds],
        "rows": [
            {
                "candidate": name,
                "url": pairs_url(report, f"candidate:{name}"),
                "n": by["rubric_accuracy", None, name]["n"],
                "cacs": [
                    (number(_named(by["cacs_at_k", k, name]), "value", digits=1), k == facts["k"]) for k in thresholds
                ],
                "passed": number(_named(by["pass_at_k", facts["k"], name]), "value", scale=100, digits=1, unit="%"),
                "accuracy": number(_named(by["rubric_accuracy", None, name]), "value", digits=1),
            }
            for name in names
        ],
    }


def _named(row: Row) -> Row:
    """A row of the candidates' table, with the ends of the interval named after the value."""
    return {"value": row["value"], "value_low": row["low"], "value_high": row["high"], "note": row["note"]}


def _rank_row(row: Row, k: int) -> Context:
    return {
        **row,
        "label": _settings()[row["setting"]],
        "is_main": row["setting"] == "cacs_at_k" and row["k"] == k,
        "figures": {name: number(row, name, digits=3 if name in RANKS[:2] else 2) for name in RANKS},
    }


def _settings() -> dict[str, str]:
    return {"cacs_at_k": "CACS@k", "pass_at_k": "Pass@k", "rubric_accuracy": _("Rubric Accuracy")}


def _undefined(rows: list[Row]) -> list[Context]:
    """Why ranks are undefined: each column with a reason, and with the settings where these are not all of them."""
    names = {"spearman": _("Spearman"), "kendall": _("Kendall"), "top3": _("Top 3"), "top5": _("Top 5")}
    rows_by_reason: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        for name in names:
            if name in row and row[name] is None:
                rows_by_reason.setdefault(number(row, name).reason, {}).setdefault(name, []).append(row)
    return [
        {
            "columns": ", ".join(names[name] for name in by_name),
            "reason": reason,
            "where": ""
            if all(len(of) == len(rows) for of in by_name.values())
            else _where({id(row): row for of in by_name.values() for row in of}.values()),
        }
        for reason, by_name in rows_by_reason.items()
    ]


def _where(rows: Iterable[Row]) -> str:
    """Settings in short: “CACS@21–30, Pass@1”."""
    chosen = list(rows)
    parts = []
    for setting, name in (("cacs_at_k", "CACS@"), ("pass_at_k", "Pass@")):
        ks = sorted(row["k"] for row in chosen if row["setting"] == setting)
        starts = [k for k in ks if k - 1 not in ks]
        ends = [k for k in ks if k + 1 not in ks]
        parts += [
            f"{name}{first}" if first == last else f"{name}{first}–{last}"
            for first, last in zip(starts, ends, strict=True)
        ]
    if any(row["k"] is None for row in chosen):
        parts.append(_settings()["rubric_accuracy"])
    return ", ".join(parts)


def _judges(report: Report) -> list[Context]:
    roles = role_words()
    shown = [
        {
            **row,
            "role_label": roles.get(row["role"], ""),
            "role_remarks": [
                translate(part)
                for part in parts_of(from_english(row["note"] or ""))
                if code_of(part) in (Reason.JUDGE_ON_FEW_CASES, Reason.JUDGES_NOT_APART)
            ],
            "url": f"{pairs_url(report, 'all')}&{urlencode({'side': row['run'] or row['judge']})}",
            "figures": {name: number(row, name) for name in ("mf1", "sensitivity", "specificity")},
            "spearman_shown": number(row, "spearman"),
        }
        for row in rows_of(report, "judges")
    ]
    return sorted(shown, key=lambda row: (row["figures"]["mf1"].value is None, -(row["figures"]["mf1"].value or 0)))


def _error(report: Report) -> list[Context]:
    """Both measures, with a row for each candidate: by physicians, and by the judge of each role with its bias."""
    k = report.result["facts"]["k"]
    rows = rows_of(report, "judge_error")
    roles = list(dict.fromkeys((row["role"], row["judge"]) for row in rows))
    by = {(row["measure"], row["candidate"], row["role"]): row for row in rows}
    blocks = []
    for measure, label in (("cacs_at_k", f"CACS@{k}"), ("rubric_accuracy", _("Rubric Accuracy"))):
        first = [row for row in rows if row["measure"] == measure and roles and row["role"] == roles[0][0]]
        first.sort(
            key=lambda row: (-(row["by_physicians"] if row["by_physicians"] is not None else -1), row["candidate"])
        )
        blocks.append(
            {
                "label": label,
                "rows": [
                    {
                        "candidate": row["candidate"],
                        "url": pairs_url(report, f"candidate:{row['candidate']}"),
                        "by_physicians": number(row, "by_physicians", digits=1),
                        "judged": [
                            {
                                "value": number(by[measure, row["candidate"], role], "by_judge", digits=1),
                                "bias": number(by[measure, row["candidate"], role], "bias", digits=1),
                            }
                            for role, _judge in roles
                        ],
                    }
                    for row in first
                ],
            }
        )
    if not rows:
        return []
    for block in blocks:
        block["judges"] = _in_roles(report, roles)
    return blocks


def _order(report: Report) -> Context:
    """Neighbours in the order by CACS, and the share of draws in which the judge of each role reverses them."""
    rows = rows_of(report, "judge_order")
    roles = list(dict.fromkeys((row["role"], row["judge"]) for row in rows))
    by = {(row["candidate"], row["role"]): row for row in rows}
    return {
        "judges": _in_roles(report, roles),
        "rows": [
            {
                "upper": row["candidate"],
                "lower": row["next_candidate"],
                "upper_url": pairs_url(report, f"candidate:{row['candidate']}"),
                "lower_url": pairs_url(report, f"candidate:{row['next_candidate']}"),
                "difference": number(row, "difference", digits=1),
                "turned": [
                    number(by[row["candidate"], role], "turned", scale=100, digits=1, unit="%")
                    for role, _judge in roles
                ],
            }
            for row in rows
            if roles and row["role"] == roles[0][0]
        ],
    }


def _in_roles(report: Report, roles: Iterable[tuple[str, str]]) -> list[str]:
    """Headings of the columns of judges, from their roles and names."""
    n_responses = responses_of_roles(report)
    return [judge_in_role(judge, role, n_responses.get(role)) for role, judge in roles]


def _error_reason(facts: Row) -> str:
    if "error_reason" not in facts:
        return _("This report was computed before this figure was added.")
    return translate_remark(facts["error_reason"])
