"""Draws the cases of an audit by a keyed hash of the seed and their keys; a seed draws the same cases anywhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from consilium.core.drawing import keyed, share_of
from rubrics.models import AuditItem, Benchmark, Rubric

ALL, NEVER_AUDITED = "all", "never"
STATES = (ALL, NEVER_AUDITED)


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Which published cases an audit draws from; an empty field filters nothing."""

    state: str = ALL  # or only cases that no audit has read yet
    tags: Sequence[str] = ()  # a case with any of them
    difficulties: Sequence[str] = ()
    registers: Sequence[str] = ()
    languages: Sequence[str] = ()

    def rubrics(self, benchmark: Benchmark) -> QuerySet[Rubric]:
        """The frame: the published rubric of every case that counts and passes the filter."""
        rubrics = Rubric.objects.current().filter(case__benchmark=benchmark, case__excluded_at=None)
        if self.tags:
            rubrics = rubrics.filter(
                Q(case__tags__overlap=list(self.tags)) | Q(case__label_tags__overlap=list(self.tags))
            )
        for field, values in (
            ("difficulty", self.difficulties),
            ("register", self.registers),
            ("language", self.languages),
        ):
            if values:
                rubrics = rubrics.filter(**{f"case__{field}__in": list(values)})
        if self.state == NEVER_AUDITED:
            read = AuditItem.objects.filter(case=OuterRef("case"), done_at__isnull=False)
            rubrics = rubrics.exclude(Exists(read))
        return rubrics

    def record(self) -> dict[str, object]:
        """The filter as the ``frame`` of an audit stores it."""
        chosen = {
            "tags": list(self.tags),
            "difficulties": list(self.difficulties),
            "registers": list(self.registers),
            "languages": list(self.languages),
        }
        return {"state": self.state, **{name: values for name, values in chosen.items() if values}}


def tags_and_languages(benchmark: Benchmark) -> tuple[list[tuple[str, int]], list[str]]:
    """The tags of the cases that can be drawn, each with the number of these cases, and their languages."""
    rows = CaseFilter().rubrics(benchmark).order_by().values_list("case__tags", "case__label_tags", "case__language")
    tags: Counter[str] = Counter()
    languages = set()
    for own_tags, label_tags, language in rows:
        tags.update({*own_tags, *label_tags})
        languages.add(language)
    return sorted(tags.items()), sorted(languages - {""})


@dataclass(frozen=True, slots=True)
class DrawnCase:
    """A case of the frame, with the slices that it belongs to at the time of the draw."""

    key: str
    case: int
    public_id: str
    rubric: int
    slices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """The drawn cases in the order in which they are read; ``in_slices`` counts the frame by slice."""

    cases: tuple[DrawnCase, ...]
    in_frame: int
    in_slices: Mapping[str, int]
    digest: str  # of the keys of the frame: the same seed and the same keys give the same draw


def draw_cases(*, benchmark: Benchmark, filter: CaseFilter, share: float, seed: int) -> Draw:
    """The cases of an audit: ``share`` of the frame, rounded half up, at least one where there is any."""
    groups = {
        f"specialty:{source}": f"specialty_group:{target}"
        for source, target in benchmark.maps.get("specialty", {}).items()
    }
    labels = ("case__difficulty", "case__register", "case__tags", "case__label_tags")
    rows = filter.rubrics(benchmark).order_by().values_list("case__key", "case", "case__public_id", "pk", *labels)
    frame = [
        DrawnCase(key, case, public_id, rubric, _slices(difficulty, register, [*tags, *label_tags], groups))
        for key, case, public_id, rubric, difficulty, register, tags, label_tags in rows
    ]
    size = max(1, share_of(len(frame), share)) if frame else 0
    drawn = sorted(frame, key=lambda entry: (keyed(seed, "audit", entry.key), entry.key))[:size]
    names = "\x1f".join(sorted(entry.key for entry in frame))
    return Draw(
        # The reading order is random, too: whoever reads the first half has read a random half.
        cases=tuple(sorted(drawn, key=lambda entry: (keyed(seed, "order", entry.key), entry.key))),
        in_frame=len(frame),
        in_slices=dict(sorted(Counter(name for entry in frame for name in entry.slices).items())),
        digest=hashlib.sha256(names.encode()).hexdigest(),
    )


def _slices(difficulty: str, register: str, tags: Sequence[str], groups: Mapping[str, str]) -> tuple[str, ...]:
    """Difficulty, register, and the group of the specialty by the benchmark's map, else the specialty itself."""
    slices = [f"{name}:{value}" for name, value in (("difficulty", difficulty), ("register", register)) if value]
    slices += [groups.get(tag, tag) for tag in tags if tag.startswith("specialty:")]
    return tuple(dict.fromkeys(slices))
