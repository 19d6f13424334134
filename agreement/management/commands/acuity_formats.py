"""`acuity_formats --benchmark S [--candidate NAME …] [--reference-set N] --out D`: forced choice beside advice."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.acuity.measures import Price
from agreement.kinds.acuity_formats import complete, formats_files, read
from agreement.management.acuity_options import add_price_arguments, add_series_arguments, given_parameters
from agreement.reports.endpoint_facts import marked_files
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "Compare what candidates choose in a forced choice with what they advise as to a patient, on the same cases. "
        "Writes formats.csv, joint.csv and tests.csv, as acuity_file does of files."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_series_arguments(parser)
        add_price_arguments(parser)
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap")

    def handle(self, *args: Any, **options: Any) -> None:
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        try:
            chosen = complete(benchmark, given_parameters(options))
            inputs = read(benchmark, chosen)
        except DomainError as error:
            raise CommandError(str(error)) from None
        files = formats_files(inputs, price=Price(chosen["ratio"], chosen["gamma"]), rule=rule)
        if not files[0].rows:
            raise CommandError("no candidate has readings in both formats: nothing was written")
        settings = {**chosen, "interval": rule.key, "seed": options["seed"], "input_digest": inputs.digest}
        written = OutFolder(options["out"], options["overwrite"]).write(
            marked_files(files, by_rules=inputs.by_rules), {"settings": settings}
        )
        self.stdout.write(f"Written to {options['out']}: {written}")
