"""``train_judge --benchmark B --group G --name N [--held-out C…] [--seed S]``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from scoring.judges.services import create_trained_judge
from scoring.models import TrainedModel
from scoring.trained.fitting import fit


class Command(BaseCommand):
    help = (
        "Train a judge on the decisions of an expert group (or of all groups), split by candidate, and print how it "
        "agrees with the physicians on the candidates that it never saw."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--group", default="", metavar="NAME", help="expert group; all of them where left out")
        parser.add_argument("--name", required=True, metavar="NAME", help="name of the judge; again: a new version")
        parser.add_argument(
            "--held-out", action="append", nargs="+", default=[], metavar="CANDIDATE", help="else by the seed"
        )
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        try:
            judge = create_trained_judge(
                benchmark=benchmark,
                name=options["name"],
                group=options["group"].removeprefix("group:"),
                seed=options["seed"],
                held_out=[name for names in options["held_out"] for name in names],
                by=None,
                at=timezone.now(),
                enqueue=False,
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        model = TrainedModel.objects.get(judge=judge)
        fit(model.pk, clock=timezone.now)
        model.refresh_from_db()
        if model.status != "done":
            raise CommandError(model.error)
        card = model.card
        self.stdout.write(f"{judge.name}, version {judge.version}, SHA-256 {model.sha256}")
        for name, part in card["split"].items():
            self.stdout.write(f"{name}: {', '.join(part['candidates'])} ({part['decisions']:,} decisions)")
        self.stdout.write(f"threshold {card['threshold']:.4f}, picked on dev (MF1 {card['dev']['mf1']['value']:.3f})")
        self.stdout.write(f"learned from {card['data']['decisions']:,} decisions, SHA-256 {card['data']['sha256']}")
        for label, figures in (
            ("this judge", card["held_out"]),
            ("majority class", card["baselines"]["majority"]),
            ("word overlap", card["baselines"]["word_overlap"]),
        ):
            self.stdout.write(f"held-out MF1, {label}: {_shown(figures['mf1'])}, n = {figures['mf1']['n']:,}")
        for name, label in (("majority", "majority class"), ("word_overlap", "word overlap")):
            difference = card["differences"][name]
            self.stdout.write(f"this judge less {label}: {_shown(difference)}, {_lead(difference)}")
        calibrator = card["calibrator"]
        how = (
            f"by Platt's method on {calibrator['n']:,} train decisions, out of fold by {calibrator['grouped_by']}"
            if not calibrator["reason"]
            else f"not done ({calibrator['reason']})"
        )
        self.stdout.write(f"calibration {how}")
        for name, label in (("brier", "Brier score"), ("calibration_error", "expected calibration error")):
            before, after = card[name]["before"], card[name]["after"]
            self.stdout.write(f"held-out {label}: {_shown(before)} before, {_shown(after)} after, n = {after['n']:,}")


def _lead(difference: dict[str, Any]) -> str:
    """What the interval of a difference allows to conclude about the judge's lead."""
    if difference["low"] is None:
        return "too few cases for an interval" if "cases needed" in difference["note"] else "not certainly ahead"
    return "ahead" if difference["low"] > 0 else "not certainly ahead"


def _shown(figure: dict[str, Any]) -> str:
    """A figure with its interval, or the reason why there is none."""
    if figure["value"] is None:
        return f"undefined ({figure['note']})"
    ends = "" if figure["low"] is None else f" ({figure['low']:.3f} to {figure['high']:.3f})"
    return f"{figure['value']:.3f}{ends}"
