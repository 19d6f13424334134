"""Texts of notifications: built from stored facts when they are read, in the reader's language."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import Notification

Kind = Notification.Kind

PARTS = {
    "annotator": gettext_lazy("annotator"),
    "checker": gettext_lazy("secondary checker"),
    "adjudicator": gettext_lazy("adjudicator"),
    "admin": gettext_lazy("admin"),
    "researcher": gettext_lazy("researcher"),
    "author": gettext_lazy("author"),
    "auditor": gettext_lazy("senior auditor"),
}
VOICES = {
    "annotator": gettext_lazy("A new comment by the annotator of a response"),
    "checker": gettext_lazy("A new comment by the checker of a response"),
    "admin": gettext_lazy("A new comment by an admin on a response"),
}
# How the page of notification settings describes each kind.
ABOUT = {
    Kind.NEW_WORK: gettext_lazy("Responses or cases were given to you, or a pool you may take from was opened."),
    Kind.RETURNED: gettext_lazy("A checker sent a response back to you with a note."),
    Kind.DUE: gettext_lazy("Three days and one day before work of yours is due, and once when it is overdue."),
    Kind.COMMENT: gettext_lazy("Somebody wrote about a response that you grade, check or run."),
    Kind.HELD_BACK: gettext_lazy("You, or a physician of a benchmark that you run, gets no new work for now."),
    Kind.INVITATION: gettext_lazy("You were added to a benchmark or to an expert group."),
    Kind.RUBRIC: gettext_lazy(
        "A rubric waits for your review, one of yours came back or was published, or there are suggestions for it."
    ),
}


@dataclass(frozen=True, slots=True)
class Words:
    """One sentence, and perhaps a second. ``detail`` stays out of mails: it may hold what people wrote."""

    text: str
    detail: str = ""


def words_of(notification: Notification, *, in_mail: bool = False) -> Words:
    """The text of ``notification`` in the active language. Mails name no physician, not even by pseudonym."""
    values: dict[str, Any] = notification.values
    batch = {"batch": values.get("batch", "")}
    match notification.kind:
        case Kind.NEW_WORK:
            return _new_work(values)
        case Kind.RETURNED:
            return Words(
                _("A response came back to you from its check in “%(batch)s”.") % batch,
                _("The checker’s note stands above its criteria."),
            )
        case Kind.DUE:
            return _due(values)
        case Kind.COMMENT:
            who = VOICES.get(values.get("voice", ""), VOICES["admin"])
            return Words(_("%(who)s in “%(batch)s”.") % {"who": who, **batch})
        case Kind.HELD_BACK:
            return _held_back(values, in_mail=in_mail)
        case Kind.RUBRIC:
            return _rubric(values)
        case _:
            part = PARTS.get(values.get("part", ""), values.get("part", ""))
            return Words(_("You were added as %(part)s.") % {"part": part})


def _new_work(values: dict[str, Any]) -> Words:
    count, batch = int(values.get("count", 0)), values.get("batch", "")
    if not count:
        return Words(_("“%(batch)s” is open: you may take responses from its pool.") % {"batch": batch})
    if values.get("what") == "rulings":
        text = ngettext(
            "%(count)d ambiguous case waits for a ruling.", "%(count)d ambiguous cases wait for a ruling.", count
        )
        return Words(text % {"count": count})
    if values.get("what") == "cases":
        return Words(
            ngettext(
                "%(count)d case to answer questions about was given to you in “%(batch)s”.",
                "%(count)d cases to answer questions about were given to you in “%(batch)s”.",
                count,
            )
            % {"count": count, "batch": batch}
        )
    if values.get("what") == "writing":
        return Words(
            ngettext(
                "%(count)d case to write a response to was given to you in “%(batch)s”.",
                "%(count)d cases to write responses to were given to you in “%(batch)s”.",
                count,
            )
            % {"count": count, "batch": batch}
        )
    return Words(
        ngettext(
            "%(count)d response to grade was given to you in “%(batch)s”.",
            "%(count)d responses to grade were given to you in “%(batch)s”.",
            count,
        )
        % {"count": count, "batch": batch}
    )


def _due(values: dict[str, Any]) -> Words:
    count, checks = int(values.get("count", 0)), values.get("part") == "checker"
    day = date_format(date.fromisoformat(values["due"]), "DATE_FORMAT")
    facts = {"batch": values.get("batch", ""), "day": day, "count": count}
    if values.get("stage") == "overdue":
        text = _("“%(batch)s” was due on %(day)s.") % facts
    else:
        text = _("“%(batch)s” is due on %(day)s.") % facts
    if checks:
        rest = ngettext("You hold %(count)d check.", "You hold %(count)d checks.", count)
    elif values.get("what") in ("cases", "writing"):
        rest = ngettext("You have %(count)d case open.", "You have %(count)d cases open.", count)
    else:
        rest = ngettext("You have %(count)d response open.", "You have %(count)d responses open.", count)
    return Words(f"{text} {rest % facts}")


def _rubric(values: dict[str, Any]) -> Words:
    count = int(values.get("count", 1))
    if values.get("what") == "waiting":
        return Words(
            ngettext("%(count)d rubric waits for your review.", "%(count)d rubrics wait for your review.", count)
            % {"count": count}
        )
    if values.get("what") == "suggested":
        return _suggested(values, count)
    if values.get("what") == "returned":
        text = _("The rubric of the case %(case)s came back to you from its review.")
        return Words(text % {"case": values.get("case", "")}, _("The reason stands above its criteria."))
    if count > 1:
        return Words(_("%(count)d rubrics that you wrote were published.") % {"count": count})
    text = _("Version %(version)d of the rubric of the case %(case)s was published.")
    return Words(text % {"version": int(values.get("version", 1)), "case": values.get("case", "")})


def _suggested(values: dict[str, Any], count: int) -> Words:
    cases = int(values.get("cases", 1))
    if cases > 1:
        text = ngettext(
            "Suggestions for the rubric of %(cases)d case wait for your decision.",
            "Suggestions for the rubrics of %(cases)d cases wait for your decision.",
            cases,
        )
        return Words(text % {"cases": cases})
    facts = {"count": count, "case": values.get("case", "")}
    if not count:
        return Words(_("The draft for the case %(case)s came to no suggestion.") % facts)
    text = ngettext(
        "%(count)d suggestion for the rubric of the case %(case)s waits for your decision.",
        "%(count)d suggestions for the rubric of the case %(case)s wait for your decision.",
        count,
    )
    return Words(text % facts)


def _held_back(values: dict[str, Any], *, in_mail: bool) -> Words:
    physician = values.get("physician", "")
    if not physician:
        return Words(_("You get no new work for now. What you have open you may finish."))
    if in_mail:
        return Words(_("A physician gets no new work for now. Who it is, and why, stands on the quality page."))
    return Words(_("%(physician)s gets no new work for now.") % {"physician": physician}, values.get("reason", ""))
