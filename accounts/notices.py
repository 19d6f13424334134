"""Texts of notifications: built from stored facts when they are read, in the reader's language.

A count is of what happened, or of the time when the notification was sent: what is open changes until it is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts import staff_notices
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
    Kind.NEW_WORK: gettext_lazy(
        "Responses or cases were assigned to you, a pool from which you can claim responses was opened, work that you "
        "returned was resubmitted, an audit has cases for you, or it was closed while you were reading one."
    ),
    Kind.RETURNED: gettext_lazy("A checker returned a response to you."),
    Kind.DUE: gettext_lazy(
        "Three days and one day before your work is due, once when it is overdue, when its due date changes, and when "
        "an admin reminds you of it."
    ),
    Kind.COMMENT: gettext_lazy("Someone commented on a response that you grade, check or manage."),
    Kind.HELD_BACK: gettext_lazy("Assignments to you, or to a physician of a benchmark that you run, are paused."),
    Kind.INVITATION: gettext_lazy("You were added to a benchmark or to an expert group."),
    Kind.RUBRIC: gettext_lazy(
        "A rubric is waiting for your review, one of yours was returned or published, or there are suggestions for it."
    ),
    Kind.JOB_DONE: gettext_lazy(
        "An import, a report, a release, a training or a run that you started is finished, if it took longer than ten "
        "seconds."
    ),
    Kind.JOB_FAILED: gettext_lazy(
        "An import, a report, a release, a training or a run failed: one that you started, or one in a benchmark that "
        "you manage."
    ),
    Kind.BATCH: gettext_lazy(
        "All work in a batch or a senior audit is completed, or an auditor proposes to remove a case."
    ),
    Kind.ATTENTION: gettext_lazy(
        "A batch is overdue (once for each due date, in the morning), or has work that no one in its group can do. "
        "This is examined every half hour; you get one notification for each batch until all its work can be done "
        "again."
    ),
    Kind.CONFLICT: gettext_lazy(
        "Physicians disagreed about responses. There is at most one notification a day for each benchmark."
    ),
    Kind.BUDGET: gettext_lazy("A run stopped because its budget is used up."),
    Kind.WORKER: gettext_lazy(
        "Imports, reports and runs are waiting because no worker is running. Operators of the server: a backup failed, "
        "or there is none for two days."
    ),
    Kind.ACCOUNT: gettext_lazy(
        "Someone signed in to your account on a new device, an admin was shown a link with which a new password for "
        "it can be chosen, an API token was made, or one expires in a week."
    ),
}
# The kinds whose texts are in `accounts.staff_notices`.
_STAFF = {
    Kind.JOB_DONE: staff_notices.end_of_job,
    Kind.JOB_FAILED: staff_notices.end_of_job,
    Kind.BUDGET: staff_notices.end_of_job,
    Kind.BATCH: staff_notices.batch_completed,
    Kind.ATTENTION: staff_notices.batch_needs_attention,
    Kind.CONFLICT: staff_notices.conflicts_opened,
    Kind.WORKER: staff_notices.no_worker,
    Kind.ACCOUNT: staff_notices.account_security,
}


@dataclass(frozen=True, slots=True)
class Words:
    """One sentence, and perhaps a second. ``detail`` stays out of mails: it may hold what people wrote.

    ``advice`` says what to do, also in mails.
    """

    text: str
    detail: str = ""
    advice: str = ""


def words_of(notification: Notification, *, in_mail: bool = False) -> Words:
    """The text of ``notification`` in the active language. Mails name no physician, not even by pseudonym."""
    values: dict[str, Any] = notification.values
    if (words := _STAFF.get(Kind(notification.kind))) is not None:
        return Words(*words(values))
    batch = {"batch": values.get("batch", "")}
    match notification.kind:
        case Kind.NEW_WORK:
            return _new_work(values)
        case Kind.RETURNED:
            return Words(_("A checker returned a response to you in “%(batch)s”.") % batch, _sent_with_return(values))
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


def _sent_with_return(values: dict[str, Any]) -> str:
    """What the checker sent: a note, criteria that are marked for review, or both."""
    number = int(values.get("marked", 0))
    if not number:
        return _("The checker’s note is shown above the criteria.")
    if values.get("note"):
        text = ngettext(
            "The checker’s note is shown above the criteria, and %(number)d criterion is marked for review.",
            "The checker’s note is shown above the criteria, and %(number)d criteria are marked for review.",
            number,
        )
    else:
        text = ngettext(
            "%(number)d criterion is marked for review.",
            "%(number)d criteria are marked for review.",
            number,
        )
    return text % {"number": number}


def _new_work(values: dict[str, Any]) -> Words:
    count, batch = int(values.get("count", 0)), values.get("batch", "")
    if not count:
        return Words(_("“%(batch)s” is open: you can claim responses from its pool.") % {"batch": batch})
    if values.get("what") == "audit":
        text = ngettext(
            "%(count)d case of “%(batch)s” was drawn for auditors.",
            "%(count)d cases of “%(batch)s” were drawn for auditors.",
            count,
        )
        return Words(text % {"count": count, "batch": batch})
    if values.get("what") == "audit-closed" and not values.get("kept", True):
        text = ngettext(
            "The audit “%(batch)s” was closed before you submitted %(count)d case.",
            "The audit “%(batch)s” was closed before you submitted %(count)d cases.",
            count,
        )
        return Words(text % {"count": count, "batch": batch})
    if values.get("what") == "audit-closed":
        text = ngettext(
            "The audit “%(batch)s” was closed before you submitted %(count)d case. Your saved entries are kept.",
            "The audit “%(batch)s” was closed before you submitted %(count)d cases. Your saved entries are kept.",
            count,
        )
        return Words(text % {"count": count, "batch": batch})
    if values.get("what") == "rulings":
        text = ngettext(
            "%(count)d ambiguous case was given to adjudicators for a ruling.",
            "%(count)d ambiguous cases were given to adjudicators for a ruling.",
            count,
        )
        return Words(text % {"count": count})
    if values.get("what") == "code-rulings":
        text = ngettext(
            "%(count)d response whose codes differ was given to adjudicators for a ruling.",
            "%(count)d responses whose codes differ were given to adjudicators for a ruling.",
            count,
        )
        return Words(text % {"count": count})
    if values.get("what") == "codes":
        text = ngettext(
            "You were assigned %(count)d response to mark failures in, in “%(batch)s”.",
            "You were assigned %(count)d responses to mark failures in, in “%(batch)s”.",
            count,
        )
        return Words(text % {"count": count, "batch": batch})
    if values.get("what") == "resubmitted":
        text = ngettext(
            "%(count)d response that you returned was resubmitted.",
            "%(count)d responses that you returned were resubmitted.",
            count,
        )
        return Words(text % {"count": count})
    if values.get("what") == "cases":
        return Words(
            ngettext(
                "You were assigned %(count)d case to answer questions about in “%(batch)s”.",
                "You were assigned %(count)d cases to answer questions about in “%(batch)s”.",
                count,
            )
            % {"count": count, "batch": batch}
        )
    if values.get("what") == "advice":
        text = ngettext(
            "You were assigned %(count)d response to read for its advice in “%(batch)s”.",
            "You were assigned %(count)d responses to read for their advice in “%(batch)s”.",
            count,
        )
        return Words(text % {"count": count, "batch": batch})
    if values.get("what") == "writing":
        return Words(
            ngettext(
                "You were assigned %(count)d case to write a response to in “%(batch)s”.",
                "You were assigned %(count)d cases to write responses to in “%(batch)s”.",
                count,
            )
            % {"count": count, "batch": batch}
        )
    return Words(
        ngettext(
            "You were assigned %(count)d response to grade in “%(batch)s”.",
            "You were assigned %(count)d responses to grade in “%(batch)s”.",
            count,
        )
        % {"count": count, "batch": batch}
    )


def _due(values: dict[str, Any]) -> Words:
    count, checks = int(values.get("count", 0)), values.get("part") == "checker"
    day = date_format(date.fromisoformat(values["due"]), "DATE_FORMAT") if values["due"] else ""
    facts = {"batch": values.get("batch", ""), "day": day, "count": count}
    if values.get("stage") == "reminder":
        text = _("Your study coordinator reminds you of “%(batch)s”.") % facts
        if day:
            text = _("Your study coordinator reminds you of “%(batch)s”, due on %(day)s.") % facts
    elif values.get("stage") == "moved":
        text = _("“%(batch)s” is now due on %(day)s.") % facts
        if not day:
            text = _("“%(batch)s” has no due date any more.") % facts
    elif values.get("stage") == "overdue":
        text = _("“%(batch)s” was due on %(day)s.") % facts
    else:
        text = _("“%(batch)s” is due on %(day)s.") % facts
    if checks and values.get("stage") == "reminder":
        rest = _("Checks that you had or could claim when this was sent: %(count)d.")
    elif checks:
        rest = ngettext(
            "%(count)d check was open when this was sent.", "%(count)d checks were open when this was sent.", count
        )
    elif values.get("what") in ("cases", "writing"):
        rest = ngettext(
            "%(count)d case was open when this was sent.", "%(count)d cases were open when this was sent.", count
        )
    else:
        rest = ngettext(
            "%(count)d response was open when this was sent.",
            "%(count)d responses were open when this was sent.",
            count,
        )
    return Words(f"{text} {rest % facts}")


def _rubric(values: dict[str, Any]) -> Words:
    count = int(values.get("count", 1))
    if values.get("what") == "waiting":
        return Words(
            ngettext(
                "%(count)d rubric was submitted for your review.",
                "%(count)d rubrics were submitted for your review.",
                count,
            )
            % {"count": count}
        )
    if values.get("what") == "suggested":
        return _suggested(values, count)
    if values.get("what") == "returned":
        text = _("The rubric of case %(case)s was returned to you after review.")
        return Words(
            text % {"case": values.get("case", "")}, _("The reason is shown above the criteria or beside them.")
        )
    if count > 1:
        return Words(_("%(count)d rubrics that you wrote were published.") % {"count": count})
    text = _("Version %(version)d of the rubric of case %(case)s was published.")
    return Words(text % {"version": int(values.get("version", 1)), "case": values.get("case", "")})


def _suggested(values: dict[str, Any], count: int) -> Words:
    cases = int(values.get("cases", 1))
    if cases > 1:
        text = ngettext(
            "Suggestions were made for the rubric of %(cases)d case.",
            "Suggestions were made for the rubrics of %(cases)d cases.",
            cases,
        )
        return Words(text % {"cases": cases})
    facts = {"count": count, "case": values.get("case", "")}
    if not count:
        return Words(_("Drafting for case %(case)s produced no suggestions.") % facts)
    text = ngettext(
        "%(count)d suggestion was made for the rubric of case %(case)s.",
        "%(count)d suggestions were made for the rubric of case %(case)s.",
        count,
    )
    return Words(text % facts)


def _held_back(values: dict[str, Any], *, in_mail: bool) -> Words:
    physician = values.get("physician", "")
    if not physician:
        return Words(_("Assignments to you are paused. You can finish your open work."))
    if in_mail:
        return Words(_("Assignments to a physician are paused. See the “Quality” page for the name and the reason."))
    return Words(_("Assignments to %(physician)s are paused.") % {"physician": physician}, values.get("reason", ""))
