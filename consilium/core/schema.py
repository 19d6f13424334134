"""How the API's schema is made: lists in pages are declared as such, and every operation says how it refuses."""

from __future__ import annotations

import re
from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.pagination import CursorPagination

from consilium.core.endpoints import Pages

_FIELD_ERRORS = {
    "type": "object",
    "description": "Messages by field; those of an object or a list inside are nested.",
    "additionalProperties": {
        "oneOf": [
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"$ref": "#/components/schemas/FieldErrors"}, "minItems": 1},
            {"$ref": "#/components/schemas/FieldErrors"},
        ]
    },
}
_WRITES = ("POST", "PUT", "PATCH", "DELETE")


class RefusalSerializer(serializers.Serializer[Any]):
    """Why a request is refused, for a person to read."""

    detail = serializers.CharField()


class FaultSerializer(serializers.Serializer[Any]):
    """An error in a file or in what was sent; line 0 is the whole, and `field` may be empty."""

    line = serializers.IntegerField(help_text="Counts from 1: the line of a file, or the place in a list.")
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class RuleRefusalSerializer(serializers.Serializer[Any]):
    """Which rule does not allow it; `errors` names the lines and fields, where the rule is about some."""

    detail = serializers.CharField()
    errors = FaultSerializer(many=True, required=False)  # type: ignore[assignment]
    error_total = serializers.IntegerField(
        required=False, help_text="How many errors there are; `errors` lists the first ones."
    )


def stale(name: str, current: serializers.Serializer[Any]) -> type[serializers.Serializer[Any]]:
    """The body of a 409: ``current`` is what is stored, where the sender has seen an earlier version."""
    fields = {
        "detail": serializers.CharField(),
        "current": current,
        "__doc__": "Why it was not saved; `current` is what is stored, where what was sent rests on an older version.",
    }
    return type(f"Stale{name}Serializer", (serializers.Serializer,), fields)


def unanswered(name: str, missing: serializers.Field[Any, Any, Any, Any]) -> type[serializers.Serializer[Any]]:
    """The body of a 422 where something is not answered: ``missing`` has the ids."""
    fields = {
        "detail": serializers.CharField(),
        "missing": serializers.ListField(child=missing, required=False),
        "__doc__": "Why it was not submitted. `missing` has the ids of what is not answered, or lacks its note.",
    }
    return type(f"Unanswered{name}Serializer", (serializers.Serializer,), fields)


# The first part of an address below a benchmark or `work/` → the area under which the documentation has the operation,
# where that is not the part itself.
_AREAS = {
    "account": "accounts",
    "security-log": "records",
    "changes": "records",
    "authors": "people",
    "staff": "people",
    "groups": "people",
    "write": "writing cases",
    "writing": "writing responses",
    "drafts": "writing cases",
    "reviews": "writing cases",
    "audits": "writing cases",
    "bank": "banks",
    "passages": "documents",
    "collections": "documents",
    "recipes": "drafting",
    "drafting-runs": "drafting",
    "suggestions": "drafting",
    "conflicts": "batches",
    "regrading": "batches",
    "thresholds": "reports",
    "planning": "reports",
    "slices": "reports",
    "raters": "reports",
    "supervision": "judges",
    "generation": "requested responses",
    "pairs": "near-miss pairs",
    "pairs-to-judge": "near-miss pairs",
    "pair-making": "near-miss pairs",
    "pair-runs": "near-miss pairs",
    "coverage-runs": "coverage",
    "coverage-questions": "coverage",
    "refinements": "rubric sets",
    "rubric-sets": "rubric sets",
    "splitting-runs": "rubric sets",
}
_METHOD = re.compile(rf"({'|'.join(('GET', *_WRITES))}): ")
_AREA = re.compile(r"/api/v1/(?:benchmarks/\{slug\}/([^/]+)/|([^/]+)/)")

# For everybody but operators, these addresses are not there.
_OF_OPERATORS = ("/api/v1/server/", "/api/v1/accounts/")


# The least value of the parameters of lists, which are whole numbers.
_LEAST = {"limit": 1, "offset": 0}


def with_single_backquotes(result: Any, **_context: Any) -> Any:
    """A hook for the whole schema: docstrings have two backquotes around names, and the page of the API reads one."""
    if isinstance(result, list):
        return [with_single_backquotes(each) for each in result]
    if not isinstance(result, dict):
        return result
    return {
        name: part.replace("``", "`")
        if name in ("description", "summary") and isinstance(part, str)
        else with_single_backquotes(part)
        for name, part in result.items()
    }


