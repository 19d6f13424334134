"""Pages of recipes: list, beginning, one version, editor with preview, difference; and the terms of drafting."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.commands import command_of
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from drafting import access
from drafting.models import DraftingRecipe
from drafting.recipes import comparing, previews, selectors, services, shown
from drafting.recipes.editor import RecipeEditor
from drafting.recipes.forms import BeginForm, TermsForm
from drafting.recipes.shipped import SHIPPED
from drafting.recipes.terms import TermsOfDrafting
from drafting.stages.prompts import prompt_language
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.generic import generic_criteria
from rubrics.models import Benchmark, Case


@require_safe
@signed_in
def recipes(request: SignedInRequest, slug: str) -> HttpResponse:
    """The recipes of a benchmark, each by its newest version."""
    benchmark = get_benchmark(request.user, slug)
    context = {
        "benchmark": benchmark,
        "rows": selectors.rows_of(selectors.newest_recipes(benchmark)),
        "terms": selectors.terms_of(benchmark),
        "is_admin": is_admin(request.user, benchmark),
    }
    return render(request, "drafting/recipes/recipes.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def recipe_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Begin a recipe from a shipped one, with an endpoint and models; ``shipped`` says which one is chosen."""
    benchmark = get_benchmark(request.user, slug)
    status = 200
    if request.method == "POST":
        form, status = BeginForm(request.POST, benchmark=benchmark), 422
        if form.is_valid():
            try:
                recipe = services.save_version(
                    benchmark=benchmark,
                    name=form.cleaned_data["name"],
                    content=form.content(),
                    by=request.user,
                    at=timezone.now(),
                )
            except DomainError as error:
                form.refuse(error)
                status = error.status_code
            else:
                return redirect("drafting:recipe", slug, recipe.public_id)
    else:
        shipped = request.GET.get("shipped", "")
        form = BeginForm(initial={"shipped": shipped} if shipped in SHIPPED else None, benchmark=benchmark)
    context = {"benchmark": benchmark, "form": form, "shipped": SHIPPED.values()}
    return render(request, "drafting/recipes/new.html", context, status=status)


@require_safe
@signed_in
def recipe(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One version of a recipe: its stages, models, texts, limits and filters, and its other versions."""
    row = access.get_recipe(request.user, slug, public_id)
    versions = list(selectors.versions_of(row.benchmark, row.name))
    content = selectors.content_of(row)
    context = {
        "benchmark": row.benchmark,
        "recipe": row,
        "content": content,
        "stages": shown.stage_rows(content),
        "models": shown.model_rows(content),
        "limits": shown.limit_rows(content),
        "filters": shown.filter_rows(row.benchmark, content),
        "versions": versions,
        "is_newest": versions[0] == row,
        "generic": generic_criteria(get_language() or "en"),
    }
    return render(request, "drafting/recipes/recipe.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def recipe_edit(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Change a recipe: saving makes a new version. An older version can be the beginning as well."""
    row = access.get_recipe(request.user, slug, public_id)
    newest = selectors.versions_of(row.benchmark, row.name)[0]
    return _editor(request, row, name=row.name, newest=newest)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def recipe_copy(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Begin another recipe with what this version holds."""
    return _editor(request, access.get_recipe(request.user, slug, public_id), name="", newest=None)


def _editor(request: SignedInRequest, row: DraftingRecipe, *, name: str, newest: DraftingRecipe | None) -> HttpResponse:
    editor = _editor_of(request, row, name=name, based_on=newest.version if newest else 0)
    status = 200
    if request.method == "POST":
        status = 422
        if editor.is_valid():
            try:
                saved = services.save_version(
                    benchmark=row.benchmark,
                    name=editor.name,
                    content=editor.content(),
                    based_on=editor.based_on,
                    by=request.user,
                    at=timezone.now(),
                )
            except DomainError as error:
                editor.refuse(error)
                status = error.status_code
            else:
                if newest is not None and saved.pk == newest.pk:
                    messages.info(request, _("Nothing has changed, so no version was saved."))
                else:
                    messages.success(request, _("Version %(n)d was saved.") % {"n": saved.version})
                return redirect("drafting:recipe", row.benchmark.slug, saved.public_id)
    context = {
        "benchmark": row.benchmark,
        "recipe": row,
        "newest": newest,
        "editor": editor,
        "cases": previews.cases_to_show(row.benchmark),
        "first_stage": previews.first_stage(editor.form),
    }
    return render(request, "drafting/recipes/editor.html", context, status=status)


def _editor_of(request: SignedInRequest, row: DraftingRecipe, *, name: str, based_on: int) -> RecipeEditor:
    data = request.POST if request.method == "POST" else None
    content = selectors.content_of(row)
    return RecipeEditor(benchmark=row.benchmark, content=content, name=name, based_on=based_on, data=data)


@require_POST
@signed_in
def recipe_preview(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The request of one stage about one case, by the texts that the editor holds now; nothing is written."""
    row = access.get_recipe(request.user, slug, public_id)
    editor = _editor_of(request, row, name=row.name, based_on=0)
    form = next((form for form in editor.stages if form.stage == request.POST.get("preview_stage")), None)
    case = _case_of(row.benchmark, request.POST.get("preview_case", ""))
    context: dict[str, Any] = {"benchmark": row.benchmark, "case": case}
    if form is not None and case is not None:
        language = prompt_language(case.language)
        context["preview"] = previews.preview_of(
            form.stage,
            form.sent(language),
            benchmark=row.benchmark,
            case=case,
            language=language,
            content=selectors.content_of(row).model_copy(update={"limits": editor.limits.limits()}),
        )
    return render(request, "drafting/recipes/_preview.html", context)


def _case_of(benchmark: Benchmark, public_id: str) -> Case | None:
    if not public_id:
        return None
    return get_object_or_404(Case.objects.filter(benchmark=benchmark).included(), public_id=public_id)


@require_safe
@signed_in
def recipe_difference(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """What this version changed; ``with`` names another version or recipe to compare it with."""
    after = access.get_recipe(request.user, slug, public_id)
    others = list(selectors.all_versions(after.benchmark).exclude(pk=after.pk))
    before: DraftingRecipe | None
    if other := request.GET.get("with"):
        before = access.get_recipe(request.user, slug, other)
    else:
        earlier = selectors.versions_of(after.benchmark, after.name).filter(version__lt=after.version)
        before = earlier.first()
    context: dict[str, Any] = {"benchmark": after.benchmark, "after": after, "before": before, "others": others}
    if before is not None:
        context["changes"] = comparing.compare(selectors.content_of(before), selectors.content_of(after))
    return render(request, "drafting/recipes/difference.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def terms(request: SignedInRequest, slug: str) -> HttpResponse:
    """How the benchmark uses suggestions; for its admins."""
    benchmark = get_administered_benchmark(request.user, slug)
    status = 200
    if request.method == "POST":
        form, status = TermsForm(request.POST, benchmark=benchmark), 422
        if form.is_valid():
            services.save_terms(
                benchmark=benchmark,
                terms=command_of(TermsOfDrafting, form.cleaned_data),
                by=request.user,
                at=timezone.now(),
            )
            messages.success(request, _("The settings were saved."))
            return redirect("drafting:terms", slug)
    else:
        form = TermsForm(initial=selectors.terms_values(benchmark), benchmark=benchmark)
    return render(request, "drafting/recipes/terms.html", {"benchmark": benchmark, "form": form}, status=status)
