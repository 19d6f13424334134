"""Which scope a token needs for each endpoint of the API, and how a token for one benchmark is kept to it.

Everything is in this file. An endpoint that is not listed takes no token, and `config.urls` refuses to load with one.
Requests with a session are not affected.

Reading, with GET or HEAD, needs the scope *read*, except for the records of `READ_BY_ADMIN`. `SCOPES` has the scope of
what an endpoint writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model
from django.http import Http404
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission

from accounts.models import ApiToken
from annotation.models import Adjudication, Assignment, Batch, LabelTask, RulingRequest, WritingTask

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.urls import ResolverMatch
    from rest_framework.request import Request
    from rest_framework.views import APIView

READ, GRADE, RUN, ADMIN = ApiToken.Scope.READ, ApiToken.Scope.GRADE, ApiToken.Scope.RUN, ApiToken.Scope.ADMIN
PREFIX = "api:"
# Open to everybody, and the same for everybody.
PUBLIC = frozenset({"schema", "docs"})

# The name of an endpoint → the scope that its writes need. `READ`: it writes nothing.
SCOPES: dict[str, ApiToken.Scope] = {
    # The server, for operators
    "api-accounts": READ,
    "api-account-deactivate": ADMIN,
    "api-account-activate": ADMIN,
    # A person's own account
    "api-sessions": ADMIN,
    "api-session": ADMIN,
    "api-tokens": READ,
    "api-token": ADMIN,
    # Records: the security log and the trail of changes
    "api-security-log": READ,
    "api-records": READ,
    "api-activity": READ,
    "api-server-changes": READ,
    "api-changes": READ,
    # Benchmarks, people and groups
    "api-benchmarks": ADMIN,
    "api-benchmark": ADMIN,
    "api-staff": ADMIN,
    "api-staff-member": ADMIN,
    "api-authors": ADMIN,
    "api-author": ADMIN,
    "api-second-step": ADMIN,
    "api-applications": READ,
    "api-application-reviews": ADMIN,
    "api-application-erase": ADMIN,
    "api-cohort-flow": READ,
    "api-groups": ADMIN,
    "api-group": ADMIN,
    "api-members": ADMIN,
    "api-member": ADMIN,
    "api-raters": READ,
    # Batches, and other work that is given out
    "api-batches": ADMIN,
    "api-batch-preview": ADMIN,
    "api-batch": ADMIN,
    "api-batch-pause": ADMIN,
    "api-batch-open": ADMIN,
    "api-batch-close": ADMIN,
    "api-conflicts": ADMIN,
    "api-regrading": ADMIN,
    "api-writing-new": ADMIN,
    "api-second-round": ADMIN,
    "api-ask-for-rulings": ADMIN,
    "api-audits": ADMIN,
    "api-audit": READ,
    # A person's own work
    "api-assignments": READ,
    "api-assignment": READ,
    "api-decisions": GRADE,
    "api-submit": GRADE,
    "api-undo": GRADE,
    "api-skip": GRADE,
    "api-take": GRADE,
    "api-checks": READ,
    "api-check-next": GRADE,
    "api-check": READ,
    "api-check-claim": GRADE,
    "api-amendments": GRADE,
    "api-check-accept": GRADE,
    "api-check-undo": GRADE,
    "api-check-return": GRADE,
    "api-check-release": GRADE,
    "api-adjudications": READ,
    "api-adjudication-next": GRADE,
    "api-adjudication": READ,
    "api-adjudication-claim": GRADE,
    "api-rulings": GRADE,
    "api-adjudication-finish": GRADE,
    "api-adjudication-release": GRADE,
    "api-adjudication-undo": GRADE,
    "api-label-tasks": READ,
    "api-label-task": READ,
    "api-label-answers": GRADE,
    "api-label-submit": GRADE,
    "api-writing-tasks": READ,
    "api-writing-task": READ,
    "api-writing-save": GRADE,
    "api-writing-submit": GRADE,
    "api-ruling-requests": READ,
    "api-ruling-request": GRADE,
    "api-coverage-next-question": GRADE,
    "api-coverage-question": GRADE,
    "api-coverage-skip": GRADE,
    "api-next-pair": GRADE,
    "api-pair-judgement": GRADE,
    "api-pair-skip": GRADE,
    # Cases and rubrics
    "api-cases": READ,
    "api-case": READ,
    "api-draft": GRADE,
    "api-draft-lint": GRADE,
    "api-draft-table": GRADE,
    "api-write-cases": GRADE,
    "api-write-case": GRADE,
    "api-write-privacy": GRADE,
    "api-versions": READ,
    "api-versions-diff": READ,
    "api-review": GRADE,
    "api-send-to-review": GRADE,
    "api-take-back": GRADE,
    "api-discard-draft": GRADE,
    "api-reviews": GRADE,
    "api-drafts-send": GRADE,
    "api-bank": READ,
    "api-banks": READ,
    "api-code-books": ADMIN,
    "api-code-book": READ,
    "api-suggestions": READ,
    "api-suggestions-open": GRADE,
    "api-suggestions-withdraw": ADMIN,
    "api-suggestion": READ,
    "api-suggestion-decision": GRADE,
    "api-splitting-points": READ,
    "api-splitting-case": GRADE,
    # Files, responses and documents
    "api-candidates": READ,
    "api-candidate": READ,
    "api-candidate-attributes": RUN,
    "api-responses": RUN,
    "api-response": READ,
    "api-imports": RUN,
    "api-import": READ,
    "api-import-restart": RUN,
    "api-passages": READ,
    "api-passage": READ,
    "api-collections": RUN,
    "api-collection": RUN,
    "api-collection-documents": RUN,
    "api-documents": READ,
    "api-document": RUN,
    "api-edition-citations": RUN,
    "api-document-passages": READ,
    # Labels and acuity
    "api-label-questions": READ,
    "api-label-question": READ,
    "api-label-moves": READ,
    "api-codings": READ,
    "api-acuity-rulings": READ,
    "api-reference-sets": READ,
    "api-reference-items": READ,
    "api-acuity-scales": RUN,
    "api-acuity-schemes": RUN,
    "api-acuity-source-labels": RUN,
    "api-acuity-readings": READ,
    "api-acuity-framings": RUN,
    "api-acuity-runs": RUN,
    "api-acuity-run": READ,
    "api-acuity-run-cancel": RUN,
    "api-acuity-run-resume": RUN,
    "api-coding-runs": RUN,
    "api-coding-run": READ,
    "api-coding-run-codes": READ,
    "api-coding-run-cancel": RUN,
    "api-coding-run-resume": RUN,
    "api-coding-run-replay": RUN,
    "api-acuity-plans": RUN,
    "api-acuity-plan": READ,
    "api-acuity-plan-sign": RUN,
    "api-leaderboard": READ,
    # Judges, and runs of all kinds
    "api-judges": RUN,
    "api-judge": READ,
    "api-runs": RUN,
    "api-run": READ,
    "api-run-cancel": RUN,
    "api-run-resume": RUN,
    "api-run-continue": RUN,
    "api-verdicts": READ,
    "api-judgements": READ,
    "api-supervision": RUN,
    "api-generation": RUN,
    "api-generation-run": READ,
    "api-generation-cancel": RUN,
    "api-generation-resume": RUN,
    "api-screenings": RUN,
    "api-screening": READ,
    "api-screened-cases": READ,
    "api-screening-decisions": RUN,
    "api-screening-close": RUN,
    "api-recipes": RUN,
    "api-drafting-terms": ADMIN,
    "api-recipe": READ,
    "api-recipe-versions": RUN,
    "api-drafting-runs": RUN,
    "api-drafting-run": READ,
    "api-drafting-run-cancel": RUN,
    "api-drafting-run-resume": RUN,
    "api-drafting-run-case": READ,
    "api-rubric-sets": RUN,
    "api-rubric-set-frame": RUN,
    "api-rubric-set-uploads": RUN,
    "api-rubric-sets-compare": READ,
    "api-rubric-set": READ,
    "api-rubric-set-items": READ,
    "api-rubric-set-mends": READ,
    "api-splitting-runs": RUN,
    "api-splitting-run": READ,
    "api-splitting-cancel": RUN,
    "api-splitting-resume": RUN,
    "api-splitting-replay": RUN,
    "api-splitting-freeze": RUN,
    "api-coverage-runs": RUN,
    "api-coverage-run": READ,
    "api-coverage-cancel": RUN,
    "api-coverage-resume": RUN,
    "api-coverage-replay": RUN,
    "api-coverage-ask": RUN,
    "api-pairs": RUN,
    "api-pair-uploads": RUN,
    "api-pair": READ,
    "api-pair-making": RUN,
    "api-pair-making-run": READ,
    "api-pair-making-cancel": RUN,
    "api-pair-making-resume": RUN,
    "api-pair-runs": RUN,
    "api-pair-run": READ,
    "api-pair-run-cancel": RUN,
    "api-pair-run-resume": RUN,
    "api-pair-run-replay": RUN,
    "api-refinements": RUN,
    "api-refinement-size": RUN,
    "api-refinement": READ,
    "api-refinement-cancel": RUN,
    "api-refinement-resume": RUN,
    "api-refinement-replay": RUN,
    "api-refinement-grade": RUN,
    # Figures and files
    "api-decisions-csv": READ,
    "api-planning": READ,
    "api-thresholds": RUN,
    "api-slices": RUN,
    "api-slices-preview": RUN,
    "api-slice": READ,
    "api-slice-cases": READ,
    "api-slice-retire": RUN,
    "api-reports": RUN,
    "api-report": RUN,
    "api-report-freshness": READ,
    "api-report-methods": READ,
    "api-report-recompute": RUN,
    "api-report-archive": READ,
    "api-report-workbook": READ,
    "api-report-rows": READ,
    "api-report-table": READ,
    "api-report-figure": READ,
    "api-replications": RUN,
    "api-replication-papers": READ,
    "api-replication": READ,
    "api-replication-archive": READ,
    "api-replication-published": READ,
    "api-replication-table": READ,
    "api-releases": RUN,
    "api-release": READ,
    "api-release-archive": READ,
}
# Reading these needs *admin*: who only reads results with a token has no need to see who signs in, who changed what and
# who applied.
READ_BY_ADMIN = frozenset({"api-security-log", "api-records", "api-server-changes", "api-changes", "api-applications"})


# Tokens for one benchmark --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkOf:
    """The object of an address without a benchmark in it: its model, and the way from there to the benchmark."""

    model: type[Model]
    benchmark: str

    def is_in(self, slug: str, public_id: str) -> bool:
        """Whether there is such an object, and it belongs to the benchmark."""
        rows: Any = self.model._default_manager
        return bool(rows.filter(**{"public_id": public_id, f"{self.benchmark}__slug": slug}).exists())


GRADED = WorkOf(Assignment, "batch__group__benchmark")
ADJUDICATED = WorkOf(Adjudication, "group__benchmark")
LABELLED = WorkOf(LabelTask, "batch__group__benchmark")
WRITTEN = WorkOf(WritingTask, "batch__group__benchmark")
RULED = WorkOf(RulingRequest, "question__benchmark")
# The endpoints whose address names no benchmark. A list among them is narrowed by the endpoint itself, with
# `accounts.token_scopes.bound_benchmark`. A token for one benchmark is refused by those that are not named here.
LISTS = frozenset(
    {
        *("api-assignments", "api-checks", "api-check-next", "api-adjudications", "api-adjudication-next"),
        *("api-label-tasks", "api-writing-tasks", "api-ruling-requests"),
    }
)
LISTS_TO_READ = frozenset({"api-benchmarks"})  # but a new benchmark is beyond such a token
# Those of the server or of an account as a whole: no token for one benchmark reaches them.
OF_THE_SERVER = frozenset(
    {
        *("api-accounts", "api-account-deactivate", "api-account-activate"),
        *("api-sessions", "api-session", "api-tokens", "api-token"),
        *("api-security-log", "api-server-changes", "api-activity"),
    }
)
OBJECTS: dict[str, WorkOf] = {
    **dict.fromkeys(
        (
            *("api-assignment", "api-decisions", "api-submit", "api-undo", "api-skip"),
            *("api-check", "api-check-claim", "api-amendments", "api-check-accept", "api-check-undo"),
            *("api-check-return", "api-check-release"),
        ),
        GRADED,
    ),
    **dict.fromkeys(
        (
            *("api-adjudication", "api-adjudication-claim", "api-rulings", "api-adjudication-finish"),
            *("api-adjudication-release", "api-adjudication-undo"),
        ),
        ADJUDICATED,
    ),
    **dict.fromkeys(("api-label-task", "api-label-answers", "api-label-submit"), LABELLED),
    **dict.fromkeys(("api-writing-task", "api-writing-save", "api-writing-submit"), WRITTEN),
    "api-ruling-request": RULED,
    "api-take": WorkOf(Batch, "group__benchmark"),
}


def _is_open_to(slug: str, name: str, arguments: Mapping[str, Any], method: str) -> bool:
    """Whether a token for the benchmark ``slug`` reaches the address; `Http404` if that is of another benchmark."""
    if "slug" in arguments or name in OBJECTS:
        is_own = arguments["slug"] == slug if "slug" in arguments else OBJECTS[name].is_in(slug, arguments["public_id"])
        if not is_own:
            raise Http404
        return True
    return name in LISTS or (name in LISTS_TO_READ and method in SAFE_METHODS)


# The rule ------------------------------------------------------------------------------------------------------------


def needed_scope(name: str, method: str) -> ApiToken.Scope | None:
    """The scope that a request needs; None where no token will do."""
    name = name.removeprefix(PREFIX)
    writes = SCOPES.get(name)
    if writes is None:
        return None
    if method in SAFE_METHODS:
        return ADMIN if name in READ_BY_ADMIN else READ
    return None if writes == READ else writes


def refusal(token: ApiToken, match: ResolverMatch, method: str) -> str:
    """Why the token is refused at an address; empty where it is not. `Http404` where it must look as if not there."""
    name = match.view_name.removeprefix(PREFIX)
    if not match.view_name.startswith(PREFIX):
        return _("API tokens are for addresses under /api/v1/.")
    if token.benchmark and not _is_open_to(token.benchmark, name, match.kwargs, method):
        return _("This API token is limited to the benchmark “%(slug)s”.") % {"slug": token.benchmark}
    scope = needed_scope(name, method)
    if scope is None:
        return _("This address takes no API token.")
    if scope not in token.scopes:
        return _("This needs an API token with the scope “%(scope)s”.") % {"scope": scope}
    return ""


class TokenScope(BasePermission):
    """Asked for every request to the API after its user is known."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """True, or `PermissionDenied` that names the scope, or `Http404`.

        A method that the endpoint does not have is answered with 405 afterwards.
        """
        if not isinstance(request.auth, ApiToken):
            return True
        method = request.method or ""
        if method.lower() not in view.http_method_names or not hasattr(view, method.lower()):
            return True
        assert request.resolver_match is not None
        if message := refusal(request.auth, request.resolver_match, method):
            raise PermissionDenied(message)
        return True


def may_use(token: ApiToken, request: HttpRequest, match: ResolverMatch) -> bool:
    """Whether the token may send this request; for what is decided before the endpoint is called."""
    try:
        return not refusal(token, match, request.method or "")
    except Http404:
        return False


# What is checked at start, and what the schema says ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Route:
    """An endpoint of the API: its name, its path as the schema writes it, and the methods that write."""

    name: str
    path: str
    writes: frozenset[str]


def routes_of(patterns: Sequence[URLPattern | URLResolver], before: str) -> Iterator[Route]:
    """The endpoints among the routes of the API, which is at the path ``before``."""
    for pattern in patterns:
        path = before + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from routes_of(pattern.url_patterns, path)
        else:
            view = getattr(pattern.callback, "cls", None) or getattr(pattern.callback, "view_class", None)
            writes = {name.upper() for name in ("post", "put", "patch", "delete") if hasattr(view, name)}
            yield Route(pattern.name or "", path, frozenset(writes))


def undeclared(routes: Iterable[Route]) -> list[str]:
    """What is not declared here of the endpoints, or is declared of endpoints that are not there."""
    errors: list[str] = []
    known = [route for route in routes if route.name not in PUBLIC]
    for route in known:
        scope = SCOPES.get(route.name)
        if scope is None or (scope == READ) == bool(route.writes):
            errors.append(f"{route.name}: the scope of its writes")
        is_named = any(route.name in listed for listed in (OBJECTS, LISTS, LISTS_TO_READ, OF_THE_SERVER))
        if ("{slug}" in route.path) == is_named:
            errors.append(f"{route.name}: to which benchmark it belongs")
    names = {*SCOPES, *READ_BY_ADMIN, *OBJECTS, *LISTS, *LISTS_TO_READ, *OF_THE_SERVER}
    missing = names - {route.name for route in known}
    return errors + [f"{name}: there is no such endpoint" for name in sorted(missing)]


def require_declared(patterns: Sequence[URLPattern | URLResolver]) -> None:
    """Refuse to serve an API with an endpoint that is not declared here, as `manage.py check` does before a start."""
    if errors := undeclared(routes_of(patterns, "")):
        raise ImproperlyConfigured("config/api_scopes.py does not declare: " + "; ".join(errors))


def with_scopes(result: Any, **_context: Any) -> Any:
    """A hook for the whole schema: each operation says which scope a token needs."""
    names = {route.path: route.name for route in routes_of(get_resolver().url_patterns, "/")}
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            scope = needed_scope(names[path], method.upper()) if path in names else None
            if scope is not None and isinstance(operation, dict):
                text = f"Needs the scope `{scope}`."
                operation["description"] = "\n\n".join(filter(None, (operation.get("description", ""), text)))
                operation["x-scope"] = str(scope)
    return result
