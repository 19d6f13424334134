"""A model card as a page shows it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from scoring.models import TrainedModel


def card_of(model: TrainedModel) -> dict[str, Any]:
    """Rows of the card of a fitted judge: the judge beside its baselines on the held-out candidates, and the split."""
    card: dict[str, Any] = model.card
    baselines, importances = card["baselines"], card.get("importances", {})
    majority = (
        _("Always met: what is most frequent in the data it learned from")
        if baselines["majority"]["says"] == "met"
        else _("Always not met: what is most frequent in the data it learned from")
    )
    split_words = {
        "train": _("Learned from"),
        "dev": _("Threshold chosen on"),
        "held_out": _("Held out, reported on"),
    }
    return {
        **card,
        "raters": [
            {"name": _("This judge"), "sub": "", **card["held_out"], "own": True},
            {"name": _("Majority"), "sub": majority, **baselines["majority"]},
            {
                "name": _("Word overlap"),
                "sub": _("Met where enough of the criterion’s words are in the response"),
                **baselines["word_overlap"],
            },
        ],
        "parts": [{"name": words, **card["split"][key]} for key, words in split_words.items() if key in card["split"]],
        "weights": sorted(
            ((name, weight, importances.get(name)) for name, weight in card["coefficients"].items()),
            key=lambda row: -abs(row[1]),
        ),
    }
