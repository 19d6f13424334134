"""Forms of the account pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from allauth.account.forms import ChangePasswordForm as AllauthChangePasswordForm
from allauth.account.forms import ReauthenticateForm as AllauthReauthenticateForm
from allauth.account.forms import ResetPasswordForm as AllauthResetPasswordForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from allauth.account.forms import SetPasswordForm as AllauthSetPasswordForm
from allauth.core import context as request_context
from allauth.mfa.base.forms import AuthenticateForm as AllauthCodeForm
from allauth.mfa.base.forms import ReauthenticateForm as AllauthCodeAgainForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm as AllauthAddKeyForm
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm as AllauthKeyForm
from allauth.mfa.webauthn.forms import EditWebAuthnForm as AllauthRenameKeyForm
from allauth.mfa.webauthn.forms import LoginWebAuthnForm as AllauthPasskeyForm
from allauth.mfa.webauthn.forms import ReauthenticateWebAuthnForm as AllauthKeyAgainForm
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import get_language_info, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.countries import CountryField
from accounts.key_answers import ReadsKeyAnswer
from accounts.languages_read import LanguagesField
from accounts.models import (
    MAX_TOKEN_DAYS,
    MAX_TOKEN_NAME_LENGTH,
    ApiToken,
    Notification,
    NotificationSetting,
    PhysicianProfile,
    User,
)
from accounts.notices import ABOUT
from accounts.services import api_tokens
from accounts.services.confirmations import record_failure
from accounts.services.first_run import WrongCode, is_current_code
from accounts.services.mails import has_mail_server
from accounts.services.security_log import record
from accounts.tasks import mail_password_link
from accounts.time_zones import TimeZoneField
from accounts.token_scopes import ABOUT as ABOUT_SCOPES
from accounts.token_scopes import benchmarks_of
from consilium.core.limits import MAX_LICENCE_NUMBER_LENGTH, MAX_PERSON_NAME_LENGTH, MAX_SPECIALTY_LENGTH

if TYPE_CHECKING:

    class _FormBase(forms.Form):
        user: User
else:
    _FormBase = object

MAX_KEY_NAME_LENGTH = 100


def language_choices() -> list[tuple[str, str]]:
    """Languages of the interface, each by its own name."""
    return [(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES]


NAME_HELP = _("The people who run your benchmarks see this name. Exports show physicians only by pseudonym.")


class ProfileForm(forms.ModelForm[User]):
    """What people say about themselves: the name others see, and how times and words are shown to them."""

    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_PERSON_NAME_LENGTH,
        required=False,
        help_text=NAME_HELP,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    time_zone = TimeZoneField()
    language = forms.ChoiceField(label=_("Language"), choices=language_choices)

    class Meta:
        model = User
        fields = ["name", "time_zone", "language"]


LICENCE_NUMBER_HELP = _("Seen only by the admins who look it up in the register. It is in no report and no release.")


class CredentialsForm(forms.ModelForm[PhysicianProfile]):
    """What physicians say about their training, and whether they want to be thanked by name."""

    languages = LanguagesField()
    licence_country = CountryField()
    years_in_practice = forms.IntegerField(label=_("Years in practice"), min_value=0, max_value=80, required=False)
    seniority = forms.ChoiceField(
        label=_("Seniority"), choices=[("", "–"), *PhysicianProfile.Seniority.choices], required=False
    )

    class Meta:
        model = PhysicianProfile
        fields = [
            *("specialty", "languages", "licence_country", "licence_number", "years_in_practice", "seniority"),
            *("acknowledge", "acknowledged_as"),
        ]
        help_texts = {
            "licence_number": LICENCE_NUMBER_HELP,
            "specialty": _("In some benchmarks, cases in your specialty are assigned to you first."),
            "acknowledge": _(
                "You are listed in the acknowledgements of the benchmarks you worked on. Your decisions "
                "are not disclosed."
            ),
            "acknowledged_as": _(
                "Enter your name as it should be printed, with a title if you wish. Leave empty to use the name above."
            ),
        }

    @property
    def credentials(self) -> list[forms.BoundField]:
        """The fields that are exported only as counts."""
        names = ("specialty", "licence_country", "licence_number", "years_in_practice", "seniority")
        return [self[name] for name in names]


PASSWORD_HELP = _("At least 10 characters; a few unrelated words are easy to remember and hard to guess.")


class WelcomeForm(forms.Form):
    """The form of a new person: a name, a password, and how things are shown to them."""

    name = forms.CharField(
        label=_("Your name"),
        max_length=MAX_PERSON_NAME_LENGTH,
        help_text=NAME_HELP,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        help_text=PASSWORD_HELP,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label=_("Confirm password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    language = forms.ChoiceField(label=_("Language"), choices=language_choices)
    time_zone = TimeZoneField(attrs={"data-time-zone": ""})

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean(self) -> dict[str, Any]:
        """Check that the two passwords are the same and that the validators of the deployment accept them."""
        data: dict[str, Any] = super().clean() or {}
        password = data.get("password")
        if password and password != data.get("again"):
            self.add_error("again", _("The two passwords do not match."))
        if password:
            self.user.name = data.get("name", "")  # so that a password like the name is refused; not saved here
            try:
                validate_password(password, self.user)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return data

    def profile(self) -> dict[str, Any]:
        """Fields of `PhysicianProfile`; none for those who run a benchmark."""
        return {}


class FirstRunForm(WelcomeForm):
    """The form of the first person of an installation: also the code from the terminal, and their address."""

    code = forms.CharField(
        label=_("Code from the terminal"),
        max_length=40,
        help_text=_("When the server starts, it prints this code in the terminal, below its address."),
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false", "autofocus": ""}
        ),
    )
    email = forms.EmailField(
        label=_("Email address"),
        help_text=_("You use it to sign in."),
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    field_order = ("code", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, user=User(), **kwargs)

    def clean_code(self) -> str:
        """The code, refused with the other fields: whoever corrects a password learns at once that it is wrong, too."""
        code: str = self.cleaned_data["code"]
        if not is_current_code(code):
            raise forms.ValidationError(str(WrongCode()))
        return code

    def clean_email(self) -> str:
        """The address, which the password must not resemble."""
        self.user.email = self.cleaned_data["email"]
        return self.user.email


class PhysicianWelcomeForm(WelcomeForm):
    """The welcome form for those who grade, check or adjudicate: it also asks for credentials."""

    name = forms.CharField(
        label=_("Your name"),
        max_length=MAX_PERSON_NAME_LENGTH,
        help_text=_("Your study coordinator sees this name. Exports show only your pseudonym."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    specialty = forms.CharField(
        label=_("Specialty"),
        max_length=MAX_SPECIALTY_LENGTH,
        required=False,
        help_text=_("In some benchmarks, cases in your specialty are assigned to you first."),
    )
    languages = LanguagesField()
    licence_country = CountryField()
    licence_number = forms.CharField(
        label=_("Licence number"),
        max_length=MAX_LICENCE_NUMBER_LENGTH,
        required=False,
        help_text=LICENCE_NUMBER_HELP,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    years_in_practice = forms.IntegerField(label=_("Years in practice"), min_value=0, max_value=80, required=False)

    def profile(self) -> dict[str, Any]:
        """Fields of `PhysicianProfile`."""
        return {
            "specialty": self.cleaned_data["specialty"],
            "languages": self.cleaned_data["languages"],
            "licence_country": self.cleaned_data["licence_country"],
            "licence_number": self.cleaned_data["licence_number"],
            "years_in_practice": self.cleaned_data["years_in_practice"],
        }


class RevokesTokens(forms.Form):
    """Mixed into the forms of a new password: it also revokes the API tokens, unless its owner unticks that."""

    user: User | None

    def offer_to_revoke(self) -> None:
        """Add the field, if there is a token that works."""
        user = self.user
        if user is not None and ApiToken.objects.filter(api_tokens.live_tokens(user, at=timezone.now())).exists():
            self.fields["revoke_tokens"] = forms.BooleanField(
                label=_("Also revoke my API tokens"),
                required=False,
                initial=True,
                help_text=_("Programs that use them stop working. Leave this ticked if someone may know a token."),
            )

    def save(self) -> None:
        """Set the password, and revoke the tokens if that was left ticked."""
        super().save()  # type: ignore[misc]  # of the form of allauth beside this one
        if self.user is not None and self.cleaned_data.get("revoke_tokens"):
            api_tokens.revoke_all_tokens(
                user=self.user, by=self.user, at=timezone.now(), request=request_context.request
            )


class ChangePasswordForm(RevokesTokens, AllauthChangePasswordForm):
    """Takes a new password of somebody who is signed in, with labels in sentence case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in (
            ("oldpassword", _("Current password")),
            ("password1", _("New password")),
            ("password2", _("Confirm password")),
        ):
            field = self.fields[name]
            field.label = label
            field.widget.attrs.pop("placeholder", None)
        self.offer_to_revoke()


