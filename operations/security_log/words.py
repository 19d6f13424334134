"""Says a line of the security log in words, in the reader's language."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from accounts.models import SecurityEvent
from accounts.notices import PARTS
from accounts.security_kinds import KINDS
from consilium.core.i18n import listed

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# What readers filter by. A kind that is in none of them is in OTHER.
OTHER = "other"
GROUPS: dict[str, tuple[str, ...]] = {
    "sign_in": (
        *("signed_in", "signed_out", "sign_in_failed", "sign_in_limited", "reauthenticated"),
        *("reauthentication_failed", "new_device", "session_ended", "session_timed_out"),
    ),
    "credentials": (
        *("password_changed", "password_reset_requested", "password_reset", "password_link_shown", "factor_added"),
        *("factor_removed", "recovery_codes_made", "recovery_code_used", "api_token_made", "api_token_revoked"),
        *("api_token_refused", "sign_on_connected", "sign_on_disconnected", "sign_on_refused"),
    ),
    "accounts": (
        *("account_made", "account_deactivated", "account_activated", "rights_changed", "invited"),
        *("invitation_link_shown", "invitation_accepted", "invitation_withdrawn"),
    ),
    "signatures": ("signed",),
}
GROUP_LABELS: dict[str, _StrPromise] = {
    "sign_in": gettext_lazy("Signing in"),
    "credentials": gettext_lazy("Passwords and second steps"),
    "accounts": gettext_lazy("Accounts and rights"),
    "signatures": gettext_lazy("Signatures"),
    OTHER: gettext_lazy("Rules, keys and the server"),
}

# What somebody did with their own account. ``(%(how)s)`` is left out where nothing is recorded of it.
BY_OWNER: dict[str, _StrPromise] = {
    "signed_in": gettext_lazy("%(user)s signed in (%(how)s)"),
    "signed_out": gettext_lazy("%(user)s signed out"),
    "sign_in_failed": gettext_lazy("A sign-in as %(user)s failed (%(how)s)"),
    "sign_in_limited": gettext_lazy("Sign-ins as %(user)s were refused after too many failures"),
    "password_changed": gettext_lazy("%(user)s changed the password"),
    "password_reset_requested": gettext_lazy("A link to a new password was requested for %(user)s"),
    "password_reset": gettext_lazy("A new password was chosen for %(user)s by a link"),
    "factor_added": gettext_lazy("%(user)s added a second step (%(how)s)"),
    "factor_removed": gettext_lazy("%(user)s removed a second step (%(how)s)"),
    "recovery_codes_made": gettext_lazy("%(user)s made recovery codes"),
    "recovery_code_used": gettext_lazy("%(user)s used a recovery code"),
    "sign_on_connected": gettext_lazy("Single sign-on was connected with the account of %(user)s"),
    "sign_on_disconnected": gettext_lazy("Single sign-on was disconnected from the account of %(user)s"),
    "sign_on_refused": gettext_lazy("A single sign-on to the account of %(user)s was refused (%(how)s)"),
    "account_made": gettext_lazy("The account of %(user)s was made (%(how)s)"),
    "rights_changed": gettext_lazy("The rights of %(user)s changed (%(how)s)"),
    "invitation_accepted": gettext_lazy("%(user)s accepted the invitation"),
    "reauthenticated": gettext_lazy("%(user)s confirmed again who they are (%(how)s)"),
    "reauthentication_failed": gettext_lazy("Someone signed in as %(user)s failed to confirm who they are (%(how)s)"),
    "signed": gettext_lazy("%(user)s signed %(signed)s (%(how)s)"),
    "new_device": gettext_lazy("%(user)s signed in on a new device"),
    "session_ended": gettext_lazy("%(user)s ended sessions of their own (%(how)s)"),
    "session_timed_out": gettext_lazy("A session of %(user)s ended after a time without activity"),
    "api_token_made": gettext_lazy("%(user)s made the API token “%(name)s” (%(how)s)"),
    "api_token_revoked": gettext_lazy("%(user)s revoked the API token “%(name)s” (%(how)s)"),
    "api_token_refused": gettext_lazy("The API token “%(name)s” of %(user)s was refused (%(how)s)"),
}
# What somebody else did, or a command: %(by)s.
BY_OTHERS: dict[str, _StrPromise] = {
    "password_changed": gettext_lazy("%(by)s changed the password of %(user)s"),
    "password_link_shown": gettext_lazy("%(by)s was shown a link to a new password for %(user)s"),
    "factor_removed": gettext_lazy("%(by)s removed a second step of %(user)s (%(how)s)"),
    "account_made": gettext_lazy("%(by)s made the account of %(user)s (%(how)s)"),
    "account_deactivated": gettext_lazy("%(by)s deactivated the account of %(user)s"),
    "account_activated": gettext_lazy("%(by)s activated the account of %(user)s"),
    "rights_changed": gettext_lazy("%(by)s changed the rights of %(user)s (%(how)s)"),
    "invited": gettext_lazy("%(by)s invited %(user)s (%(how)s)"),
    "invitation_link_shown": gettext_lazy("%(by)s was shown an invitation link for %(user)s"),
    "invitation_withdrawn": gettext_lazy("%(by)s withdrew the invitation of %(user)s"),
    "api_token_made": gettext_lazy("%(by)s made the API token “%(name)s” of %(user)s (%(how)s)"),
    "api_token_revoked": gettext_lazy("%(by)s revoked the API token “%(name)s” of %(user)s (%(how)s)"),
    "second_step_required": gettext_lazy("%(by)s required a second step of everybody in the benchmark (%(how)s)"),
    "second_step_not_required": gettext_lazy("%(by)s no longer required a second step in the benchmark"),
    "key_granted": gettext_lazy("%(by)s granted the key “%(name)s” of an endpoint (%(how)s)"),
    "key_withdrawn": gettext_lazy("%(by)s withdrew the key “%(name)s” of an endpoint (%(how)s)"),
    "backup_made": gettext_lazy("%(by)s made a backup"),
    "backup_failed": gettext_lazy("A backup that %(by)s started failed"),
    "log_exported": gettext_lazy("%(by)s exported %(exported)s"),
}
OF_NOBODY: dict[str, _StrPromise] = {
    "sign_in_failed": gettext_lazy("A sign-in with an unknown address failed"),
    "sign_in_limited": gettext_lazy("Sign-ins were refused after too many failures"),
    "password_reset_requested": gettext_lazy("A link to a new password was requested for an unknown address"),
    "sign_on_refused": gettext_lazy("A single sign-on of someone without an account was refused (%(how)s)"),
    "backup_made": gettext_lazy("A backup was made (%(how)s)"),
    "backup_failed": gettext_lazy("A backup failed (%(how)s)"),
    "backup_restored": gettext_lazy("A backup was restored (%(how)s)"),
}
# Nobody is signed in to a command: these lines have no actor then. All other lines of one say that they are.
BY_COMMAND = frozenset({"api_token_made", "api_token_revoked"})
# Words for what `values` holds.
HOW: dict[str, _StrPromise] = {
    # ways of signing in, and steps
    "password": gettext_lazy("password"),
    "socialaccount": gettext_lazy("single sign-on"),
    "passkey": gettext_lazy("passkey"),
    "password_reset": gettext_lazy("link to a new password"),
    "invitation": gettext_lazy("invitation link"),
    "first_account": gettext_lazy("setup code of the first account"),
    "totp": gettext_lazy("code of an authenticator app"),
    "webauthn": gettext_lazy("security key or passkey"),
    "recovery_codes": gettext_lazy("recovery code"),
    "single_sign_on": gettext_lazy("single sign-on"),
    "sign_in": gettext_lazy("sign-in a moment before"),
    "api_token": gettext_lazy("API token"),
    "other": gettext_lazy("in another way"),
    # ways of making accounts, and of sending links
    "page": pgettext_lazy("way", "on a page"),
    "list": pgettext_lazy("way", "from a list of people"),
    "command": pgettext_lazy("way", "by command"),
    "mail": pgettext_lazy("way", "by email"),
    "link": pgettext_lazy("way", "by a link to pass on"),
    # why a single sign-on was refused
    "no_email": gettext_lazy("no email address"),
    "not_verified": gettext_lazy("address not verified"),
    "unconfirmed": gettext_lazy("address not confirmed"),
    "no_account": gettext_lazy("no account"),
    "other_identity": gettext_lazy("connected to another identity"),
    "no_sign_in": gettext_lazy("was to be connected in an open session"),
    "other_domain": gettext_lazy("address of another domain"),
    "not_valid": gettext_lazy("answer of the provider not valid"),
    # why an API token was refused
    "revoked": pgettext_lazy("token", "revoked"),
    "expired": pgettext_lazy("token", "expired"),
    "inactive": gettext_lazy("account deactivated"),
    # what made a backup
    "schedule": pgettext_lazy("way", "by schedule"),
}
EXPORTED: dict[str, _StrPromise] = {
    "security_log": gettext_lazy("the security log"),
    "trail": gettext_lazy("the trail of changes"),
}
# What somebody signed: %(target)s is its number or version.
SIGNED: dict[str, _StrPromise] = {
    "threshold": gettext_lazy("version %(target)s of the threshold"),
    "acuity_plan": gettext_lazy("plan %(target)s"),
    "reference_set": gettext_lazy("reference set %(target)s"),
    "release": gettext_lazy("release %(target)s"),
}
SCOPES: dict[str, _StrPromise] = {
    "read": pgettext_lazy("scope", "read"),
    "grade": pgettext_lazy("scope", "grade"),
    "run": pgettext_lazy("scope", "run"),
    "admin": pgettext_lazy("scope", "administer"),
}
# Each right has the name of its column, or that of the form. The line says both rights, whichever of them changed.
RIGHTS: dict[tuple[str, ...], tuple[_StrPromise, _StrPromise]] = {
    ("is_staff", "creates_benchmarks"): (
        gettext_lazy("may create benchmarks"),
        gettext_lazy("may not create benchmarks"),
    ),
    ("is_superuser", "operator"): (gettext_lazy("is an operator"), gettext_lazy("is not an operator")),
}
SHOWN = ("method", "second_step", "step", "factor", "part", "way", "reason", "source")
HOW_IN_BRACKETS = re.compile(r"\s*[(（]%\(how\)s[)）]")


def sentence(event: SecurityEvent) -> str:
    """What happened, in a sentence without its full stop, network address and browser."""
    user, by, values = event.user, event.by, event.values
    if user is None and event.kind in OF_NOBODY and (by is None or event.kind not in BY_OTHERS):
        text = str(OF_NOBODY[event.kind])
    elif event.kind in BY_OTHERS and (user is None or event.by_id != event.user_id) and _has_actor(event):
        text = str(BY_OTHERS[event.kind])
    elif user is not None and event.kind in BY_OWNER:
        text = str(BY_OWNER[event.kind])
    else:
        return _by_label(event)
    how = _how(event)
    if not how:
        text = HOW_IN_BRACKETS.sub("", text)
    return text % {
        "user": str(user or ""),
        "by": str(by or _("A command")),
        "how": how,
        "name": values.get("name") or values.get("key") or "",
        "signed": _signed(values),
        "exported": EXPORTED.get(str(values.get("what")), KINDS[event.kind]),
    }


def _has_actor(event: SecurityEvent) -> bool:
    is_by_command = event.values.get("way") == "command" or bool(event.values.get("by_command"))
    return event.by_id is not None or event.kind not in BY_OWNER or is_by_command or event.kind in BY_COMMAND


def _by_label(event: SecurityEvent) -> str:
    label = str(KINDS.get(event.kind, event.kind))
    people = [str(person) for person in dict.fromkeys([event.user, event.by]) if person is not None]
    return _("%(label)s: %(value)s") % {"label": label, "value": listed(people)} if people else label


def _how(event: SecurityEvent) -> str:
    values = event.values
    # Reasons of a person are in their own words, and are no part of the sentence.
    shown = [_value(str(values[name])) for name in SHOWN if values.get(name)]
    shown += [_value(str(kind)) for kind in values.get("kinds", ())]
    shown += [str(SCOPES.get(scope, scope)) for scope in values.get("scopes", ())]
    for names, (given, not_given) in RIGHTS.items():
        shown += [str(given if values[name] else not_given) for name in names if name in values]
    if number := values.get("number"):
        shown.append(ngettext("%(n)d session", "%(n)d sessions", number) % {"n": number})
    shown += _facts(values)
    return listed(list(dict.fromkeys(shown)))


def _facts(values: dict[str, Any]) -> list[str]:
    """What is said of a rule of a benchmark, of a grant and of a restored backup."""
    facts = []
    if since := values.get("since"):
        facts.append(_("from %(time)s") % {"time": _moment(since)})
    if values.get("all_benchmarks"):
        facts.append(_("for all benchmarks"))
    if made_at := values.get("made_at"):
        facts.append(_("made at %(time)s") % {"time": _moment(made_at)})
    if "same" in values:
        same, differing = _("the content is the same"), _("the content differs from that of the backup")
        facts.append(same if values["same"] else differing)
    return facts


def _moment(text: str) -> str:
    return date_format(timezone.localtime(datetime.fromisoformat(text)), "DATETIME_FORMAT")


def _signed(values: dict[str, Any]) -> str:
    text = SIGNED.get(str(values.get("what")))
    return str(text) % {"target": values.get("target", "")} if text else str(KINDS["signed"])


def _value(value: str) -> str:
    return str(HOW.get(value) or PARTS.get(value) or value)


def kinds_of(group: str) -> tuple[str, ...]:
    """The kinds of a group; those that are in no other, of `OTHER`."""
    if group in GROUPS:
        return GROUPS[group]
    listed = {kind for kinds in GROUPS.values() for kind in kinds}
    return tuple(kind for kind in KINDS if kind not in listed)
