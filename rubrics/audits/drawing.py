"""Draws the cases of an audit by a keyed hash of the seed and their keys; a seed draws the same cases anywhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from consilium.core.drawing import keyed, share_of
from rubrics.models import AuditItem, Benchmark, CaseAudit, Rubric
from rubrics.selectors.case_selection import has_any_tag

ALL, NEVER_AUDITED = "all", "never"
STATES = (ALL, NEVER_AUDITED)


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Which published cases an audit draws from; an empty field filters nothing."""

    state: str = ALL  # or only cases that no audit has read yet and that wait in no open audit
    tags: Sequence[str] = ()  # a case with any of them
    difficulties: Sequence[str] = ()
    registers: Sequence[str] = ()
    languages: Sequence[str] = ()

    def rubrics(self, benchmark: Benchmark, *, ignored: CaseAudit | None = None) -> QuerySet[Rubric]:
        """The frame: the published rubric of every case that counts and passes the filter.

        The cases that wait in the audit ``ignored`` are treated as if it had not been drawn.
        """
        rubrics = self._unread(benchmark)
        if self.state == NEVER_AUDITED:
            rubrics = rubrics.exclude(Exists(_waiting(ignored)))
        return rubrics

    def waiting_elsewhere(self, benchmark: Benchmark) -> int:
        """The number of cases that are left out of the frame because they wait in an open audit."""
        if self.state != NEVER_AUDITED:
            return 0
        return self._unread(benchmark).filter(Exists(_waiting())).count()

    def _unread(self, benchmark: Benchmark) -> QuerySet[Rubric]:
        rubrics = Rubric.objects.current().filter(case__benchmark=benchmark, case__excluded_at=None)
        if self.tags:
            rubrics = rubrics.filter(has_any_tag(self.tags, "case__"))
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


def _waiting(ignored: CaseAudit | None = None) -> QuerySet[AuditItem]:
    """Items of the case of the outer query that have not been read in an open audit other than ``ignored``."""
    rows = AuditItem.objects.filter(case=OuterRef("case"), done_at=None, audit__status=CaseAudit.Status.OPEN)
    return rows if ignored is None else rows.exclude(audit=ignored)


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
    waiting_elsewhere: int  # cases left out of the frame because they wait in another open audit
    digest: str  # of the keys of the frame: the same seed and the same keys give the same draw


def draw_cases(
    *, benchmark: Benchmark, filter: CaseFilter, share: float, seed: int, ignored: CaseAudit | None = None
) -> Draw:
    """The cases of an audit: ``share`` of the frame, rounded half up, at least one where there is any.

    The draw is made as if the audit ``ignored`` had not been drawn.
    """
    groups = {
        f"specialty:{source}": f"specialty_group:{target}"
        for source, target in benchmark.maps.get("specialty", {}).items()
    }
    labels = ("case__difficulty", "case__register", "case__tags", "case__label_tags")
    rubrics = filter.rubrics(benchmark, ignored=ignored).order_by()
    rows = rubrics.values_list("case__key", "case", "case__public_id", "pk", *labels)
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
        waiting_elsewhere=filter.waiting_elsewhere(benchmark),
        digest=hashlib.sha256(names.encode()).hexdigest(),
    )


def _slices(difficulty: str, register: str, tags: Sequence[str], groups: Mapping[str, str]) -> tuple[str, ...]:
    """Difficulty, register, and the group of the specialty by the benchmark's map, else the specialty itself."""
    slices = [f"{name}:{value}" for name, value in (("difficulty", difficulty), ("register", register)) if value]
    slices += [groups.get(tag, tag) for tag in tags if tag.startswith("specialty:")]
    return tuple(dict.fromkeys(slices))
