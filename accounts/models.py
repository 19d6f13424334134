"""User accounts. Roles in a benchmark are in `rubrics.BenchmarkRole` and `annotation.Membership`."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

import pgtrigger
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from consilium.core.audit import audited_fields
from consilium.core.identifiers import new_public_id
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.limits import (
    MAX_LICENCE_NUMBER_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_SLUG_LENGTH,
    MAX_SPECIALTY_LENGTH,
    MAX_TITLE_LENGTH,
)

MAX_TOKEN_NAME_LENGTH = 60
MAX_TOKEN_DAYS = 366


# Who may sign in, and who creates benchmarks.
@audited_fields("UserEvent", "is_active", "is_staff", "is_superuser", "deactivated_in")
class User(AbstractUser):
    """A person. ``username`` is internal and never shown; people sign in with their e-mail address.

    A rater whose decisions were made elsewhere is a user without an address or a usable password.
    ``is_staff`` lets a user create benchmarks; it gives no access to anybody else's. ``is_superuser`` makes an operator
    of the server: see `is_operator`.
    """

    name = models.CharField(_("name"), max_length=MAX_PERSON_NAME_LENGTH, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    language = models.CharField(_("language"), max_length=10, default="en")
    # The slug of the benchmark whose admin deactivated the account; empty if it is active, or if whoever runs the
    # server deactivated it.
    deactivated_in = models.CharField(max_length=MAX_SLUG_LENGTH, blank=True, default="", db_default="", editable=False)

    # Accounts that an admin made for an address, and that nobody has opened: no password, and no sign-in yet.
    INVITED = models.Q(last_login=None, password__startswith=UNUSABLE_PASSWORD_PREFIX) & ~models.Q(email="")

    class Meta:
        constraints = [
            # Imported raters have no address; any other address belongs to one account, however it is capitalised.
            models.UniqueConstraint(Lower("email"), name="accounts_user_email_once", condition=~models.Q(email="")),
        ]
        triggers = [
            # Whoever makes an account, by whatever way: from then on no code makes another.
            pgtrigger.Trigger(
                name="ends_first_run",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                func="DELETE FROM accounts_setupcode; RETURN NULL;",
            ),
            # Whoever activates an account, by whatever way: a later deactivation is not that of the benchmark before.
            pgtrigger.Trigger(
                name="active_again",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__is_active=True) & ~pgtrigger.Q(new__deactivated_in=""),
                func="NEW.deactivated_in = ''; RETURN NEW;",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email or "Imported rater"

    @property
    def is_operator(self) -> bool:
        """Whether the user runs the server: they read its state and its records, but the contents of no benchmark."""
        return self.is_active and self.is_superuser

    @property
    def is_invited(self) -> bool:
        """Whether `INVITED` holds: the person was invited, and has not opened the account yet."""
        return bool(self.email) and self.last_login is None and not self.has_usable_password()


class SetupCode(models.Model):
    """The code with which the first account is made; the table is empty as soon as there is an account.

    The code is only on the terminal of whoever starts the server. This table holds its hash.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    code_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="accounts_setupcode_one")]

    def __str__(self) -> str:
        return f"code of {self.created_at:%Y-%m-%d %H:%M}"


class PhysicianProfile(models.Model):
    """Credentials of a physician, kept apart from decisions; they are exported only as counts.

    The name for acknowledgements is what its owner wants printed, and only where they have opted in.
    """

    class Seniority(models.TextChoices):
        TRAINEE = "trainee", pgettext_lazy("seniority", "In training")
        SPECIALIST = "specialist", _("Specialist")
        SENIOR = "senior", _("Senior or consultant")
        OTHER = "other", _("Other")

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="physician_profile")
    specialty = models.CharField(_("specialty"), max_length=MAX_SPECIALTY_LENGTH, blank=True)
    # Tags of BCP 47: the languages in which they can read a case and judge its responses. Empty: not said.
    languages = ArrayField(models.CharField(max_length=MAX_LANGUAGE_LENGTH), default=list, blank=True, db_default=[])
    licence_country = models.CharField(_("country of licence"), max_length=2, blank=True)
    # Seen by its owner and by the admins who look it up; it is in no report and no release.
    licence_number = models.CharField(
        _("licence number"), max_length=MAX_LICENCE_NUMBER_LENGTH, blank=True, default="", db_default=""
    )
    years_in_practice = models.PositiveSmallIntegerField(_("years in practice"), null=True, blank=True)
    seniority = models.CharField(_("seniority"), max_length=12, choices=Seniority.choices, blank=True)
    acknowledge = models.BooleanField(_("name me in acknowledgements"), default=False)
    acknowledged_as = models.CharField(_("name to print"), max_length=MAX_PERSON_NAME_LENGTH, blank=True)

    def __str__(self) -> str:
        return str(self.user)


