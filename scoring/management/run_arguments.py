"""What the commands share that begin a run of one endpoint: endpoint, decoding, limits, prices and budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from scoring.management.asking import amount

SETTINGS = (
    *("endpoint", "model", "key_env", "temperature", "max_tokens", "concurrency", "requests_per_minute"),
    *("timeout_s", "price_in", "price_out", "currency"),
)


def add_run_arguments(parser: CommandParser, *, needs_endpoint: bool = True) -> None:
    """Benchmark, endpoint and model, how it decodes, and what it may cost."""
    parser.add_argument("--benchmark", required=True, metavar="SLUG")
    parser.add_argument(
        "--endpoint", required=needs_endpoint, default="", metavar="URL", help="up to /v1; its host must be allowed"
    )
    parser.add_argument("--model", required=needs_endpoint, default="")
    parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument(
        "--model-seed", type=int, metavar="N", help="where a run has several trials, each adds its number"
    )
    parser.add_argument("--concurrency", type=int)
    parser.add_argument("--rpm", dest="requests_per_minute", type=float, help="requests a minute at most")
    parser.add_argument("--timeout", dest="timeout_s", type=float, metavar="SECONDS")
    parser.add_argument("--price-in", type=float, help="of a million tokens")
    parser.add_argument("--price-out", type=float, help="of a million tokens")
    parser.add_argument("--currency")
    parser.add_argument("--budget", type=amount, help="no request is sent that could pass it; it takes prices")


def settings_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were given; the others keep their defaults."""
    given = {name: options[name] for name in SETTINGS if options[name] not in (None, "")}
    return given if options["model_seed"] is None else {**given, "seed": options["model_seed"]}
