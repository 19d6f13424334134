"""Writes to scales of acuity, label schemes, framings and datasets.

Scales, schemes and framings never change; changes are new versions.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.limits import (
    MAX_DATASET_LENGTH,
    MAX_FRAMING_LENGTH,
    MAX_KEY_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_SCALE_NAME_LENGTH,
)
from rubrics.acuity.framings import PLACEHOLDER
from rubrics.acuity.scales import STARTERS, Scale
from rubrics.acuity.schemes import SCHEMES, NoScheme, Scheme, scheme_of
from rubrics.acuity.stored import scale_of
from rubrics.acuity.stored import scheme_of as stored_scheme
from rubrics.models import AcuityDataset, AcuityScale, Benchmark, Framing, LabelRule, LabelScheme, slug_characters

MAX_LEVEL_TEXT_LENGTH = 500


@transaction.atomic
def make_scale(*, benchmark: Benchmark, scale: Scale, by: User | None, at: datetime) -> AcuityScale:
    """The newest version of the scale if it has these levels, else a new version of it."""
    _refuse_name(scale.name)
    for level in scale.levels:
        if any(len(text) > MAX_LEVEL_TEXT_LENGTH for text in asdict(level).values()):
            raise DomainError(_("A text of a level can have at most %(n)s characters.") % {"n": MAX_LEVEL_TEXT_LENGTH})
        if len(level.value) > MAX_SCALE_NAME_LENGTH:
            raise DomainError(
                _("The value of a level can have at most %(n)s characters.") % {"n": MAX_SCALE_NAME_LENGTH}
            )
    _lock(benchmark)
    newest = AcuityScale.objects.filter(benchmark=benchmark, name=scale.name).order_by("-version").first()
    if newest is not None and scale_of(newest) == scale:
        return newest
    return AcuityScale.objects.create(
        benchmark=benchmark,
        name=scale.name,
        version=newest.version + 1 if newest else 1,
        levels=[asdict(level) for level in scale.levels],
        created_by=by,
        created_at=at,
    )


@transaction.atomic
def get_or_make_scale(*, benchmark: Benchmark, name: str, by: User | None, at: datetime) -> AcuityScale:
    """The newest version of the scale of that name; a starter scale is made if it is not there yet."""
    newest = AcuityScale.objects.filter(benchmark=benchmark, name=name).order_by("-version").first()
    if newest is not None:
        return newest
    if name not in STARTERS:
        known = sorted({*STARTERS, *AcuityScale.objects.filter(benchmark=benchmark).values_list("name", flat=True)})
        raise DomainError(
            _("There is no scale “%(name)s”. Available: %(names)s.") % {"name": name[:80], "names": ", ".join(known)},
            field="scale",
        )
    return make_scale(benchmark=benchmark, scale=STARTERS[name], by=by, at=at)


@transaction.atomic
def restore_scale(
    *, benchmark: Benchmark, scale: Scale, version: int, by: User | None, at: datetime
) -> tuple[AcuityScale, bool]:
    """The scale of that name and version from a release, and whether this call made it.

    `DomainError` where the benchmark has other levels under this name and version.
    """
    _refuse_name(scale.name)
    _lock(benchmark)
    row = AcuityScale.objects.filter(benchmark=benchmark, name=scale.name, version=version).first()
    if row is None:
        levels = [asdict(level) for level in scale.levels]
        row = AcuityScale(benchmark=benchmark, name=scale.name, version=version, levels=levels)
        row.created_by, row.created_at = by, at
        row.save()
        return row, True
    if scale_of(row) != scale:
        raise DomainError(_("The scale “%(scale)s” has different levels in this benchmark.") % {"scale": row})
    return row, False


@transaction.atomic
def restore_scheme(
    *, scale: AcuityScale, scheme: Scheme, version: int, by: User | None, at: datetime
) -> tuple[LabelScheme, bool]:
    """The scheme of that name and version on the scale from a release, as `restore_scale`."""
    _refuse_name(scheme.name)
    _lock(scale.benchmark)
    row = LabelScheme.objects.filter(scale=scale, name=scheme.name, version=version).first()
    if row is None:
        return _write_scheme(scale, scheme, version, by, at), True
    if stored_scheme(row).rules != scheme.rules:
        raise DomainError(_("The label scheme “%(scheme)s” has different rules in this benchmark.") % {"scheme": row})
    return row, False


@transaction.atomic
def make_scheme(*, scale: AcuityScale, scheme: Scheme, by: User | None, at: datetime) -> LabelScheme:
    """The newest version of the scheme on the scale if it has these rules, else a new version of it."""
    _refuse_name(scheme.name)
    for label in scheme.rules:
        if not 0 < len(label) <= MAX_KEY_LENGTH:
            raise DomainError(_("A source label must have 1 to %(n)s characters.") % {"n": MAX_KEY_LENGTH})
    _lock(scale.benchmark)
    newest = _newest_scheme(scale, scheme.name)
    if newest is not None and stored_scheme(newest).rules == scheme.rules:
        return newest
    return _write_scheme(scale, scheme, newest.version + 1 if newest else 1, by, at)


def _write_scheme(scale: AcuityScale, scheme: Scheme, version: int, by: User | None, at: datetime) -> LabelScheme:
    row = LabelScheme.objects.create(scale=scale, name=scheme.name, version=version, created_by=by, created_at=at)
    LabelRule.objects.bulk_create(
        LabelRule(scheme=row, source_label=label, how=mapped.how, low=mapped.low, high=mapped.high)
        for label, mapped in scheme.rules.items()
    )
    return row


@transaction.atomic
def get_or_make_scheme(*, scale: AcuityScale, name: str, by: User | None, at: datetime) -> LabelScheme:
    """The newest version of the scheme of that name on the scale; a starter is made if it is not there yet."""
    newest = _newest_scheme(scale, name)
    if newest is not None:
        return newest
    if name not in SCHEMES:
        known = sorted({*SCHEMES, *LabelScheme.objects.filter(scale=scale).values_list("name", flat=True)})
        raise DomainError(
            _("There is no label scheme “%(name)s”. Available: %(names)s.")
            % {"name": name[:80], "names": ", ".join(known)}
        )
    try:
        starter = scheme_of(name, scale_of(scale))
    except NoScheme:
        raise DomainError(
            _("The label scheme “%(name)s” has no rules for the scale “%(scale)s”.")
            % {"name": name, "scale": scale.name}
        ) from None
    return make_scheme(scale=scale, scheme=starter, by=by, at=at)


@transaction.atomic
def make_framing(*, benchmark: Benchmark, text: str, by: User | None, at: datetime) -> Framing:
    """The newest framing of the benchmark if it has this text, else a new version of it.

    Blanks at the ends are left out. `DomainError` unless ``{{case}}`` is in exactly one place, with words around it.
    """
    text = text.replace("\r\n", "\n").strip()
    check_framing(text)
    _lock(benchmark)
    newest = Framing.objects.filter(benchmark=benchmark).first()
    if newest is not None and newest.text == text:
        return newest
    version = newest.version + 1 if newest else 1
    return Framing.objects.create(benchmark=benchmark, version=version, text=text, created_by=by, created_at=at)


def check_framing(text: str) -> None:
    """`DomainError` where the text is no framing."""
    places = text.count(PLACEHOLDER)
    if places != 1:
        raise DomainError(
            ngettext(
                "A framing must contain %(place)s exactly once, spelled like this. This text contains it %(n)s time.",
                "A framing must contain %(place)s exactly once, spelled like this. This text contains it %(n)s times.",
                places,
            )
            % {"place": PLACEHOLDER, "n": places}
        )
    if text.strip() == PLACEHOLDER:
        raise DomainError(
            _("A framing must have words besides %(place)s; otherwise, the case is sent unchanged.")
            % {"place": PLACEHOLDER}
        )
    if len(text) > MAX_FRAMING_LENGTH:
        raise DomainError(_("A framing can have at most %(n)s characters.") % {"n": MAX_FRAMING_LENGTH})


@transaction.atomic
def set_dataset_licence(
    *, benchmark: Benchmark, name: str, licence: str, may_redistribute: bool | None, by: User | None, at: datetime
) -> AcuityDataset:
    """Name the licence of a dataset, and whether releases may hold its texts; None and an empty text change nothing.

    Another licence than before may not be passed on until somebody says that it may. `DomainError` where texts may be
    passed on and no licence says so.
    """
    _refuse_name(name, MAX_DATASET_LENGTH)
    licence = licence.strip()
    if len(licence) > MAX_LICENCE_LENGTH:
        raise DomainError(
            _("A licence must be an SPDX identifier, such as CC-BY-4.0, or a text of at most 200 characters.")
        )
    _lock(benchmark)
    row = AcuityDataset.objects.filter(benchmark=benchmark, name=name).first()
    before = (row.licence, row.may_redistribute) if row else ("", False)
    row = row or AcuityDataset(benchmark=benchmark, name=name)
    if may_redistribute is None:
        may_redistribute = before[1] and licence in ("", before[0])
    row.licence, row.may_redistribute = licence or before[0], may_redistribute
    if row.may_redistribute and not row.licence:
        raise DomainError(_("Enter the licence of the dataset that allows its texts to be redistributed."))
    if row.pk is None or (row.licence, row.may_redistribute) != before:
        row.changed_by, row.changed_at = by, at
        row.save()
    return row


def _newest_scheme(scale: AcuityScale, name: str) -> LabelScheme | None:
    return LabelScheme.objects.filter(scale=scale, name=name).order_by("-version").first()


def _refuse_name(name: str, most: int = MAX_SCALE_NAME_LENGTH) -> None:
    try:
        slug_characters(name)
    except ValidationError as error:
        raise DomainError(error.messages[0]) from error
    if len(name) > most:
        raise DomainError(_("A name can have at most %(n)s characters.") % {"n": most})


def _lock(benchmark: Benchmark) -> None:
    """Let one transaction at a time number the scales, schemes and framings of a benchmark."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
