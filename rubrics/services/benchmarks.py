"""Creates a benchmark and changes its description."""

from __future__ import annotations

from typing import BinaryIO

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.editor.rules import AuthoringRules
from rubrics.imports.case_rows import register_of
from rubrics.models import Benchmark, BenchmarkRole, Case
from rubrics.parsing.faults import Faults
from rubrics.parsing.maps import read_maps


@transaction.atomic
def create_benchmark(*, slug: str, title: str, description: str = "", by: User) -> Benchmark:
    """Make a benchmark; its maker, who must be allowed to make benchmarks, becomes its admin."""
    if not by.is_staff:
        raise DomainError(_("Only staff can create benchmarks."))
    benchmark = Benchmark(slug=slug, title=title, description=description)
    try:
        benchmark.full_clean(validate_unique=False, validate_constraints=False)
        with transaction.atomic():
            benchmark.save()
    except ValidationError as error:
        raise DomainError(" ".join(error.messages)) from error
    except IntegrityError as error:
        raise Conflict(_("A benchmark with this short name already exists.")) from error
    BenchmarkRole.objects.create(benchmark=benchmark, user=by, role=BenchmarkRole.Role.ADMIN)
    return benchmark


@transaction.atomic
def update_benchmark(
    *, benchmark: Benchmark, title: str, description: str, guidelines: str, rule_sheet: str, licence: str | None = None
) -> None:
    """Change the description of a benchmark; the short name is fixed, since URLs and commands contain it.

    Without ``licence`` the stored one is kept.
    """
    benchmark.title, benchmark.description = title, description
    benchmark.guidelines, benchmark.rule_sheet = guidelines, rule_sheet
    benchmark.licence = benchmark.licence if licence is None else licence
    benchmark.save(update_fields=["title", "description", "guidelines", "rule_sheet", "licence"])


@transaction.atomic
def set_authoring_rules(*, benchmark: Benchmark, rules: AuthoringRules) -> None:
    """Change what rubrics must keep to from now on. Published rubrics are unchanged."""
    if rules.lowest > rules.highest:
        raise DomainError(_("The minimum points are above the maximum points."))
    if rules.only_positive and rules.highest < 1:
        raise DomainError(_("The maximum points must be at least 1, because only positive points are allowed."))
    benchmark.authoring = {**benchmark.authoring, **rules.as_json()}
    benchmark.save(update_fields=["authoring"])


@transaction.atomic
def replace_maps(*, benchmark: Benchmark, file: BinaryIO) -> int:
    """Replace all maps by those of a CSV, and give the cases the register of their user role by it.

    Returns how many cases changed their register. `ImportRefused` names every fault and then nothing is changed.
    """
    faults = Faults()
    maps = read_maps(file, faults)
    faults.refuse_if_any()
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    benchmark.maps = maps
    benchmark.save(update_fields=["maps"])
    registers = maps.get("register", {})
    changed = 0
    cases = Case.objects.filter(benchmark=benchmark, metadata__has_key="user_role")
    for role in cases.values_list("metadata__user_role", flat=True).distinct():
        if isinstance(role, str):
            register = register_of(role, registers)
            changed += cases.filter(metadata__user_role=role).exclude(register=register).update(register=register)
    return changed
