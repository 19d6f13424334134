"""What requests may do without a second step: which demands apply to which addresses, and which sessions are exempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from allauth.account.internal.flows.login import get_authentication_records
from django.conf import settings
from django.http import HttpRequest
from django.urls import ResolverMatch
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import second_factor
from accounts.services.second_factor import Demand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rest_framework.request import Request

CODE = "second_step_required"  # in answers of the API
# Pages of signing in and of the steps themselves. They hold nothing of a benchmark.
SIGN_IN = "/accounts/"
OPEN = frozenset(
    {
        *("healthz", "rule-endpoint", "set_language", "api:schema", "api:docs"),
        *("accounts:session", "accounts:second-step", "accounts:confirmed"),
        *("accounts:unsubscribe", "accounts:welcome", "accounts:first-run"),
    }
)
# Work of all benchmarks in one list, or of one that the address does not name.
WORK = ("/work/", "/writing/", "/api/v1/work/")
HOME = "accounts:home"


def is_open(match: ResolverMatch, path: str) -> bool:
    """Whether an address needs no second step, whoever demands one."""
    return path.startswith(SIGN_IN) or match.view_name in OPEN


def applying(demands: Sequence[Demand], *, path: str, arguments: Mapping[str, Any]) -> list[Demand]:
    """Which of ``demands`` are about an address: those of the server, and of the benchmark whose pages it is among.

    Pages of work are about all benchmarks of their reader, since most of them show the work of all.
    """
    slug = arguments.get("slug")
    is_work = path.startswith(WORK)
    return [demand for demand in demands if not demand.slug or is_work or demand.slug == slug]


def may_be_demanded(match: ResolverMatch, path: str) -> bool:
    """Whether any demand can be about an address; where not, nothing is read from the database."""
    is_of_benchmark = "slug" in match.kwargs or path.startswith(WORK) or match.view_name == HOME
    return not is_open(match, path) and (is_of_benchmark or bool(settings.REQUIRE_SECOND_FACTOR))


def is_exempt(request: HttpRequest) -> bool:
    """Whether this session was signed in by single sign-on: the provider demands a second step, or does not."""
    records = get_authentication_records(request, request.user if isinstance(request.user, User) else None)
    return any(record.get("method") == "socialaccount" for record in records)


def split(demands: Sequence[Demand]) -> tuple[list[Demand], list[Demand]]:
    """The demands that apply now, and those that will."""
    at = timezone.now()
    now = [demand for demand in demands if demand.is_in_force(at)]
    return now, [demand for demand in demands if demand not in now]


def missing_at(user: User, *, path: str, arguments: Mapping[str, Any]) -> bool:
    """Whether ``user``, who signed in by no session, needs a second step for an address and has none."""
    now, _later = split(applying(second_factor.demands_on(user), path=path, arguments=arguments))
    return bool(now) and not second_factor.has_factor(user)


def closed_benchmarks(request: Request) -> set[str]:
    """The slugs of the benchmarks that are closed to whoever asks the API until they set up a second step.

    For addresses that name no benchmark and answer with what several of them hold.
    """
    user = request.user
    if not isinstance(user, User) or (request.auth is None and is_exempt(request._request)):
        return set()
    now, _later = split(second_factor.demands_on(user))
    slugs = {demand.slug for demand in now if demand.slug}
    return slugs if slugs and not second_factor.has_factor(user) else set()


def is_missing(request: HttpRequest) -> bool:
    """Whether pages are closed to this session until a second step is set up; `accounts:session` tells the scripts."""
    user = request.user
    return isinstance(user, User) and not is_exempt(request) and second_factor.missing(user)


def refusal() -> dict[str, str]:
    """The body of a refusal, for programs and scripts."""
    return {"detail": _("Set up a second step for signing in first: Profile → Two-step sign-in."), "code": CODE}
