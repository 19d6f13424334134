"""The words for states and outcomes that people see, for the choices of models and for the pages.

The keys are the values that the database stores. A model whose state needs another word gives its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy, pgettext_lazy

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

STATUS_LABELS: dict[str, _StrPromise] = {
    "not_started": gettext_lazy("Not started"),
    "draft": gettext_lazy("Draft"),
    "submitted": gettext_lazy("Submitted"),
    "in_check": gettext_lazy("In check"),
    "in_review": gettext_lazy("In review"),
    "returned": gettext_lazy("Returned"),
    "accepted": gettext_lazy("Accepted"),
    "released": gettext_lazy("Released"),
    "published": gettext_lazy("Published"),
    "superseded": gettext_lazy("Superseded"),
    "open": pgettext_lazy("status", "Open"),
    "paused": gettext_lazy("Paused"),
    "closed": gettext_lazy("Closed"),
    "pending": gettext_lazy("Waiting"),
    "running": gettext_lazy("Running"),
    "done": gettext_lazy("Done"),
    "refused": gettext_lazy("Refused"),
    "failed": gettext_lazy("Failed"),
    "cancelled": gettext_lazy("Cancelled"),
    "incomplete": gettext_lazy("Incomplete"),
    "finished": gettext_lazy("Finished"),
    "conflict": gettext_lazy("Conflict"),
    "adjudicated": gettext_lazy("Adjudicated"),
}
OUTCOME_LABELS: dict[str, _StrPromise] = {
    "met": gettext_lazy("Met"),
    "not_met": gettext_lazy("Not met"),
    "cannot_assess": gettext_lazy("Can’t assess"),
    "invalid": gettext_lazy("Invalid"),
    "faulty": gettext_lazy("Criterion faulty"),
}
