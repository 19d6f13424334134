"""What the figures of a run of refinement rest on: its texts, and how somebody grades them, as arrays. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.outcomes import Outcome
from consilium.statistics.relative_gain import FULL_SCORE
from scoring.models import EndpointKind
from scoring.scores.points import DEFAULT_RULES, score_responses
from validation.coverage.config import endpoint_kind_of
from validation.coverage.content import Point
from validation.files.refinement_reading import Arm
from validation.files.refinement_tables import UPPER_BOUND
from validation.files.table_rows import ALL, nfc
from validation.models import RefinementRun
from validation.refinement.checks import NEW_DRUG, NEW_NUMBER, SIZE, STRAY
from validation.refinement.config import SET, ArmConfig, RefinementConfig
from validation.refinement.overlap import Row, overlapping
from validation.sets.content import AXIS_PREFIX

TAG_PREFIX = "tag:"


@dataclass(frozen=True, slots=True)
class Graded:
    """A criterion of the gold rubric that grades the responses to a case."""

    case: str
    text: str
    points: int
    axis: str
    position: int


@dataclass(frozen=True, eq=False)
class Refined:
    """A case in an arm. ``plan`` and ``edit`` are None where the model gave none; ids are public."""

    arm: int
    case: str
    base: str
    base_id: str
    text: str | None
    response: str
    findings: list[dict[str, Any]]
    plan: dict[str, Any] | None
    edit: dict[str, Any] | None

    def count(self, kind: str) -> int:
        """How many findings of a kind its text has."""
        return sum(finding["kind"] == kind for finding in self.findings)

    @property
    def size(self) -> dict[str, Any]:
        """Changed share of words and length ratio; empty where there is no text."""
        return next((finding for finding in self.findings if finding["kind"] == SIZE), {})


@dataclass(frozen=True, eq=False)
class Harm:
    """A criterion that the base gained by and the refined text does not, or a penalty that it has brought."""

    refined: Refined
    criterion: Graded


@dataclass(frozen=True)
class Grader:
    """Who grades: the label of a rater, and the name and model of each judge behind it (none: physicians)."""

    label: str
    judges: tuple[tuple[str, str], ...] = ()
    is_by_rules: bool = False


@dataclass(frozen=True, eq=False)
class RefinementInputs:
    """A run with its texts by arm and case, and the outcomes of the criteria that grade them.

    ``outcomes`` has for each response, by its public id, the code of `Outcome` of each criterion id. ``lost``: criteria
    of the grading half that the published rubrics no longer have.
    """

    run: RefinementRun
    config: RefinementConfig
    grader: Grader
    texts: list[Refined]
    criteria: Mapping[int, Graded]
    outcomes: Mapping[str, Mapping[int, int]]
    tags: Mapping[str, tuple[str, ...]]
    lost: int = 0

    @property
    def endpoint_kind(self) -> str:
        """What the figures rest on: rules, where they refined, graded or wrote what guides, or a model."""
        sets = [arm.rubric_set for arm in self.config.arms if arm.rubric_set is not None]
        return str(EndpointKind.RULES if self.grader.is_by_rules else endpoint_kind_of(self.run, sets))

    @cached_property
    def names(self) -> list[str]:
        """The names of the arms, as files have them."""
        return [nfc(arm.name) for arm in self.config.arms]

    @property
    def upper_bound(self) -> str:
        """The arm that the others are held against: that of the gold criteria, else the first labelled so."""
        bounds = [nfc(arm.name) for arm in self.config.arms if arm.upper_bound]
        return UPPER_BOUND if UPPER_BOUND in bounds or not bounds else bounds[0]

    @property
    def refining_judges(self) -> list[str]:
        """The judges behind the rater whose model planned or edited: they would grade their own work."""
        models = {model.casefold() for model in self.config.models}
        return list(dict.fromkeys(name for name, model in self.grader.judges if model.casefold() in models))

    @cached_property
    def taught_since(self) -> dict[str, int]:
        """How many guiding criteria of an arm grade by now, by its name, though none did when the run began.

        The gold rubric may take in criteria of a set later. Upper bounds are labelled, and halves stay as they were.
        """
        graded: dict[str, list[Row]] = defaultdict(list)
        for criterion in self.criteria.values():
            graded[criterion.case].append(Row(Point(criterion.text, criterion.points, criterion.axis)))
        counts: dict[str, int] = {}
        for place, (arm, name) in enumerate(zip(self.config.arms, self.names, strict=True)):
            if arm.kind != SET or arm.upper_bound or self.config.split:
                continue
            for number, case in enumerate(self.config.cases):
                guiding = [Row(point) for point in self.config.criteria(number, place) or ()]
                shared = sum(overlapping(guiding, graded.get(nfc(case.key), [])))
                if shared:
                    counts[name] = counts.get(name, 0) + shared
        return counts

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that figures and lists rest on; it depends on no id."""

        def outcomes(response: str) -> list[Any]:
            own = self.outcomes.get(response, {})
            graded = ((self.criteria[pk], code) for pk, code in own.items())
            return sorted([each.text, each.points, each.axis, each.position, code] for each, code in graded)

        digest = hashlib.sha256()
        digest.update(json.dumps([self.run.public_id, self.grader.label, sorted(self.tags.items())]).encode())
        for text in self.texts:
            row = [text.arm, text.case, text.base, text.text, text.findings, outcomes(text.base_id)]
            digest.update(json.dumps([*row, outcomes(text.response)], ensure_ascii=False, sort_keys=True).encode())
        return digest.hexdigest()

    def own(self, arm: int) -> list[Refined]:
        """The cases of an arm, sorted by name, as a file has them."""
        return sorted((text for text in self.texts if text.arm == arm), key=lambda text: text.case)

    # Scores ----------------------------------------------------------------------------------------------------------

    def scores(self, responses: Iterable[str], axis: str | None = None) -> NDArray[np.float64]:
        """The rubric score of each response times 100, of one axis where it is named; NaN where there is none."""
        who, points, codes = [], [], []
        ids = list(responses)
        for place, response in enumerate(ids):
            for criterion, code in self.outcomes.get(response, {}).items():
                if axis is None or self.criteria[criterion].axis == axis:
                    who.append(place)
                    points.append(self.criteria[criterion].points)
                    codes.append(code)
        scores = score_responses(who, points, codes, len(ids), DEFAULT_RULES)
        return np.where(scores.has_score, FULL_SCORE * scores.score, np.nan)

    @cached_property
    def axes(self) -> list[str]:
        """The axes of the criteria that grade, sorted."""
        return sorted({criterion.axis for criterion in self.criteria.values() if criterion.axis})

    def arms(self, axis: str | None = None) -> list[Arm]:
        """Scores before and after; by tag over all criteria, or over the criteria of one axis."""
        return [self._arm(place, arm, axis) for place, arm in enumerate(self.config.arms)]

    def _arm(self, place: int, arm: ArmConfig, axis: str | None) -> Arm:
        own = self.own(place)
        base = self.scores([text.base_id for text in own], axis)
        refined = self.scores([text.response for text in own], axis)
        slices = {ALL: np.ones(len(own), dtype=bool)}
        if axis is not None:
            # A case without such a criterion is not part of the slice, rather than a case without a score.
            slices = {AXIS_PREFIX + axis: np.array([self._has_axis(text, axis) for text in own], dtype=bool)}
        else:
            for tag in sorted({tag for text in own for tag in self.tags.get(text.case, ())}):
                inside = [tag in self.tags.get(text.case, ()) for text in own]
                slices[TAG_PREFIX + tag] = np.array(inside, dtype=bool)
        return Arm(
            name=nfc(arm.name),
            cases=[text.case for text in own],
            base=base,
            refined=refined,
            length_base=np.array([float(len(text.base)) for text in own]),
            length_refined=np.array([np.nan if text.text is None else float(len(text.text)) for text in own]),
            slices=slices,
            new_numbers=np.array([text.count(NEW_NUMBER) for text in own], dtype=np.int64),
        )

    def _has_axis(self, text: Refined, axis: str) -> bool:
        own = self.outcomes.get(text.base_id, {})
        return any(self.criteria[criterion].axis == axis and self.criteria[criterion].points > 0 for criterion in own)

    def every_arm(self) -> list[Arm]:
        """Each arm with all of its slices: everything and tags, then axes; the order of a table."""
        by_axis = [self.arms(axis) for axis in self.axes]
        rows: list[Arm] = []
        for place, whole in enumerate(self.arms()):
            rows += [whole, *(arms[place] for arms in by_axis)]
        return rows

    # Lists -----------------------------------------------------------------------------------------------------------

    def harms(self) -> Iterator[Harm]:
        """Criteria that were met before and are not after; of penalties, those that were not met and are."""
        for text in self.texts:
            before, after = self.outcomes.get(text.base_id, {}), self.outcomes.get(text.response, {})
            for criterion in sorted(before, key=lambda pk: self.criteria[pk].position):
                own = self.criteria[criterion]
                good, bad = (Outcome.MET, Outcome.NOT_MET) if own.points > 0 else (Outcome.NOT_MET, Outcome.MET)
                if before[criterion] == good and after.get(criterion) == bad:
                    yield Harm(text, own)

    def findings(self) -> Iterator[tuple[Refined, dict[str, Any]]]:
        """What code finds in the refined texts, numbers first, then drugs, then strays."""
        for kind in (NEW_NUMBER, NEW_DRUG, STRAY):
            yield from ((text, finding) for text in self.texts for finding in text.findings if finding["kind"] == kind)
