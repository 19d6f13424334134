"""Writes to imported banks: imported whole or not at all, retired and restored, never changed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress
from consilium.core.phrases import Phrase
from rubrics.bank.catalogue import entry_of
from rubrics.bank.clusters import cluster_tag, missing_from
from rubrics.bank.consensus import NAME
from rubrics.editor.draft_content import MAX_ITEMS, DraftItem, items_of
from rubrics.imports.registry import Counts
from rubrics.models import Bank, BankItem, Benchmark, Case, RubricDraft
from rubrics.parsing.bank import BankEntry, in_language, read_bank
from rubrics.parsing.faults import Faults
from rubrics.selectors.consensus_criteria import CONSENSUS_BANK, CONSENSUS_TAG
from rubrics.services.drafts import open_draft, save_draft

# One request opens and saves at most this many drafts; the page continues with the rest.
MAX_AT_ONCE = 200


@transaction.atomic
def import_bank(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import a bank, or add to one. `ImportRefused` names every fault and then nothing is written.

    Option ``bank`` is its short name; ``title`` and ``licence`` describe a new bank. An item that exists already with
    another content is a fault, because criteria that were taken from it name it as their source.
    """
    slug = options.get("bank", "").strip()
    if slug == NAME:
        message = _("“%(name)s” is the name of the bank that comes with Consilium.") % {"name": NAME}
        raise DomainError(message, field="bank")
    bank = Bank.objects.select_for_update(no_key=True).filter(benchmark=benchmark, slug=slug).first()
    is_new = bank is None
    if bank is None:
        title = options.get("title", "").strip() or slug
        licence = options.get("licence", "").strip()
        bank = Bank(benchmark=benchmark, slug=slug, title=title, licence=licence, created_by=by, created_at=at)
        try:
            bank.full_clean(exclude=["benchmark", "created_by"])
        except ValidationError as error:
            field = "licence" if set(error.message_dict) == {"licence"} else "bank"
            raise DomainError(" ".join(error.messages), field=field) from error
        bank.save()
    elif not bank.active:
        message = _("This bank is out of use. Restore it first, or choose another short name.")
        raise DomainError(message, field="bank")
    faults = Faults()
    stored = {item.key: item for item in bank.items.all()}
    last = bank.items.aggregate(last=Max("position"))["last"] or 0
    new: list[BankItem] = []
    unchanged = 0
    for line, entry in read_bank(file, faults, progress=progress):
        known = stored.get(entry.key)
        if known is None:
            new.append(_row(bank, entry, last + len(new) + 1))
        elif changed := _first_difference(known, entry):
            message = Phrase(
                "“%(key)s” is already in this bank with different content. Give it a new key.", key=entry.key
            )
            faults.add(line, changed, message)
        else:
            unchanged += 1
    faults.refuse_if_any()
    BankItem.objects.bulk_create(new, batch_size=500)
    return {
        "banks": {"created": int(is_new), "unchanged": int(not is_new)},
        "bank items": {"created": len(new), "unchanged": unchanged},
    }


def _row(bank: Bank, entry: BankEntry, position: int) -> BankItem:
    return BankItem(
        bank=bank,
        key=entry.key,
        section=entry.section,
        text=dict(entry.text),
        guidance=dict(entry.guidance),
        dimension=in_language(entry.dimension, ""),
        points=entry.points,
        tags=list(entry.tags),
        applies_to=list(entry.applies_to),
        position=position,
    )


def _first_difference(item: BankItem, entry: BankEntry) -> str:
    stands = entry_of(item, entry.bank)
    names = ("text", "points", "section", "guidance", "dimension", "tags", "applies_to")
    return next((name for name in names if getattr(stands, name) != getattr(entry, name)), "")


@transaction.atomic
def set_bank_in_use(*, bank: Bank, active: bool) -> None:
    """Take a bank out of use or back. Criteria that were taken from it stay as they are."""
    Bank.objects.filter(pk=bank.pk).update(active=active)


@dataclass(slots=True)
class Added:
    """What became of cases to which cluster criteria were to be added."""

    cases: int = 0
    items: int = 0
    complete: int = 0  # had them all already
    left_out: list[tuple[Case, str]] = field(default_factory=list)  # with the reason


def add_clusters(*, cases: Sequence[Case], entries: Sequence[BankEntry], by: User, at: datetime) -> Added:
    """Open a draft for each case and add the cluster criteria that apply to it and are not there.

    A repetition changes nothing. A case that cannot be written to is left out with the reason; each case is handled
    separately, so that one that fails does not stop the others. At most `MAX_AT_ONCE` cases.
    """
    if len(cases) > MAX_AT_ONCE:
        raise DomainError(_("Choose at most %(n)d cases at once.") % {"n": MAX_AT_ONCE})
    added = Added()
    for case in cases:
        try:
            with transaction.atomic():
                number = _add_to(case, entries, by, at)
        except DomainError as refused:
            added.left_out.append((case, str(refused)))
            continue
        if number:
            added.cases += 1
            added.items += number
        else:
            added.complete += 1
    return added


def _add_to(case: Case, entries: Sequence[BankEntry], by: User, at: datetime) -> int:
    """The number of criteria that were added to the draft of a case."""
    if not missing_from(case, entries):
        return 0  # without opening a draft
    rubric = open_draft(case=case, by=by, at=at)
    draft = RubricDraft.objects.get(rubric=rubric)
    stored = items_of(draft.content)
    missing = missing_from(case, entries, stored)
    if not missing:
        return 0
    if len(stored) + len(missing) > MAX_ITEMS:
        raise DomainError(_("A rubric can have at most %(n)d criteria.") % {"n": MAX_ITEMS})
    items = [*stored, *(item_from(entry, case.language) for entry in missing)]
    save_draft(rubric=rubric, items=items, version=draft.version, client_id=None, by=by, at=at)
    return len(missing)


def item_from(entry: BankEntry, language: str) -> DraftItem:
    """A bank item as a criterion of a draft, in the language of the case; a cluster criterion gets its tag."""
    # As in HealthBench's files, a criterion that physicians agreed on beforehand has the level ``cluster``.
    validated = entry.applies_to or entry.name.startswith(CONSENSUS_BANK)
    level = [CONSENSUS_TAG] if validated and not any(tag.startswith("level:") for tag in entry.tags) else []
    tags = [*entry.tags, *level, *([cluster_tag(entry)] if entry.applies_to else [])]
    return DraftItem(
        id=f"b{uuid.uuid4().hex[:16]}",
        text=in_language(entry.text, language),
        points=entry.points,
        tags=tuple(dict.fromkeys(tags)),
        bank=entry.name,
    )
