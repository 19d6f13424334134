"""Says a change in words: its object with links, and the values before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import Application, Batch, ExpertGroup, LabelQuestion
from consilium.core.i18n import listed
from documents.models import Document
from operations.trail.kinds import FIELDS, TrailKind
from operations.trail.selectors import Change
from rubrics.models import Benchmark, Candidate, Case, CaseAudit, CodeBook, Criterion, Response
from scoring.models import JudgeRun, Screening
from validation.models import PairGroup, RubricSet

MAX_WORDS = 160
# How an object is named, and which page of the benchmark shows it; each reader of the trail may open those.
NAMES: dict[type[Any], tuple[Callable[[Any], str], str]] = {
    User: (str, ""),
    Benchmark: (lambda row: row.title, ""),
    Case: (lambda row: row.key, "rubrics:case"),
    Criterion: (lambda row: row.text, ""),
    Candidate: (lambda row: row.name, "rubrics:candidate"),
    Response: (lambda row: row.candidate.name, ""),
    ExpertGroup: (lambda row: row.name, "annotation:group"),
    Batch: (lambda row: row.title, "annotation:batch"),
    LabelQuestion: (lambda row: row.name, ""),
    Application: (lambda row: row.called, "annotation:cohort-application"),
    CaseAudit: (lambda row: row.title, "rubrics:audit"),
    CodeBook: (str, ""),
    Document: (lambda row: row.title, "documents:document"),
    JudgeRun: (lambda row: row.judge.name, "scoring:run"),
    Screening: (lambda row: row.title, "scoring:screening"),
    PairGroup: (lambda row: row.name, ""),
    RubricSet: (lambda row: row.name, "validation:rubric-set"),
}


@dataclass(frozen=True, slots=True)
class Named:
    """A part of an object's name; ``url`` is empty where no page shows it."""

    text: str
    url: str = ""


def object_parts(change: Change, slug: str = "") -> list[Named]:
    """What names the object of a change; with links into the benchmark ``slug``, if it is given."""
    named = []
    for path in change.kind.parts:
        row = change.event
        for step in path.split("__"):
            row = getattr(row, step, None)
        if row is None:
            continue
        words, view = NAMES[type(row)]
        url = reverse(view, args=[slug, row.public_id]) if view and slug else ""
        named.append(Named(cut(words(row)), url))
    return named


def changed_fields(change: Change) -> list[tuple[str, str, str]]:
    """The name of each field that changed, in words, with the value before and after."""
    return [(str(FIELDS[name]), value_in_words(old), value_in_words(new)) for name, old, new in change.fields]


def actor(change: Change) -> str:
    """Who made the change."""
    if change.user is not None:
        return str(change.user)
    return _("Someone who was not signed in") if change.is_signed_in else _("A command or a job in the background")


def kind_in_words(kind: TrailKind) -> str:
    """What kind of object it is."""
    return str(kind.label)


def value_in_words(value: Any) -> str:
    """A value as text for people; a dash where there is none."""
    if value is None or value == "" or value == []:
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, datetime):
        return date_format(timezone.localtime(value), "DATETIME_FORMAT")
    if isinstance(value, date):
        return date_format(value, "DATE_FORMAT")
    if isinstance(value, list):
        return cut(listed(str(item) for item in value))
    return cut(str(value))


def cut(text: str) -> str:
    """The beginning of a long text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_WORDS else f"{line[: MAX_WORDS - 1]}…"