def with_examples_of_amounts(result: Any, **_context: Any) -> Any:
    """A hook for the whole schema: an amount gets an example, for the API's page would make up one from its pattern."""
    if isinstance(result, list):
        return [with_examples_of_amounts(each) for each in result]
    if not isinstance(result, dict):
        return result
    own = {name: with_examples_of_amounts(part) for name, part in result.items()}
    return {**own, "example": "2.50"} if own.get("format") == "decimal" else own


class Schema(AutoSchema):
    """The schema of an operation."""

    def _get_parameters(self) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super()._get_parameters()
        for each in parameters:
            if each["in"] == "query" and each["name"] in _LEAST:
                each["schema"] = {**each["schema"], "minimum": _LEAST[each["name"]]}
        return parameters

    def get_tags(self) -> list[str]:
        """The area of the operation, such as cases, work or reports."""
        match = _AREA.match(self.path)
        area = (match[1] or match[2]) if match else ""
        return [_AREAS.get(area, area).replace(" ", "-")]

    def get_description(self) -> str:  # type: ignore[override]  # as in AutoSchema
        """The part of the docstring that is about this method.

        Where an endpoint has several, a paragraph that begins with the name of a method, such as ``POST: ``, is about
        that method, as are those after it. Those before the first are about the methods without one.
        """
        parts: dict[str, list[str]] = {"": []}
        method = ""
        for paragraph in (super().get_description() or "").split("\n\n"):
            if match := _METHOD.match(paragraph):
                method = match[1]
            parts.setdefault(method, []).append(paragraph[match.end() :] if match else paragraph)
        return "\n\n".join(parts.get(self.method, parts[""]))

    def get_summary(self) -> str:
        """The first sentence of the description."""
        text = " ".join((super().get_summary() or self.get_description()).split())
        return re.split(r"(?<=[.:;]) ", text, maxsplit=1)[0].rstrip(".:;")

    def _get_paginator(self) -> Any:
        """Pages, where the operation takes ``limit`` with ``offset`` or ``cursor``: a view that pages by itself names
        no class.
        """
        names = {each.name for each in self.get_override_parameters() if isinstance(each, OpenApiParameter)}
        if {"limit", "cursor"} <= names:
            return CursorPagination()
        return Pages() if {"limit", "offset"} <= names else super()._get_paginator()

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if direction != "response":
            return bodies
        refusal = self.resolve_serializer(RefusalSerializer, "response").ref
        broken_rule = self.resolve_serializer(RuleRefusalSerializer, "response").ref
        component = ResolvedComponent("FieldErrors", ResolvedComponent.SCHEMA, _FIELD_ERRORS, "FieldErrors")
        self.registry.register_on_missing(component)
        for code, description in self._refusals().items():
            content = {"400": {"oneOf": [refusal, component.ref]}, "422": broken_rule}.get(code, refusal)
            body = bodies.setdefault(code, {"description": description})
            body.setdefault("content", {"application/json": {"schema": content}})
        return bodies

    def _refusals(self) -> dict[str, str]:
        """The codes with which an operation may refuse, each with its reason."""
        codes: dict[str, str] = {}
        writes = self.method in _WRITES
        parameters = {each.name for each in self.get_override_parameters() if isinstance(each, OpenApiParameter)}
        # An unknown parameter is refused by every operation (`DeclaredParameters`).
        codes["400"] = "What was sent is not valid: `detail`, or the messages for each field or parameter."
        codes["401"] = "The token is not known, has expired or was revoked."
        codes["403"] = "Not signed in, or the token lacks the scope; `detail` names it."
        if "{" in self.path or "benchmark" in parameters or self.path.startswith(_OF_OPERATORS):
            codes["404"] = "There is no such thing, or it is not yours to see."
        if writes:
            if self._get_request_body():
                codes["413"] = "The body is longer than this route takes."
                codes["415"] = "The body is of a type that this operation does not read."
            codes["409"] = "It was changed or settled meanwhile."
            codes["422"] = "A rule does not allow it; `detail` says which."
        codes["429"] = "Too many requests to one process of the server; `Retry-After` says when to continue."
        codes["503"] = "The server is busy; `detail` says whether something may be saved, `Retry-After` when to retry."
        return dict(sorted(codes.items()))
