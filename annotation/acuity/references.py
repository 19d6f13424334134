"""How urgent each case is, by its panel and by its labels, as reference sets freeze it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousBy, AmbiguousRule, PanelCase, PanelStatus
from annotation.acuity.votes import cast_votes, panels_of, questions_on
from annotation.models import ReferenceItem
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

    ``votes`` has low + high of each vote in ascending order, ``certainty`` their median, 0 to 100. ``label_differs``:
    the panel gives another reference than the label. ``is_flagged``: the data call the case ambiguous; None: they do
    not say.
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
    is_flagged: bool | None = None

    def frozen(self) -> list[object]:
        """What the digest of a set is of."""
        levels = [self.low, self.high, list(self.votes), self.n_cannot_tell, self.certainty]
        return [self.case, str(self.status), str(self.source), *levels]


@dataclass(frozen=True, slots=True)
class _Label:
    how: str
    low: int | None
    high: int | None
    is_flagged: bool | None

    @property
    def levels(self) -> tuple[str, int | None, int | None]:
        """What the label becomes on the scale."""
        return self.how, self.low, self.high


def has_flags(benchmark: Benchmark) -> bool:
    """Whether some label came with a flag that says whether its case is ambiguous."""
    rows = SourceLabel.objects.filter(case__benchmark=benchmark, is_flagged__isnull=False)
    return rows.exists()


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
) -> list[Reference]:
    """The reference of every case with a vote or with a label of the datasets, by key.

    A panel with ``minimum`` votes decides; else the label of the case that was imported last. Excluded cases have no
    reference. `DomainError` where two datasets label a case differently.
    """
    labels = _labels(benchmark, scale, datasets)
    if ambiguous.by is AmbiguousBy.FLAG and not any(label.is_flagged is not None for label in labels.values()):
        raise DomainError(_("No label of these datasets came with a flag that says whether its case is ambiguous."))
    levels = scale_of(scale)
    votes = cast_votes(questions_on(benchmark, scale))
    panels = panels_of(votes, len(levels))
    certainties: dict[int, list[int]] = {}
    for vote in votes:
        if vote.certainty is not None:
            certainties.setdefault(vote.case_id, []).append(vote.certainty)
    cases = Case.with_stubs.included().filter(pk__in={*labels, *panels})
    keys = dict(cases.values_list("pk", "key"))
    references = [
        _reference(pk, key, labels.get(pk), panels.get(pk), certainties.get(pk, []), ambiguous, minimum)
        for pk, key in keys.items()
    ]
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
    flag = None if label is None else label.is_flagged
    votes, n_cannot_tell = (), 0
    status = PanelStatus.TOO_FEW
    if panel is not None:
        votes = tuple(sorted((panel.low + panel.high).tolist()))
        n_cannot_tell = panel.n_cannot_tell
        status = replace(panel, is_flagged=bool(flag)).status(ambiguous, minimum)
    of_votes = (votes, n_cannot_tell, float(median(certainties)) if certainties else None)
    if panel is not None and status in _OF_PANEL:
        low = high = None
        if status is not PanelStatus.SET_ASIDE:
            low, high = panel.reference_low, panel.reference_high
        differs = low is not None and label is not None and label.low is not None
        differs = differs and (low, high) != (label.low, label.high) if label is not None else False
        return Reference(
            pk, key, _OF_PANEL[status], Source.PANEL, low, high, *of_votes, label_differs=differs, is_flagged=flag
        )
    if label is None or label.low is None:
        return Reference(pk, key, Status.WITHOUT, Source.NONE, None, None, *of_votes, is_flagged=flag)
    by_label = Status.CLEAR if label.low == label.high else Status.BOUNDARY
    if flag and ambiguous.by is AmbiguousBy.FLAG:
        by_label = Status.AMBIGUOUS
    return Reference(pk, key, by_label, Source.DIRECT, label.low, label.high, *of_votes, is_flagged=flag)


def _labels(benchmark: Benchmark, scale: AcuityScale, datasets: Iterable[str]) -> dict[int, _Label]:
    """What became of the label of each case when it was imported last."""
    rows = SourceLabel.objects.filter(case__benchmark=benchmark, scheme__scale=scale, dataset__in=list(datasets))
    rows = rows.filter(case__excluded_at=None)
    newest: dict[tuple[int, str], _Label] = {}
    columns = ("case_id", "dataset", "how", "low", "high", "is_flagged")
    for case, dataset, *own in rows.order_by("pk").values_list(*columns):
        newest[case, dataset] = _Label(*own)
    labels: dict[int, _Label] = {}
    differing: set[int] = set()
    for (case, _dataset), label in newest.items():
        known = labels.setdefault(case, label)
        if known.levels != label.levels or (known.is_flagged, label.is_flagged) in ((True, False), (False, True)):
            differing.add(case)
        elif known.is_flagged is None:
            labels[case] = label
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
