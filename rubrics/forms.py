"""Forms of the benchmark pages."""

from __future__ import annotations

from datetime import datetime, time
from html import escape
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.forms.utils import flatatt
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.commands import CommandForm
from consilium.core.i18n import translate
from consilium.core.languages import language_name
from consilium.core.limits import (
    MAX_GROUP_NAME_LENGTH,
    MAX_KEY_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_SCALE_NAME_LENGTH,
    MAX_SLUG_LENGTH,
    MAX_TITLE_LENGTH,
)
from rubrics import imports
from rubrics.editor.draft_content import HIGHEST, LOWEST
from rubrics.models import (
    AuthoringRole,
    Benchmark,
    BenchmarkRole,
    Candidate,
    Case,
    Difficulty,
    Register,
    slug_characters,
)
from rubrics.parsing.cases import FORMATS
from rubrics.parsing.decisions import MAX_REPLICATE
from rubrics.selectors import lists
from rubrics.selectors.case_selection import STATES
from rubrics.services.attribute_values import FIELDS, AttributeValues


class NewBenchmarkForm(forms.Form):
    """What a new benchmark needs."""

    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_LENGTH)
    slug = forms.CharField(
        label=_("Short name"),
        max_length=MAX_SLUG_LENGTH,
        validators=[slug_characters],
        help_text=_("Used in addresses and commands; it cannot be changed later. For example: neurology-2026"),
    )
    description = forms.CharField(label=_("Description"), required=False, widget=forms.Textarea(attrs={"rows": 3}))


class SettingsForm(forms.ModelForm[Benchmark]):
    """What describes a benchmark to its physicians and judges."""

    class Meta:
        model = Benchmark
        fields = ["title", "description", "guidelines", "rule_sheet", "licence"]
        widgets = {
            "description": forms.Textarea(attrs={"rows": 3}),
            "guidelines": forms.Textarea(attrs={"rows": 10}),
            "rule_sheet": forms.Textarea(attrs={"rows": 10}),
        }


