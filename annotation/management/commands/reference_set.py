"""``reference_set --benchmark SLUG --scale NAME [--datasets a,b] [--ambiguous RULE] [--round last] [--by ADDRESS]``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import User
from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousRule
from annotation.acuity.references import datasets_on
from annotation.acuity.services import sign_reference_set
from annotation.models import FIRST_ROUND, LAST_ROUND, ReferenceItem
from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from rubrics.models import AcuityScale, Benchmark

ROUNDS = {"1": FIRST_ROUND, "last": LAST_ROUND}


class Command(BaseCommand):
    help = (
        "Freeze how urgent each case is, by the panel's votes and by labels, as the next reference set of a benchmark. "
        "A set never changes; every report on acuity names one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--scale", metavar="NAME", help="default: the only scale of the benchmark")
        parser.add_argument("--datasets", metavar="A,B", help="whose labels count (default: all on the scale)")
        parser.add_argument(
            "--ambiguous",
            default="dispersion:0.75",
            metavar="RULE",
            help="when a case is ambiguous: dispersion:X, entropy:X or majority:X (default dispersion:0.75)",
        )
        parser.add_argument("--minimum", type=int, default=MINIMUM_VOTES, metavar="N", help="fewest votes of a panel")
        parser.add_argument(
            "--round",
            choices=ROUNDS,
            default="1",
            help="which votes give the reference of a panel: those of round 1 (default), or of its last round",
        )
        parser.add_argument("--note", default="")
        parser.add_argument("--by", metavar="ADDRESS", help="who signs (default: nobody)")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        scale = _scale(benchmark, options["scale"])
        chosen = options["datasets"]
        datasets = datasets_on(benchmark, scale) if chosen is None else [name for name in chosen.split(",") if name]
        signer = User.objects.filter(email__iexact=options["by"]).first() if options["by"] else None
        if options["by"] and signer is None:
            raise CommandError(f"--by: nobody has the address {options['by']}")
        try:
            ambiguous = AmbiguousRule.of(options["ambiguous"])
        except ValueError as error:
            raise CommandError(f"--ambiguous: {error}") from None
        try:
            with pghistory.context(url="command reference_set"):
                reference_set = sign_reference_set(
                    scale=scale,
                    datasets=datasets,
                    ambiguous=ambiguous,
                    minimum_votes=options["minimum"],
                    round=ROUNDS[options["round"]],
                    note=options["note"],
                    seen=None,
                    by=signer,
                    at=timezone.now(),
                )
        except DomainError as error:
            raise CommandError(str(error)) from error
        statuses = Counter(reference_set.items.values_list("status", flat=True))
        counts = ", ".join(f"{statuses[status]} {status}" for status in ReferenceItem.Status.values if statuses[status])
        of_last = ", references of panels from their last round" if reference_set.round == LAST_ROUND else ""
        self.stdout.write(f"Reference set {reference_set.number} on the scale {scale}{of_last}: {counts}")


def _scale(benchmark: Benchmark, name: str | None) -> AcuityScale:
    """The newest version of the scale of that name, or of the only scale."""
    scales = AcuityScale.objects.filter(benchmark=benchmark).order_by("name", "-version")
    newest = {scale.name: scale for scale in reversed(scales)}
    if name is None and len(newest) == 1:
        return next(iter(newest.values()))
    if name not in newest:
        names = ", ".join(sorted(newest)) or "none yet"
        raise CommandError(f"--scale: the scales of this benchmark are: {names}")
    return newest[name]
