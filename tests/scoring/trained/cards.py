"""A model card that nothing was fitted for, for tests of what shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from scoring.trained.card import Truth


def small_card(candidates: list[str]) -> dict[str, Any]:
    """The card of a judge that is right three times in four, over twelve cases; held out is the last candidate."""
    met = np.tile([1, 0, 1, 0], 12)
    verdicts = np.tile([1, 0, 0, 0], 12)
    score = np.tile([0.7, 0.3, 0.45, 0.35], 12)
    probability = np.tile([0.8, 0.2, 0.4, 0.1], 12)
    truth = Truth(met, np.repeat(np.arange(12), 4))
    majority = np.zeros_like(met)
    part = {"decisions": 48, "cases": 12, "met": 0.5}
    return {
        "seed": 0,
        "interval": truth.rule.key,
        "stage": "checked",
        "split": {
            "train": {"candidates": candidates[:1], **part},
            "dev": {"candidates": candidates[1:2], **part},
            "held_out": {"candidates": candidates[-1:], **part},
        },
        "left_out": 3,
        "left_out_by": {"cannot_assess": 2, "tie": 1},
        "threshold": 0.5,
        "coefficients": {"best_sentence": 0.8},
        "importances": {"best_sentence": 1.0},
        "dev": truth.agreement(verdicts),
        "held_out": truth.agreement(verdicts),
        "baselines": {
            "majority": {"says": "not_met", **truth.agreement(majority)},
            "word_overlap": {"threshold": 0.5, **truth.agreement(verdicts)},
        },
        "differences": {
            "majority": truth.difference(verdicts, majority),
            "word_overlap": truth.difference(verdicts, verdicts),
        },
        "by_candidate": truth.by_candidate(verdicts, candidates[-1:] * 48),
        "calibrator": {
            "method": "platt", "slope": 1.5, "intercept": 0.1, "n": 48, "folds": 2, "grouped_by": "candidate",
            "reason": "",
        },
        "calibration": truth.curve(probability),
        "calibration_before": truth.curve(score),
        "brier": {"before": truth.brier(score), "after": truth.brier(probability)},
        "calibration_error": {
            "before": truth.calibration_error(score), "after": truth.calibration_error(probability),
        },
        "versions": {},
        "data": {
            "benchmark": "own", "groups": ["A"], "by_group": {"A": 144}, "decisions": 144, "cases": 12,
            "sha256": "c" * 64,
        },
    }  # fmt: skip
