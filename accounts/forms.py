"""Forms of the account pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from allauth.account.forms import ChangePasswordForm as AllauthChangePasswordForm
from allauth.account.forms import ResetPasswordForm as AllauthResetPasswordForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.http import HttpRequest
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from accounts.countries import CountryField
from accounts.languages_read import LanguagesField
from accounts.models import Notification, NotificationSetting, PhysicianProfile, User
from accounts.notices import ABOUT
from accounts.services.first_run import WrongCode, is_current_code
from accounts.services.mails import has_mail_server
from accounts.tasks import mail_password_link
from accounts.time_zones import TimeZoneField
from consilium.core.limits import MAX_PERSON_NAME_LENGTH, MAX_SPECIALTY_LENGTH


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
            *("specialty", "languages", "licence_country", "years_in_practice", "seniority"),
            *("acknowledge", "acknowledged_as"),
        ]
        help_texts = {
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
        return [self[name] for name in ("specialty", "licence_country", "years_in_practice", "seniority")]


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
    years_in_practice = forms.IntegerField(label=_("Years in practice"), min_value=0, max_value=80, required=False)

    def profile(self) -> dict[str, Any]:
        """Fields of `PhysicianProfile`."""
        return {
            "specialty": self.cleaned_data["specialty"],
            "languages": self.cleaned_data["languages"],
            "licence_country": self.cleaned_data["licence_country"],
            "years_in_practice": self.cleaned_data["years_in_practice"],
        }


class ChangePasswordForm(AllauthChangePasswordForm):
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


class ResetPasswordForm(AllauthResetPasswordForm):
    """Asks for the address to which a link for a new password is sent."""

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        """Leave the mail to a worker, which gets a task for an unknown address, too.

        The request does the same work for every address, so the time of its answer does not show who has an account.
        """
        if has_mail_server():
            for user_id in [user.pk for user in self.users] or [None]:
                mail_password_link.delay_on_commit(user_id)
        return str(self.cleaned_data["email"])


class ResetPasswordKeyForm(AllauthResetPasswordKeyForm):
    """Takes the new password of somebody who opened a link, with the words of the welcome page."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label, help_text in (
            ("password1", _("New password"), PASSWORD_HELP),
            ("password2", _("Confirm password"), ""),
        ):
            field = self.fields[name]
            field.label, field.help_text = label, help_text
            field.widget.attrs.pop("placeholder", None)


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
