"""Writes the attributes of candidates: of one, or of those in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from consilium.core.jobs import Progress
from consilium.core.phrases import Phrase
from consilium.core.versioning import StaleSave
from rubrics.imports.registry import Counts
from rubrics.imports.tables import check_table_options, notes_of, open_table
from rubrics.models import Benchmark, Candidate, CandidateAttributes
from rubrics.parsing.faults import Faults
from rubrics.services.attribute_values import FIELDS, AttributeValues, digest_of, values_of
from rubrics.tables.attribute_table import ATTRIBUTES, read_attribute_table


@transaction.atomic
def set_attributes(
    *, candidate: Candidate, values: AttributeValues, seen: str | None = None, by: User, at: datetime
) -> bool:
    """Store all attributes of a candidate; whether any of them changed.

    ``seen``: the `digest_of` the values that the sender saw, None to compare nothing. `StaleSave` with the stored
    values where these are others, unless they are what is being saved.
    """
    for field, message in values.conflicts():
        raise DomainError(translate(message), field=field)
    Candidate.objects.select_for_update().get(pk=candidate.pk)
    stored = CandidateAttributes.objects.filter(candidate=candidate).first()
    current = values_of(stored)
    if seen is not None and seen != digest_of(current) and values != current:
        raise StaleSave(current, _("These attributes were changed after you opened this page."))
    return _store(candidate, stored, values)


def _store(candidate: Candidate, stored: CandidateAttributes | None, values: AttributeValues) -> bool:
    if values == values_of(stored):
        return False
    CandidateAttributes.objects.update_or_create(
        candidate=candidate, defaults={name: getattr(values, name) for name in FIELDS}
    )
    return True


@transaction.atomic
def import_attributes(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Store the attributes of a table's candidates; `ImportRefused` names every fault, and nothing changes.

    A row names a candidate that exists. An attribute without a column keeps its value; an empty cell empties it.
    """
    faults = Faults()
    table = open_table(file, ATTRIBUTES, options)
    assert table is not None  # attributes are always a table
    faults.locate = table.place
    candidates = {
        each.name: each for each in Candidate.objects.filter(benchmark=benchmark).select_for_update(of=["self"])
    }
    stored = {each.candidate_id: each for each in CandidateAttributes.objects.filter(candidate__benchmark=benchmark)}
    counts = {"created": 0, "changed": 0, "unchanged": 0}
    for row in read_attribute_table(file, table, faults, progress=progress):
        candidate = candidates.get(row.candidate)
        if candidate is None:
            message = Phrase("There is no candidate “%(name)s”.", name=row.candidate[:80])
            faults.add(row.line, "candidate", message)
            continue
        own = stored.get(candidate.pk)
        values = replace(values_of(own), **row.values)
        conflicts = list(values.conflicts())
        for field, reason in conflicts:
            faults.add(row.line, field, reason)
        if not conflicts and not faults.total:
            changed = _store(candidate, own, values)
            counts["unchanged" if not changed else "changed" if own else "created"] += 1
    faults.refuse_if_any()
    return {"attributes": counts, "warnings": notes_of(table)}


def check_attribute_options(*, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None:
    """`DomainError` on an option that cannot be right, whatever the file is."""
    check_table_options(options)
