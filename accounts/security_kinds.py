"""What the security log records. A new kind is one line here, and a call of `security_log.record` where it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

KINDS: dict[str, _StrPromise] = {
    # Signing in
    "signed_in": _("Signed in"),
    "signed_out": _("Signed out"),
    "sign_in_failed": _("Sign-in failed"),
    "sign_in_limited": _("Sign-in refused after too many failures"),
    "reauthenticated": _("Password or second step confirmed again"),
    "reauthentication_failed": _("Confirmation of password or second step failed"),
    "signed": _("Signed"),
    "new_device": _("Signed in on a new device"),
    "session_ended": _("Session ended by its owner"),
    "session_timed_out": _("Signed out after a time without activity"),
    # Credentials
    "password_changed": _("Password changed"),
    "password_reset_requested": _("Link to a new password requested"),
    "password_reset": _("New password chosen by link"),
    "password_link_shown": _("Link to a new password shown to an admin"),
    "factor_added": _("Second step or passkey added"),
    "factor_removed": _("Second step or passkey removed"),
    "recovery_codes_made": _("Recovery codes made"),
    "recovery_code_used": _("Recovery code used"),
    "api_token_made": _("API token made"),
    "api_token_revoked": _("API token revoked"),
    "api_token_refused": _("API token refused"),
    "sign_on_connected": _("Single sign-on connected"),
    "sign_on_disconnected": _("Single sign-on disconnected"),
    "sign_on_refused": _("Single sign-on refused"),
    # Accounts and rights
    "account_made": _("Account made"),
    "account_deactivated": _("Account deactivated"),
    "account_activated": _("Account activated"),
    "rights_changed": _("Rights of an account changed"),
    "invited": _("Invited"),
    "invitation_link_shown": _("Invitation link shown to an admin"),
    "invitation_accepted": _("Invitation accepted"),
    "invitation_withdrawn": _("Invitation withdrawn"),
    # Rules of a benchmark, and keys
    "second_step_required": _("Second step required"),
    "second_step_not_required": _("Second step no longer required"),
    "key_granted": _("Key of an endpoint granted"),
    "key_withdrawn": _("Key of an endpoint withdrawn"),
    # The server
    "log_exported": _("Security log or trail exported"),
    "backup_made": _("Backup made"),
    "backup_failed": _("Backup failed"),
    "backup_restored": _("Backup restored"),
}
