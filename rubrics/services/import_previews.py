"""Imports what a preview showed, or previews it again with other columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import JobStatus
from rubrics.imports.previews import PREVIEW, PREVIEWED
from rubrics.models import ImportJob
from rubrics.services.import_jobs import preview_again, repeat_import
from rubrics.tables.encodings import NAMES as ENCODINGS
from rubrics.tables.table import COLUMNS, DELIMITER, DELIMITER_NAMES, ENCODING


def preview_of(job: ImportJob) -> dict[str, Any] | None:
    """What a finished preview of cases, responses or rubrics shows; None of any other import."""
    previews = job.counts.get("previews", [])
    if job.kind not in PREVIEWED or PREVIEW not in job.options or job.status != JobStatus.DONE or not previews:
        return None
    shown: dict[str, Any] = previews[0]
    return shown


def is_other_reading(*, job: ImportJob, changes: Mapping[str, str]) -> bool:
    """Whether the table of a preview would be read in another way with ``changes`` of its options."""
    now = _reading_of(job)
    chosen, shown = (json.loads(reading.get(COLUMNS) or "{}") for reading in ({**now, **changes}, now))
    return chosen != shown or any(changes.get(name, now.get(name)) != now.get(name) for name in (ENCODING, DELIMITER))


def change_preview(*, job: ImportJob, changes: Mapping[str, str], by: User) -> ImportJob:
    """Preview a table again with other ``columns``, ``encoding`` or ``delimiter``."""
    _shown(job)
    if changes.get(ENCODING) and changes[ENCODING] not in ENCODINGS:
        raise DomainError(_("This encoding is not supported."))
    if changes.get(DELIMITER) and changes[DELIMITER] not in DELIMITER_NAMES:
        raise DomainError(_("This delimiter is not supported."))
    now = _reading_of(job)
    if any(changes.get(name, now.get(name)) != now.get(name) for name in (ENCODING, DELIMITER)):
        changes = {**changes, COLUMNS: ""}  # the table may have other columns then
    return preview_again(job=job, changes=changes, by=by)


def confirm_preview(*, job: ImportJob, by: User) -> ImportJob:
    """Import what a preview showed, by a further job on the same file; pressed twice, there is one."""
    if _shown(job)["n_faults"]:
        raise DomainError(_("The preview shows errors, so nothing can be imported. Fix the file first."))
    # What the columns hold in the preview, not what their headings would tell by then.
    return repeat_import(job=job, without=PREVIEW, by=by, changes=_reading_of(job))


def _shown(job: ImportJob) -> dict[str, Any]:
    shown = preview_of(job)
    if shown is None:
        raise DomainError(_("There is no preview to import."))
    return shown


def _reading_of(job: ImportJob) -> dict[str, str]:
    """The options by which a preview read its table; empty if its file is none."""
    table = _shown(job)["table"]
    if table is None:
        return {}
    columns = {column["heading"]: column["target"] for column in table["columns"] if column["target"]}
    reading = {COLUMNS: json.dumps(columns, ensure_ascii=False)}
    if not table["is_workbook"]:
        reading |= {ENCODING: table["encoding"], DELIMITER: table["delimiter"]}
    return reading
