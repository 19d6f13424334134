"""`acuity --benchmark S [--candidate NAME …] [--reference-set N] --out D`: figures of acuity of stored readings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.acuity.measures import Price
from agreement.acuity.readings import AcuityData, CaseStatus
from agreement.acuity.summary import leading_figures
from agreement.kinds.acuity import acuity_files, complete, read
from agreement.management.acuity_options import add_acuity_arguments, add_series_arguments, given_parameters
from agreement.reports.endpoint_facts import marked_files
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "Compare the urgency that candidates advise with a signed reference set. Writes acuity.csv and its tables, as "
        "acuity_file does of files, with crossings.csv, cheapest.csv, position.csv, powered.csv and frontier.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_series_arguments(parser)
        add_acuity_arguments(parser, slices="dataset, how labelled, level, language, tags, …")
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap")

    def handle(self, *args: Any, **options: Any) -> None:
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        given = given_parameters(options)
        given |= {"boundary": options["boundary"], "slices": options["slices"]}
        try:
            chosen = complete(benchmark, given)
            inputs = read(benchmark, chosen)
        except DomainError as error:
            raise CommandError(str(error)) from None
        price = Price(chosen["ratio"], chosen["gamma"])
        files = acuity_files(inputs, price=price, rule=rule, seed=options["seed"])
        out: Path = options["out"]
        settings = {**chosen, "interval": rule.key, "seed": options["seed"], "input_digest": inputs.digest}
        written = OutFolder(out, options["overwrite"]).write(
            marked_files(files, by_rules=inputs.by_rules), {"settings": settings}
        )
        self.stdout.write(leading_figures(files[0].rows, rule.in_words))
        self.stdout.write("\n".join(_counted(inputs.data)))
        self.stdout.write(f"Written to {out}: {written}")


def _counted(data: AcuityData) -> Iterator[str]:
    """How many cases count, and why others do not."""
    words = {
        CaseStatus.CLEAR: "with a clear reference, in the main figures",
        CaseStatus.BOUNDARY: f"between two levels, in boundary.csv{' and the main figures' * data.counts_boundary}",
        CaseStatus.AMBIGUOUS: "ambiguous",
        CaseStatus.SET_ASIDE: "set aside: more than half cannot tell",
        CaseStatus.WITHOUT_REFERENCE: "without a reference",
        CaseStatus.EXCLUDED: "excluded by a scheme",
    }
    for status in CaseStatus:
        n = int((data.status == int(status)).sum())
        if n:
            yield f"{n} {'case' if n == 1 else 'cases'} {words[status]}"
    not_asked = int((~data.is_asked.any(axis=1)).sum())
    if not_asked:
        yield f"{not_asked} of them: nobody was asked"
