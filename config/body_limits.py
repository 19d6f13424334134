"""Limits the length of a request's body: `settings.MAX_BODY_BYTES`, and more on the routes listed here.

A long body is read only if the user may use the route for the object that its address names. Django's CSRF check
parses multipart bodies, and writes their files to the disk, before a view can check the user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.token_authentication import TokenAuthentication, TokenRefused
from annotation import access as annotation_access
from annotation.cohort.forms import MAX_FILE_BYTES as APPLICATIONS_FILE
from annotation.qualification.keys import LARGEST_FILE as KEY_FILE
from config import api_scopes
from consilium.middleware import Handler, reads_json
from documents import access as documents_access
from documents.parsing.limits import LIMITS as DOCUMENT_LIMITS
from rubrics import access
from rubrics.codes.reading import LIMITS as CODE_LIMITS
from rubrics.editor.rubric_views import MAX_UPLOAD_BYTES as RUBRIC_FILE
from rubrics.parsing.reader import Limits

# Text beside the file in a multipart body: boundaries, names, the other fields of the form.
FORM = 1 << 20
IMPORT = Limits().total_bytes + FORM
DOCUMENTS = DOCUMENT_LIMITS.file_bytes + FORM
# A body of this kind is kept in memory, so it may be no longer than a line of an imported file.
DOCUMENT = settings.DATA_UPLOAD_MAX_MEMORY_SIZE


@dataclass(frozen=True, slots=True)
class LongBody:
    """The limit of a route that takes a long body, and the function that fetches the object that the user writes to.

    ``fetch`` takes the user and the arguments of the route, and raises `Http404` if the user has no access to it.
    """

    limit: int
    fetch: Callable[..., object]


# Every route that takes more than `settings.MAX_BODY_BYTES`, by the name that `reverse` takes.
LONG_BODIES: dict[str, LongBody] = {
    # Files
    "rubrics:imports": LongBody(IMPORT, access.get_benchmark),
    "scoring:acuity-import": LongBody(IMPORT, access.get_benchmark),
    "validation:rubric-set-new": LongBody(IMPORT, access.get_benchmark),
    "api:api-rubric-set-uploads": LongBody(IMPORT, access.get_benchmark),
    "validation:pairs-import": LongBody(IMPORT, access.get_benchmark),
    "api:api-pair-uploads": LongBody(IMPORT, access.get_benchmark),
    "api:api-imports": LongBody(IMPORT, access.get_benchmark),
    "documents:collection-import": LongBody(DOCUMENTS, documents_access.get_managed_collection),
    "api:api-collection-documents": LongBody(DOCUMENTS, documents_access.get_managed_collection),
    "rubrics:banks": LongBody(IMPORT, access.get_written_benchmark),
    "rubrics:codes": LongBody(CODE_LIMITS.total_bytes + FORM, access.get_administered_benchmark),
    "rubrics:maps": LongBody(DOCUMENT, access.get_administered_benchmark),
    "rubrics:rubric-paste": LongBody(RUBRIC_FILE + FORM, access.get_case_to_write),
    "api:api-draft-table": LongBody(RUBRIC_FILE + FORM, access.get_case_to_write),
    "annotation:key-import": LongBody(KEY_FILE + FORM, access.get_administered_benchmark),
    "annotation:cohort-import": LongBody(APPLICATIONS_FILE + FORM, access.get_administered_benchmark),
    # JSON: lists of texts, each of which may be long
    "api:api-code-books": LongBody(DOCUMENT, access.get_administered_benchmark),
    "api:api-responses": LongBody(DOCUMENT, access.get_benchmark),
    "rubrics:write-case-save": LongBody(DOCUMENT, access.get_case_to_write),
    "rubrics:write-preview": LongBody(DOCUMENT, access.get_case_to_write),
    "api:api-write-cases": LongBody(DOCUMENT, access.get_written_benchmark),
    "api:api-write-case": LongBody(DOCUMENT, access.get_case_to_write),
    "rubrics:rubric-draft": LongBody(DOCUMENT, access.get_case_to_write),
    "rubrics:rubric-lint": LongBody(DOCUMENT, access.get_case_to_write),
    "api:api-draft": LongBody(DOCUMENT, access.get_case_to_write),
    "api:api-draft-lint": LongBody(DOCUMENT, access.get_case_to_write),
    "annotation:decisions": LongBody(DOCUMENT, annotation_access.get_own_work),
    "annotation:submit": LongBody(DOCUMENT, annotation_access.get_own_work),
    "api:api-decisions": LongBody(DOCUMENT, annotation_access.get_own_work),
}


def body_length(request: HttpRequest) -> int:
    """The length in bytes that the header announces, 0 without it; `SuspiciousOperation` (400) if it is not a number.

    A body without a length (chunked) is not read at all: under WSGI Django reads as many bytes as the header says.
    """
    text = request.META.get("CONTENT_LENGTH") or "0"
    if not (text.isascii() and text.isdigit()):
        raise SuspiciousOperation("Content-Length is not a number")
    return int(text[:20])  # 20 digits of a longer number already exceed every limit


def body_limit(request: HttpRequest) -> int:
    """How many bytes this user may send to this route. Neither the form nor the files of the request are touched."""
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return settings.MAX_BODY_BYTES
    route = LONG_BODIES.get(match.view_name)
    if route is None:
        return settings.MAX_BODY_BYTES
    user = request.user if request.user.is_authenticated else _token_user(request, match)
    if user is None:
        return settings.MAX_BODY_BYTES
    try:
        route.fetch(user, **match.kwargs)
    except Http404:
        return settings.MAX_BODY_BYTES
    return route.limit


def _token_user(request: HttpRequest, match: ResolverMatch) -> object | None:
    """The owner of the token that the request carries, if the token may send it; else None."""
    try:
        known = TokenAuthentication().authenticate(Request(request))
    except TokenRefused:
        return None
    return known[0] if known is not None and api_scopes.may_use(known[1], request, match) else None


def refuse_long_bodies(get_response: Handler) -> Handler:
    """Answer 413, before the body is read, if its header announces more than this user may send to this route.

    This middleware follows the one that sets the user, and no middleware before it reads a body. It precedes the CSRF
    check, which would read the whole body to find its token.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        length = body_length(request)
        if length > settings.MAX_BODY_BYTES:
            limit = body_limit(request)
            if length > limit:
                return _too_long(request, limit)
        return get_response(request)

    return middleware


def _too_long(request: HttpRequest, limit: int) -> HttpResponse:
    """413 as JSON for the API and for scripts that ask for it, as a sentence for htmx, else as a page."""
    detail = _("This request is too large: the limit here is %(n)d MB. Nothing was saved.") % {"n": limit // 10**6}
    if reads_json(request):
        return JsonResponse({"detail": detail}, status=413)
    if "HX-Request" in request.headers:
        return HttpResponse(detail, status=413, content_type="text/plain")
    return render(request, "413.html", {"detail": detail}, status=413)
