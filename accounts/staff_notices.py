"""Texts of the notifications for those who run a benchmark; `accounts.notices` calls them.

``label`` in the values is an English text of the message catalogue. It is translated here, for its reader.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.browsers import browser_in_words

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

# What ended, and how → the text. ``label``: of which kind it is; ``name``: the version, or the name of a judge.
ENDS: dict[tuple[str, str], _StrOrPromise] = {
    ("import", "done"): gettext_lazy("Import finished: %(label)s."),
    ("import", "refused"): gettext_lazy("The file was not imported because it has errors: %(label)s."),
    ("import", "failed"): gettext_lazy("Import failed: %(label)s."),
    ("preview", "done"): gettext_lazy("The preview of an import is ready: %(label)s."),
    ("preview", "refused"): gettext_lazy("The preview of an import found errors in the file: %(label)s."),
    ("preview", "failed"): gettext_lazy("The preview of an import failed: %(label)s."),
    ("report", "done"): gettext_lazy("Report ready: %(label)s."),
    ("report", "failed"): gettext_lazy("Report failed: %(label)s."),
    ("replication", "done"): gettext_lazy("The tables and figures of %(name)s are made."),
    ("replication", "failed"): gettext_lazy("The tables and figures of %(name)s could not be made."),
    ("release", "done"): gettext_lazy("Release %(name)s is ready."),
    ("release", "failed"): gettext_lazy("Release %(name)s failed."),
    ("index", "failed"): gettext_lazy("The search index of a document collection could not be built."),
    ("training", "done"): gettext_lazy("Judge %(name)s is trained."),
    ("training", "failed"): gettext_lazy("The training of judge %(name)s failed."),
    ("judge_run", "done"): gettext_lazy("The run of judge %(name)s is finished."),
    ("judge_run", "incomplete"): gettext_lazy("The run of judge %(name)s ended incomplete."),
    ("judge_run", "failed"): gettext_lazy("The run of judge %(name)s failed."),
    ("judge_run", "budget"): gettext_lazy("The run of judge %(name)s stopped because its budget is used up."),
    ("run", "done"): gettext_lazy("Run finished: %(label)s."),
    ("run", "incomplete"): gettext_lazy("Run ended incomplete: %(label)s."),
    ("run", "failed"): gettext_lazy("Run failed: %(label)s."),
    ("run", "budget"): gettext_lazy("Run stopped because its budget is used up: %(label)s."),
}


def end_of_job(values: dict[str, Any]) -> tuple[str, str]:
    """How a job or a run ended. The second text is a name that people gave, such as that of a file."""
    facts = {"label": _(values["label"]) if values.get("label") else "", "name": values.get("name", "")}
    return str(ENDS[values["what"], values["end"]]) % facts, values.get("title", "")


def batch_completed(values: dict[str, Any]) -> tuple[str, str]:
    """All work of a batch is done; the second sentence gives the conflicts that wait for an adjudicator.

    Or all cases of an audit are read, or an auditor proposes to remove a case.
    """
    if values.get("what") == "removal":
        facts = {"batch": values.get("batch", ""), "case": values.get("case", "")}
        return _("An auditor proposes to remove case %(case)s in “%(batch)s”.") % facts, ""
    if values.get("what") == "audit":
        return _("All cases of the audit “%(batch)s” are submitted.") % {"batch": values.get("batch", "")}, ""
    text = _("All work in “%(batch)s” is completed.") % {"batch": values.get("batch", "")}
    count = int(values.get("conflicts", 0))
    if not count:
        return text, ""
    rest = ngettext(
        "%(count)d response ended with conflicts to adjudicate.",
        "%(count)d responses ended with conflicts to adjudicate.",
        count,
    )
    return f"{text} {rest % {'count': count}}", ""


def batch_needs_attention(values: dict[str, Any]) -> tuple[str, str]:
    """A batch is overdue, or has work that nobody of its group can do."""
    facts = {"batch": values.get("batch", "")}
    if values.get("what") == "overdue":
        day = date_format(date.fromisoformat(values["due"]), "DATE_FORMAT")
        return _("“%(batch)s” was due on %(day)s, and work is left.") % {**facts, "day": day}, ""
    texts = []
    for number, text in (
        (
            int(values.get("grades", 0)),
            ngettext(
                "In “%(batch)s”, no annotator can claim %(n)d response.",
                "In “%(batch)s”, no annotator can claim %(n)d responses.",
                int(values.get("grades", 0)),
            ),
        ),
        (
            int(values.get("checks", 0)),
            ngettext(
                "In “%(batch)s”, no checker can claim %(n)d submitted response.",
                "In “%(batch)s”, no checker can claim %(n)d submitted responses.",
                int(values.get("checks", 0)),
            ),
        ),
    ):
        if number:
            texts.append(text % {**facts, "n": number})
    return " ".join(texts), _("The page of the batch says why.")


def conflicts_opened(values: dict[str, Any]) -> tuple[str, str]:
    """How many responses got conflicts on one day; to an adjudicator, how many of these they may adjudicate."""
    count = int(values.get("count", 1))
    if values.get("what") == "adjudicate":
        text = ngettext(
            "Physicians disagreed about %(count)d response, which you can adjudicate.",
            "Physicians disagreed about %(count)d responses, which you can adjudicate.",
            count,
        )
        return text % {"count": count}, ""
    text = ngettext(
        "Physicians disagreed about %(count)d response, which was given to adjudicators.",
        "Physicians disagreed about %(count)d responses, which were given to adjudicators.",
        count,
    )
    return text % {"count": count}, ""


def no_worker(values: dict[str, Any]) -> tuple[str, str]:
    """Since when no worker has reported; in the reader's time zone. Operators are told of backups as well."""
    if "backup" in values:
        return _backup(values)
    since = timezone.localtime(datetime.fromisoformat(values["since"]))
    text = _("No worker has been running since %(since)s. Imports, reports and runs are waiting.")
    return text % {"since": date_format(since, "DATETIME_FORMAT")}, _("Ask the person who runs the server.")


