"""What suggestions cost the rubric editor: its page and its save, with 20 suggestions for the case and with none.

    .venv/bin/python bench/editor_suggestions.py [--rounds 60]

Two cases of one benchmark have drafts of 30 criteria each. For one of them there are 20 suggestions, ten of which are
in its draft. Page and save of both are requested in turn in one process, so that whatever else the machine does falls
on both alike; what is compared are medians of the CPU of Python and of the time that a request takes. Beside: the
panel itself, which is fetched once, after the page.
"""

from __future__ import annotations

import argparse
import json
import statistics
import uuid
from collections import defaultdict
from typing import Any

from scratch import Clock, scratch_product, show

CRITERIA, SUGGESTIONS, TAKEN = 30, 20, 10
SLUG = "bench"


def fill() -> tuple[Any, dict[str, Any]]:
    """An author, and two cases: without and with suggestions."""
    from django.utils import timezone

    from accounts.models import User
    from drafting.models import DRAFTING, DraftingRun, Suggestion, SuggestionsOpened
    from rubrics.models import AuthoringRole, Benchmark, Case

    at = timezone.now()
    author = User.objects.create_user("author", "author@example.org", "consilium-bench", name="The author")
    benchmark = Benchmark.objects.create(slug=SLUG, title="Bench")
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    cases = {}
    for name in ("none", "20"):
        conversation = [{"role": "user", "content": "I have had a sore throat for three days."}]
        cases[name] = Case.objects.create(benchmark=benchmark, key=f"case-{name}", conversation=conversation)
    case = cases["20"]
    run = DraftingRun.objects.create(benchmark=benchmark, kind=DRAFTING, status="finished", created_at=at)
    Suggestion.objects.bulk_create(
        Suggestion(
            case=case, run=run, number=n, text=f"Advises act {n} of many", points=5, axis="safety", created_at=at
        )
        for n in range(1, SUGGESTIONS + 1)
    )
    SuggestionsOpened.objects.create(case=case, author=author, opened_at=at)
    return author, cases


def lists_of(case: Any) -> list[dict[str, Any]]:
    """The criteria of a case: those that were taken, then others."""
    from drafting.models import Suggestion
    from drafting.suggestions.state import item_of

    taken = [item_of(row) for row in Suggestion.objects.filter(case=case)[:TAKEN]]
    others = range(CRITERIA - len(taken))
    return [*taken, *({"id": f"c{n}", "text": f"Names act {n} of many", "points": 3} for n in others)]


def measure(author: Any, cases: dict[str, Any], rounds: int) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Wall and CPU milliseconds of each request, by what it is and which case it is about."""
    from django.test import Client
    from django.urls import reverse

    from accounts.identity import opaque_name

    client = Client()
    client.force_login(author)
    times: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    items = {name: lists_of(case) for name, case in cases.items()}
    versions = dict.fromkeys(cases, 0)

    def timed(key: tuple[str, str], request: Any) -> Any:
        clock = Clock()
        answer = request()
        times[key].append((clock.seconds * 1000, clock.cpu_seconds * 1000))
        if answer.status_code != 200:
            raise SystemExit(f"{key}: {answer.status_code} {answer.content[:300]!r}")
        return answer

    for number in range(rounds):
        for name, case in cases.items() if number % 2 else reversed(cases.items()):
            where = [SLUG, case.public_id]
            timed(("page", name), lambda where=where: client.get(reverse("rubrics:write-rubric", args=where)))
            items[name][-1]["text"] = f"Names act {number}"
            body = {
                "who": opaque_name(author), "version": versions[name], "client_id": str(uuid.uuid4()),
                "items": items[name],
            }  # fmt: skip
            address = reverse("rubrics:rubric-draft", args=where)
            answer = timed(
                ("save", name),
                lambda address=address, body=body: client.post(
                    address, json.dumps(body), content_type="application/json"
                ),
            )
            versions[name] = answer.json()["results"][0]["version"]
        panel = reverse("drafting:suggestions", args=[SLUG, cases["20"].public_id])
        timed(("panel", "20"), lambda panel=panel: client.get(panel))
    return times


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    with scratch_product():
        from django.core.management import call_command

        call_command("collectstatic", verbosity=0, interactive=False)
        times = measure(*fill(), options.rounds)
    rows = []
    for what in ("page", "save", "panel"):
        figures = {}
        for (kind, name), values in times.items():
            if kind == what:  # the first rounds load templates and fill caches
                figures[name] = [statistics.median(column) for column in zip(*values[5:], strict=True)]
        wall, cpu = figures["20"]
        plain = figures.get("none")
        quotients = [wall / plain[0], cpu / plain[1]] if plain else ["", ""]
        rows.append((what, *(plain or ["", ""]), wall, cpu, *quotients))
    columns = ("", "none: ms", "CPU", f"{SUGGESTIONS}: ms", "CPU", "quotient, ms", "CPU")
    show(f"The editor with {SUGGESTIONS} suggestions and with none", columns, rows)


if __name__ == "__main__":
    main()
