"""``acuity_plan FILE --benchmark SLUG [--sign] [--by ADDRESS]``: a plan of a study of acuity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from agreement.planning.acuity_plan import read_plan
from agreement.planning.services import import_plan, sign_plan
from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "Import the plan of a study of acuity (acuity_plan.json), and sign it. Reports say whether they keep to the "
        "newest signed plan, and whether it was signed before their runs began."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--sign", action="store_true", help="sign it: it never changes from then on")
        parser.add_argument("--by", metavar="ADDRESS", help="who signs (default: nobody)")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        by = User.objects.filter(email__iexact=options["by"]).first() if options["by"] else None
        if options["by"] and by is None:
            raise CommandError(f"--by: nobody has the address {options['by']}")
        try:
            content = options["file"].read_bytes()
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from None
        at = timezone.now()
        try:
            with transaction.atomic():
                plan, created = import_plan(benchmark=benchmark, plan=read_plan(content), by=by, at=at)
                if options["sign"]:
                    plan = sign_plan(plan=plan, by=by, at=at)
        except DomainError as error:
            raise CommandError(f"{options['file'].name}: {error}") from None
        self.stdout.write(
            f"Plan {plan.number} on the scale {plan.scale}{'' if created else ', which was here'}"
            f"{', signed' if plan.signed_at else ''}: {plan.digest}"
        )
