"""Says a line of the security log in words, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

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
}
GROUP_LABELS: dict[str, _StrPromise] = {
    "sign_in": gettext_lazy("Signing in"),
    "credentials": gettext_lazy("Passwords and second steps"),
    "accounts": gettext_lazy("Accounts and rights"),
    OTHER: gettext_lazy("Rules, keys and the server"),
}

# With an actor, if it is somebody else than the account: %(by)s. Kinds without a sentence are said by their label.
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
}
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
    "log_exported": gettext_lazy("%(by)s exported %(how)s"),
}
OF_NOBODY: dict[str, _StrPromise] = {
    "sign_in_failed": gettext_lazy("A sign-in with an unknown address failed"),
    "sign_in_limited": gettext_lazy("Sign-ins were refused after too many failures"),
    "password_reset_requested": gettext_lazy("A link to a new password was requested for an unknown address"),
    "sign_on_refused": gettext_lazy("A single sign-on of someone without an account was refused (%(how)s)"),
}
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
    # what was exported
    "security_log": gettext_lazy("the security log"),
    "trail": gettext_lazy("the trail of changes"),
}
RIGHTS: dict[tuple[str, bool], _StrPromise] = {
    ("is_staff", True): gettext_lazy("may create benchmarks"),
    ("is_staff", False): gettext_lazy("may no longer create benchmarks"),
    ("is_superuser", True): gettext_lazy("is an operator"),
    ("is_superuser", False): gettext_lazy("is no longer an operator"),
}
SHOWN = ("method", "second_step", "step", "factor", "part", "way", "reason", "what")


def sentence(event: SecurityEvent) -> str:
    """What happened, in a sentence without its full stop, network address and browser."""
    user, by = event.user, event.by
    if user is None and event.kind in OF_NOBODY:
        text = str(OF_NOBODY[event.kind])
    elif event.kind in BY_OTHERS and (user is None or event.by_id != event.user_id) and _has_actor(event):
        text = str(BY_OTHERS[event.kind])
    elif user is not None and event.kind in BY_OWNER:
        text = str(BY_OWNER[event.kind])
    else:
        return _by_label(event)
    names = {"user": str(user or ""), "by": str(by or _("A command")), "how": _how(event)}
    return text % names


def _has_actor(event: SecurityEvent) -> bool:
    return event.by_id is not None or event.kind not in BY_OWNER or event.values.get("way") == "command"


def _by_label(event: SecurityEvent) -> str:
    label = str(KINDS.get(event.kind, event.kind))
    people = [str(person) for person in dict.fromkeys([event.user, event.by]) if person is not None]
    return _("%(label)s: %(value)s") % {"label": label, "value": listed(people)} if people else label


def _how(event: SecurityEvent) -> str:
    values = event.values
    shown = [_value(str(values[name])) for name in SHOWN if values.get(name)]
    shown += [str(text) for (right, given), text in RIGHTS.items() if values.get(right) is given]
    return listed(shown) or "–"


def _value(value: str) -> str:
    return str(HOW.get(value) or PARTS.get(value) or value)


def kinds_of(group: str) -> tuple[str, ...]:
    """The kinds of a group; those that are in no other, of `OTHER`."""
    if group in GROUPS:
        return GROUPS[group]
    listed = {kind for kinds in GROUPS.values() for kind in kinds}
    return tuple(kind for kind in KINDS if kind not in listed)
