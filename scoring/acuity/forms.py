"""Forms for an import about acuity, and for scales and label schemes with their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from django import forms
from django.core.files.base import File
from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_DATASET_LENGTH, MAX_KEY_LENGTH, MAX_LICENCE_LENGTH, MAX_SCALE_NAME_LENGTH
from rubrics.acuity.scales import MAX_LEVELS, MIN_LEVELS, RESERVED, Level, Scale, folded, folded_value
from rubrics.acuity.schemes import BY_LABELS, How, Mapped, Scheme
from rubrics.acuity.services import MAX_LEVEL_TEXT_LENGTH
from rubrics.acuity.shown import shown_levels
from rubrics.models import Benchmark, HowMapped, ImportJob, slug_characters
from rubrics.parsing.acuity_files import ALL, SHAPES
from scoring.acuity import selectors
from scoring.models import AcuityReading

MAX_RULES = 300
Row = dict[str, str]
FormT = TypeVar("FormT", bound=forms.Form)

# What each starter scheme does, on the page of the import.
SCHEME_NOTES: dict[str, Promise | str] = {
    "direct": _(
        "Labels are values or labels of the scale itself; two adjacent levels joined by | mean between the two."
    ),
    "em-ne-sc": _(
        "Emergency, non-emergency and self-care (also em, ne, sc). On the three-level scale each is a "
        "level; on the four-level scale, non-emergency goes to the panel."
    ),
    "portal-1-6": _(
        "Patient portal messages, 1 being the most urgent: 1 → D, 2 and 3 → C, 4 → B, 5 and 6 → A. A "
        "half step is between two levels if its neighbours map to different levels. For the four-level "
        "scale."
    ),
    "letters": _("A is the least urgent level; A/B and A|B are between two levels."),
    "emergency-department": _(
        "Emergency department levels 1 to 5. They rank patients who are already at the hospital, so all "
        "go to the panel, except on the five-level scale."
    ),
    "healthbench-emergencies": _(
        "HealthBench’s categories: emergent → D; conditionally-emergent and non-emergent go to the "
        "panel. For the four-level scale."
    ),
}


class AcuityImportForm(forms.Form):
    """A file with labels or readings, and how to read it. ``earlier`` is an import whose file may be used again."""

    file = forms.FileField(label=_("File"))
    dataset = forms.CharField(
        label=_("Dataset"),
        max_length=MAX_DATASET_LENGTH,
        validators=[slug_characters],
        help_text=_(
            "Source of the cases, such as portal-2025. Numbered cases of a file are named after it: "
            "portal-2025-0001. Files about the same cases must use the same dataset. Use lower-case "
            "letters, digits, hyphens and underscores."
        ),
        widget=forms.TextInput(attrs={"list": "acuity-datasets", "autocomplete": "off", "autocapitalize": "off"}),
    )
    scale = forms.ChoiceField(label=_("Scale"), required=False)
    scheme = forms.ChoiceField(
        label=_("Label scheme"),
        required=False,
        help_text=_("How the labels of the file map to the scale. The preview lists the schemes that fit."),
    )
    candidate = forms.CharField(
        label=_("Candidate"),
        max_length=MAX_KEY_LENGTH,
        required=False,
        help_text=_(
            "If empty, the candidate column is used, or else the file name. Several files from one candidate "
            "are its samples."
        ),
    )
    reading_format = forms.ChoiceField(
        label=_("Treat readings without a format as"), choices=AcuityReading.Format.choices
    )
    format = forms.ChoiceField(
        label=_("Shape of the file"),
        choices=[("auto", _("Detect from the beginning of the file")), *((name, name) for name in SHAPES)],
    )

    licence = forms.CharField(
        label=_("Licence"),
        max_length=MAX_LICENCE_LENGTH,
        required=False,
        help_text=_(
            "Licence of the dataset: an SPDX id such as CC-BY-4.0, or the terms in a few words. Leave "
            "empty to keep it unchanged."
        ),
    )
    may_redistribute = forms.ChoiceField(
        label=_("Texts may be redistributed"),
        required=False,
        choices=[("", _("Unchanged; “no” if never specified")), ("yes", _("Yes")), ("no", _("No"))],
        help_text=_(
            "If not, a release contains only short names, digests and labels of these cases, without their texts."
        ),
    )

    OPTIONS = (*("dataset", "scale", "scheme", "candidate", "reading_format", "format", "licence", "may_redistribute"),)

    def __init__(self, *args: Any, benchmark: Benchmark, earlier: ImportJob | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark, self.earlier = benchmark, earlier
        self.names = selectors.scheme_names(benchmark)
        self._offer("scale", selectors.scale_names(benchmark))
        self._offer("scheme", self.names)
        if earlier is not None:
            self.fields["file"].required = False
            self.fields["file"].help_text = _now("If you choose no other file, %(file)s is used again.") % {
                "file": earlier.file_name
            }

    def _offer(self, name: str, names: list[str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _now("Detect from the labels of the file")), *((own, own) for own in names)]

    def scheme_notes(self) -> list[tuple[str, str]]:
        """Each scheme on offer with a sentence of what it does."""
        own = _now("Your own scheme, with a rule for each label.")
        return [(name, str(SCHEME_NOTES.get(name, own))) for name in self.names]

    def clean_candidate(self) -> str:
        """Refuse the name of the row of all candidates."""
        name = str(self.cleaned_data["candidate"]).strip()
        if name == ALL:
            raise forms.ValidationError(_now("A candidate cannot be called “all”."))
        return name

    def clean(self) -> dict[str, Any]:
        """Check that the scheme has rules for the scale."""
        cleaned = super().clean() or {}
        scale, scheme = cleaned.get("scale"), cleaned.get("scheme")
        if scale and scheme and selectors.scheme_called(self.benchmark, scale, scheme) is None:
            message = _now("The label scheme “%(name)s” has no rules for the scale “%(scale)s”.")
            self.add_error("scheme", message % {"name": scheme, "scale": scale})
        return cleaned

    def file_to_read(self) -> tuple[File, str]:
        """The file and its name: what was chosen, else that of the earlier import."""
        upload = self.cleaned_data.get("file")
        if upload:
            return upload, upload.name or ""
        assert self.earlier is not None  # else the field is required
        return self.earlier.file.open("rb"), self.earlier.file_name

    def options(self) -> dict[str, str]:
        """Options of the import, which is a preview; without a scheme it is found by the labels of the file."""
        given = {name: str(self.cleaned_data.get(name) or "") for name in self.OPTIONS}
        return {**given, "scheme": given["scheme"] or BY_LABELS, "preview": "1"}


class MapAgainForm(forms.Form):
    """A dataset whose labels are to be mapped again, and the scheme that does it."""

    dataset = forms.ChoiceField(label=_("Dataset"))
    scheme_on_scale = forms.ChoiceField(label=_("Label scheme"))

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dataset, scheme = self.fields["dataset"], self.fields["scheme_on_scale"]
        assert isinstance(dataset, forms.ChoiceField)
        assert isinstance(scheme, forms.ChoiceField)
        self.datasets = selectors.labelled_datasets(benchmark)
        dataset.choices = [(name, name) for name in self.datasets]
        scheme.choices = [
            (
                f"{own.name} {own.scale.name}",
                _now("%(scheme)s on the scale %(scale)s") % {"scheme": own.name, "scale": own.scale.name},
            )
            for own in selectors.schemes_on_offer(benchmark)
        ]

    def terms(self) -> dict[str, str]:
        """Dataset, scheme and scale of the cleaned form."""
        scheme, _space, scale = self.cleaned_data["scheme_on_scale"].partition(" ")
        return {"dataset": self.cleaned_data["dataset"], "scheme": scheme, "scale": scale}


# Rows ----------------------------------------------------------------------------------------------------------------


class Rows(Generic[FormT]):
    """Rows of a form, each with its own errors, which are added and removed without saving anything."""

    def __init__(self, forms_: list[FormT], most: int) -> None:
        self.forms = forms_
        self.most = most

    @property
    def full(self) -> bool:
        """Whether there are as many rows as there may be."""
        return len(self.forms) >= self.most

    def is_valid(self) -> bool:
        """Whether every row is valid."""
        return not [form for form in self.forms if not form.is_valid()]  # all: each shows its errors


def sent_rows(data: Mapping[str, Any], fields: tuple[str, ...], most: int) -> list[Row]:
    """The rows of a request, at most one more than there may be."""
    rows = []
    for number in range(most + 1):
        if f"row-{number}-{fields[0]}" not in data:
            break
        rows.append({name: str(data.get(f"row-{number}-{name}", "")) for name in fields})
    return rows


def _bound(rows: list[Row], number: int) -> dict[str, Any]:
    prefix = f"row-{number}"
    return {"data": {f"{prefix}-{name}": value for name, value in rows[number].items()}, "prefix": prefix}


def _unbound(rows: list[Row], number: int) -> dict[str, Any]:
    return {"initial": rows[number], "prefix": f"row-{number}"}


class NameForm(forms.Form):
    """The name of a scale or scheme."""

    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_SCALE_NAME_LENGTH,
        validators=[slug_characters],
        widget=forms.TextInput(attrs={"autocapitalize": "off", "autocomplete": "off", "spellcheck": "false"}),
    )


class LevelForm(forms.Form):
    """One level of a scale."""

    value = forms.CharField(
        label=_("Value"),
        max_length=MAX_SCALE_NAME_LENGTH,
        validators=[slug_characters],
        widget=forms.TextInput(attrs={"autocapitalize": "off", "autocomplete": "off", "spellcheck": "false"}),
    )
    label_en = forms.CharField(label=_("Label, English"), max_length=MAX_LEVEL_TEXT_LENGTH)
    label_zh = forms.CharField(label=_("Label, Chinese"), max_length=MAX_LEVEL_TEXT_LENGTH, required=False)
    definition_en = forms.CharField(
        label=_("Definition, English"), max_length=MAX_LEVEL_TEXT_LENGTH, widget=forms.Textarea(attrs={"rows": 2})
    )
    definition_zh = forms.CharField(
        label=_("Definition, Chinese"),
        max_length=MAX_LEVEL_TEXT_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    FIELDS = ("value", "label_en", "label_zh", "definition_en", "definition_zh")

    def level(self) -> Level:
        """The cleaned level; without a Chinese text it has the English one."""
        data = self.cleaned_data
        return Level(
            data["value"],
            data["label_en"],
            data["label_zh"] or data["label_en"],
            data["definition_en"],
            data["definition_zh"] or data["definition_en"],
        )


class LevelRows(Rows[LevelForm]):
    """The levels of a scale, the least urgent first."""

    def __init__(self, rows: list[Row], *, bound: bool) -> None:
        arguments = _bound if bound else _unbound
        super().__init__([LevelForm(**arguments(rows, number)) for number in range(len(rows))], MAX_LEVELS)

    def is_valid(self) -> bool:
        """Whether every row is valid and no two have the same name."""
        if not super().is_valid():
            return False
        known: set[str] = set()
        for form in self.forms:
            level = form.level()
            for field, text in (("value", level.value), ("label_en", level.label_en)):
                name = folded_value(text)
                if name in RESERVED or "|" in name:
                    form.add_error(field, _now("This cannot be the name of a level."))
                elif name in known:
                    form.add_error(field, _now("Another level already has this name."))
            known |= {folded_value(level.value), folded_value(level.label_en)}
        return all(form.is_valid() for form in self.forms)

    def scale(self, name: str) -> Scale:
        """The scale of the cleaned rows; ValueError where it has too few levels or too many."""
        if not MIN_LEVELS <= len(self.forms) <= MAX_LEVELS:
            message = _now("A scale must have %(fewest)s to %(most)s levels.")
            raise ValueError(message % {"fewest": MIN_LEVELS, "most": MAX_LEVELS})
        return Scale(name, tuple(form.level() for form in self.forms))


def rows_of_scale(scale: Scale) -> list[Row]:
    """Initial values of the rows of a scale."""
    return [{name: getattr(level, name) for name in LevelForm.FIELDS} for level in scale.levels]


class RuleForm(forms.Form):
    """One rule of a scheme."""

    source_label = forms.CharField(label=_("Source label"), max_length=MAX_KEY_LENGTH)
    becomes = forms.ChoiceField(label=_("Maps to"))

    FIELDS = ("source_label", "becomes")

    def __init__(self, *args: Any, scale: Scale, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        becomes = self.fields["becomes"]
        assert isinstance(becomes, forms.ChoiceField)
        becomes.choices = [("", "…"), *((key, label) for key, label, _mapped in targets_of(scale))]
        self.targets = {key: mapped for key, _label, mapped in targets_of(scale)}

    def mapped(self) -> Mapped:
        """What the label becomes."""
        return self.targets[self.cleaned_data["becomes"]]


class RuleRows(Rows[RuleForm]):
    """The rules of a scheme on a scale."""

    def __init__(self, rows: list[Row], *, bound: bool, scale: Scale) -> None:
        arguments = _bound if bound else _unbound
        rules = [RuleForm(**arguments(rows, number), scale=scale) for number in range(len(rows))]
        super().__init__(rules, MAX_RULES)
        self.scale = scale

    def is_valid(self) -> bool:
        """Whether every row is valid and no two are for one label."""
        if not super().is_valid():
            return False
        known: set[str] = set()
        for form in self.forms:
            label = folded(form.cleaned_data["source_label"])
            if label in known:
                form.add_error("source_label", _now("An earlier rule already applies to this label."))
            known.add(label)
        return all(form.is_valid() for form in self.forms)

    def scheme(self, name: str) -> Scheme:
        """The scheme of the cleaned rows; ValueError where there are too many."""
        if len(self.forms) > MAX_RULES:
            raise ValueError(_now("A scheme can have at most %(most)s rules on this page.") % {"most": MAX_RULES})
        return Scheme(
            name, self.scale, {folded(form.cleaned_data["source_label"]): form.mapped() for form in self.forms}
        )


def targets_of(scale: Scale) -> list[tuple[str, str, Mapped]]:
    """What a label may become on a scale: key, label and rule."""
    levels = shown_levels(scale)
    single = [
        (f"level-{at}", f"{own.letter} · {own.label}", Mapped(How.DIRECT, at, at)) for at, own in enumerate(levels)
    ]
    between = [
        (
            f"between-{at}",
            _now("Between %(first)s and %(second)s") % {"first": levels[at].letter, "second": levels[at + 1].letter},
            Mapped(How.BOUNDARY, at, at + 1),
        )
        for at in range(len(levels) - 1)
    ]
    others = [(str(how), str(HowMapped(how).label), Mapped(how)) for how in (How.PANEL, How.EXCLUDE)]
    return [*single, *between, *others]


def rows_of_scheme(scheme: Scheme) -> list[Row]:
    """Initial values of the rows of a scheme."""
    keys = {mapped: key for key, _label, mapped in targets_of(scheme.scale)}
    return [{"source_label": label, "becomes": keys[mapped]} for label, mapped in scheme.rules.items()]


def starters_on(scale: Scale, benchmark: Benchmark) -> list[str]:
    """The schemes that have rules for a scale."""
    return [scheme.name for scheme in selectors.schemes_on_offer(benchmark) if scheme.scale.name == scale.name]
