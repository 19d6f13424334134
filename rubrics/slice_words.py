"""Slices of cases and criteria, such as ``register:lay`` or ``axis:safety``, in words. Files keep the codes."""

from __future__ import annotations

from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from consilium.core.i18n import translate
from consilium.core.languages import language_name
from rubrics.axes import axis_word
from rubrics.models import Difficulty, Register

KINDS = {
    "axis": _("Axis"),
    "subset_axis": _("Axis within a named slice"),
    "sign": _("Sign of the points"),
    "tag": _("Tag"),
    "register": _("Register"),
    "difficulty": _("Difficulty"),
    "language": _("Language"),
    "task_group": _("Capability family"),
    "specialty_group": _("Specialty, macro-category"),
    "task_group_first": _("Capability family, first label"),
    "specialty_group_first": _("Specialty, macro-category, first label"),
    "task_first": _("Task, first label"),
    "specialty_first": _("Specialty, first label"),
    "task": _("Task"),
    "theme": pgettext_lazy("of a case", "Theme"),
    "specialty": _("Specialty"),
    "use_case": _("Use case"),
    "type": pgettext_lazy("of a case", "Type of testing"),
    "physician_agreed_category": _("Category agreed by physicians"),
}
VALUES = {
    "register": dict(Register.choices),
    "difficulty": dict(Difficulty.choices),
    "use_case": {
        "consult": pgettext_lazy("use case", "Care consult"),
        "writing": pgettext_lazy("use case", "Writing and documentation"),
        "research": pgettext_lazy("use case", "Medical research"),
    },
    "type": {"good_faith": _("Good-faith use"), "red_teaming": _("Red teaming")},
    "sign": {"positive": pgettext_lazy("points", "Positive"), "negative": pgettext_lazy("points", "Negative")},
}


def slice_words(name: str) -> str:
    """``register:lay`` as “Register: Patient or public”; a name without a known kind stays as it is."""
    kind, colon, value = name.partition(":")
    if kind in ("response", "criterion") and "/" in value:
        return _of_one(kind, value)
    if kind == "case" and value:
        return gettext("Case %(key)s") % {"key": value}
    if not colon or kind not in KINDS:
        return name
    return _("%(kind)s: %(value)s") % {"kind": KINDS[kind], "value": value_words(kind, value)}


def _of_one(kind: str, value: str) -> str:
    """One response, ``CANDIDATE/CASE/SAMPLE``, or one criterion, ``CASE/NUMBER``, in words."""
    place, _slash, number = value.rpartition("/")
    if kind == "criterion":
        return gettext("Criterion %(number)s of %(case)s") % {"number": number, "case": place}
    candidate, _slash, case = place.rpartition("/")  # names of models have slashes more often than keys
    text = gettext("%(candidate)s on %(case)s") % {"candidate": candidate, "case": case}
    return text if number == "0" else gettext("%(response)s, sample %(n)s") % {"response": text, "n": number}


def value_words(kind: str, value: str) -> str:
    """The value of a slice alone. What a benchmark named itself keeps its words, with blanks for underscores."""
    if kind == "axis":
        return str(translate(axis_word(value)))
    if kind == "subset_axis":
        slug, _slash, axis = value.partition("/")
        return f"{slug} · {value_words('axis', axis)}"
    if kind == "language":
        return language_name(value)
    if kind == "tag":
        return slice_words(value)
    return str(VALUES.get(kind, {}).get(value, value.replace("_", " ")))
