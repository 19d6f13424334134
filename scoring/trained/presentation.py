"""Presents a model card: its page, its calibration curve, and its rows as a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.core.cache import cache
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consilium.core.from_english import codes_in
from consilium.core.reasons import Reason
from consilium.core.version import VERSION
from consilium.figures.calibration_curve import CurvePoint, calibration_curve
from consilium.figures.render import Drawing, inline_svg
from consilium.figures.style import Palette
from consilium.statistics.two_raters import COEFFICIENTS
from consilium.templatetags.consilium_tags import number as written
from scoring.models import TrainedModel

CARD_COLUMNS = ("section", "name", "figure", "value", "low", "high", "n", "note")
CARD_TEXT = ("name", "note")
CACHED_SECONDS = 7 * 24 * 3600
PARTS = ("train", "dev", "held_out")
# Stored JSON keeps no order.
FIGURES = [coefficient.key for coefficient in COEFFICIENTS if coefficient.beside_reports]
BASELINES = ("majority", "word_overlap")


def card_of(model: TrainedModel) -> dict[str, Any]:
    """Rows of the card of a fitted judge: the judge beside its baselines on the held-out candidates, the split, and how
    its probability was calibrated. A card of an earlier version lacks some of it.
    """
    card: dict[str, Any] = model.card
    baselines, importances = card["baselines"], card.get("importances", {})
    differences = card.get("differences", {})
    majority = (
        _("Always met: the most frequent outcome in its training data")
        if baselines["majority"]["says"] == "met"
        else _("Always not met: the most frequent outcome in its training data")
    )
    split_words = {
        "train": _("Used for learning"),
        "dev": _("Used to choose the threshold"),
        "held_out": _("Held out for reporting"),
    }
    return {
        **card,
        "raters": [
            {"name": _("This judge"), "sub": "", **card["held_out"], "own": True},
            {"name": _("Majority"), "sub": majority, **baselines["majority"], "ahead": differences.get("majority")},
            {
                "name": _("Word overlap"),
                "sub": _("Met if the response contains enough of the criterion’s words"),
                **baselines["word_overlap"],
                "ahead": differences.get("word_overlap"),
            },
        ],
        "ahead": _ahead(differences),
        "cautions": list(_cautions(card)),
        "parts": [{"name": words, **card["split"][key]} for key, words in split_words.items() if key in card["split"]],
        "calibrated": _calibrated(card),
        "curve": partial(curve_inline, model),  # drawn where a page shows it
        "left_out_by": _left_out(card),
        "weights": sorted(
            ((name, weight, importances.get(name)) for name, weight in card["coefficients"].items()),
            key=lambda row: -abs(row[1]),
        ),
    }


def _ahead(differences: dict[str, Any]) -> str:
    """What the intervals of the differences say about judge and baselines, in a sentence."""
    if not differences:
        return ""
    lows = [figure["low"] for figure in differences.values()]
    reasons = [codes_in(figure["note"]) for figure in differences.values() if figure["low"] is None]
    if any({Reason.INTERVAL_CASES, Reason.INTERVAL_EFFECTIVE_CASES} & set(codes) for codes in reasons):
        return _("There are too few held-out cases to tell whether it outperforms the baselines.")
    if any(low is None for low in lows):
        return _("Its advantage over a baseline is uncertain: one difference has no interval.")
    if all(low > 0 for low in lows):
        return _("By MF1, it outperforms both baselines: the intervals of both differences are above 0.")
    return _("Its advantage over a baseline is uncertain: the interval of one difference includes 0.")


def _cautions(card: dict[str, Any]) -> Iterator[str]:
    """What speaks against the judge whatever its lead in MF1: agreement by chance, or below that of a baseline."""
    held_out = card["held_out"]
    kappa, raw = held_out["kappa"], held_out["raw"]
    shown = written(kappa["value"], 3)
    if kappa["low"] is not None and kappa["low"] <= 0:
        ends = {"value": shown, "low": written(kappa["low"], 3), "high": written(kappa["high"], 3)}
        if kappa["value"] <= 0:
            yield _("It is not better than chance on these decisions: kappa %(value)s (%(low)s to %(high)s).") % ends
        else:
            yield (
                _(
                    "It is not shown to be better than chance: the interval of kappa, %(value)s (%(low)s to %(high)s), "
                    "includes 0."
                )
                % ends
            )
    elif kappa["value"] is not None and kappa["value"] <= 0:
        yield _("It is not better than chance on these decisions: kappa %(value)s.") % {"value": shown}
    for name, label in (("majority", _("Majority")), ("word_overlap", _("Word overlap"))):
        other = card["baselines"][name]["raw"]["value"]
        if None not in (raw["value"], other) and raw["value"] < other:
            given = {"value": written(raw["value"], 3), "other": written(other, 3), "name": label}
            yield _("Its agreement, %(value)s, is below that of the baseline %(name)s, %(other)s.") % given


def _calibrated(card: dict[str, Any]) -> dict[str, Any] | None:
    """How the probability was calibrated, in words, and its figures before and after; None on earlier cards."""
    calibrator = card.get("calibrator")
    if calibrator is None:
        return None
    words = {
        "candidate": _(
            "Calibrated by Platt’s method on the %(n)s decisions it learned from, each scored by a fit "
            "that had not seen that candidate. Only the threshold is chosen on separate candidates; the "
            "held-out candidates were not used."
        ),
        "case": _(
            "Calibrated by Platt’s method on the %(n)s decisions it learned from, each scored by a fit "
            "that had not seen that case. Only the threshold is chosen on separate candidates; the "
            "held-out candidates were not used."
        ),
        "too_few": _("Not calibrated: too few candidates or cases for fitting in parts."),
        "no_signal": _("Not calibrated: its scores on decisions not used for fitting do not indicate what is met."),
    }
    return {
        "words": words[calibrator["reason"] or calibrator["grouped_by"]] % {"n": f"{calibrator['n']:,}"},
        "figures": [
            {"name": _("Brier score"), **card["brier"]},
            {"name": _("Expected calibration error"), **card["calibration_error"]},
        ],
    }


def _left_out(card: dict[str, Any]) -> list[tuple[str, int]]:
    words = {"cannot_assess": _("can’t assess"), "tie": _("ties of a group"), "faulty": _("faulty criteria")}
    counts = card.get("left_out_by", {})
    return [(word, counts[reason]) for reason, word in words.items() if reason in counts]


# The calibration curve --------------------------------------------------------------------------------------------


def curve_drawing(card: dict[str, Any]) -> Drawing:
    """The calibration curve of a card, before and after."""
    calibrated = card.get("calibrator", {}).get("method") == "platt"
    series = {_("calibrated") if calibrated else _("uncalibrated"): card["calibration"]}
    if calibrated:
        series[_("before calibration")] = card.get("calibration_before", [])
    points = [
        CurvePoint(name, row["mean_probability"], row["share_met"], row["n"], row.get("low"), row.get("high"))
        for name, rows in series.items()
        for row in rows
    ]

    def drawing(palette: Palette) -> object:
        return calibration_curve(
            points,
            palette,
            x_title=_("probability given by the judge"),
            y_title=_("proportion met according to physicians"),
            description=_("Proportion met by predicted probability, in tenths, on held-out candidates."),
        )

    return drawing


def curve_inline(model: TrainedModel) -> SafeString:
    """The curve as markup for the page; kept, since a fitted judge does not change and Altair is slow to load."""
    key = f"calibration-curve:{model.sha256}:{model.pk}:{translation.get_language()}:{VERSION}"
    svg = cache.get(key)
    if svg is None:
        svg = str(inline_svg(curve_drawing(model.card), title=_("Calibration curve")))
        cache.set(key, svg, CACHED_SECONDS)
    return SafeString(svg)


# The file ---------------------------------------------------------------------------------------------------------


def card_rows(model: TrainedModel) -> Iterator[dict[str, Any]]:
    """The tables of a card as rows of `CARD_COLUMNS`, a figure a row."""
    card: dict[str, Any] = model.card

    def row(section: str, name: str, figure: str, value: Any, note: str = "", **more: Any) -> dict[str, Any]:
        return {"section": section, "name": name, "figure": figure, "value": value, "note": note, **more}

    def cells(section: str, name: str, figures: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for figure in FIGURES:
            if figure in figures:  # a card of an earlier version lacks the newest ones
                yield {"section": section, "name": name, "figure": figure, **figures[figure]}

    data = card["data"]
    yield row("model", "", "sha256", None, model.sha256)
    yield row("model", "", "seed", card["seed"])
    yield row("model", "", "threshold", card["threshold"], "picked on dev")
    for name, number in sorted(data.get("by_group", {}).items()):
        yield row("data", name, "decisions", number, f"stage {card['stage']}")
    yield row("data", "all", "decisions", data["decisions"], f"SHA-256 {data['sha256']}" if "sha256" in data else "")
    yield row("data", "all", "cases", data["cases"])
    for reason, number in sorted(card.get("left_out_by", {"all": card["left_out"]}).items()):
        yield row("data", reason, "left_out", number)
    for part in PARTS:
        entry = card["split"][part]
        names = "; ".join(entry["candidates"])
        for figure in ("decisions", "cases", "met"):
            yield row("split", part, figure, entry[figure], names)
    yield from cells("held_out", "judge", card["held_out"])
    for name in BASELINES:
        yield from cells("held_out", name, card["baselines"][name])
    for name in BASELINES if "differences" in card else ():
        yield {"section": "difference", "name": name, "figure": "mf1", **card["differences"][name]}
    for entry in card["by_candidate"]:
        yield from cells("held_out_candidate", entry["candidate"], entry)
    yield from cells("dev", "judge", card["dev"])
    calibrator = card.get("calibrator")
    if calibrator:
        for figure in ("slope", "intercept"):
            note = calibrator["reason"] or f"out of fold by {calibrator['grouped_by']}, {calibrator['folds']} folds"
            yield row("calibration", calibrator["method"], figure, calibrator[figure], note, n=calibrator["n"])
        for figure in ("brier", "calibration_error"):
            for moment in ("before", "after"):
                yield {"section": "calibration", "name": moment, "figure": figure, **card[figure][moment]}
    for moment, key in (("before", "calibration_before"), ("after", "calibration")):
        for part in card.get(key, []):
            name = f"{moment} {part['from']:.1f} to {part['from'] + 0.1:.1f}"
            yield row("curve", name, "mean_probability", part["mean_probability"], n=part["n"])
            ends = {"low": part.get("low"), "high": part.get("high"), "n": part["n"]}
            yield row("curve", name, "share_met", part["share_met"], part.get("note", ""), **ends)
    for name, weight in sorted(card["coefficients"].items()):
        yield row("features", name, "coefficient", weight)
        yield row("features", name, "importance", card.get("importances", {}).get(name))
