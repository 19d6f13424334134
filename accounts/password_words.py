"""Refuses passwords that consist mainly of a word of the context, which somebody who guesses would try first."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

WORDS = ("consilium", "benchmark", "rubric", "physician", "annotator", "judge", "password")  # named in docs/security.md
MIN_OTHER_CHARACTERS = 8
MIN_LABEL_LENGTH = 4  # of a part of a host name; "org" and "www" are in many words


def context_words() -> set[str]:
    """The words, with the parts of the names of this site."""
    labels = {label for host in settings.ALLOWED_HOSTS for label in host.casefold().split(".")}
    return {*WORDS, *(label for label in labels if len(label) >= MIN_LABEL_LENGTH and label.isalpha())}


class ContextWordValidator:
    """Beside the words there must be `MIN_OTHER_CHARACTERS`."""

    def validate(self, password: str, user: object = None) -> None:
        """Raise if too little is left of ``password`` without the words."""
        text = left = password.casefold()
        for word in sorted(context_words(), key=len, reverse=True):
            left = left.replace(word, "")
        if left != text and len(left) < MIN_OTHER_CHARACTERS:
            raise ValidationError(
                _("This password consists mainly of a word that belongs to this site."), code="password_context_word"
            )

    def get_help_text(self) -> str:
        """For the forms."""
        return _("Your password can’t consist mainly of a word that belongs to this site.")
