"""API endpoints of recipes, for those who run the benchmark: list, read, begin, new version; and terms of drafting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from consilium.core.api import StrictSerializer
from consilium.core.commands import CommandSerializer, command_of
from consilium.core.endpoints import PAGED, page_of, valid
from consilium.core.limits import MAX_RECIPE_NAME_LENGTH
from consilium.core.model_schemas import described_field, model_field, object_schema, stored_field
from drafting.access import get_recipe
from drafting.recipes import selectors, services
from drafting.recipes.content import RecipeContent, RecipeModel
from drafting.recipes.shipped import SHIPPED
from drafting.recipes.terms import TermsOfDrafting
from rubrics.access import get_administered_benchmark, get_benchmark
from scoring.judges.config import InvalidConfig, checked_config

if TYPE_CHECKING:
    from accounts.models import User

Plain = serializers.Serializer[Any]


class RecipeSerializer(Plain):
    """A version of a recipe; ``sha256`` is that of its content as canonical JSON."""

    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    version = serializers.IntegerField()
    form = serializers.CharField(source="content.form")
    sha256 = serializers.CharField()
    created_at = serializers.DateTimeField()


class RecipeWithContentSerializer(RecipeSerializer):
    """A version with all its contents. ``docs/formats.md`` names the fields of ``content``."""

    content = stored_field(RecipeContent)


class NewRecipeSerializer(StrictSerializer, Plain):
    """A new recipe: ``content``, or the name of a ``shipped`` recipe with the ``models`` of its roles."""

    name = serializers.CharField(max_length=MAX_RECIPE_NAME_LENGTH)
    content = model_field(RecipeContent, required=False)
    shipped = serializers.ChoiceField(choices=list(SHIPPED), required=False)
    models = described_field(
        {"type": "object", "additionalProperties": object_schema(RecipeModel)},
        required=False,
        help_text="by role: strong, fast, checker",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse two sources, none, and models that would be ignored."""
        if ("content" in attrs) == ("shipped" in attrs):
            raise ValidationError({"content": [_("Send either “content” or “shipped”.")]})
        if "models" in attrs and "shipped" not in attrs:
            raise ValidationError({"models": [_("Send the models of a recipe with “content” as part of it.")]})
        return attrs


class NewVersionSerializer(StrictSerializer, Plain):
    """The content of the next version; ``based_on``, the newest version that was seen, is that of the address."""

    content = model_field(RecipeContent)


class TermsSerializer(StrictSerializer, CommandSerializer):
    """How a benchmark uses suggestions."""

    commands = (TermsOfDrafting,)


def _content_of(payload: dict[str, Any]) -> dict[str, Any]:
    """The content of a new recipe; `InvalidConfig` names a model that is missing, unknown or wrong."""
    if "content" in payload:
        return cast("dict[str, Any]", payload["content"])
    shipped, given = SHIPPED[payload["shipped"]], payload.get("models", {})
    unknown = {
        f"models.{role}": _("This recipe does not use such a model.") for role in given if role not in shipped.roles
    }
    missing = {f"models.{role}": _("This recipe needs this model.") for role in shipped.roles if role not in given}
    if unknown or missing:
        raise InvalidConfig(unknown | missing)
    models = {}
    for role in shipped.roles:
        try:
            models[role] = checked_config(RecipeModel, given[role])
        except InvalidConfig as error:
            fields = {f"models.{role}.{name}": message for name, message in error.fields.items()}
            raise InvalidConfig(fields) from None
    return shipped.content(models).model_dump(mode="json")


@extend_schema(methods=["GET"], responses=RecipeSerializer(many=True), parameters=PAGED, operation_id="recipes_list")
@extend_schema(
    methods=["POST"],
    request=NewRecipeSerializer,
    responses={201: RecipeWithContentSerializer},
    operation_id="recipes_create",
)
@api_view(["GET", "POST"])
def recipes(request: Request, slug: str) -> Response:
    """List the recipes, each by its newest version.

    POST: Make a recipe of content, or of a shipped recipe and models.
    """
    benchmark = get_benchmark(request.user, slug)
    if request.method == "GET":
        return page_of(request, selectors.newest_recipes(benchmark), RecipeSerializer)
    payload = valid(NewRecipeSerializer(data=request.data))
    row = services.save_version(
        benchmark=benchmark,
        name=payload["name"],
        content=_content_of(payload),
        by=cast("User", request.user),
        at=timezone.now(),
    )
    return Response(RecipeWithContentSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema(responses=RecipeWithContentSerializer, operation_id="recipes_read")
@api_view(["GET"])
def recipe(request: Request, slug: str, public_id: str) -> Response:
    """Show a version of a recipe."""
    row = get_recipe(request.user, slug, public_id)
    return Response(RecipeWithContentSerializer(row).data)


@extend_schema(
    methods=["GET"], responses=RecipeSerializer(many=True), parameters=PAGED, operation_id="recipes_versions_list"
)
@extend_schema(
    methods=["POST"],
    request=NewVersionSerializer,
    responses={201: RecipeWithContentSerializer},
    operation_id="recipes_versions_create",
)
@api_view(["GET", "POST"])
def versions(request: Request, slug: str, public_id: str) -> Response:
    """List the versions of a recipe, the newest first.

    POST: Save the next version of a recipe after the version of this address. 409 where there is a newer version
    already. The content of the newest version gives that version again.
    """
    row = get_recipe(request.user, slug, public_id)
    if request.method == "GET":
        return page_of(request, selectors.versions_of(row.benchmark, row.name), RecipeSerializer)
    payload = valid(NewVersionSerializer(data=request.data))
    saved = services.save_version(
        benchmark=row.benchmark,
        name=row.name,
        content=payload["content"],
        based_on=row.version,
        by=cast("User", request.user),
        at=timezone.now(),
    )
    return Response(RecipeWithContentSerializer(saved).data, status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=TermsSerializer, operation_id="drafting_terms_read")
@extend_schema(methods=["PUT"], request=TermsSerializer, responses=TermsSerializer, operation_id="drafting_terms_save")
@api_view(["GET", "PUT"])
def terms(request: Request, slug: str) -> Response:
    """Show how the benchmark uses suggestions (admins).

    PUT: Set how the benchmark uses suggestions (admins). A field that is not given has its default.
    """
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method == "PUT":
        payload = valid(TermsSerializer(data=request.data))
        services.save_terms(
            benchmark=benchmark,
            terms=command_of(TermsOfDrafting, payload),
            by=cast("User", request.user),
            at=timezone.now(),
        )
    return Response(TermsSerializer(selectors.terms_values(benchmark)).data)
