"""How urgent each case is, by a ruling, its panel or its labels, as reference sets freeze it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from django.utils.translation import ngettext

from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousRule, PanelCase, PanelStatus
from annotation.acuity.votes import cast_votes, panels_of, questions_on
from annotation.models import FIRST_ROUND, LAST_ROUND, AcuityRuling, ReferenceItem
from consilium.core.errors import DomainError
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityScale, Benchmark, Case, HowMapped, SourceLabel

Status, Source = ReferenceItem.Status, ReferenceItem.Source
# What a case is by its panel; with too few votes its label decides.
_OF_PANEL = {
    PanelStatus.CLEAR: Status.CLEAR,
    PanelStatus.BOUNDARY: Status.BOUNDARY,
    PanelStatus.AMBIGUOUS: Status.AMBIGUOUS,
    PanelStatus.SET_ASIDE: Status.SET_ASIDE,
}
MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of one case; ``low`` and ``high`` are places on the scale.

    ``votes`` has low + high of each vote of round 1 in ascending order, ``certainty`` is the median of theirs, 0 to
    100. ``later_votes`` has those of round 2 where the reference of the panel comes from them. ``label_differs``: the
    panel gives another reference than the label.
    """

    case_id: int
    case: str
    status: str
    source: str
    low: int | None
    high: int | None
    votes: tuple[int, ...] = ()
    n_cannot_tell: int = 0
    certainty: float | None = None
    label_differs: bool = False
    later_votes: tuple[int, ...] = ()

    def frozen(self) -> list[object]:
        """What the digest of a set is of."""
        levels = [self.low, self.high, list(self.votes), self.n_cannot_tell, self.certainty]
        # Only where there are any, so that a set of round 1 has the digest that it always had.
        later = [list(self.later_votes)] if self.later_votes else []
        return [self.case, str(self.status), str(self.source), *levels, *later]


@dataclass(frozen=True, slots=True)
class _Label:
    how: str
    low: int | None
    high: int | None


def datasets_on(benchmark: Benchmark, scale: AcuityScale) -> list[str]:
    """The datasets whose labels are mapped to the scale, by name."""
    rows = SourceLabel.objects.filter(case__benchmark=benchmark, scheme__scale=scale)
    return sorted(rows.order_by().values_list("dataset", flat=True).distinct())


def references_of(
    benchmark: Benchmark,
    scale: AcuityScale,
    *,
    datasets: Iterable[str],
    ambiguous: AmbiguousRule,
    minimum: int = MINIMUM_VOTES,
    round: int = FIRST_ROUND,
    until: datetime | None = None,
) -> list[Reference]:
    """The reference of every case with a vote or with a label of the datasets, by key; votes and rulings by ``until``.

    A ruling comes first, then a panel with ``minimum`` votes, then the label of the case that was imported last. The
    reference of a panel is that of round 1, or with ``round`` 2 of the last round with ``minimum`` votes; whether it is
    ambiguous comes from round 1. A case with a ruling is ambiguous. Excluded cases have no reference. `DomainError`
    where two datasets label a case differently.
    """
    labels = _labels(benchmark, scale, datasets)
    levels = scale_of(scale)
    votes = cast_votes(questions_on(benchmark, scale), until=until)
    panels = panels_of(votes, len(levels))
    later = panels_of(votes, len(levels), LAST_ROUND) if round == LAST_ROUND else {}
    later = {pk: panel for pk, panel in later.items() if panel.m >= minimum}
    rulings = rulings_on(benchmark, scale, until=until)
    certainties: dict[int, list[int]] = {}
    for vote in votes:
        if vote.certainty is not None and vote.round == FIRST_ROUND:
            certainties.setdefault(vote.case_id, []).append(vote.certainty)
    cases = Case.with_stubs.included().filter(pk__in={*labels, *panels})
    keys = dict(cases.values_list("pk", "key"))
    references = []
    for pk, key in keys.items():
        own = _reference(pk, key, labels.get(pk), panels.get(pk), certainties.get(pk, []), ambiguous, minimum)
        if pk in later and own.source == Source.PANEL and own.low is not None:
            own = _of_last_round(own, later[pk], labels.get(pk))
        references.append(_ruled(own, rulings[pk]) if pk in rulings else own)
    return sorted(references, key=lambda reference: reference.case)