@audited_fields(
    "InvitationEvent",
    *("user", "scope", "part", "invited_by", "created_at", "sent_at", "link_shown_at", "link_shown_to"),
    *("expires_at", "accepted_at", "withdrawn_at"),
)
class Invitation(models.Model):
    """A link that lets its reader set a password. ``scope`` names what they are invited to: a benchmark's slug.

    The token is only in the mail, or without a mail server in the one response that shows it to an admin. This table
    holds its hash. A new link replaces the one before.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations")
    scope = models.CharField(max_length=MAX_SLUG_LENGTH)
    title = models.CharField(max_length=MAX_TITLE_LENGTH)  # of the benchmark, as it was when the mail was written
    part = models.CharField(max_length=15)  # a key of `accounts.notices.PARTS`
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    token_hash = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)  # empty: the mail could not be sent, or there is none
    link_shown_at = models.DateTimeField(null=True, blank=True)  # to an admin who hands it on: no mail server is set
    link_shown_to = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "scope"], name="accounts_invitation_once"),
            models.CheckConstraint(
                condition=models.Q(sent_at=None) | models.Q(link_shown_at=None), name="accounts_invitation_one_way"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} to {self.title}"


class PasswordLink(models.Model):
    """The record that an admin was shown a link with which ``user`` chooses a new password, without a mail server.

    ``scope`` and ``title`` are those of the benchmark, as in `Invitation`. The link itself is not stored.
    """

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="password_links")
    scope = models.CharField(max_length=MAX_SLUG_LENGTH)
    title = models.CharField(max_length=MAX_TITLE_LENGTH)
    link_shown_to = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    link_shown_at = models.DateTimeField()

    class Meta:
        ordering = ["-link_shown_at", "-pk"]
        indexes = [models.Index(fields=["user", "-link_shown_at"], name="accounts_password_links")]
        triggers = [
            pgtrigger.Protect(name="on_record", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"link for {self.user}, shown to {self.link_shown_to}"


class Notification(models.Model):
    """Something a person should know. Facts are stored; the words are made when it is read, in the reader's language.

    ``url`` is a path of this site. ``key``, where it is set, names what must be notified only once.
    """

    class Kind(models.TextChoices):
        NEW_WORK = "new_work", _("New assignments")
        RETURNED = "returned", _("Returned work")
        DUE = "due", _("Due dates")
        COMMENT = "comment", _("Comments")
        HELD_BACK = "held_back", _("Assignments paused")
        INVITATION = "invitation", _("Added to a benchmark")
        RUBRIC = "rubric", _("Rubrics you write or review")
        JOB_DONE = "job_done", _("Finished jobs and runs")
        JOB_FAILED = "job_failed", _("Failed jobs and runs")
        BATCH = "batch", _("Completed batches")
        ATTENTION = "attention", _("Batches that need attention")
        CONFLICT = "conflict", _("New conflicts")
        BUDGET = "budget", _("Budgets used up")
        WORKER = "worker", _("Background work stopped")
        ACCOUNT = "account", _("Account security")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=15, choices=Kind.choices)
    benchmark_title = models.CharField(max_length=MAX_TITLE_LENGTH)
    url = models.CharField(max_length=500)
    values = models.JSONField(default=dict)
    key = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)  # set before the mail goes out, so that no two carry it

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], condition=~models.Q(key=""), name="accounts_told_once")
        ]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="accounts_notices"),
            models.Index(fields=["user"], condition=models.Q(read_at=None), name="accounts_unread"),
            models.Index(
                fields=["created_at"], condition=models.Q(read_at=None, mailed_at=None), name="accounts_unmailed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user}"


class NotificationSetting(models.Model):
    """How a person wants to be told of one kind of notification; without a row the default of the kind applies."""

    class Delivery(models.TextChoices):
        PRODUCT = "product", _("In Consilium only")
        DIGEST = "digest", _("Daily email")
        AT_ONCE = "at_once", _("Email immediately")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notification_settings")
    kind = models.CharField(max_length=15, choices=Notification.Kind.choices)
    delivery = models.CharField(max_length=10, choices=Delivery.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="accounts_setting_once")]

    def __str__(self) -> str:
        return f"{self.user}, {self.kind}: {self.delivery}"


@audited_fields(
    "ApiTokenEvent",
    *("public_id", "user", "name", "prefix", "scopes", "benchmark", "created_at", "expires_at"),
    *("revoked_at", "revoked_by"),
)
class ApiToken(models.Model):
    """A key with which a program uses the API as ``user``, within ``scopes`` and until it expires or is revoked.

    ``benchmark`` is the slug of the only benchmark that the token opens; empty for all of its owner. The key itself is
    shown once, when it is made. This table holds its hash: a key has 238 random bits, so a fast hash is enough.
    """

    class Scope(models.TextChoices):
        READ = "read", pgettext_lazy("scope", "Read")
        GRADE = "grade", pgettext_lazy("scope", "Grade and write")
        RUN = "run", pgettext_lazy("scope", "Import and run")
        ADMIN = "admin", pgettext_lazy("scope", "Administer")

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=MAX_TOKEN_NAME_LENGTH)
    token_hash = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=20)  # the first characters of the key, by which its owner knows it
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope.choices))
    benchmark = models.CharField(max_length=MAX_SLUG_LENGTH, blank=True, default="")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)  # to within `api_tokens.USE_IS_WRITTEN_EVERY`
    last_used_address = models.GenericIPAddressField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["expires_at"], condition=models.Q(revoked_at=None), name="accounts_token_expiry"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scopes__contained_by=["read", "grade", "run", "admin"], scopes__len__gt=0),
                name="accounts_token_scopes",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    expires_at__gt=models.F("created_at"),
                    expires_at__lte=models.F("created_at") + timedelta(days=MAX_TOKEN_DAYS),
                ),
                name="accounts_token_expires",
            ),
            models.CheckConstraint(
                condition=models.Q(revoked_by=None) | models.Q(revoked_at__isnull=False),
                name="accounts_token_revoked_by",
            ),
        ]
        triggers = [
            # What a token may do is what its owner saw when they made it.
            pgtrigger.ReadOnly(
                name="as_made",
                fields=["user", "token_hash", "prefix", "scopes", "benchmark", "created_at", "expires_at"],
            ),
            pgtrigger.Trigger(
                name="stays_revoked",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__revoked_at__isnull=False)
                & pgtrigger.Q(old__revoked_at__df=pgtrigger.F("new__revoked_at")),
                func="RAISE EXCEPTION 'A revoked token stays revoked';",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class UserSession(AbstractBaseSession):
    """A session of `accounts.sessions`: ``user`` is who is signed in, ``used_at`` about when they last used it."""

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")
    used_at = models.DateTimeField(default=timezone.now)

    @classmethod
    def get_session_store_class(cls) -> type[SessionBase]:
        """The engine, which signs the data."""
        return import_module(settings.SESSION_ENGINE).SessionStore


class KnownDevice(models.Model):
    """A browser on which a person has signed in before, by the hash of the random name in its cookie."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="known_devices")
    token_hash = models.CharField(max_length=64)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "token_hash"], name="accounts_device_once")]

    def __str__(self) -> str:
        return f"a device of {self.user}"


