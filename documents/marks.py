"""What a reader must know of a document before relying on it."""

from __future__ import annotations

from datetime import date

from django.db import models
from django.utils.translation import gettext_lazy as _

from documents.models import Document


class Mark(models.TextChoices):
    """A reason for care, as it is shown beside every passage of the document."""

    SUPERSEDED = "superseded", _("Superseded")
    RETIRED = "retired", _("Retired")
    OVERDUE = "overdue", _("Past its review date")
    NOT_SENT = "not_sent", _("Not sent to models")


def marks_of(document: Document, today: date) -> list[Mark]:
    """The marks of a document that was read with its ``superseded_by``."""
    applies = {
        Mark.SUPERSEDED: hasattr(document, "superseded_by"),
        Mark.RETIRED: document.retired_at is not None,
        Mark.OVERDUE: document.is_overdue(today),
        Mark.NOT_SENT: not document.may_send,
    }
    return [mark for mark, is_so in applies.items() if is_so]
