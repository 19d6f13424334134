"""Titles of batches: annotators see them, so they name no candidate."""

from __future__ import annotations

import re

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Batch
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_TITLE_LENGTH
from rubrics.models import Benchmark, Candidate

MIN_NAME_LENGTH = 2  # a single letter names no candidate


class TitleRefused(DomainError):
    """The title of a batch cannot be used; pages show it beside the field."""


def sound_title(title: str, *, benchmark: Benchmark) -> str:
    """The title without blanks around it. `TitleRefused` if it is empty, too long, or names a candidate.

    Annotators do not know which candidate wrote a response. Candidates that stand for physicians may be named.
    """
    title = title.strip()
    if not title:
        raise TitleRefused(_("A batch needs a title."))
    if len(title) > MAX_TITLE_LENGTH:
        raise TitleRefused(_("A title has at most %(most)d characters.") % {"most": MAX_TITLE_LENGTH})
    named = candidate_in(title, benchmark=benchmark)
    if named:
        raise TitleRefused(_("Annotators see the title. It names the candidate “%(name)s”.") % {"name": named})
    return title


def candidate_in(title: str, *, benchmark: Benchmark) -> str:
    """The longest name of a candidate that the title contains as words, however it is capitalised; else empty."""
    rows = Candidate.objects.filter(benchmark=benchmark).exclude(kind=Candidate.Kind.PHYSICIAN)
    names = sorted(rows.values_list("name", flat=True), key=lambda name: (-len(name), name))
    return next((name for name in names if len(name) >= MIN_NAME_LENGTH and _occurs(name, title)), "")


def _occurs(name: str, title: str) -> bool:
    # Only letters and digits of Latin script part words: Chinese has no blanks between them.
    pattern = rf"(?<![0-9a-z]){re.escape(name.casefold())}(?![0-9a-z])"
    return re.search(pattern, title.casefold()) is not None


@transaction.atomic
def rename_batch(*, batch: Batch, title: str) -> None:
    """Give the batch another title, also when it is closed; the audit trail keeps the one before."""
    batch.title = sound_title(title, benchmark=batch.group.benchmark)
    batch.save(update_fields=["title"])
