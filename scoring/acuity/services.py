"""Writes of the pages about acuity: scales and schemes of people, and imports that were previewed."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import JobStatus
from rubrics.acuity import services
from rubrics.acuity.scales import STARTERS, Scale
from rubrics.acuity.schemes import SCHEMES, Scheme
from rubrics.models import AcuityScale, Benchmark, ImportJob, LabelScheme
from rubrics.services import repeat_import
from scoring.acuity import selectors

PREVIEW = "preview"


def take_scale(*, benchmark: Benchmark, name: str, by: User, at: datetime) -> AcuityScale:
    """A starter scale as it is, unless the benchmark has it already."""
    return services.get_or_make_scale(benchmark=benchmark, name=name, by=by, at=at)


@transaction.atomic
def save_scale(*, benchmark: Benchmark, scale: Scale, by: User, at: datetime) -> AcuityScale:
    """A scale that somebody wrote; one with the name of a starter is a further version of that starter."""
    if scale.name in STARTERS:
        services.get_or_make_scale(benchmark=benchmark, name=scale.name, by=by, at=at)
    return services.make_scale(benchmark=benchmark, scale=scale, by=by, at=at)


@transaction.atomic
def save_scheme(*, benchmark: Benchmark, scheme: Scheme, by: User, at: datetime) -> LabelScheme:
    """A scheme that somebody wrote, on the newest version of its scale; as `save_scale` where a starter has its name.

    `DomainError` where the scale has other levels by now.
    """
    if not scheme.rules:
        raise DomainError(_("A scheme needs at least one rule."))
    scale = services.get_or_make_scale(benchmark=benchmark, name=scheme.scale.name, by=by, at=at)
    if selectors.scale_called(benchmark, scale.name) != scheme.scale:
        raise DomainError(_("The scale has a new version. Review the rules again."))
    if scheme.name in SCHEMES and selectors.scheme_called(benchmark, scale.name, scheme.name) is not None:
        services.get_or_make_scheme(scale=scale, name=scheme.name, by=by, at=at)
    return services.make_scheme(scale=scale, scheme=scheme, by=by, at=at)


@transaction.atomic
def confirm_preview(*, job: ImportJob, by: User) -> ImportJob:
    """Import what a preview showed, by a further job on the same file; pressed twice, there is one.

    `DomainError` where the preview shows a fault, and where scale or scheme have a newer version than it shows.
    """
    previews = job.counts.get("previews", [])
    if job.kind != ImportJob.Kind.ACUITY or PREVIEW not in job.options or job.status != JobStatus.DONE or not previews:
        raise DomainError(_("There is no preview to import."))
    preview = previews[0]
    if preview["n_faults"] or preview["flow"]["without_rule"]:
        raise DomainError(_("The preview shows errors, so nothing can be imported. Fix the file first."))
    names = _names_now(job.benchmark, preview)
    if names != (preview["scale"], preview["scheme"]):
        raise DomainError(_("The scale or the scheme has a new version since this preview. Create a new preview."))
    # The scheme that the preview shows, not the one that fits by then.
    scale, scheme = (name.split(" ")[0] for name in names)
    return repeat_import(job=job, without=PREVIEW, by=by, changes={"scale": scale, "scheme": scheme})


def _names_now(benchmark: Benchmark, preview: dict[str, str]) -> tuple[str, str]:
    """Names and versions of the scale and scheme that an import would use now, as a preview names them."""
    scale_name, scheme_name = (preview[name].split(" ")[0] for name in ("scale", "scheme"))
    scale = selectors.newest_scale(benchmark, scale_name)
    if scale is None:
        return scale_name, scheme_name
    scheme = selectors.newest_scheme(scale, scheme_name)
    return str(scale), scheme_name if scheme is None else str(scheme)