class ResetPasswordForm(AllauthResetPasswordForm):
    """Asks for the address to which a link for a new password is sent."""

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        """Leave the mail to a worker, which gets a task for an unknown address, too.

        The request does the same work for every address, so the time of its answer does not show who has an account.
        """
        record("password_reset_requested", at=timezone.now(), user=next(iter(self.users), None), request=request)
        if has_mail_server():
            for user_id in [user.pk for user in self.users] or [None]:
                mail_password_link.delay_on_commit(user_id)
        return str(self.cleaned_data["email"])


class SetPasswordForm(RevokesTokens, AllauthSetPasswordForm):
    """Takes the first password of somebody who signs in by single sign-on, with the words of the welcome page."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _describe_new_password(self)
        self.offer_to_revoke()


class ResetPasswordKeyForm(RevokesTokens, AllauthResetPasswordKeyForm):
    """Takes the new password of somebody who opened a link, with the words of the welcome page."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _describe_new_password(self)
        self.offer_to_revoke()


def _describe_new_password(form: forms.Form) -> None:
    for name, label, help_text in (
        ("password1", _("New password"), PASSWORD_HELP),
        ("password2", _("Confirm password"), ""),
    ):
        field = form.fields[name]
        field.label, field.help_text = label, help_text
        field.widget.attrs.pop("placeholder", None)


