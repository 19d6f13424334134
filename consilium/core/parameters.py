"""Query parameters of the API: those that an operation declares, with values of the declared kind; others are refused.

A filter that is dropped silently shows too much. So an endpoint declares its parameters once, for the schema, and this
module compares each request with the declaration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

BOOLEANS = ("true", "false")
MAX_NAMED = 50  # values to choose from
MAX_DIGITS = 9  # of a whole number; more rows are in no list

# The parameters of an operation do not change: they are read from its schema once.
_declared: dict[tuple[type, str], dict[str, OpenApiParameter]] = {}


class DeclaredParameters(BasePermission):
    """Asked for every request after its user is known: a 400 names each parameter that the schema does not declare.

    It is a permission because REST framework asks those before the endpoint, in one place.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        """True, or `ValidationError`. A method that the endpoint does not have is answered with 405 afterwards."""
        if (request.method or "").lower() not in view.http_method_names:
            return True
        declared = _parameters_of(request, view)
        faults = {name: _fault(declared.get(name), request.query_params.getlist(name)) for name in request.query_params}
        faults = {name: fault for name, fault in faults.items() if fault}
        if faults:
            raise ValidationError({name: [fault] for name, fault in faults.items()})
        return True


def schema_of(request: Request, view: APIView) -> tuple[Any, str]:
    """The class of the schema of the operation that a request asks for, None where it declares none; and its method."""
    method = "GET" if request.method == "HEAD" else request.method or ""  # HEAD is answered as GET is
    return getattr(getattr(view, method.lower(), None), "kwargs", {}).get("schema"), method


def _parameters_of(request: Request, view: APIView) -> dict[str, OpenApiParameter]:
    schema_class, method = schema_of(request, view)
    if schema_class is None:
        return {}
    if (schema_class, method) not in _declared:
        schema = schema_class()
        schema.view, schema.method = view, method
        _declared[schema_class, method] = {
            each.name: each for each in schema.get_override_parameters() if each.location == OpenApiParameter.QUERY
        }
    return _declared[schema_class, method]


def _fault(parameter: OpenApiParameter | None, values: Sequence[str]) -> str:
    """What is wrong with the values of a parameter; empty where nothing is. An empty value leaves nothing out."""
    if parameter is None:
        return _("This parameter is not supported here.")
    if len(values) > 1:
        return _("Send this parameter once.")
    [value] = values
    if not value:
        return ""
    if parameter.enum and value not in map(str, parameter.enum):
        return one_of(parameter.enum)
    if parameter.type is bool and value not in BOOLEANS:
        return one_of(BOOLEANS)
    if parameter.type is int and not is_whole_number(value):
        # The bounds of a page are named by `Pages`, which gets numbers of any length, and those below 0 as well.
        is_of_page = parameter.name in ("limit", "offset")
        digits = value.removeprefix("-") if is_of_page else value
        if not (digits.isascii() and digits.isdecimal()):
            return _("This must be a whole number.")
        return "" if is_of_page else _out_of_range(0, 10**MAX_DIGITS - 1)
    if parameter.type is float and not _is_number(value):
        return _("This must be a number.")
    return ""


def one_of(names: Sequence[Any]) -> str:
    """The message that names the values to choose from, or the first of many."""
    named = [*map(str, names[:MAX_NAMED]), *(["…"] if len(names) > MAX_NAMED else [])]
    return _("One of: %(names)s.") % {"names": ", ".join(named)}


def is_whole_number(text: str) -> bool:
    """Whether ``text`` is a number from 0 with at most `MAX_DIGITS` digits."""
    return text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and math.isfinite(float(text))
    except ValueError:
        return False


def required(request: Request, name: str) -> str:
    """The value of a parameter that must be sent; asked after access, so that strangers get the 404 of any object."""
    if not (value := request.query_params.get(name, "")):
        raise ValidationError({name: [_("This parameter is required.")]})
    return value


def whole_number(request: Request, name: str, *, default: int, low: int = 0, high: int = 10**MAX_DIGITS - 1) -> int:
    """The whole number that a parameter has, ``default`` where it is not sent; `ValidationError` outside the bounds."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not is_whole_number(text) or not low <= int(text) <= high:
        raise ValidationError({name: [_out_of_range(low, high)]})
    return int(text)


def _out_of_range(low: int, high: int) -> str:
    return _("This must be a whole number from %(low)s to %(high)s.") % {"low": low, "high": high}
