"""Fits a judge: decisions in, a model and its card out.

The split is by candidate: the judge and its calibration are fitted on some (train), its threshold is picked on others
(dev), and what the card reports comes from candidates that it has never seen. All of it follows from the decisions and
the seed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from consilium.core.errors import DomainError
from scoring.trained.calibrating import calibrate
from scoring.trained.card import Truth, best_threshold
from scoring.trained.features import FEATURES, FeatureMaker, Rarity, word_overlap
from scoring.trained.model import FittedJudge, Forest, Platt
from scoring.trained.training_data import MIN_DECISIONS, STAGE, Decisions, Split
from scoring.trained.wording import wording_rows

Array = NDArray[Any]
# At most 255 nodes a tree, so that a judge stays below 1 MB whatever its training data.
TREES, LEAVES = 200, 128
PARTS = ("train", "dev", "held_out")


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """What the judge looks at, for all decisions."""

    features: NDArray[np.float64]
    wording: Any
    rarity: Rarity


def _fit(rows: _Rows, where: Array, met: Array, seed: int) -> tuple[FittedJudge, list[float]]:
    """A judge fitted on the rows ``where``, not calibrated, and the forest's importance of each of `FEATURES`."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = rows.features[where], met[where]
    scaler, regression = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)).fit(x, y)
    worded = LogisticRegression(C=1.0, solver="liblinear", max_iter=500).fit(rows.wording[where], y)
    trees = ExtraTreesClassifier(TREES, min_samples_leaf=5, max_leaf_nodes=LEAVES, random_state=seed).fit(x, y)
    judge = FittedJudge(
        rarity=rows.rarity,
        mean=np.round(scaler.mean_, 6),
        scale=np.round(scaler.scale_, 6),
        coefficients=np.round(regression.coef_[0], 5),
        intercept=round(float(regression.intercept_[0]), 5),
        wording=np.round(worded.coef_[0], 4).astype(np.float32),
        wording_intercept=round(float(worded.intercept_[0]), 5),
        forest=Forest.of([tree.tree_ for tree in trees.estimators_]),
        calibration=Platt(),
        threshold=0.5,
    )
    return judge, np.round(trees.feature_importances_, 4).tolist()


def _parts(decisions: Decisions, split: Split) -> dict[str, Array]:
    parts = {name: np.isin(decisions.candidate, getattr(split, name)) for name in PARTS}
    for name, inside in parts.items():
        if len(set(decisions.met[inside].tolist())) < 2:
            raise DomainError(
                _(
                    "In one part (%(part)s), all decisions are the same, either met or not met. Choose "
                    "other candidates or another seed."
                )
                % {
                    "part": {"train": _("Used for learning"), "dev": _("Used to choose the threshold")}.get(
                        name, _("Held out")
                    )
                }
            )
    if int(parts["train"].sum()) < MIN_DECISIONS:
        raise DomainError(
            _("There are only %(n)s decisions to learn from; at least %(least)s are needed.")
            % {"n": int(parts["train"].sum()), "least": MIN_DECISIONS}
        )
    return parts


def fit_judge(decisions: Decisions, split: Split, seed: int) -> tuple[FittedJudge, dict[str, Any]]:
    """Fit and calibrate on the train candidates, pick the threshold on dev, report on the held-out ones."""
    import sklearn

    parts = _parts(decisions, split)
    train, dev, held = (np.flatnonzero(parts[name]) for name in PARTS)
    met, case = decisions.met, decisions.case
    rarity = Rarity.of([text for i in train for text in (decisions.pairs[i].response, decisions.pairs[i].criterion)])
    rows = _Rows(FeatureMaker(rarity).rows(decisions.pairs), wording_rows(decisions.pairs), rarity)

    def score_left_out(fitted: Array, left: Array) -> NDArray[np.float64]:
        partial, _importances = _fit(rows, train[fitted], met, seed)
        return partial.scores(rows.features[train[left]], rows.wording[train[left]])

    calibration = calibrate(met[train], decisions.candidate[train], case[train], score_left_out)
    judge, importances = _fit(rows, train, met, seed)
    judge = replace(judge, calibration=calibration.platt)
    score = judge.scores(rows.features, rows.wording)
    probability = judge.probabilities(rows.features, rows.wording)
    judge = replace(judge, threshold=best_threshold(met[dev], probability[dev]))
    verdicts = (probability >= judge.threshold).astype(np.int64)

    overlap = word_overlap(decisions.pairs)
    overlap_threshold = best_threshold(met[dev], overlap[dev])
    majority = int(met[train].mean() >= 0.5)
    others = {
        "majority": np.full(len(held), majority),
        "word_overlap": (overlap[held] >= overlap_threshold).astype(np.int64),
    }
    truth = Truth(met[held], case[held])
    card = {
        "seed": seed,
        "interval": truth.rule.key,
        "stage": STAGE,
        "split": {
            name: {
                "candidates": list(getattr(split, name)),
                "decisions": int(inside.sum()),
                "cases": len(set(case[inside].tolist())),
                "met": float(met[inside].mean()),
            }
            for name, inside in parts.items()
        },
        "left_out": decisions.left_out.total(),
        "left_out_by": dict(sorted(decisions.left_out.items())),
        "threshold": judge.threshold,
        "coefficients": dict(zip(FEATURES, judge.coefficients.tolist(), strict=True)),
        "importances": dict(zip(FEATURES, importances, strict=True)),
        "dev": Truth(met[dev], case[dev]).agreement(verdicts[dev]),
        "held_out": truth.agreement(verdicts[held]),
        "baselines": {
            "majority": {"says": "met" if majority else "not_met", **truth.agreement(others["majority"])},
            "word_overlap": {"threshold": overlap_threshold, **truth.agreement(others["word_overlap"])},
        },
        "differences": {name: truth.difference(verdicts[held], other) for name, other in others.items()},
        "by_candidate": truth.by_candidate(verdicts[held], decisions.candidate[held].tolist()),
        "calibrator": calibration.card(),
        "calibration": truth.curve(probability[held]),
        "calibration_before": truth.curve(score[held]),
        "brier": {"before": truth.brier(score[held]), "after": truth.brier(probability[held])},
        "calibration_error": {
            "before": truth.calibration_error(score[held]),
            "after": truth.calibration_error(probability[held]),
        },
        "versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__},
    }
    return judge, card
