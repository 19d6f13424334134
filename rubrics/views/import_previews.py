"""What the page of a preview shows and asks for, and the view of example files."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access
from rubrics.imports import find
from rubrics.imports.examples import examples_of
from rubrics.imports.previews import PREVIEWED
from rubrics.models import ImportJob
from rubrics.services import import_previews as services
from rubrics.tables.columns import AXIS
from rubrics.tables.encodings import NAMES as ENCODINGS
from rubrics.tables.mapping import ANSWERS, KEPT, KEPT_WITH_CRITERION, LEFT_OUT

TARGETS = {
    "case": _("Case (short name)"),
    "context": _("Clinical context"),
    "prompt": _("User’s question"),
    "conversation": _("Conversation with turns"),
    "difficulty": _("Difficulty"),
    "language": _("Language"),
    "case_tags": _("Tags of the case"),
    "user_role": _("User’s role"),
    "reference_answer": _("Reference answer"),
    "ideal_completion": _("Physician’s response"),
    "position": _("Position"),
    "criterion": _("Criterion"),
    "points": _("Points"),
    "tags": _("Tags of the criterion"),
    AXIS: _("Axis"),
    "source": _("Source"),
    "element": _("Element of the case"),
    "expectation": _("What it checks"),
    "bank": _("Item in a bank"),
    "citations": _("Citations"),
    "candidate": _("Candidate"),
    "sample": _("Sample"),
    "response": _("Response"),
    "setting": _("Setting"),
    "external_id": _("External ID"),
    "writing_mode": _("Writing mode"),
    "references": _("References shown to the writer"),
    "family": _("Family"),
    "developer": _("Developer"),
    "base_model": _("Base model"),
    "effort": _("Effort"),
    "release_date": _("Release date"),
    "size_total": _("Total size"),
    "size_active": _("Active size"),
    "open_weights": _("Open weights"),
    "price_in": _("Input price"),
    "price_out": _("Output price"),
    "currency": _("Currency"),
    "price_date": _("Date of the prices"),
    ANSWERS: _("Responses of the candidate named in the heading"),
    KEPT: _("Keep only as additional information"),
    KEPT_WITH_CRITERION: _("Keep only with the criterion"),
    LEFT_OUT: _("Do not import"),
}
DELIMITERS = {
    "": _("Detect from the first line"),
    "comma": _("Commas"),
    "semicolon": _("Semicolons"),
    "tab": _("Tabs"),
    "bar": _("Vertical bars"),
}


def preview_context(job: ImportJob) -> dict[str, Any]:
    """What the page of a preview needs beside that of an import; nothing for other imports."""
    shown = services.preview_of(job)
    if shown is None:
        return {}
    kind, _rows = PREVIEWED[job.kind]
    table = shown["table"]
    missing = [" / ".join(str(TARGETS[name]) for name in names) for names in table["missing"]] if table else []
    return {
        "file_preview": shown,
        "targets": [(name, TARGETS[name]) for name in kind.targets],
        "missing": missing,
        "encodings": ENCODINGS.items(),
        "delimiters": DELIMITERS.items(),
    }


def posted_changes(request: SignedInRequest, job: ImportJob) -> dict[str, str]:
    """The options that the form of a preview asks for, of a table alone."""
    shown = services.preview_of(job)
    table = shown["table"] if shown else None
    if table is None:
        return {}
    columns = {
        column["heading"]: request.POST.get(f"column-{place}", column["target"])
        for place, column in enumerate(table["columns"])
    }
    chosen = {heading: target for heading, target in columns.items() if target}
    changes = {"columns": json.dumps(chosen, ensure_ascii=False)}
    for name in ("encoding", "delimiter"):
        if name in request.POST and not table["is_workbook"]:
            changes[name] = request.POST[name]
    return changes


@require_safe
@signed_in
def import_example(request: SignedInRequest, slug: str, kind: str, name: str) -> HttpResponse:
    """An example file of a kind of imports."""
    access.get_benchmark(request.user, slug)
    try:
        examples = examples_of(find(kind))
    except KeyError:
        raise Http404 from None
    for example in examples:
        if example.name == name:
            response = HttpResponse(example.content(get_language() or "en"), content_type="application/octet-stream")
            response["Content-Disposition"] = f'attachment; filename="{name}"'
            return response
    raise Http404
