"""A fitted judge as bytes and back. The bytes are arrays (`numpy.savez`), never a pickle: reading them runs nothing."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.lib.errors import DomainError
from scoring.trained.features import FEATURES, FeatureMaker, Rarity, Texts

FORMAT = "consilium-trained-judge-1"


@dataclass(frozen=True, slots=True, eq=False)
class FittedJudge:
    """A logistic regression over standardised `FEATURES`, and the probability from which it says met."""

    rarity: Rarity
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercept: float
    threshold: float

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of met for rows of features; rounded, so that a last bit decides nothing."""
        logits = ((rows - self.mean) / self.scale) @ self.coefficients + self.intercept
        return np.asarray(np.round(1 / (1 + np.exp(-logits)), 6))

    def judge(self, pairs: Sequence[Texts]) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]:
        """Probability, met, and the closest passage of the response, for each pair."""
        rows, passages = FeatureMaker(self.rarity).rows_and_passages(pairs)
        probability = self.probabilities(rows)
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
            threshold=np.array(self.threshold),
        )
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, sha256: str) -> FittedJudge:
        """`DomainError` where the bytes are not those that were stored, or of another version of the features."""
        if hashlib.sha256(data).hexdigest() != sha256:
            raise DomainError("The stored model does not have its recorded SHA-256; train the judge again.")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            kept: dict[str, Any] = {name: arrays[name] for name in arrays.files}
        if str(kept["format"]) != FORMAT or tuple(kept["features"].tolist()) != FEATURES:
            raise DomainError("This judge was trained by another version of the program; train it again.")
        return cls(
            rarity=Rarity(kept["characters"], kept["words"]),
            mean=kept["mean"],
            scale=kept["scale"],
            coefficients=kept["coefficients"],
            intercept=float(kept["intercept"]),
            threshold=float(kept["threshold"]),
        )
