"""allauth adapters: who may sign in, and how; nobody signs up."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.core import context as request_context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.confirming import ask_before_page
from accounts.models import User
from accounts.openid import LimitedSession
from accounts.security_signals import record_limited
from accounts.services import second_factor, security_log
from accounts.services.confirmations import last_proof
from accounts.services.mails import has_mail_server, leave_to_worker
from accounts.services.sign_on import SignOnRefused, account_for, refuse_other_domains
from consilium.hosts import site_address

logger = logging.getLogger(__name__)

# A page without messages may come first, such as the endpoint of a script; then they would stand on a later page.
SHOWN_BY_THE_PAGE = ("account/messages/logged_in.txt", "account/messages/logged_out.txt")

# They hold a link or a code, and are written by a worker: `accounts.services.passwords.mail_password_link`.
WITH_SECRETS = frozenset({"account/email/password_reset_key", "account/email/email_confirmation"})


class AccountAdapter(DefaultAccountAdapter):
    """Nobody signs up: an admin makes accounts, because who a rater is decides what they may see."""

    error_messages = {  # as allauth declares it
        **DefaultAccountAdapter.error_messages,
        "enter_current_password": _("This is not your current password."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **options: Any
    ) -> None:
        """Leave out that somebody signed in or out: the page says who they are, and the words would come late."""
        if message_template not in SHOWN_BY_THE_PAGE:
            super().add_message(request, level, message_template, *args, **options)

    def is_reauthentication_required(self, *, app: str, **options: Any) -> bool:
        """Not within minutes of a proof of who is there, such as a sign-in, which allauth does not count.

        Where somebody has neither a password nor a second step, allauth asks for nothing; they are asked here.
        """
        request = request_context.request
        if last_proof(request) is not None or not super().is_reauthentication_required(app=app, **options):
            return False
        if isinstance(request.user, User) and not get_reauthentication_flows(request.user):
            raise ImmediateHttpResponse(ask_before_page(request, "sign_in"))
        return True

    # A private hook of allauth, whose own key begins with the Host of the request: tests/accounts/test_guesses.py.
    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count failed sign-ins by the address that was tried, in lower case as accounts store theirs."""
        return str(credentials.get("email", credentials.get("username", ""))).strip().lower()

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Remember which login is tried, for the security log."""
        self._login = self._get_login_attempts_cache_key(request, **credentials)
        super().pre_authenticate(request, **credentials)

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """The error of the form; one that refuses further tries of a password or code is in the security log."""
        if code == "too_many_login_attempts":
            record_limited(request_context.request, login=getattr(self, "_login", ""))
        return super().validation_error(code, *args)

    # Mails -------------------------------------------------------------------------------------------------------

    def get_reset_password_from_key_url(self, key: str) -> str:
        """The link of a reset mail, on the site's own address."""
        path = reverse("account_reset_password_from_key", kwargs={"uidb36": "UID", "key": "KEY"})
        return site_address() + path.replace("UID-KEY", quote(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """The link of a mail that asks to confirm an address, on the site's own address."""
        return site_address() + reverse("account_confirm_email", args=[emailconfirmation.key])

    def send_password_reset_mail(self, user: Any, email: str, context: dict[str, Any]) -> None:
        """Send the link only by a mail server: without one it would end up in the log, and let its readers in."""
        if has_mail_server():
            super().send_password_reset_mail(user, email, context)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail that names no Host. Nobody learns from an error page which address has an account.

        In a web request a worker sends it. A mail with a link that lets its reader in is written by a worker itself.
        """
        address = site_address()
        site = SimpleNamespace(name="Consilium", domain=urlsplit(address).netloc)  # allauth's is of the request
        values = {"request": request_context.request, "email": email, "site_address": address, **context}
        values["current_site"] = site
        mail = self.render_mail(template_prefix, email, values, headers={"Auto-Submitted": "auto-generated"})
        if template_prefix not in WITH_SECRETS:
            leave_to_worker(mail)
            return
        try:
            mail.send()
        except Exception:  # any error of the mail server or the network
            logger.exception("A mail was not sent", extra={"template": template_prefix})


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Single sign-on signs people in to the account that an admin made for their address; it makes no account."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Connect a first sign-on with its account, unless another identity of the provider is connected already.

        Nothing is connected in a session that is open: a sign-on alone connects, by the address that the provider says.
        An address may later be given to a new person, so a second identity with the same address may be somebody else.

        allauth could connect it itself (``EMAIL_AUTHENTICATION``), but would then make the password unusable, because
        it treats an address that was not confirmed by mail as a mere claim. Here an admin made the account, and knew
        whose address it is.
        """
        claims = sociallogin.account.extra_data
        request.id_token_claims = claims.get("id_token") or {}  # type: ignore[attr-defined]  # for `confirmations`
        user: User | None = sociallogin.user if sociallogin.is_existing else None
        try:
            # Else an identity of anybody could be connected in an open session, which no claim speaks for.
            if sociallogin.state.get("process") != AuthProcess.LOGIN:
                user = request.user if isinstance(request.user, User) else None
                raise SignOnRefused("no_sign_in")
            refuse_other_domains(claims, domains=settings.OIDC_DOMAINS)
            if sociallogin.is_existing:
                return
            user = account_for(claims, trust_email=settings.OIDC_TRUST_EMAIL)
            if SocialAccount.objects.filter(user=user, provider=sociallogin.account.provider).exists():
                raise SignOnRefused("other_identity", user.email)
        except SignOnRefused as refused:
            logger.warning("A single sign-on was refused", extra={"reason": refused.reason})
            if user is None and refused.email:
                user = User.objects.filter(email__iexact=refused.email).first()
            at = timezone.now()
            security_log.record("sign_on_refused", at=at, user=user, request=request, reason=refused.reason)
            page = {"reason": refused.reason, "email": refused.email, "provider": settings.OIDC_NAME}
            raise ImmediateHttpResponse(render(request, "accounts/sign_on/refused.html", page, status=403)) from refused
        sociallogin.connect(request, user)

    def get_requests_session(self) -> LimitedSession:
        """For requests to the provider."""
        return LimitedSession()

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        """Log a sign-on that this browser began and the provider's answer ended; a made-up address is not logged."""
        if exception is None:
            return
        logger.warning("A single sign-on failed", exc_info=exception)
        security_log.record("sign_on_refused", at=timezone.now(), request=request, reason="not_valid")


class SecondStepAdapter(DefaultMFAAdapter):
    """The last second step of an account stays while the server or a benchmark demands one."""

    error_messages = {  # as allauth declares it
        **DefaultMFAAdapter.error_messages,
        "cannot_delete_authenticator": _("You need a second step. Add another one before you remove this one."),
    }

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """False for the last step of somebody who needs one; allauth asks before it removes an authenticator app."""
        return second_factor.may_remove(authenticator)

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        """The name of a new key, until its owner gives another one."""
        count = Authenticator.objects.filter(user=user.pk, type=type).count()
        return str(_("Key %(n)s") % {"n": count + 1})

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """What a new key says that it belongs to: the host name, and the name of the product."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Consilium"}