def _reference(
    pk: int,
    key: str,
    label: _Label | None,
    panel: PanelCase | None,
    certainties: Sequence[int],
    ambiguous: AmbiguousRule,
    minimum: int,
) -> Reference:
    if label is not None and label.how == HowMapped.EXCLUDE:
        return Reference(pk, key, Status.EXCLUDED, Source.NONE, None, None)
    votes, n_cannot_tell = (), 0
    status = PanelStatus.TOO_FEW
    if panel is not None:
        votes = tuple(sorted((panel.low + panel.high).tolist()))
        n_cannot_tell = panel.n_cannot_tell
        status = panel.status(ambiguous, minimum)
    of_votes = (votes, n_cannot_tell, float(median(certainties)) if certainties else None)
    if panel is not None and status in _OF_PANEL:
        low = high = None
        if status is not PanelStatus.SET_ASIDE:
            low, high = panel.reference_low, panel.reference_high
        differs = _differs(low, high, label)
        return Reference(pk, key, _OF_PANEL[status], Source.PANEL, low, high, *of_votes, label_differs=differs)
    if label is None or label.low is None:
        return Reference(pk, key, Status.WITHOUT, Source.NONE, None, None, *of_votes)
    by_label = Status.CLEAR if label.low == label.high else Status.BOUNDARY
    return Reference(pk, key, by_label, Source.DIRECT, label.low, label.high, *of_votes)


def _differs(low: int | None, high: int | None, label: _Label | None) -> bool:
    """Whether a panel and a label both give a reference, and not the same."""
    if low is None or label is None or label.low is None:
        return False
    return (low, high) != (label.low, label.high)


def _of_last_round(reference: Reference, panel: PanelCase, label: _Label | None) -> Reference:
    """The reference of a panel by the votes of its last round; it stays ambiguous if round 1 was."""
    low, high = panel.reference_low, panel.reference_high
    status = reference.status
    if status != Status.AMBIGUOUS:
        status = Status.CLEAR if low == high else Status.BOUNDARY
    later_votes = tuple(sorted((panel.low + panel.high).tolist()))
    return replace(
        reference, status=status, low=low, high=high, later_votes=later_votes, label_differs=_differs(low, high, label)
    )


def _ruled(reference: Reference, ruling: AcuityRuling) -> Reference:
    """A case with a ruling is ambiguous, and has the level of the ruling; one that stays ambiguous has its panel's."""
    if reference.status == Status.EXCLUDED:
        return reference
    if ruling.stays_ambiguous:
        is_of_panel = reference.source == Source.PANEL and reference.low is not None
        return replace(reference, status=Status.AMBIGUOUS) if is_of_panel else reference
    return replace(
        reference, status=Status.AMBIGUOUS, source=Source.RULING, low=ruling.low, high=ruling.high, later_votes=()
    )


def rulings_on(benchmark: Benchmark, scale: AcuityScale, *, until: datetime | None = None) -> dict[int, AcuityRuling]:
    """The ruling on each case by its id, over all questions on the scale: the newest."""
    rows = AcuityRuling.objects.filter(question__benchmark=benchmark, question__scale=scale)
    if until is not None:
        rows = rows.filter(created_at__lte=until)
    return {ruling.case_id: ruling for ruling in rows.order_by("created_at", "pk")}


def _labels(benchmark: Benchmark, scale: AcuityScale, datasets: Iterable[str]) -> dict[int, _Label]:
    """What became of the label of each case when it was imported last."""
    rows = SourceLabel.objects.filter(case__benchmark=benchmark, scheme__scale=scale, dataset__in=list(datasets))
    rows = rows.filter(case__excluded_at=None)
    newest: dict[tuple[int, str], _Label] = {}
    for case, dataset, how, low, high in rows.order_by("pk").values_list("case_id", "dataset", "how", "low", "high"):
        newest[case, dataset] = _Label(how, low, high)
    labels: dict[int, _Label] = {}
    differing: set[int] = set()
    for (case, _dataset), label in newest.items():
        if labels.setdefault(case, label) != label:
            differing.add(case)
    if differing:
        keys = Case.with_stubs.filter(pk__in=differing).order_by("key").values_list("key", flat=True)
        named = ", ".join(keys[:MAX_NAMED]) + (" …" if len(differing) > MAX_NAMED else "")
        message = ngettext(
            "Two datasets label %(n)s case differently (%(cases)s): choose the datasets that count.",
            "Two datasets label %(n)s cases differently (%(cases)s): choose the datasets that count.",
            len(differing),
        )
        raise DomainError(message % {"n": len(differing), "cases": named})
    return labels


def digest_of(scale: AcuityScale, references: Sequence[Reference]) -> str:
    """SHA-256 of a scale and its references, by key."""
    content = [scale.levels, [reference.frozen() for reference in references]]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def counts_of(references: Sequence[Reference]) -> Mapping[str, int]:
    """How many cases have each status."""
    counts = Counter(str(reference.status) for reference in references)
    return {status: counts[status] for status in Status.values}
