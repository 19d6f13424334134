"""Forms of the cohort: the call with its rules, an application, its review, checks of licences, a rotation."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.countries import CountryField, country_choices
from accounts.languages_read import LanguagesField
from accounts.models import PhysicianProfile
from annotation.cohort.rotation import MAX_ROUNDS
from annotation.models import ApplicationCall, ExpertGroup, Membership
from consilium.core.languages import language_name
from consilium.core.limits import (
    MAX_INSTRUCTIONS_LENGTH,
    MAX_LICENCE_NUMBER_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_REASON_LENGTH,
    MAX_SPECIALTY_LENGTH,
    MAX_TITLE_LENGTH,
)

MAX_FILE_BYTES = 8 << 20
MAX_LISTED = 100  # specialties of a call


class CallForm(forms.Form):
    """Whether people can apply, what they read first, and who is eligible."""

    is_open = forms.BooleanField(label=_("People can apply"), required=False)
    introduction = forms.CharField(
        label=_("Introduction"),
        required=False,
        max_length=MAX_INSTRUCTIONS_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("Applicants read this above the form: what the work is, how long it takes, how it is paid."),
    )
    min_years = forms.IntegerField(label=_("Years in practice, at least"), required=False, min_value=0, max_value=80)
    specialties = forms.CharField(
        label=_("Specialties"),
        required=False,
        max_length=MAX_LISTED * (MAX_SPECIALTY_LENGTH + 2),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One a line. Leave empty to allow all."),
    )
    languages = LanguagesField(
        label=_("Languages"), help_text=_("Applicants have to read at least one of them. Leave empty to allow all.")
    )
    countries = forms.MultipleChoiceField(
        label=_("Countries or regions of licence"),
        required=False,
        choices=lambda: [choice for choice in country_choices() if choice[0]],
        widget=forms.SelectMultiple(attrs={"size": 6}),
        help_text=_("Choose none to allow all."),
    )
    seniorities = forms.MultipleChoiceField(
        label=_("Seniority"),
        required=False,
        choices=PhysicianProfile.Seniority.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Choose none to allow all."),
    )
    licence_required = forms.BooleanField(
        label=_("A licence number is required, and someone checks it in the register"), required=False
    )

    @classmethod
    def of(cls, call: ApplicationCall) -> CallForm:
        """The form as the call stands."""
        values = {name: getattr(call, name) for name in cls.base_fields}
        return cls(initial={**values, "specialties": "\n".join(call.specialties)})

    def shown_values(self, names: list[str], call: ApplicationCall) -> list[tuple[str, str]]:
        """The labels of some fields, each with what a call has there, in words."""
        return [(str(self.fields[name].label), _in_words(name, getattr(call, name))) for name in names]

    def clean_specialties(self) -> list[str]:
        """The lines that are not blank."""
        names = [" ".join(line.split()) for line in self.cleaned_data["specialties"].splitlines()]
        names = list(dict.fromkeys(name for name in names if name))
        if len(names) > MAX_LISTED or any(len(name) > MAX_SPECIALTY_LENGTH for name in names):
            raise forms.ValidationError(
                _("At most %(n)s specialties of %(length)s characters."),
                params={"n": MAX_LISTED, "length": MAX_SPECIALTY_LENGTH},
            )
        return names


def _in_words(name: str, value: Any) -> str:
    """A stored value of a call; empty where there is none."""
    if isinstance(value, bool):
        return gettext("Yes") if value else gettext("No")
    if not isinstance(value, list):
        return "" if value is None else str(value)
    words: dict[str, Any] = {}
    if name == "languages":
        words = {tag: language_name(tag) for tag in value}
    elif name == "countries":
        words = dict(country_choices())
    elif name == "seniorities":
        words = dict(PhysicianProfile.Seniority.choices)
    return ", ".join(str(words.get(each, each)) for each in value)


class ApplicationForm(forms.Form):
    """What an applicant says of themselves."""

    name = forms.CharField(
        label=_("Your name"),
        max_length=MAX_PERSON_NAME_LENGTH,
        help_text=_("As it is in the register of physicians."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("Email address"),
        help_text=_("If you are admitted, the invitation is sent to this address."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    specialty = forms.CharField(label=_("Specialty"), max_length=MAX_SPECIALTY_LENGTH)
    languages = LanguagesField(help_text=_("The languages in which you can read a case and judge a response to it."))
    licence_country = CountryField()
    licence_number = forms.CharField(
        label=_("Licence number"),
        max_length=MAX_LICENCE_NUMBER_LENGTH,
        required=False,
        help_text=_("Seen only by the admins who look it up in the register. It is in no report and no release."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    years_in_practice = forms.IntegerField(label=_("Years in practice"), min_value=0, max_value=80)
    seniority = forms.ChoiceField(
        label=_("Seniority"), choices=[("", "–"), *PhysicianProfile.Seniority.choices], required=False
    )
    statement = forms.CharField(
        label=_("Why you would like to take part"),
        required=False,
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    agrees = forms.BooleanField(
        label=_("The people who run this study may store what I entered and look my licence up in the register."),
    )

    def __init__(self, *args: Any, call: ApplicationCall, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["licence_number"].required = call.licence_required
        self.fields["licence_country"].required = call.licence_required or bool(call.countries)
        self.needs_language = bool(call.languages)
        if not self.needs_language:
            self.fields["languages"].help_text = _(
                "The languages in which you can read a case and judge a response to it. You can leave this empty."
            )

    def clean_languages(self) -> list[str]:
        """Some language where the call is for readers of some."""
        languages: list[str] = self.cleaned_data["languages"]
        if self.needs_language and not languages:
            raise forms.ValidationError(_("Choose each language that you can read."), code="required")
        return languages

    def application(self) -> dict[str, Any]:
        """The fields of the application."""
        return {name: value for name, value in self.cleaned_data.items() if name != "agrees"}


class ApplicationsFileForm(forms.Form):
    """A file of applications made elsewhere."""

    file = forms.FileField(label=_("File (CSV or JSONL)"))

    def clean_file(self) -> Any:
        """Refuse what is larger than any list of applicants."""
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(_("The file is larger than %(n)s MiB."), params={"n": MAX_FILE_BYTES >> 20})
        return file


class ReasonForm(forms.Form):
    """Why."""

    reason = forms.CharField(label=_("Reason"), max_length=MAX_REASON_LENGTH, widget=forms.Textarea(attrs={"rows": 2}))


class AdmitForm(forms.Form):
    """Into which group and role an applicant is admitted."""

    group = forms.ModelChoiceField(
        label=_("Expert group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id", empty_label="–"
    )
    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices)

    def __init__(self, *args: Any, groups: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["group"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = groups.order_by("name")


class LicenceForm(forms.Form):
    """Where a licence was looked up, and what the register says."""

    register = forms.CharField(
        label=_("Register"),
        max_length=MAX_TITLE_LENGTH,
        help_text=_("Its name or address, so that someone else can look it up again."),
    )
    confirmed = forms.ChoiceField(
        label=_("Result"),
        choices=[("yes", _("The register has this number under this name")), ("no", _("It does not"))],
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        label=_("Note"), required=False, max_length=MAX_REASON_LENGTH, widget=forms.Textarea(attrs={"rows": 2})
    )

    def result(self) -> dict[str, Any]:
        """The arguments of the service."""
        values = self.cleaned_data
        return {"register": values["register"], "confirmed": values["confirmed"] == "yes", "note": values["note"]}


class RotationForm(forms.Form):
    """A group, how many of its members do each part in a round, and how many rounds."""

    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_LENGTH)
    group = forms.ModelChoiceField(
        label=_("Expert group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id", empty_label="–"
    )
    annotator = forms.IntegerField(label=_("Annotators per round"), min_value=0, max_value=999, initial=2)
    checker = forms.IntegerField(label=_("Checkers per round"), min_value=0, max_value=999, initial=1)
    adjudicator = forms.IntegerField(label=_("Adjudicators per round"), min_value=0, max_value=999, initial=0)
    author = forms.IntegerField(label=_("Authors per round"), min_value=0, max_value=999, initial=0)
    rounds = forms.IntegerField(label=_("Rounds"), min_value=1, max_value=MAX_ROUNDS, initial=4)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0)

    PARTS = ("annotator", "checker", "adjudicator", "author")

    def __init__(self, *args: Any, groups: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["group"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = groups.order_by("name")

    def clean(self) -> dict[str, Any]:
        """At least one person has a part."""
        data: dict[str, Any] = super().clean() or {}
        if not self.errors and not sum(data[name] for name in self.PARTS):
            self.add_error("annotator", _("At least one person must have a part in a round."))
        return data

    def parts(self) -> dict[str, int]:
        """The parts that somebody does."""
        return {name: self.cleaned_data[name] for name in self.PARTS if self.cleaned_data[name]}
