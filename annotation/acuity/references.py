"""How urgent each case is, by a ruling, its panel or its labels, as reference sets freeze it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousBy, AmbiguousRule, PanelCase, PanelStatus
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
    panel gives another reference than the label. ``is_flagged``: the data call the case ambiguous; None: they do not
    say.
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
    is_flagged: bool | None = None

    def frozen(self) -> list[object]:
        """What the digest of a set is of."""
        levels = [self.low, self.high, list(self.votes), self.n_cannot_tell, self.certainty]
        # Only where there are any, so that a set of round 1 has the digest that it always had.
        later = [list(self.later_votes)] if self.later_votes else []
        return [self.case, str(self.status), str(self.source), *levels, *later]


@dataclass(frozen=True, slots=True)
class CaseLabel:
    """What became of the label of a case."""

    how: str
    low: int | None
    high: int | None
    is_flagged: bool | None = None

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
    if ambiguous.by is AmbiguousBy.FLAG and not any(label.is_flagged is not None for label in labels.values()):
        raise DomainError(_("None of the labels in these datasets has a flag for ambiguous cases."))
    levels = scale_of(scale)
    votes = cast_votes(questions_on(benchmark, scale), until=until)
    panels = panels_of(votes, len(levels))
    later = panels_of(votes, len(levels), LAST_ROUND) if round == LAST_ROUND else {}
    rulings = rulings_on(benchmark, scale, until=until)
    certainties: dict[int, list[int]] = {}
    for vote in votes:
        if vote.certainty is not None and vote.round == FIRST_ROUND:
            certainties.setdefault(vote.case_id, []).append(vote.certainty)
    cases = Case.with_stubs.included().filter(pk__in={*labels, *panels})
    keys = dict(cases.values_list("pk", "key"))
    references = [
        decide(
            pk, key, label=labels.get(pk), panel=panels.get(pk), later=later.get(pk), ruling=rulings.get(pk),
            certainties=certainties.get(pk, []), ambiguous=ambiguous, minimum=minimum,
        )
        for pk, key in keys.items()
    ]  # fmt: skip
    return sorted(references, key=lambda reference: reference.case)


def decide(
    pk: int,
    key: str,
    *,
    label: CaseLabel | None,
    panel: PanelCase | None,
    later: PanelCase | None,
    ruling: AcuityRuling | None,
    certainties: Sequence[int],
    ambiguous: AmbiguousRule,
    minimum: int,
) -> Reference:
    """The reference of one case by its label, its panel of round 1 and of round 2, and its ruling.

    It needs no database, so that releases are checked by the same rule.
    """
    own = _reference(pk, key, label, panel, certainties, ambiguous, minimum)
    if later is not None and later.m >= minimum and own.source == Source.PANEL and own.low is not None:
        own = _of_last_round(own, later, label)
    return _ruled(own, ruling) if ruling is not None else own


def _reference(
    pk: int,
    key: str,
    label: CaseLabel | None,
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
        differs = _differs(low, high, label)
        return Reference(
            pk, key, _OF_PANEL[status], Source.PANEL, low, high, *of_votes, label_differs=differs, is_flagged=flag
        )
    if label is None or label.low is None:
        return Reference(pk, key, Status.WITHOUT, Source.NONE, None, None, *of_votes, is_flagged=flag)
    by_label = Status.CLEAR if label.low == label.high else Status.BOUNDARY
    if flag and ambiguous.by is AmbiguousBy.FLAG:
        by_label = Status.AMBIGUOUS
    return Reference(pk, key, by_label, Source.DIRECT, label.low, label.high, *of_votes, is_flagged=flag)


def _differs(low: int | None, high: int | None, label: CaseLabel | None) -> bool:
    """Whether a panel and a label both give a reference, and not the same."""
    if low is None or label is None or label.low is None:
        return False
    return (low, high) != (label.low, label.high)


def _of_last_round(reference: Reference, panel: PanelCase, label: CaseLabel | None) -> Reference:
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


def _labels(benchmark: Benchmark, scale: AcuityScale, datasets: Iterable[str]) -> dict[int, CaseLabel]:
    """What became of the label of each case when it was imported last."""
    rows = SourceLabel.objects.filter(case__benchmark=benchmark, scheme__scale=scale, dataset__in=list(datasets))
    rows = rows.filter(case__excluded_at=None)
    newest: dict[tuple[int, str], CaseLabel] = {}
    columns = ("case_id", "dataset", "how", "low", "high", "is_flagged")
    for case, dataset, *own in rows.order_by("pk").values_list(*columns):
        newest[case, dataset] = CaseLabel(*own)
    of_case: dict[int, list[CaseLabel]] = {}
    for (case, _dataset), label in newest.items():
        of_case.setdefault(case, []).append(label)
    labels = {case: joined for case, own in of_case.items() if (joined := joined_label(own)) is not None}
    differing = set(of_case) - set(labels)
    if differing:
        keys = Case.with_stubs.filter(pk__in=differing).order_by("key").values_list("key", flat=True)
        named = ", ".join(keys[:MAX_NAMED]) + (" …" if len(differing) > MAX_NAMED else "")
        message = ngettext(
            "Two datasets label %(n)s case differently (%(cases)s). Choose which datasets to include.",
            "Two datasets label %(n)s cases differently (%(cases)s). Choose which datasets to include.",
            len(differing),
        )
        raise DomainError(message % {"n": len(differing), "cases": named})
    return labels


def joined_label(labels: Sequence[CaseLabel]) -> CaseLabel | None:
    """The label of a case by all its datasets, at least one; None where two become different levels or flags."""
    flags = {label.is_flagged for label in labels} - {None}
    if len({label.levels for label in labels}) > 1 or len(flags) > 1:
        return None
    return replace(labels[0], is_flagged=next(iter(flags), None))


def digest_of(scale: AcuityScale, references: Sequence[Reference]) -> str:
    """SHA-256 of a scale and its references, by key."""
    return digest_of_levels(scale.levels, references)


def digest_of_levels(levels: Sequence[Mapping[str, str]], references: Sequence[Reference]) -> str:
    """As `digest_of`, by the levels of the scale."""
    content = [levels, [reference.frozen() for reference in references]]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def counts_of(references: Sequence[Reference]) -> Mapping[str, int]:
    """How many cases have each status."""
    counts = Counter(str(reference.status) for reference in references)
    return {status: counts[status] for status in Status.values}
