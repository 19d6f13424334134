"""Writes to code books: the newest version changes until it is used; then a change is the next version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_REASON_LENGTH
from consilium.core.phrases import Phrase
from rubrics.codes.code import Code, carried_over
from rubrics.codes.reading import codes_of_records, read_codes
from rubrics.codes.starter import starter
from rubrics.models import Benchmark, CodeBook
from rubrics.parsing.faults import Faults


def newest_book(benchmark: Benchmark) -> CodeBook | None:
    """The newest version of the benchmark's code book."""
    return CodeBook.objects.filter(benchmark=benchmark).order_by("-version").first()


@transaction.atomic
def save_codes(
    *,
    benchmark: Benchmark,
    codes: Sequence[Code],
    by: User | None,
    at: datetime,
    note: str = "",
    seen: str | None = None,
    lines: Sequence[int] = (),
) -> CodeBook:
    """Make ``codes`` the newest version: the present one if it was never used, else the next.

    A code continues the code of the version before that has its key, unless it says what it was. ``seen`` is the
    digest of the newest version that the sender saw (empty: none); `Conflict` if that is no longer the newest.
    `ImportRefused` names each fault by its line: that of the code in ``lines``, else its place.
    """
    faults = Faults()
    lines = lines or range(1, len(codes) + 1)
    # What comes from a form or the API is held to the rules of files.
    records = [(line, code.stored()) for line, code in zip(lines, codes, strict=True)]
    checked = codes_of_records(
        ((line, {name: value for name, value in record.items() if value != ""}) for line, record in records), faults
    )
    faults.refuse_if_any()
    if len(note) > MAX_REASON_LENGTH:
        raise DomainError(_("A note has at most %(most)d characters.") % {"most": MAX_REASON_LENGTH}, field="note")
    # Two first versions wait for each other here; a used version is locked by the update itself.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    newest = CodeBook.objects.select_for_update(no_key=True).filter(benchmark=benchmark).order_by("-version").first()
    if seen is not None and seen != (newest.digest if newest else ""):
        raise Conflict(_("The code book was changed in the meantime. Nothing was saved; reload the page."))
    version = (newest.version + (newest.used_at is not None)) if newest else 1
    before = CodeBook.objects.filter(benchmark=benchmark, version=version - 1).first()
    stored = [code.stored() for code in _continued(checked, before, lines)]
    if newest is not None and stored == newest.codes:
        return _with_note(newest, note)
    if newest is not None and newest.used_at is None:
        newest.codes, newest.note, newest.changed_at = stored, note or newest.note, at
        newest.save(update_fields=["codes", "note", "changed_at"])
        return newest
    if newest is not None and [_without_was(code) for code in checked] == [_without_was(own) for own in newest.entries]:
        return _with_note(newest, note)  # nothing but what the codes were would differ
    return CodeBook.objects.create(
        benchmark=benchmark, version=version, codes=stored, note=note, created_by=by, created_at=at, changed_at=at
    )


def _with_note(book: CodeBook, note: str) -> CodeBook:
    """The version as it is, with the note that came with the same codes, if any."""
    if note and note != book.note:
        book.note = note
        book.save(update_fields=["note"])
    return book


def _without_was(code: Code) -> Code:
    return replace(code, was=())


def _continued(codes: Sequence[Code], before: CodeBook | None, lines: Sequence[int]) -> list[Code]:
    """The codes, each with what it was; `ImportRefused` where it names a code that the version before lacks."""
    known = {code["key"] for code in before.codes} if before else set()
    faults = Faults()
    whole = []
    for line, code in zip(lines, codes, strict=True):
        was = tuple(key for key in code.was if before is not None)
        for key in was:
            if key not in known:
                message = Phrase("The version before has no code “%(key)s”.", key=key)
                faults.add(line, "was", message)
        if not was and code.key in known:
            was = (code.key,)
        whole.append(replace(code, was=was))
    faults.refuse_if_any()
    return whole


@transaction.atomic
def adopt_starter(*, benchmark: Benchmark, by: User | None, at: datetime) -> CodeBook:
    """Make the starter the first version; `Conflict` where the benchmark has a code book."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if CodeBook.objects.filter(benchmark=benchmark).exists():
        raise Conflict(_("This benchmark has a code book already."))
    return save_codes(benchmark=benchmark, codes=starter(), by=by, at=at)


def import_codes(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    by: User | None,
    at: datetime,
    note: str = "",
    seen: str | None = None,
) -> CodeBook:
    """Make the codes of a file the newest version; `ImportRefused` names every fault by line and field."""
    faults = Faults()
    codes, lines = read_codes(file, faults)
    faults.refuse_if_any()
    return save_codes(benchmark=benchmark, codes=codes, by=by, at=at, note=note, seen=seen, lines=lines)


def carried(book: CodeBook) -> list[Code]:
    """The codes as a change of the book begins with them: of a used one, each continues itself in the next version."""
    return book.entries if book.used_at is None else carried_over(book.entries)


def with_code(codes: Sequence[Code], code: Code, *, instead_of: str = "") -> list[Code]:
    """The codes with one more, or with it in the place of the one with the key ``instead_of``.

    Groups stay in one piece: a code that comes to a group follows its last code, and one that leaves a group for one
    without codes, or for none, follows the last code of the group that it leaves.
    """
    present = next((own for own in codes if own.key == instead_of), None)
    if present is not None and present.group_en == code.group_en:
        return [code if own is present else own for own in codes]
    others = [own for own in codes if own is not present]
    after = _last_of_group(others, code.group_en)
    if after is None and present is not None:
        after = _last_of_group(others, present.group_en)
        after = codes.index(present) - 1 if after is None else after
    others.insert(len(others) if after is None else after + 1, code)
    return others


def _last_of_group(codes: Sequence[Code], group: str) -> int | None:
    """The place of the last code of a group; None where it has none, or where codes are in no group."""
    places = [place for place, own in enumerate(codes) if group and own.group_en == group]
    return places[-1] if places else None


def without_code(codes: Sequence[Code], key: str) -> list[Code]:
    """The codes without that of the key."""
    return [own for own in codes if own.key != key]
