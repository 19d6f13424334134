"""``drafting_report --benchmark S [--coverage RUN/SET] --out DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.drafted.inputs import read_drafted
from agreement.drafted.missed import missed_by
from agreement.drafted.tables import DRAFTING_COLUMNS, DraftingTables
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from rubrics.management.lookups import benchmark_called
from scoring.models import EndpointKind
from validation.management.printed_rows import printed_rows


class Command(BaseCommand):
    help = (
        "What became of drafted criteria: how many suggestions physicians took, reworded and rejected, by recipe, "
        "kind of fact, axis, author and month; why; and what the published rubrics owe them. Counts the suggestions "
        "that were decided on in rubrics that were published."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument(
            "--coverage", default="", metavar="RUN/SET", help="a run of coverage and a set of drafted criteria in it"
        )
        add_out_arguments(parser)
        add_interval_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        inputs = read_drafted(benchmark)
        if not inputs.suggestions:
            raise CommandError("No suggestion has been decided on in a rubric that was published.")
        try:
            missed = missed_by(benchmark, options["coverage"]) if options["coverage"] else None
        except DomainError as error:
            raise CommandError(str(error)) from None
        rule, out = rule_of(options), Path(options["out"])
        files = DraftingTables(inputs, rule, missed).files()
        settings = {
            "coverage": options["coverage"],
            "endpoint_kind": str(EndpointKind.RULES if inputs.by_rules else EndpointKind.MODEL),
            "interval": rule.key,
            "input_digest": inputs.digest if missed is None else inputs.digest_with(missed.as_json()),
        }
        written = OutFolder(out, options["overwrite"]).write(files, {"settings": settings})
        rows = [{**row, "suggestions": row["slice"]} for row in files[0].rows if isinstance(row, dict)]
        self.stdout.write(printed_rows("Drafting", rows, "suggestions", DRAFTING_COLUMNS[1:-2]))
        if inputs.by_rules:
            self.stdout.write("Some suggestions were drafted by rules, not by a language model.")
        self.stdout.write(f"Intervals: {rule.in_words}.")
        self.stdout.write(f"Written to {out}: {written}")
