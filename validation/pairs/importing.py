"""Imports near-miss pairs from a file: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress
from consilium.core.phrases import Phrase
from rubrics.imports.registry import Counts
from rubrics.models import Benchmark, Case
from rubrics.parsing.faults import Faults
from validation.models import ErrorKind, NearMissPair, PairGroup
from validation.pairs.keys import free_key
from validation.pairs.reading import PairReader, PairRow
from validation.pairs.services import get_or_make_group

OPTIONS = ("group", "judgements")  # what an import takes, as texts
BATCH = 500


@transaction.atomic
def import_pairs(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Add the pairs of a file to a group. `ImportRefused` names every fault, and then nothing is written.

    A pair that the group has already, with the same key and texts, is left as it is.
    """
    judgements = options.get("judgements") or "1"
    if judgements not in ("1", "2"):
        raise DomainError(_("A pair is judged by one physician or by two."))
    group = get_or_make_group(
        benchmark=benchmark, name=options.get("group", ""), judgements_due=int(judgements), by=by, at=at
    )
    PairGroup.objects.select_for_update().get(pk=group.pk)
    faults = Faults()
    rows = Case.objects.filter(benchmark=benchmark).values_list("key", "pk", "reference_answer")
    cases = {key: (pk, reference) for key, pk, reference in rows}
    reader = PairReader(
        file,
        faults,
        kinds=ErrorKind.values,
        reference_of=lambda key: cases[key][1] if key in cases else None,
        progress=progress,
    )
    pairs = list(reader)
    if not pairs and not faults.total:
        faults.add(0, "", Phrase("The file contains no pairs."))
    new, unchanged = _new_pairs(group, {key: pk for key, (pk, _reference) in cases.items()}, pairs, faults)
    faults.refuse_if_any()
    NearMissPair.objects.bulk_create(
        (
            NearMissPair(
                group=group,
                case_id=cases[row.case][0],
                key=key,
                reference=row.reference,
                candidate=row.candidate,
                start=row.span.start,
                reference_end=row.span.reference_end,
                candidate_end=row.span.candidate_end,
                kind=row.kind,
                axis=row.axis,
                change=row.change,
                why=row.why,
                origin=NearMissPair.Origin.IMPORT,
                warning=row.warning,
                created_by=by,
                created_at=at,
            )
            for key, row in new
        ),
        batch_size=BATCH,
    )
    return {
        "pairs": {"created": len(new), "unchanged": unchanged},
        "warnings": _warnings([row for _key, row in new], reader.unused),
    }


def _new_pairs(
    group: PairGroup, cases: Mapping[str, int], rows: list[PairRow], faults: Faults
) -> tuple[list[tuple[str, PairRow]], int]:
    """The rows that the group lacks, each with its key, and how many it has already."""
    known = {
        key: (case, reference, candidate, kind)
        for key, case, reference, candidate, kind in NearMissPair.objects.filter(group=group).values_list(
            "key", "case_id", "reference", "candidate", "kind"
        )
    }
    taken = {*known, *(row.key for row in rows)}
    contents = set(known.values())
    new: list[tuple[str, PairRow]] = []
    for row in rows:
        content = (cases[row.case], row.reference, row.candidate, row.kind)
        if row.key and known.get(row.key, content) != content:
            faults.add(row.line, "pair", Phrase("The group already has another pair with this name."))
        elif content not in contents:
            contents.add(content)
            key = row.key or free_key(row.case, taken)
            taken.add(key)
            new.append((key, row))
    return new, len(rows) - len(new)


def _warnings(rows: list[PairRow], unused: set[str]) -> list[str]:
    warnings = []
    wide = [row for row in rows if row.warning]
    if wide:
        warnings.append(
            ngettext(
                "The texts of %(n)d pair differ in more than 15%% of their words (line %(lines)s).",
                "The texts of %(n)d pairs differ in more than 15%% of their words (lines %(lines)s).",
                len(wide),
            )
            % {"n": len(wide), "lines": ", ".join(str(row.line) for row in wide[:20])}
        )
    if unused:
        warnings.append(_("Fields not read: %(names)s") % {"names": ", ".join(sorted(unused))[:300]})
    return warnings
