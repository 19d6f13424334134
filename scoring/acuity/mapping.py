"""Maps stored labels of cases again, by another version of a scheme: from the labels word for word, without their file.

Nothing that is stored changes. Each label gets a further row, which names the file and line that it came from, and an
import of its own, which says who mapped it and when.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.acuity import services
from rubrics.acuity.scales import Scale
from rubrics.acuity.schemes import Scheme
from rubrics.acuity.shown import shown_mapping
from rubrics.acuity.stored import scale_of
from rubrics.acuity.stored import scheme_of as stored_scheme
from rubrics.imports.bulk import check_references_at_once, chunks, copy_rows
from rubrics.models import AcuityImport, Benchmark, HowMapped, LabelScheme, SourceLabel
from scoring.acuity import selectors
from scoring.acuity.importing import LABEL_COLUMNS

MAPPED_AGAIN = "mapped_again"  # an option of the imports that only hold labels that were mapped again
MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class LabelChange:
    """A label of a dataset, what it is now and what it becomes; ``how`` is empty where the scheme has no rule for it.

    ``before`` and ``becomes`` are as pages show them.
    """

    label: str
    cases: int
    before: str
    becomes: str
    how: str
    low: str
    high: str

    @property
    def is_same(self) -> bool:
        """Whether nothing but the version of the scheme changes."""
        return self.before == self.becomes


@dataclass(frozen=True)
class MappingPlan:
    """What mapping a dataset again would write: ``changes`` of the labels that have no row of this scheme yet.

    ``scheme`` names the version; one that is not stored yet is the first. ``n_mapped`` labels have a row already.
    """

    dataset: str
    scheme_name: str
    scale_name: str
    changes: list[LabelChange]
    n_mapped: int

    @property
    def n_labels(self) -> int:
        """The labels that would get a row."""
        return sum(change.cases for change in self.changes)

    @property
    def without_rule(self) -> list[LabelChange]:
        """The labels that no rule is for; with one of them nothing is written."""
        return [change for change in self.changes if not change.how]


def plan_mapping(*, benchmark: Benchmark, dataset: str, scale: str, scheme: str) -> MappingPlan:
    """What the newest version of a scheme makes of the labels of a dataset; nothing is written.

    `DomainError` where there is no such scheme on the scale, or no label in the dataset.
    """
    target = selectors.scheme_called(benchmark, scale, scheme)
    if target is None:
        raise DomainError(
            _("The label scheme “%(name)s” has no rules for the scale “%(scale)s”.")
            % {"name": scheme[:80], "scale": scale[:80]},
            field="scheme",
        )
    row_scale = selectors.newest_scale(benchmark, scale)
    row = selectors.newest_scheme(row_scale, scheme) if row_scale is not None else None
    return _plan(benchmark, dataset, target, row, str(row or target.name), str(row_scale or scale))


def _plan(
    benchmark: Benchmark, dataset: str, target: Scheme, row: LabelScheme | None, scheme_name: str, scale_name: str
) -> MappingPlan:
    schemes = {own.pk: own for own in LabelScheme.objects.filter(scale__benchmark=benchmark).select_related("scale")}
    counts: Counter[tuple[str, int, str, int | None, int | None]] = Counter()
    n_mapped = 0
    mapped = _mapped_cases(dataset, row)
    columns = ("case", "label", "scheme", "how", "low", "high")
    for case, *label in _newest_labels(benchmark, dataset, *columns):
        if case in mapped:
            n_mapped += 1
        else:
            counts[tuple(label)] += 1
    if not counts and not n_mapped:
        raise DomainError(_("The dataset “%(name)s” has no labels.") % {"name": dataset[:80]}, field="dataset")
    changes = []
    for (text, scheme_id, how, low, high), cases in counts.items():
        before = _shown(scale_of(schemes[scheme_id].scale), how, low, high)
        changes.append(_change(text, cases, before, target))
    changes.sort(key=lambda change: (bool(change.how), change.is_same, -change.cases, change.label))
    return MappingPlan(dataset, scheme_name, scale_name, changes, n_mapped)


def _change(label: str, cases: int, before: str, target: Scheme) -> LabelChange:
    mapped, values = target.mapped(label), target.scale.values
    if mapped is None:
        return LabelChange(label, cases, before, "", "", "", "")
    low, high = ("" if place is None else values[place] for place in (mapped.low, mapped.high))
    becomes = _shown(target.scale, mapped.how.value, mapped.low, mapped.high)
    return LabelChange(label, cases, before, becomes, mapped.how.value, low, high)


def _shown(scale: Scale, how: str, low: int | None, high: int | None) -> str:
    return shown_mapping(scale, low, high) or str(HowMapped(how).label)


def _newest_labels(benchmark: Benchmark, dataset: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Columns of the label of each case of a dataset, as it was stored last, whatever the scheme."""
    rows = SourceLabel.objects.filter(scheme__scale__benchmark=benchmark, dataset=dataset)
    newest = rows.order_by("case_id", "-pk").distinct("case_id")
    return newest.values_list(*columns).iterator(chunk_size=selectors.CHUNK)


