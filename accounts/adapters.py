"""How allauth behaves here."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """Nobody signs up: an admin makes accounts, because who a rater is decides what they may see."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never."""
        return False