class SecondStepForm(forms.Form):
    """From which day the people of a benchmark need a second step; the day begins at midnight where the admin is."""

    since = forms.DateField(
        label=_("Required from"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("Today or an earlier day: at once. Until then, pages show a notice to those who have none."),
    )

    def clean_since(self) -> datetime:
        """The beginning of that day."""
        return timezone.make_aware(datetime.combine(self.cleaned_data["since"], time()))


class RulesForm(forms.Form):
    """What the rubrics of the benchmark must keep to (`rubrics.editor.rules.AuthoringRules`)."""

    target = forms.IntegerField(
        label=_("Target number of criteria"),
        min_value=1,
        max_value=500,
        help_text=_("A target shown to authors; it is not enforced."),
    )
    fewest = forms.IntegerField(label=_("Minimum number of criteria"), min_value=1, max_value=500)
    lowest = forms.IntegerField(label=_("Minimum points"), min_value=LOWEST, max_value=HIGHEST)
    highest = forms.IntegerField(label=_("Maximum points"), min_value=1, max_value=HIGHEST)
    only_positive = forms.BooleanField(label=_("Only positive points"), required=False)
    safety = forms.IntegerField(
        label=_("Minimum number of safety criteria"),
        min_value=0,
        max_value=500,
        help_text=_("Criteria with a tag that begins with axis:safety, section:safety or cluster:safety."),
    )
    reviewers = forms.IntegerField(
        label=_("Number of approvals by physicians needed"),
        min_value=1,
        max_value=10,
        help_text=_("Not counting the physicians who wrote it."),
    )

    def clean(self) -> dict[str, Any]:
        """Check that the lowest points are below the highest."""
        cleaned = super().clean() or {}
        lowest, highest = cleaned.get("lowest"), cleaned.get("highest")
        if lowest is not None and highest is not None and lowest > highest:
            self.add_error("lowest", _now("The minimum points are above the maximum points."))
        return cleaned


class AttributesForm(CommandForm):
    """The attributes of a candidate."""

    commands = (AttributeValues,)
    open_weights = forms.TypedChoiceField(
        label=_("Open weights"),
        required=False,
        choices=[("", _("Unknown")), ("true", _("Yes")), ("false", _("No"))],
        coerce=lambda value: value == "true",
        empty_value=None,
    )
    field_order = FIELDS

    def clean(self) -> dict[str, Any]:
        """Check that the values fit each other."""
        cleaned = super().clean() or {}
        if not self.errors:
            for field, reason in self.values().conflicts():
                self.add_error(field, translate(reason))
        return cleaned

    def values(self) -> AttributeValues:
        """What was entered."""
        return AttributeValues(**{name: self.cleaned_data[name] for name in FIELDS})


class MapsForm(forms.Form):
    """The maps of a benchmark as one CSV."""

    file = forms.FileField(
        label=_("Category mapping"), help_text=_("CSV with the columns map, from, to. It replaces all maps.")
    )


class FilterSelect(forms.Select):
    """A `Select` of many options: their HTML is built here, not by a template for each option."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The HTML that the template would give, for options without groups and attributes."""
        chosen = self.format_value(value)
        words = {True: " selected", False: ""}
        options = "".join(
            f'<option value="{escape(str(key))}"{words[str(key) in chosen]}>{escape(str(label))}</option>'
            for key, label in self.choices
        )
        return SafeString(f"<select{flatatt(self.build_attrs({'name': name}, attrs))}>{options}</select>")


class FilterText(forms.TextInput):
    """A `TextInput` whose HTML is built here, like that of `FilterSelect`."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """As the template would."""
        text = self.format_value(value)
        given = {"type": self.input_type, "name": name} | ({} if text is None else {"value": text})
        return SafeString(f"<input{flatatt(given | self.build_attrs(self.attrs, attrs))}>")


class FilterCheck(forms.CheckboxInput):
    """A `CheckboxInput` whose HTML is built here, like that of `FilterSelect`."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """As the template would."""
        given = {"type": self.input_type, "name": name, **self.build_attrs(self.attrs, attrs)}
        return SafeString(f"<input{flatatt(given | ({'checked': True} if self.check_test(value) else {}))}>")


_EVERYTHING, _NOTHING = ("", _("All")), ("none", _("Not given"))


class CaseFilters(forms.Form):
    """The filters of the list of cases; anything that is not offered is refused."""

    q = forms.CharField(
        label=_("Search"),
        max_length=200,
        required=False,
        widget=FilterText(attrs={"type": "search", "placeholder": _("Short name or text")}),
    )
    difficulty = forms.ChoiceField(
        label=_("Difficulty"),
        required=False,
        widget=FilterSelect,
        choices=[_EVERYTHING, *Difficulty.choices, _NOTHING],
    )
    register = forms.ChoiceField(
        label=_("Register"), required=False, widget=FilterSelect, choices=[_EVERYTHING, *Register.choices, _NOTHING]
    )
    language = forms.ChoiceField(label=_("Language"), required=False, widget=FilterSelect)
    tag = forms.ChoiceField(label=_("Tag"), required=False, widget=FilterSelect)
    state = forms.ChoiceField(
        label=_("Rubric"), required=False, widget=FilterSelect, choices=[_EVERYTHING, *STATES.items()]
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.variety = lists.variety_of(benchmark)
        languages = [(code, language_name(code)) for code in self.variety.languages]
        tags = [(tag, f"{tag} ({count})") for tag, count in self.variety.tags]
        self._offer("language", [_EVERYTHING, *languages, _NOTHING])
        self._offer("tag", [_EVERYTHING, *tags])

    def _offer(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


class DashboardFilters(CaseFilters):
    """The filters of the authors' dashboard."""

    mine = forms.BooleanField(label=_("Mine only"), required=False, widget=FilterCheck)
    field_order = ("q", "state", "difficulty", "language", "tag", "mine")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["register"]


class CaseLanguageFilters(forms.Form):
    """Which cases the page of languages lists: how their language is known, and which it is."""

    how = forms.ChoiceField(
        label=_("Known by"),
        required=False,
        choices=[("", _("All")), ("detected", _("Detected from the text")), ("given", _("Given"))],
        widget=FilterSelect,
    )
    language = forms.ChoiceField(label=_("Language"), required=False, widget=FilterSelect)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = lists.named_languages(benchmark)
        field = self.fields["language"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _now("All")), *known, ("none", _now("Not given"))]

    def narrowed(self, cases: QuerySet[Case]) -> QuerySet[Case]:
        """``cases`` by the filters; none where a filter is not valid."""
        if not self.is_valid():
            return cases.none()
        chosen = self.cleaned_data
        if language := chosen["language"]:
            cases = cases.filter(language="" if language == "none" else language)
        if how := chosen["how"]:
            cases = cases.exclude(language="").filter(language_detected=how == "detected")
        return cases


class NewCaseForm(forms.Form):
    """What a new case begins with."""

    key = forms.CharField(
        label=_("Short name"),
        max_length=MAX_KEY_LENGTH,
        help_text=_("A short name for people and files. You can keep the suggested one."),
        widget=forms.TextInput(attrs={"autofocus": True}),
    )
    register = forms.ChoiceField(label=_("Asked by"), required=False, choices=[("", _("Not given")), *Register.choices])
    language = forms.ChoiceField(label=_("Language"), required=False)

    def offer_languages(self, languages: list[tuple[str, str]]) -> None:
        """Languages to choose from."""
        field = self.fields["language"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _now("Not given")), *languages]


