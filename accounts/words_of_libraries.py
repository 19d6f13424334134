"""Texts of Django and allauth on pages of accounts that are worded anew in other languages.

Nothing reads this list: it brings the texts into the catalogue, which Django prefers to that of the library.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop, ngettext_lazy

WORDS = (
    gettext_noop("Email"),
    gettext_noop("Your old password was entered incorrectly. Please enter it again."),
    gettext_noop("Your password can’t be too similar to your other personal information."),
    gettext_noop("Your password can’t be a commonly used password."),
    gettext_noop("Your password can’t be entirely numeric."),
    ngettext_lazy(
        "Your password must contain at least %(min_length)d character.",
        "Your password must contain at least %(min_length)d characters.",
        "min_length",
    ),
)
