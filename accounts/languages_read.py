"""A form field for the languages that somebody reads: boxes for the usual ones, and a line for others."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.language_tags import language_read
from consilium.core.languages import COMMON_LANGUAGES, language_choices, language_name, language_named

MAX_LANGUAGES = 30
# Called after somebody has named the languages they read; each returns a message for them, or an empty text. Apps above
# this one fill it in ``AppConfig.ready``.
LISTENERS: list[Callable[[User], str]] = []


def messages_after_naming(user: User) -> list[str]:
    """What the person should know now that they have named the languages they read."""
    return [text for listener in LISTENERS if (text := listener(user))]


class LanguagesWidget(forms.MultiWidget):
    """Boxes, and a line for names or tags with commas between them."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        line = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
        super().__init__({"usual": forms.CheckboxSelectMultiple(), "other": line}, attrs)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The boxes, each in its label, and the line below them with a label of its own."""
        # What was posted is a list of boxes and a line; what is stored is a list of tags.
        is_posted = isinstance(value, list) and len(value) == 2 and not isinstance(value[0], str)
        chosen, line = value if is_posted else self.decompress(value)
        boxes = format_html_join(
            "",
            '<label><input type="checkbox" name="{}_usual" value="{}"{}> {}</label>',
            (
                (name, tag, flatatt({"checked": tag in (chosen or ())}), language)
                for tag, language in language_choices()
            ),
        )
        line_id = f"{(attrs or {}).get('id', name)}_other"
        other = self.widgets[1].render(f"{name}_other", line, {"id": line_id}, renderer)
        return format_html(
            '<div class="language-boxes">{}</div><label class="sub-label" for="{}">{}</label>{}',
            *(boxes, line_id, _now("Other languages, with commas between them"), other),
        )

    def decompress(self, value: Any) -> list[Any]:
        """The tags that have a box, and the names of the others."""
        tags = list(value or ())
        others = [tag for tag in tags if tag not in COMMON_LANGUAGES]
        return [[tag for tag in tags if tag in COMMON_LANGUAGES], ", ".join(map(language_name, others))]

    def id_for_label(self, id_: str) -> str:
        """None: the field is a group with a legend."""
        return ""


class LanguagesField(forms.MultiValueField):
    """The languages that somebody reads, as sorted tags without script or region."""

    widget = LanguagesWidget
    default_error_messages = {
        "unknown": _("“%(name)s” is not a known language. Enter a name such as Swahili, or a code such as sw."),
        "many": _("Choose at most %(most)d languages."),
    }

    def __init__(self, **options: Any) -> None:
        fields = (
            forms.MultipleChoiceField(choices=language_choices, required=False),
            forms.CharField(max_length=500, required=False),
        )
        options.setdefault("label", _("I can read"))
        options.setdefault(
            "help_text",
            _(
                "New cases are assigned to you only in these languages, unless a batch includes any language. Cases "
                "assigned to you earlier stay with you. If you choose none, you may receive any case. Admins see your "
                "choice when they assign cases."
            ),
        )
        super().__init__(fields=fields, require_all_fields=False, required=False, **options)

    def compress(self, data_list: Any) -> list[str]:
        """The tags of the boxes and of the names in the line."""
        usual, line = (data_list or [[], ""])[:2]
        tags = {language_read(tag) for tag in usual or ()}
        for name in filter(None, map(str.strip, re.split(r"[,;，；、]", line or ""))):
            try:
                tags.add(language_read(language_named(name)))
            except ValueError:
                raise forms.ValidationError(
                    self.error_messages["unknown"], code="unknown", params={"name": name[:40]}
                ) from None
        if len(tags) > MAX_LANGUAGES:
            raise forms.ValidationError(self.error_messages["many"], code="many", params={"most": MAX_LANGUAGES})
        return sorted(tags)
