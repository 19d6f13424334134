"""Which values of `Accept` an operation of the API answers: JSON, and the types of the files that it declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.utils.mediatypes import media_type_matches

from consilium.core.parameters import schema_of

if TYPE_CHECKING:
    from rest_framework.renderers import BaseRenderer
    from rest_framework.request import Request
    from rest_framework.views import APIView

# The types of an operation do not change: they are read from its schema once.
_declared: dict[tuple[type, str], frozenset[str]] = {}


class DeclaredTypes(DefaultContentNegotiation):
    """Also accepts the types of the files that an operation answers with. Its refusals stay JSON.

    A file is no answer that REST framework renders, so it has no renderer with its type.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The renderer, and the type that it writes; `NotAcceptable` where the sender accepts none of the types."""
        renderers = list(renderers)
        try:
            return super().select_renderer(request, renderers, format_suffix)
        except NotAcceptable:
            declared = _types_of(request, request.parser_context["view"])
            accepted = self.get_accept_list(request)
            if any(media_type_matches(own, each) for own in declared for each in accepted):
                return renderers[0], str(renderers[0].media_type)
            raise


def _types_of(request: Request, view: APIView) -> frozenset[str]:
    """The types other than JSON of an operation's answers, as its schema has them: keys such as (200, "text/csv")."""
    schema_class, method = schema_of(request, view)
    if schema_class is None:
        return frozenset()
    if (schema_class, method) not in _declared:
        schema = schema_class()
        schema.view, schema.method = view, method
        answers: Any = schema.get_response_serializers()
        keys = answers if isinstance(answers, dict) else ()
        _declared[schema_class, method] = frozenset(key[1] for key in keys if isinstance(key, tuple))
    return _declared[schema_class, method]