class SecurityEvent(models.Model):
    """One line of the security log: a sign-in, a change of credentials or rights, and the like.

    ``kind`` is a key of `accounts.security_kinds.KINDS`. ``user`` is the account that the event is about; it is empty
    where no account has the address that was typed, which is not stored. ``by`` is who did it; it is empty for commands
    and for people who are not signed in. ``scope`` is the slug of a benchmark, if the event belongs to one. ``values``
    are facts for the words of the kind, never a password, token, code or link. Nobody can change or delete a row.
    """

    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    user = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="security_events")
    by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    scope = models.CharField(max_length=MAX_SLUG_LENGTH, blank=True)
    address = models.GenericIPAddressField(null=True)
    browser = models.CharField(max_length=200, blank=True)  # the header User-Agent, cut
    values = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["-at", "-id"], name="accounts_security_log"),
            models.Index(fields=["user", "-at"], name="accounts_security_user"),
            models.Index(fields=["scope", "-at"], name="accounts_security_scope", condition=~models.Q(scope="")),
        ]
        triggers = [
            pgtrigger.Protect(name="on_record", operation=pgtrigger.Update | pgtrigger.Delete),
            pgtrigger.Trigger(
                name="no_truncate",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'The security log cannot be truncated';",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.at:%Y-%m-%d %H:%M}"
