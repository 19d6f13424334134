"""What a physician waits for who votes on how urgent cases are, beside one who grades: opening a page, and saving.

    .venv/bin/python bench/voting.py [--rounds 150] [--responses 600]

One physician on the product's own web server, over loopback, with session, CSRF token, versions and audit trail. The
batch of responses is that of `grading.py` (30 criteria each); the batch of cases asks for a level of four. Both pages
are asked for in turn, and so are a decision and a vote, in one run: whatever else the machine does, it does to both.
The promise is a median of at most 1.2 times that of the grading page. CPU is what the web processes used.
"""

from __future__ import annotations

import argparse
import random
import uuid
from typing import Any

from grading import PORT, Browser, cpu_of, fill, sign_in
from processes import web_server
from scratch import quantile, scratch_product, show

PROMISE = 1.2


def give_cases_out() -> tuple[str, list[str]]:
    """Make a question on the scale of four and a batch that asks it; returns the ids of the question and the tasks."""
    from django.utils import timezone

    from annotation.labels.batches import CaseFilter, LabelTerms, create_label_batch, plan_labels
    from annotation.labels.services import QuestionInput, make_question
    from annotation.models import ExpertGroup, LabelTask
    from rubrics.models import Benchmark

    question = make_question(
        benchmark=Benchmark.objects.get(slug="bench"),
        question_input=QuestionInput("urgency", "How urgent is this?", "levels", (), scale="four"),
        at=timezone.now(),
    )
    terms = LabelTerms(title="Votes", annotators_per_case=1, seed=3)
    plan = plan_labels(group=ExpertGroup.objects.get(), questions=[question], terms=terms, filter=CaseFilter())
    create_label_batch(plan=plan, by=None, at=timezone.now())
    return question.public_id, list(LabelTask.objects.order_by("position").values_list("public_id", flat=True))


class Timed:
    """Requests of one browser by name, with their seconds and the CPU seconds of the server."""

    def __init__(self, browser: Browser, server: int) -> None:
        self.browser, self.server = browser, server
        self.seconds: dict[str, list[float]] = {}
        self.cpu: dict[str, float] = {}

    def ask(self, name: str, method: str, path: str, body: Any = None) -> str:
        """One request; returns the text of the answer."""
        before = cpu_of(self.server)
        seconds, text = self.browser.ask(method, path, body)
        self.seconds.setdefault(name, []).append(seconds)
        self.cpu[name] = self.cpu.get(name, 0) + cpu_of(self.server) - before
        return text

    def row(self, name: str, beside: str) -> tuple[Any, ...]:
        """Name, number, p50, p95 and CPU in milliseconds, and the p50 as a share of that of ``beside``."""
        times = self.seconds[name]
        median = quantile(times, 0.5)
        return (
            *(name, len(times), 1000 * median, 1000 * quantile(times, 0.95), 1000 * self.cpu[name] / len(times)),
            median / quantile(self.seconds[beside], 0.5),
        )


def measure(timed: Timed, responses: list[str], question: str, cases: list[str]) -> None:
    """Open and save in turn, a response and a case at a time."""
    from annotation.models import Assignment
    from rubrics.models import RubricItem

    # One measurement after the other: Django's session and the token of the page are the same for both.
    who = ""
    for response, case in zip(responses, cases, strict=True):
        timed.ask("open grading page", "GET", f"/work/{response}/")
        page = timed.ask("open voting page", "GET", f"/work/labels/{case}/")
        who = page.partition('data-who="')[2].partition('"')[0]
    for response, case in zip(responses, cases, strict=True):
        rubric = Assignment.objects.get(public_id=response).rubric_id
        [criterion] = (
            RubricItem.objects.filter(rubric=rubric).order_by("position").values_list("criterion", flat=True)[:1]
        )
        for version in range(2):
            decision = {"criterion": criterion, "outcome": "met", "version": version, "client_id": str(uuid.uuid4())}
            answer = timed.ask("save a decision", "POST", f"/work/{response}/decisions/", {"decisions": [decision]})
            if '"saved"' not in answer:
                raise RuntimeError(answer[:200])
            vote = {
                "question": question, "value": "emergency", "upper": "", "reason": "", "certainty": 75, "note": "",
                "version": version, "client_id": str(uuid.uuid4()),
            }  # fmt: skip
            timed.ask("save a vote", "POST", f"/work/labels/{case}/answers/", {"who": who, "answer": vote})


def main() -> None:
    """Fill, serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=150, help="pages of each kind; as many cases are saved twice")
    parser.add_argument("--responses", type=int, default=600, help="responses that are decided before the run")
    options = parser.parse_args()
    warm = 10
    with scratch_product() as home:
        opens = options.rounds + warm
        [responses] = fill(home, responses=options.responses + opens, clients=1, opens=opens, rng=random.Random(7))
        question, cases = give_cases_out()
        [cookie] = sign_in(1)
        with web_server(PORT) as server:
            timed = Timed(Browser(cookie), server.pid)
            measure(timed, responses[:warm], question, cases[:warm])  # templates, plans and connections are there
            timed.seconds.clear()
            timed.cpu.clear()
            measure(timed, responses[warm:opens], question, cases[warm:opens])
    rows = [
        timed.row("open grading page", "open grading page"),
        timed.row("open voting page", "open grading page"),
        timed.row("save a decision", "save a decision"),
        timed.row("save a vote", "save a decision"),
    ]
    show("Voting beside grading", ("", "requests", "p50 ms", "p95 ms", "CPU ms", "times"), rows)
    print(
        "held" if all(row[-1] <= PROMISE for row in rows) else "MISSED", f"at most {PROMISE} times the grading page's"
    )


if __name__ == "__main__":
    main()
