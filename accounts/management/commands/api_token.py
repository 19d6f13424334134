"""``manage.py api_token``: make a token of the API for somebody, or revoke one."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import MAX_TOKEN_NAME_LENGTH, ApiToken, User
from accounts.services import api_tokens
from accounts.token_scopes import benchmarks_of
from consilium.core.errors import DomainError


class Command(BaseCommand):
    """Prints the key of a new token, once; or revokes tokens by name."""

    help = "Make an API token for an account and print it, or revoke the tokens of an account that have a name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose token, and what it may do."""
        parser.add_argument("email")
        parser.add_argument("--name", required=True, help="what the token is for")
        parser.add_argument(
            "--scope",
            action="append",
            choices=ApiToken.Scope.values,
            help=f"what the token may do; give it several times for several (default {ApiToken.Scope.READ.value})",
        )
        parser.add_argument("--benchmark", default="", help="the only benchmark that the token opens")
        parser.add_argument("--days", type=int, default=api_tokens.DEFAULT_DAYS, help="until it expires (default 90)")
        parser.add_argument("--revoke", action="store_true", help="revoke the tokens with this name instead")

    def handle(
        self,
        *,
        email: str,
        name: str,
        scope: list[str] | None,
        benchmark: str,
        days: int,
        revoke: bool,
        **options: Any,
    ) -> None:
        """Do it as the server: the security log has no person for it."""
        user = User.objects.filter(email__iexact=email.strip()).exclude(email="").first()
        if user is None:
            raise CommandError(f"No account has the address {email}.")
        if revoke:
            self._revoke(user, name)
            return
        name = name.strip()
        if not 0 < len(name) <= MAX_TOKEN_NAME_LENGTH:
            raise CommandError(f"--name must have 1 to {MAX_TOKEN_NAME_LENGTH} characters.")
        if benchmark and benchmark not in dict(benchmarks_of(user)):
            raise CommandError(f"{user.email} has no part in a benchmark {benchmark!r}.")
        at = timezone.now()
        try:
            token, key = api_tokens.make_token(
                user=user,
                name=name,
                scopes=scope or [ApiToken.Scope.READ],
                benchmark=benchmark,
                expires_at=at + timedelta(days=min(days, 10 * api_tokens.MAX_DAYS)),
                by=None,
                at=at,
            )
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(key)
        self.stderr.write(
            f"A token of {user.email} until {token.expires_at:%Y-%m-%d %H:%M} UTC, scopes {', '.join(token.scopes)}. "
            "It is not shown again."
        )

    def _revoke(self, user: User, name: str) -> None:
        at = timezone.now()
        tokens = ApiToken.objects.filter(user=user, name=name, revoked_at=None).select_related("user")
        number = sum(api_tokens.revoke_token(token=token, by=None, at=at) for token in tokens)
        if not number:
            raise CommandError(f"{user.email} has no token {name!r} that was not revoked.")
        self.stdout.write(f"Tokens revoked: {number}.")
