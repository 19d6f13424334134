"""``export_sft --benchmark SLUG --group G --held-out C… --out DIR [--prompt NAME] [--seed S] [--dev-share X]``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from consilium.core.errors import DomainError
from consilium.llm.prompts import TEMPLATES
from rubrics.management.lookups import benchmark_called
from scoring.supervision.export import PROMPT, REQUESTS_FOR, SupervisionTerms, export_supervision
from scoring.trained.training_data import DEV_SHARE


class Command(BaseCommand):
    help = (
        "Write a group's decisions as supervision for a fine-tune: train.jsonl and dev.jsonl with instruction (the "
        "judge's own prompt) and output (its JSON answer), split by candidate, and manifest.json."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--group", required=True, metavar="NAME", help="the expert group to learn from")
        parser.add_argument(
            "--held-out",
            "--held-out-candidates",
            dest="held_out",
            action="append",
            nargs="+",
            default=[],
            metavar="CANDIDATE",
            help="candidates that appear in no file; else a quarter of them by the seed",
        )
        parser.add_argument(
            "--candidate",
            action="append",
            default=[],
            metavar="CANDIDATE",
            help="take the responses of these; may be repeated (default: all that answered by themselves)",
        )
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a folder to be made")
        parser.add_argument("--prompt", default=PROMPT, metavar="NAME", help=", ".join(sorted(TEMPLATES)))
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--dev-share", type=float, default=DEV_SHARE, metavar="X", help="of the other candidates (default 0.2)"
        )
        parser.add_argument(
            "--requests",
            choices=REQUESTS_FOR[1:],
            default="",
            help="also write requests.jsonl: what the fine-tuned judge is to be asked about the held-out candidates, "
            "or about all",
        )
        parser.add_argument("--overwrite", action="store_true", help="replace an earlier export in DIR")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        terms = SupervisionTerms(
            group=options["group"].removeprefix("group:"),
            held_out=tuple(name for names in options["held_out"] for name in names),
            prompt=options["prompt"],
            seed=options["seed"],
            dev_share=options["dev_share"],
            candidates=tuple(options["candidate"]),
            requests=options["requests"],
        )
        try:
            manifest = export_supervision(
                benchmark=benchmark, terms=terms, out=options["out"], overwrite=options["overwrite"]
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        for name, part in manifest["parts"].items():
            self.stdout.write(
                f"{name}: {part['rows']:,} rows, {part['met']:,} met and {part['not_met']:,} not met, "
                f"of {', '.join(part['candidates'])}, SHA-256 {part['sha256']}"
            )
        if requests := manifest.get("requests"):
            names = ", ".join(requests["candidates"])
            self.stdout.write(f"requests: {requests['rows']:,} rows, about {names}, SHA-256 {requests['sha256']}")
        held = manifest["held_out"]
        self.stdout.write(f"held out: {', '.join(held['candidates'])} ({held['decisions']:,} decisions, in no file)")
        if names := manifest["left_out_candidates"]:
            self.stdout.write(f"candidates left out: {', '.join(names)}")
        left_out = ", ".join(f"{reason} {number:,}" for reason, number in manifest["left_out"].items())
        self.stdout.write(f"left out: {left_out}")
        self.stdout.write(f"prompt {manifest['prompt']['name']}, {manifest['prompt']['sha256']}")
