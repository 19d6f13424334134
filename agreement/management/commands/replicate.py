"""`replicate --benchmark B --paper PAPER --out DIR`: the tables and figures of a paper, as far as the data allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agreement.models import Replication
from agreement.replication import services
from agreement.replication.building import State
from agreement.replication.choosing import Options
from agreement.replication.files import MARK, counts_of, made_of, replication_files
from agreement.replication.papers import PAPERS
from agreement.replication.published import PublishedValue, read_published
from consilium.core.errors import DomainError
from consilium.core.jobs import JobStatus
from consilium.core.out_folder import OutFolder, add_out_arguments
from consilium.management.interval_options import add_interval_arguments
from consilium.management.refusals import refusals_of
from rubrics.management.lookups import benchmark_called


class Command(BaseCommand):
    help = (
        "Make the tables and figures of a paper from a benchmark, and say of each whether it is made, made in part or "
        "lacks data (drawings and texts of the paper apart), and how to get what is missing. The reports are kept, and "
        "stand on the pages of the benchmark; one that is still up to date is used again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        parser.add_argument("--paper", required=True, choices=list(PAPERS), help="the paper")
        parser.add_argument(
            "--judge",
            action="append",
            default=[],
            metavar="NAME",
            help="a judge, the main one first; may be given several times (default: all with finished runs)",
        )
        parser.add_argument(
            "--group",
            action="append",
            default=[],
            metavar="NAME",
            help="an expert group, NAME or NAME@STAGE; twice for two (default: the two with the most decisions)",
        )
        parser.add_argument("--candidate", default="", help="the candidate whose responses physicians wrote")
        parser.add_argument("--k", type=int, default=0, help="threshold of CACS@k (default: signed, else calibrated)")
        parser.add_argument(
            "--published",
            type=Path,
            metavar="FILE",
            help="CSV of values from the paper (artefact,row,column,value,source), which are set beside those made",
        )
        add_interval_arguments(parser, drawn="everything that is drawn at random")
        add_out_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["seed"] < 0:
            raise CommandError("--seed must be 0 or more")
        benchmark, paper = benchmark_called(options["benchmark"]), PAPERS[options["paper"]]
        published: list[PublishedValue] | None = None
        if options["published"]:
            with refusals_of(options["published"]), options["published"].open("rb") as file:
                published = read_published(file, paper)
        out = OutFolder(options["out"], options["overwrite"])
        out.refuse_foreign(MARK, {"paper": paper.key, "benchmark": {"slug": benchmark.slug, "title": benchmark.title}})
        try:
            replication, _is_new = services.start_replication(
                benchmark=benchmark,
                paper=paper.key,
                options=Options(
                    judges=tuple(options["judge"]),
                    groups=tuple(options["group"]),
                    candidate=options["candidate"],
                    k=options["k"],
                    seed=options["seed"],
                    interval=options["interval"],
                ),
                published=published,
                at=timezone.now(),
                by=None,
            )
        except DomainError as error:
            raise CommandError(f"--{error.field.removesuffix('s')}: {error}" if error.field else str(error)) from None
        replication = services.completed(replication=replication, clock=timezone.now)
        if replication.status != JobStatus.DONE:
            raise CommandError(replication.error)
        n_files = out.write_files(replication_files(replication), mark=MARK)
        self._say(replication)
        self.stdout.write(f"Written to {options['out']}: {n_files} files, of them README.md and artefacts.csv")

    def _say(self, replication: Replication) -> None:
        statuses = made_of(replication)
        for status in statuses:
            missing = "; ".join(str(gap.what) for gap in status.gaps)
            self.stdout.write(f"{status.state:18} {status.artefact.key:22} {missing}".rstrip())
        counts = counts_of(statuses)
        lacks = "lacks" if counts[State.LACKS_DATA] == 1 else "lack"
        of_data = f"{counts[State.MADE]} made, {counts[State.IN_PART]} in part, {counts[State.LACKS_DATA]} {lacks} data"
        others = f"; {counts[State.NOT_FROM_DATA]} others are not made from data"
        self.stdout.write(f"{PAPERS[replication.paper].citation}: {of_data}{others}")
