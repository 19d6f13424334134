"""Middleware of the project."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost, SuspiciousOperation
from django.db import DataError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse, QueryDict
from django.http.request import RawPostDataException, split_domain_port, validate_host
from django.template.loader import render_to_string
from django.urls import is_valid_path
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from consilium.core.limits import MAX_QUERY_LENGTH
from consilium.hosts import site_ports

Handler = Callable[[HttpRequest], HttpResponse]
UTF_8 = ("utf-8", "utf8", "us-ascii")
API = "/api/"
HEALTH_CHECK = "/healthz"  # requested from inside, by an address of the machine and without a port


def refuse_other_hosts(get_response: Handler) -> Handler:
    """A request for another host or port than the site's is a bad request (400), whatever it asks for."""

    def middleware(request: HttpRequest) -> HttpResponse:
        host = request.get_host()  # refuses names that are not allowed
        if request.path_info != HEALTH_CHECK and not _answers_at(host):
            raise DisallowedHost(
                f"Invalid HTTP_HOST header: {host!r}. The site answers at the port of SITE_URL, or without SITE_URL at "
                "PORT; another one must stand in ALLOWED_HOSTS. A proxy has to pass on the Host that it was asked for."
            )
        return get_response(request)

    return middleware


def _answers_at(host: str) -> bool:
    """Whether the port of ``host``, whose name is allowed, is one of that name; ``*`` in ALLOWED_HOSTS allows any."""
    if "*" in settings.ALLOWED_HOSTS:
        return True
    name, port = split_domain_port(host)
    usual = site_ports(site_url=settings.SITE_URL, port=settings.PORT)
    return any(
        port in settings.NAMED_PORTS.get(pattern, usual)
        for pattern in settings.ALLOWED_HOSTS
        if validate_host(name, [pattern])
    )


def refuse_other_encodings(get_response: Handler) -> Handler:
    """Text in a request is UTF-8; a Content-Type with another charset is a bad request (400), before a body is read.

    Django and REST framework decode a body with any codec of Python that the header names, and some take a time that
    grows with the square of its length: `punycode` 3 s for 200 kB.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        charset = (request.content_params or {}).get("charset")
        if charset is not None:
            if charset.strip(" \"'").lower() not in UTF_8:
                if reads_json(request):
                    return JsonResponse({"detail": _("Send text in UTF-8, not in another encoding.")}, status=400)
                raise SuspiciousOperation(f"a body in the encoding {charset[:50]!r}")
            request.encoding = "utf-8"  # the only spelling that Django accepts for every kind of form
        return get_response(request)

    return middleware


def answer_head(get_response: Handler) -> Handler:
    """A HEAD of the API is answered as GET, without the body.

    Endpoints never see it: those that tell only GET from POST would take it for POST.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method != "HEAD" or not request.path_info.startswith(API):
            return get_response(request)
        request.method = "GET"
        response = get_response(request)
        if response.streaming:
            response.streaming_content = ()  # type: ignore[attr-defined]  # of a `StreamingHttpResponse`
        else:
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response

    return middleware


class RefuseNul:
    """An address with a NUL is a bad request (400): PostgreSQL stores no NUL, and no name here has one.

    Most forms refuse one beside its field. Where a view gives it to the database, this answers as for an address.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Look at the address."""
        if "\0" in request.path_info or _has_nul(request.GET):
            raise SuspiciousOperation("a NUL in the address")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        """Look at the fields, where the view failed."""
        if isinstance(exception, DataError | ValueError) and request.method == "POST" and _has_nul(request.POST):
            raise SuspiciousOperation("a NUL in a field") from exception


class RefuseForms:
    """A form that is sent to an address which takes JSON is a bad request (400).

    The CSRF check reads such a form before the view, so that the view cannot read the body any more.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; no view is looked at before it fails."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Only views that take JSON read the body as it is."""
        if not isinstance(exception, RawPostDataException):
            return None
        return JsonResponse({"detail": _("The request does not match the page. Reload the page.")}, status=400)


def explain_wrong_method(get_response: Handler) -> Handler:
    """A page for a browser that asks for an address in a way that it does not answer (405), with a way back."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not (
            reads_json(request) or "HX-Request" in request.headers
        ):
            context = {"takes_forms": "GET" not in response["Allow"], "back": _page_before(request)}
            response.content = render_to_string("405.html", context, request).encode()
        return response

    return middleware


def _page_before(request: HttpRequest) -> str:
    """The address of the page that led here, which mostly has the form; empty if it is unknown or another site's."""
    referer = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(referer, {request.get_host()}):
        return ""
    path = urlsplit(referer).path
    # Two slashes at its beginning would name another host.
    is_own = path.startswith("/") and not path.startswith("//")
    return path if is_own and path != request.path else ""


def _has_nul(values: QueryDict) -> bool:
    return any("\0" in text for key in values for text in (key, *values.getlist(key)))


def refuse_long_queries(get_response: Handler) -> Handler:
    """A long part of an address after its question mark is refused (414): lists of names have bounds."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if len(request.META.get("QUERY_STRING", "")) <= MAX_QUERY_LENGTH:
            return get_response(request)
        detail = _("This address is too long: at most %(n)s characters may follow its question mark.")
        detail %= {"n": MAX_QUERY_LENGTH}
        if reads_json(request):
            return JsonResponse({"detail": detail}, status=414)
        return HttpResponse(detail, status=414, content_type="text/plain; charset=utf-8")

    return middleware


def refuse_missing_slash(get_response: Handler) -> Handler:
    """A request to the API that would write, at an address that lacks the slash at its end, is a 404 that says so.

    A redirect would not do: clients follow it with GET, which answers 200 and writes nothing.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        path = request.path_info
        lacks_slash = path.startswith(API) and not path.endswith("/")
        is_write = request.method not in ("GET", "HEAD", "OPTIONS")
        if is_write and lacks_slash and not is_valid_path(path) and is_valid_path(f"{path}/"):
            message = _("Addresses of the API end with a slash: %(address)s") % {"address": f"{request.path}/"}
            return JsonResponse({"detail": message}, status=404)
        return get_response(request)

    return middleware


def reads_json(request: HttpRequest) -> bool:
    """Whether the sender expects an answer in JSON: clients of the API, and scripts that ask for it."""
    accepts_json = request.content_type == "application/json" or "application/json" in request.headers.get("Accept", "")
    return accepts_json or request.path_info.startswith("/api/")
