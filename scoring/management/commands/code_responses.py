"""``code_responses --benchmark B --judge NAME --endpoint URL --model M [--code-book N] [--wait]``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.codes.selectors import history_of
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark, CodeBook
from scoring.coding.choosing import CodingFrame, choose_responses, size_of
from scoring.coding.runs import checked_settings, create_run
from scoring.coding.selectors import results_of
from scoring.management.asking import wait_for, whole_number
from scoring.management.run_arguments import add_run_arguments, settings_given
from scoring.models import CodingRun
from scoring.pipelines.selectors import step_progress
from scoring.runs.spending import money_words


class Command(BaseCommand):
    help = (
        "Let a model code responses by the benchmark's code book, as physicians do: a run, which a Celery worker does. "
        "Reports on failures know the judge by its name. With --wait the command follows the run to its end, and does "
        "the work itself where no worker takes it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_run_arguments(parser)
        parser.add_argument("--judge", required=True, metavar="NAME", help="by which reports know it")
        parser.add_argument("--code-book", type=int, metavar="VERSION", help="default: the newest with codes")
        parser.add_argument("--language", choices=["en", "zh"], default="en", help="of the codes (default en)")
        parser.add_argument(
            "--criteria", action="store_true", help="show the criteria of the rubric, so that a code may be tied to one"
        )
        parser.add_argument(
            "--by-physicians", action="store_true", help="only responses that physicians have coded by this version"
        )
        parser.add_argument(
            "--candidate", action="append", default=[], metavar="NAME", help="may be repeated; default: all"
        )
        parser.add_argument(
            "--responses", type=whole_number, default=0, metavar="N", help="only so many, drawn at random"
        )
        parser.add_argument("--draw-seed", type=whole_number, default=0)
        parser.add_argument("--wait", action="store_true", help="stay until the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        book = _book(benchmark, options["code_book"])
        config = {**settings_given(options), **{name: options[name] for name in ("judge", "language", "criteria")}}
        frame = CodingFrame(
            by_physicians=options["by_physicians"],
            candidates=tuple(options["candidate"]),
            responses=options["responses"],
            draw_seed=options["draw_seed"],
        )
        try:
            size = size_of(choose_responses(benchmark, book, frame), checked_settings(book, config))
            run = create_run(
                benchmark=benchmark,
                book=book,
                frame=frame,
                config=config,
                budget=options["budget"],
                by=None,
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        cost = "" if size.cost_at_most is None else f", at most {money_words(size.cost_at_most, size.currency)}"
        self.stdout.write(
            f"{run.public_id}: {size.requests:,} responses to {size.cases:,} cases, about {size.tokens_in:,} tokens "
            f"in{cost}"
        )
        if options["wait"]:
            wait_for(run)
            self._say_results(run)

    def _say_results(self, run: CodingRun) -> None:
        progress, results = step_progress(run, at=timezone.now()), results_of(run)
        self.stdout.write(
            f"{run.get_status_display()}: {results.coded:,} of {progress.counts.total:,} responses coded, "
            f"{results.none:,} with no failure, {results.invalid:,} invalid answers, {progress.counts.failed:,} "
            f"failed, {run.tokens_in:,} tokens in, {run.tokens_out:,} out"
        )
        for share in results.codes:
            self.stdout.write(f"  {share.line.key}: {share.responses:,}")
        for kind, number in progress.errors:
            self.stdout.write(f"  {kind}: {number:,}")
        if run.status != CodingRun.Status.FINISHED:
            raise CommandError(run.error or "The run did not finish.")


def _book(benchmark: Benchmark, version: int | None) -> CodeBook:
    books = [each.book for each in history_of(benchmark) if each.book.codes]
    for book in books:
        if version in (None, book.version):
            return book
    raise CommandError(
        "The benchmark has no code book with codes."
        if version is None
        else f"There is no code book of version {version}."
    )