class _LoggedFailure(_FormBase):
    """Mix in before a form of allauth that asks again who somebody is: a wrong answer goes into the security log."""

    way = ""  # a key of `accounts.services.confirmations.WAYS`
    answer = ""  # the field

    def full_clean(self) -> None:
        """Check as usual, then record a wrong answer; an empty one is none."""
        super().full_clean()
        if self.is_bound and self.errors and self.data.get(self.add_prefix(self.answer)):
            record_failure(user=self.user, request=request_context.request, way=self.way)


class ConfirmByPasswordForm(_LoggedFailure, AllauthReauthenticateForm):
    """The password again."""

    way, answer = "password", "password"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["password"]
        field.label = _("Password")
        field.widget.attrs.pop("placeholder", None)


class ConfirmByCodeForm(_LoggedFailure, AllauthCodeAgainForm):
    """A code again."""

    way, answer = "totp", "code"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_code(self)


class ConfirmByPasskeyForm(_LoggedFailure, ReadsKeyAnswer, AllauthKeyAgainForm):
    """A passkey or security key again."""

    way, answer = "webauthn", "credential"


class PasskeyForm(ReadsKeyAnswer, AllauthPasskeyForm):
    """A passkey in place of address and password."""


class KeyForm(ReadsKeyAnswer, AllauthKeyForm):
    """A key as the second step at a sign-in."""


