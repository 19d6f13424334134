"""The page of backups: what was made and tested, and a button that makes one. Files never leave through the web."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest
from consilium.core.jobs import OPEN
from operations.access import operators_only
from operations.models import Backup
from operations.services import backups as backup_services
from rubrics.views.benchmarks import csv_response

PER_PAGE = 50
COLUMNS = (
    *("started_at", "finished_at", "state", "source", "by", "file", "size", "sha256"),
    *("tested_at", "test_ok", "deleted_at", "message"),
)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@operators_only
def backups(request: SignedInRequest) -> HttpResponse:
    """The backups, the newest first; POST asks for one."""
    error, status = "", 200
    if request.method == "POST":
        try:
            backup_services.request_backup(by=request.user, at=timezone.now())
        except DomainError as refused:
            error, status = str(refused), refused.status_code
        else:
            messages.success(request, _("A worker makes the backup."))
            return redirect("operations:backups")
    rows = Backup.objects.select_related("created_by")
    level, message = backup_services.state(timezone.now())
    context: dict[str, Any] = {
        "page_obj": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "level": level,
        "message": message,
        "error": error,
        "is_open": rows.filter(status__in=OPEN).exists(),
        "folder": settings.BACKUP_DIR,
        "hour": f"{settings.BACKUP_HOUR:02d}:00",
        "days": settings.BACKUP_KEEP_DAYS,
        "weeks": settings.BACKUP_KEEP_WEEKS,
        "test_days": settings.BACKUP_TEST_DAYS,
    }
    return render(request, "operations/backups.html", context, status=status)


@require_safe
@operators_only
def backups_csv(_request: SignedInRequest) -> StreamingHttpResponse:
    """All rows as CSV."""
    pieces = stream_csv(COLUMNS, _rows(), text_columns=("by", "file", "message"))
    return csv_response("backups.csv", pieces)


def _rows() -> Iterator[dict[str, Any]]:
    for row in Backup.objects.select_related("created_by").iterator():
        yield {
            "started_at": _moment(row.started_at),
            "finished_at": _moment(row.finished_at),
            "state": row.status,
            "source": row.source,
            "by": str(row.created_by or ""),
            "file": row.file,
            "size": row.size or None,
            "sha256": row.sha256,
            "tested_at": _moment(row.tested_at),
            "test_ok": row.test_ok,
            "deleted_at": _moment(row.deleted_at),
            "message": row.error or row.test_error,
        }


def _moment(at: datetime | None) -> str:
    return at.isoformat(timespec="seconds") if at else ""