class ImportForm(forms.Form):
    """A file to import. Fields that the chosen kind does not take are ignored."""

    kind = forms.ChoiceField(label=_("File contents"))
    file = forms.FileField(label=_("File"))
    format = forms.ChoiceField(
        label=_("Format"),
        required=False,
        choices=[("", _("Detect from the first line")), *((name, name) for name in FORMATS)],
    )
    candidate = forms.CharField(
        label=_("Candidate"),
        max_length=MAX_KEY_LENGTH,
        required=False,
        help_text=_("Only if all rows belong to one candidate; this overrides the candidate in the rows."),
    )
    candidate_kind = forms.ChoiceField(
        label=_("Kind of candidate"),
        required=False,
        choices=[("", _("Unchanged; a new candidate is a model")), *Candidate.Kind.choices],
    )
    group = forms.CharField(
        label=_("Expert group"),
        max_length=MAX_GROUP_NAME_LENGTH,
        required=False,
        help_text=_("Created if it does not exist yet."),
    )
    judge = forms.CharField(
        label=_("Judge"),
        max_length=MAX_KEY_LENGTH,
        required=False,
        help_text=_(
            "Created if it does not exist yet. Each file becomes one of its runs. The name covers all of "
            "them together: the newest verdict counts for each response, criterion and replicate."
        ),
    )
    replicate = forms.IntegerField(
        label=_("Replicate"),
        min_value=0,
        max_value=MAX_REPLICATE,
        required=False,
        help_text=_("For a judge that was asked several times: which of its answers this file contains, 0, 1, …"),
    )
    learned = forms.CharField(
        label=_("Candidates that the judge learned from"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_(
            "For a judge that was fine-tuned on decisions of this benchmark: one name a line. Reports mark figures "
            "about these candidates."
        ),
    )

    bank = forms.CharField(
        label=_("Bank"),
        max_length=MAX_SLUG_LENGTH,
        required=False,
        help_text=_("Its short name; created if it does not exist yet."),
    )
    licence = forms.CharField(label=_("Licence"), max_length=MAX_LICENCE_LENGTH, required=False)
    author = forms.ChoiceField(
        label=_("Written by"),
        required=False,
        help_text=_("The author of the rubrics. Another physician approves them."),
    )

    scale = forms.CharField(
        label=_("Scale"),
        max_length=MAX_SCALE_NAME_LENGTH,
        required=False,
        help_text=_(
            "three, four, five or a scale of the benchmark. If empty: the only scale of the benchmark, or four."
        ),
    )

    OPTIONS = (
        *("format", "candidate", "candidate_kind", "group", "judge", "replicate", "learned", "bank", "licence"),
        *("author", "scale"),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        author = self.fields["author"]
        assert isinstance(author, forms.ChoiceField)
        roles = AuthoringRole.objects.filter(benchmark=benchmark, role=AuthoringRole.Role.AUTHOR, active=True)
        people = User.objects.filter(pk__in=roles.values("user")).order_by("name", "email")
        author.choices = [("", _("The person who imports them")), *((person.email, str(person)) for person in people)]
        known = [each for each in imports.kinds() if not each.page]
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(each.kind, each.label) for each in known]
        for option in self.OPTIONS:
            kinds = [each.kind for each in known if option in each.options]
            # The page shows a field only for the kinds that take it, and marks it as required for those that need it.
            self.fields[option].widget.attrs["data-kinds"] = " ".join(kinds)
            self.fields[option].widget.attrs["data-required-kinds"] = " ".join(
                each.kind for each in known if option in each.required
            )
        chosen = self["kind"].value()
        for each in known:
            if each.kind == chosen:
                for option in each.required:
                    self.fields[option].required = True
                    self.fields[option].error_messages["required"] = _now(
                        "This field is required for files of this kind."
                    )

    def full_clean(self) -> None:
        """A browser does not send a file again by itself: a refused form asks for it."""
        super().full_clean()
        if self.is_bound and self.errors:
            self.ask_for_the_file_again()

    def ask_for_the_file_again(self) -> None:
        """Say that the file has to be chosen again, unless the file itself is what is wrong."""
        if "file" not in self.errors:
            self.add_error("file", _now("Choose the file again."))

    def options(self) -> dict[str, str]:
        """The options that the chosen kind takes."""
        known = imports.find(self.cleaned_data["kind"]).options
        given = {name: self.cleaned_data.get(name) for name in known}
        return {name: "" if value is None else str(value) for name, value in given.items()}


class AuthoringRoleForm(forms.Form):
    """Somebody who is to write or to audit."""

    email = forms.EmailField(label=_("Email address"))
    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_PERSON_NAME_LENGTH,
        required=False,
        help_text=_("For a person without an account yet."),
    )
    role = forms.ChoiceField(label=_("Role"), choices=AuthoringRole.Role.choices)


class RoleForm(forms.Form):
    """Somebody who is to run the benchmark."""

    email = forms.EmailField(label=_("Email address"))
    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_PERSON_NAME_LENGTH,
        required=False,
        help_text=_("For a person without an account yet."),
    )
    role = forms.ChoiceField(label=_("Role"), choices=BenchmarkRole.Role.choices)