def _mapped_cases(dataset: str, scheme: LabelScheme | None) -> set[int]:
    if scheme is None:
        return set()
    rows = SourceLabel.objects.filter(dataset=dataset, scheme=scheme).values_list("case_id", flat=True)
    return set(rows.iterator(chunk_size=selectors.CHUNK))


@transaction.atomic
def map_again(
    *, benchmark: Benchmark, dataset: str, scale: str, scheme: str, by: User | None, at: datetime, seen: str = ""
) -> MappingPlan:
    """Map the labels of a dataset by the newest version of a scheme, all of them or none; returns what was written.

    ``seen`` is the version that a person saw the plan of: `Conflict` where there is a newer one. `DomainError` as in
    `plan_mapping`, and where a label has no rule.
    """
    # One at a time, and no import meanwhile.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    plan = plan_mapping(benchmark=benchmark, dataset=dataset, scale=scale, scheme=scheme)
    if seen and seen != plan.scheme_name:
        raise Conflict(_("The scheme has a new version since this preview. Review its effect again."))
    if plan.without_rule:
        labels = ", ".join(f"“{change.label[:80]}” ({change.cases})" for change in plan.without_rule[:MAX_NAMED])
        more = len(plan.without_rule) - MAX_NAMED
        raise DomainError(
            _("The scheme “%(scheme)s” has no rule for these labels (cases): %(labels)s. Nothing was mapped.")
            % {"scheme": plan.scheme_name, "labels": labels + (f" … (+{more})" if more > 0 else "")}
        )
    row_scale = services.get_or_make_scale(benchmark=benchmark, name=scale, by=by, at=at)
    row = services.get_or_make_scheme(scale=row_scale, name=scheme, by=by, at=at)
    check_references_at_once()
    mapped = _mapped_cases(dataset, row)
    rows = _newest_labels(benchmark, dataset, "case", "acuity_import")
    sources = AcuityImport.objects.in_bulk({source for case, source in rows if case not in mapped})
    imports = {pk: _import_of(source, row, by, at).pk for pk, source in sorted(sources.items())}
    columns = ("case", "dataset", "source_id", "label", "acuity_import", "line", "is_flagged")
    stored = (label for label in _newest_labels(benchmark, dataset, *columns) if label[0] not in mapped)
    target = stored_scheme(row)
    # One chunk after another: while rows are copied, the connection reads none.
    for chunk in chunks(stored, selectors.CHUNK):
        copy_rows(SourceLabel, LABEL_COLUMNS, _rows(chunk, target, row, imports))
    return plan


def _import_of(source: AcuityImport, scheme: LabelScheme, by: User | None, at: datetime) -> AcuityImport:
    return AcuityImport.objects.create(
        benchmark_id=source.benchmark_id,
        dataset=source.dataset,
        scheme=scheme,
        file_name=source.file_name,
        file_digest=source.file_digest,
        shape=source.shape,
        # With an option more it is no sample of a candidate: `importing` counts files by their options.
        options={**source.options, MAPPED_AGAIN: "1"},
        created_by=by,
        created_at=at,
    )


def _rows(
    labels: Iterable[tuple[Any, ...]], scheme: Scheme, row: LabelScheme, imports: dict[int, int]
) -> Iterator[tuple[Any, ...]]:
    for case, dataset, source_id, label, source, line, is_flagged in labels:
        mapped = scheme.mapped(label)
        assert mapped is not None  # else the plan was refused
        yield (
            *(case, dataset, source_id, label, row.pk, mapped.how.value),
            *(mapped.low, mapped.high, imports[source], line, is_flagged),
        )
