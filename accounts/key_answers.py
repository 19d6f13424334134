"""What a security key or passkey answered, as forms get it: it comes from the browser, of strangers too.

allauth reads it as any JSON, and its library takes the rest for granted, so that brackets or a cut key were an error of
the server at the page of signing in.
"""

from __future__ import annotations

import logging
import struct
from typing import TYPE_CHECKING, Any

from allauth.mfa.adapter import get_adapter
from django import forms

from consilium.core.strict_json import read_json

if TYPE_CHECKING:
    _FormBase = forms.Form
else:
    _FormBase = object

logger = logging.getLogger(__name__)

# What the libraries raise for answers of another form.
UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError),
    struct.error,
)


class KeyAnswerField(forms.JSONField):
    """An object in JSON that a script puts into a hidden field."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        """The object; anything else is refused as a wrong code is."""
        if value in self.empty_values:
            return None
        try:
            answer = read_json(value)
        except UNREADABLE:
            answer = None
        if not isinstance(answer, dict):
            raise get_adapter().validation_error("incorrect_code")
        return answer

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Nothing of what was sent: the next answer is another one."""
        return initial


class ReadsKeyAnswer(_FormBase):
    """Mix in before a form of allauth with the field ``credential``: what nobody can read is refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["credential"] = KeyAnswerField()

    def full_clean(self) -> None:
        """Check as usual."""
        try:
            super().full_clean()
        except UNREADABLE as error:
            logger.warning("The answer of a key was not readable", extra={"error": type(error).__name__})
            self.add_error("credential", get_adapter().validation_error("incorrect_code"))