class CodeForm(AllauthCodeForm):
    """The code at a sign-in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_code(self)


def _name_code(form: forms.Form) -> None:
    field = form.fields["code"]
    field.label = _("Code from your authenticator app, or a recovery code")
    field.widget.attrs.pop("placeholder", None)
    field.widget.attrs["inputmode"] = "text"


class AddKeyForm(ReadsKeyAnswer, AllauthAddKeyForm):
    """A new passkey or security key."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"] = _key_name(self.initial.get("name", ""), is_required=False)
        field = self.fields["passwordless"]
        field.label, field.initial = _("Sign in with this key alone, without a password (passkey)"), True
        field.help_text = _(
            "The key then asks for your fingerprint, your face or a PIN. Clear the box for a USB key without a PIN."
        )


class RenameKeyForm(AllauthRenameKeyForm):
    """Another name for a key."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"] = _key_name(self.initial.get("name", ""), is_required=True)


def _key_name(initial: str, *, is_required: bool) -> forms.CharField:
    return forms.CharField(
        label=_("Name of the key"),
        max_length=MAX_KEY_NAME_LENGTH,
        required=is_required,
        initial=initial,
        help_text=_("For you to tell your keys apart, for example: work laptop."),
    )


class DeliveryForm(forms.Form):
    """How a person wants to be told of each of ``kinds`` of notifications."""

    def __init__(self, *args: Any, current: Mapping[str, str], kinds: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in kinds:
            self.fields[kind] = forms.ChoiceField(
                label=Notification.Kind(kind).label,
                choices=NotificationSetting.Delivery.choices,
                initial=current[kind],
                help_text=ABOUT[Notification.Kind(kind)],
            )


UNTIL_A_DATE = "date"


class ApiTokenForm(forms.Form):
    """A new API token: what it is for, what it may do, in which benchmark, and until when."""

    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_TOKEN_NAME_LENGTH,
        help_text=_("What you use it for, such as “Notebook on my laptop”."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What the token may do"),
        choices=[(value, format_lazy("{}: {}", label, ABOUT_SCOPES[value])) for value, label in ApiToken.Scope.choices],
        initial=[ApiToken.Scope.READ.value],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Never more than you may do yourself. Choose as little as your program needs."),
    )
    benchmark = forms.ChoiceField(label=_("Benchmark"), required=False)
    expires = forms.ChoiceField(
        label=_("Expires"),
        choices=[
            *(
                (str(days), ngettext_lazy("in %(n)d day", "in %(n)d days", "n") % {"n": days})
                for days in (7, 30, 90, 365)
            ),
            (UNTIL_A_DATE, _("on a date")),
        ],
        initial=str(api_tokens.DEFAULT_DAYS),
    )
    expires_on = forms.DateField(
        label=_("Date of expiry"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=_("Only for “on a date”: the last day on which the token works, at most a year from now."),
    )

    def __init__(self, *args: Any, user: User, at: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.at = at
        field = self.fields["benchmark"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("All of mine")), *benchmarks_of(user)]

    def clean(self) -> dict[str, Any]:
        """Check the moment of expiry: the end of the day that was chosen, where the reader is."""
        data: dict[str, Any] = super().clean() or {}
        if data.get("expires") != UNTIL_A_DATE:
            if data.get("expires"):
                data["expires_at"] = self.at + timedelta(days=int(data["expires"]))
            return data
        day = data.get("expires_on")
        if day is None:
            if "expires_on" not in self.errors:
                self.add_error("expires_on", _("Enter the date."))
            return data
        today = timezone.localdate(self.at)
        if not today <= day < today + timedelta(days=MAX_TOKEN_DAYS):
            self.add_error("expires_on", _("Choose a day from today on, at most a year from now."))
            return data
        end = timezone.make_aware(datetime.combine(day + timedelta(days=1), time()))
        data["expires_at"] = min(end, self.at + timedelta(days=MAX_TOKEN_DAYS))
        return data

    def values(self) -> dict[str, Any]:
        """The arguments of `accounts.services.api_tokens.make_token`."""
        return {name: self.cleaned_data[name] for name in ("name", "scopes", "benchmark", "expires_at")}
