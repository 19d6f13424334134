"""`acuity_judge --benchmark S [--run ID] [--reference-set N] [--margin M] --out D`: how well a judge reads levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agreement.acuity.judge_inputs import run_of_judge
from agreement.kinds.acuity_judge import complete, judge_files, read
from agreement.reports.endpoint_facts import marked_files
from consilium.core.errors import DomainError
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments, rule_of
from consilium.statistics.noninferiority import DEFAULT_MARGIN
from consilium.statistics.triage_cost import RATIO
from rubrics.management.lookups import benchmark_called
from scoring.models import EndpointKind


class Command(BaseCommand):
    help = (
        "Compare what a judge read in responses with what physicians read in the same ones. Writes judge.csv, "
        "judge_confusion.csv, judge_ceiling.csv, powered.csv, and for criteria on emergency care instruments.csv and "
        "contradictions.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--run", metavar="ID", default="", help="of a judge that reads levels (default: newest)")
        parser.add_argument("--reference-set", type=int, metavar="N", help="for powered.csv (default: newest)")
        parser.add_argument("--margin", type=float, default=DEFAULT_MARGIN, help="of non-inferiority (default 0.05)")
        parser.add_argument("--ratio", type=float, default=RATIO, help="cost of a level too low (default 5)")
        add_out_arguments(parser)
        add_interval_arguments(parser, drawn="the bootstrap")

    def handle(self, *args: Any, **options: Any) -> None:
        rule = rule_of(options)
        benchmark = benchmark_called(options["benchmark"])
        given = {name: options[name] for name in ("run", "reference_set", "margin", "ratio")}
        try:
            chosen = complete(benchmark, given)
            inputs = read(benchmark, chosen["run"], chosen["reference_set"])
            run = run_of_judge(benchmark, chosen["run"])
        except DomainError as error:
            raise CommandError(str(error)) from None
        files = judge_files(inputs, run, margin=chosen["margin"], ratio=chosen["ratio"], rule=rule)
        out: Path = options["out"]
        settings = {**chosen, "interval": rule.key, "input_digest": inputs.digest}
        written = OutFolder(out, options["overwrite"]).write(
            marked_files(files, by_rules=run.endpoint_kind == EndpointKind.RULES), {"settings": settings}
        )
        self.stdout.write(f"{inputs.n_read:,} of {len(inputs.responses):,} responses were read by physicians")
        self.stdout.write(f"Written to {out}: {written}")