def _backup(values: dict[str, Any]) -> tuple[str, str]:
    detail = _("The page of the server’s backups has the details.")
    match values["backup"]:
        case "failed":
            return _("A backup failed."), detail
        case "test_failed":
            return _("A backup was made, but could not be restored for a test."), detail
        case _overdue:
            since = timezone.localtime(datetime.fromisoformat(values["since"]))
            text = _("There has been no good backup since %(since)s.")
            return text % {"since": date_format(since, "DATETIME_FORMAT")}, detail


def account_security(values: dict[str, Any]) -> tuple[str, ...]:
    """What happened to the reader's account, and what to do: ``what`` is empty where an admin was shown a link."""
    match values.get("what", ""):
        case "new_device":
            return new_device(values)
        case "token_made":
            return token_made(values)
        case "token_expires":
            return token_expires(values)
        case _:
            return password_link_shown(values)


def token_made(values: dict[str, Any]) -> tuple[str, str]:
    """An API token was made. The second text names it."""
    text = _("A new API token was made for your account.")
    detail = _("Its name is “%(name)s”. If you did not make it, revoke it and change your password.")
    return text, detail % {"name": values.get("name", "")}


def token_expires(values: dict[str, Any]) -> tuple[str, str]:
    """An API token expires soon; in the reader's time zone."""
    day = timezone.localtime(datetime.fromisoformat(values["expires_at"]))
    text = _("One of your API tokens expires on %(day)s.") % {"day": date_format(day, "DATETIME_FORMAT")}
    detail = _("Its name is “%(name)s”. If a program still needs it, make a new one.")
    return text, detail % {"name": values.get("name", "")}


def new_device(values: dict[str, Any]) -> tuple[str, str, str]:
    """A sign-in on a new device; in the reader's time zone. The third text says what to do."""
    at = timezone.localtime(datetime.fromisoformat(values["signed_in_at"]))
    text = _("Sign-in on a new device: %(browser)s, from %(address)s, on %(at)s (%(zone)s).")
    facts = {
        "browser": browser_in_words(values["browser"]),
        "address": values["address"],
        "at": date_format(at, "DATETIME_FORMAT"),
        "zone": at.tzname(),
    }
    return (
        text % facts,
        "",
        _("If it was not you, end that session under Profile → Sessions and choose a new password."),
    )


def password_link_shown(values: dict[str, Any]) -> tuple[str, str]:
    """An admin was shown a link with which a password can be chosen. The second text names the admin."""
    text = _("An admin was shown a link with which a new password for your account can be chosen.")
    detail = _("The link was shown to %(admin)s. If you did not ask for it, contact your study coordinator.")
    return text, detail % {"admin": values.get("admin", "")}
