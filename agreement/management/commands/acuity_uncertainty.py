"""`acuity_uncertainty --benchmark S [--candidate NAME …] [--reference-set N] --out D`: where physicians disagree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.acuity.parameters import reference_set_of
from agreement.kinds.acuity_uncertainty import complete, inputs_of, uncertainty_files
from agreement.management.acuity_options import add_judge_argument
from agreement.reports.endpoint_facts import marked_files
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.statistics.triage_cost import RATIO
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "Compare the spread of candidates' readings with that of the physicians' votes in a signed reference set. "
        "Writes uncertainty.csv, uncertainty_cases.csv, panel.csv, panel_cases.csv, spread.csv and routing.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument(
            "--candidate", action="append", metavar="NAME", help="may be repeated (default: all with readings)"
        )
        parser.add_argument(
            "--reference-set", type=int, metavar="N", help="number of a reference set with votes (default: newest)"
        )
        add_judge_argument(parser)
        parser.add_argument("--ratio", type=float, default=RATIO, help="cost of a level too low (default 5)")
        parser.add_argument("--seed", type=int, default=0, help="of pairs of halves, where there are too many")
        add_out_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        given = {"ratio": options["ratio"], "reference_set": options["reference_set"]}
        given |= {"candidates": options["candidate"], "judge": options["judge"]}
        try:
            chosen = complete(benchmark, {name: value for name, value in given.items() if value is not None})
        except DomainError as error:
            raise CommandError(str(error)) from None
        reference_set = reference_set_of(benchmark, chosen["reference_set"])
        inputs = inputs_of(reference_set, chosen["candidates"], chosen.get("judge", ""))
        files = uncertainty_files(inputs.data, reference_set, ratio=chosen["ratio"], seed=options["seed"])
        out: Path = options["out"]
        settings = {**chosen, "seed": options["seed"], "input_digest": inputs.digest}
        written = OutFolder(out, options["overwrite"]).write(
            marked_files(files, by_rules=inputs.by_rules), {"settings": settings}
        )
        n_panel = len(inputs.data.panel)
        self.stdout.write(f"{n_panel} {'case' if n_panel == 1 else 'cases'} with votes")
        self.stdout.write(f"Written to {out}: {written}")
