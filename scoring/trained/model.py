"""Serializes a fitted judge as arrays (`numpy.savez`), never as a pickle: loading it runs no code."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from consilium.core.errors import DomainError
from scoring.trained.features import FEATURES, FeatureMaker, Rarity, Texts
from scoring.trained.wording import COLUMNS, wording_rows

FORMAT = "consilium-trained-judge-2"
ROWS_AT_ONCE = 500
FOREST = ("feature", "border", "left", "right", "met")
WEIGHTS = (0.4, 0.4, 0.2)  # regression, forest, regression over words


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Decision trees as arrays of shape (trees, nodes); ``feature`` is −1 at a leaf, whose ``met`` is its share."""

    feature: NDArray[np.int8]
    border: NDArray[np.float32]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    met: NDArray[np.float32]

    @classmethod
    def of(cls, trees: Sequence[Any]) -> Forest:
        """From fitted trees of scikit-learn's; padded to the largest."""
        size = max(tree.node_count for tree in trees)
        shape = (len(trees), size)
        forest = cls(
            feature=np.full(shape, -1, dtype=np.int8),
            border=np.zeros(shape, dtype=np.float32),
            left=np.zeros(shape, dtype=np.int16),
            right=np.zeros(shape, dtype=np.int16),
            met=np.zeros(shape, dtype=np.float32),
        )
        for row, tree in enumerate(trees):
            inner = tree.children_left >= 0
            nodes = slice(0, tree.node_count)
            forest.feature[row, nodes] = np.where(inner, tree.feature, -1)
            forest.border[row, nodes] = np.where(inner, tree.threshold, 0)
            forest.left[row, nodes] = np.where(inner, tree.children_left, 0)
            forest.right[row, nodes] = np.where(inner, tree.children_right, 0)
            shares = tree.value[:, 0, :]
            forest.met[row, nodes] = np.round(shares[:, 1] / shares.sum(axis=1), 5)
        return forest

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean over the trees of the share of met in the leaf that each row falls into."""
        chunks = [self._of(rows[start : start + ROWS_AT_ONCE]) for start in range(0, len(rows), ROWS_AT_ONCE)]
        return np.concatenate(chunks) if chunks else np.zeros(0)

    def _of(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        values = rows.astype(np.float32)
        tree = np.arange(len(self.feature))[None, :]
        node = np.zeros((len(rows), len(self.feature)), dtype=np.intp)
        while True:
            feature = self.feature[tree, node]
            inner = feature >= 0
            if not inner.any():
                return np.asarray(self.met[tree, node].mean(axis=1, dtype=np.float64))
            goes_left = np.take_along_axis(values, np.maximum(feature, 0).astype(np.intp), axis=1)
            below = np.where(goes_left <= self.border[tree, node], self.left[tree, node], self.right[tree, node])
            node = np.where(inner, below, node)


@dataclass(frozen=True, slots=True)
class Platt:
    """A probability from a score in (0, 1) by a logistic function of the score's logit (Platt 1999). The function is
    increasing, so it keeps the order of scores. Slope 1 and intercept 0 leave the score unchanged.
    """

    slope: float = 1.0
    intercept: float = 0.0

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of met that belong to ``scores``."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * logit(scores) + self.intercept))))


def logit(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln(p / (1 − p)); scores nearer than 0.001 to 0 or 1 are moved to that distance."""
    inside = np.clip(scores, 0.001, 0.999)
    return np.asarray(np.log(inside / (1 - inside)))


@dataclass(frozen=True, slots=True, eq=False)
class FittedJudge:
    """Three members, the probability that follows from their mean, and the probability from which it says met.

    A logistic regression over standardised `FEATURES` generalises to unseen cases, a forest over the same features fits
    known cases more closely, and a regression over the words of criteria (`wording`) learns which words matter.
    `WEIGHTS` are the weights of the three.
    """

    rarity: Rarity
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercept: float
    wording: NDArray[np.float32]  # `COLUMNS` weights
    wording_intercept: float
    forest: Forest
    calibration: Platt
    threshold: float

    def scores(self, rows: NDArray[np.float64], wording: Any) -> NDArray[np.float64]:
        """The weighted mean of the members, before calibration; rounded, so that a last bit decides nothing."""
        linear = _sigmoid(((rows - self.mean) / self.scale) @ self.coefficients + self.intercept)
        worded = _sigmoid(np.asarray(wording @ self.wording.astype(np.float64)) + self.wording_intercept)
        members = np.stack([linear, self.forest.probabilities(rows), worded])
        return np.asarray(np.round(np.asarray(WEIGHTS) @ members, 6))

    def probabilities(self, rows: NDArray[np.float64], wording: Any) -> NDArray[np.float64]:
        """Calibrated probability of met for rows of features and of `wording_rows`."""
        return np.asarray(np.round(self.calibration.probabilities(self.scores(rows, wording)), 6))

    def judge(self, pairs: Sequence[Texts]) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]:
        """Probability, met, and the closest passage of the response, for each pair."""
        rows, passages = FeatureMaker(self.rarity).rows_and_passages(pairs)
        probability = self.probabilities(rows, wording_rows(pairs))
        return probability, probability >= self.threshold, passages

    def to_bytes(self) -> bytes:
        """The same judge gives the same bytes."""
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            format=np.array(FORMAT),
            features=np.array(FEATURES),
            characters=self.rarity.characters,
            words=self.rarity.words,
            mean=self.mean,
            scale=self.scale,
            coefficients=self.coefficients,
            intercept=np.array(self.intercept),
            wording=self.wording,
            wording_intercept=np.array(self.wording_intercept),
            **{f"forest_{name}": getattr(self.forest, name) for name in FOREST},
            calibration=np.array([self.calibration.slope, self.calibration.intercept]),
            threshold=np.array(self.threshold),
        )
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, sha256: str) -> FittedJudge:
        """`DomainError` where the bytes are not those that were stored, or of another version of the features."""
        if hashlib.sha256(data).hexdigest() != sha256:
            raise DomainError(_("The stored model does not match its recorded SHA-256. Train the judge again."))
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            kept: dict[str, Any] = {name: arrays[name] for name in arrays.files}
        same = str(kept["format"]) == FORMAT and tuple(kept["features"].tolist()) == FEATURES
        if not same or kept["wording"].shape != (COLUMNS,):
            raise DomainError(_("This judge was trained by another version of the program. Train it again."))
        slope, intercept = kept["calibration"].tolist()
        return cls(
            rarity=Rarity(kept["characters"], kept["words"]),
            mean=kept["mean"],
            scale=kept["scale"],
            coefficients=kept["coefficients"],
            intercept=float(kept["intercept"]),
            wording=kept["wording"],
            wording_intercept=float(kept["wording_intercept"]),
            forest=Forest(**{name: kept[f"forest_{name}"] for name in FOREST}),
            calibration=Platt(slope, intercept),
            threshold=float(kept["threshold"]),
        )


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-values)))
