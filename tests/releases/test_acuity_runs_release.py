"""Runs, judges and what physicians read in a release: every change to it is found without a database."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.test import Client

from consilium.llm.acuity import choice_messages, judge_messages
from releases.verification import verify
from scoring.work.levels import options_of
from tests.factories import UserFactory
from tests.releases.acuity_trips import rows
from tests.releases.releasing import built, lines
from tests.releases.runs_world import ALL_PARTS, KEY_ENV, runs_world

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _may_call(settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    settings.ENDPOINT_KEYS = [f"{KEY_ENV}@127.0.0.1"]


@pytest.fixture(scope="module")
def built_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the release lies once a test has made it."""
    return tmp_path_factory.mktemp("release") / "made"


@pytest.fixture
def release(db: None, built_release: Path, tmp_path: Path) -> Path:
    """A release with everything, in a folder of its own."""
    if not built_release.exists():
        built(runs_world(tmp_path), built_release, **ALL_PARTS)
    return Path(shutil.copytree(built_release, tmp_path / "made"))


def test_the_record_counts_every_row(release: Path) -> None:
    assert verify(release).problems == []
    counts = json.loads((release / "release.json").read_text())["counts"]
    # 30 of files; two runs of 5 cases twice; 12 of the judge with a response without one, 18 of changed responses.
    assert (counts["runs_of_levels"], counts["readings"]) == (4, 30 + 20 + 13 + 19)
    assert (counts["responses_read"], counts["advice"]) == (7, 12)
    for name, schema in (("responses.jsonl", "acuity_responses"), ("prompts", "acuity_prompt")):
        checked = json.loads((release / "schema" / f"{schema}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(checked)
        path = release / "acuity" / name
        records = [json.loads(each.read_text()) for each in path.iterdir()] if path.is_dir() else lines(path)
        for record in records:
            jsonschema.validate(record, checked, cls=jsonschema.Draft202012Validator)


def test_prompts_are_what_requests_send(release: Path) -> None:
    levels = json.loads((release / "acuity" / "scale.json").read_text())["scales"][0]["levels"]
    options = options_of(levels)
    by_kind = {row["kind"]: row["prompt"][:16] for row in rows(release, "runs.csv")}
    conversation = [{"role": "user", "content": "A cough."}]
    for kind, way in (("classify", "system"), ("classify", "system_descending"), ("acuity", "system")):
        prompt = json.loads((release / "acuity" / "prompts" / f"{by_kind[kind]}.json").read_text())
        if kind == "classify":
            sent = choice_messages(
                conversation, options, ask="letter", nonce="n0", descending="desc" in way, confidence=True
            )
        else:
            sent = judge_messages(conversation, "Rest.", options, nonce="n0")
        assert prompt[way].replace("{{nonce}}", "n0") == sent[0]["content"]
        user = prompt["user"].replace("{{nonce}}", "n0").replace("{{response}}", "Rest.")
        before, _place, after = user.partition("{{conversation}}")
        assert sent[1]["content"].startswith(before) and sent[1]["content"].endswith(after)


def change(name: str, which: dict[str, str], **values: str) -> Callable[[Path], None]:
    """Write other values into the first row of a table that has those of ``which``."""

    def apply(root: Path) -> None:
        own = rows(root, name)
        next(row for row in own if all(row[column] == value for column, value in which.items())).update(values)
        write(root, name, own)

    return apply


def drop(name: str, which: dict[str, str]) -> Callable[[Path], None]:
    """Take the first row away that has the values of ``which``."""

    def apply(root: Path) -> None:
        own = rows(root, name)
        own.remove(next(row for row in own if all(row[column] == value for column, value in which.items())))
        write(root, name, own)

    return apply


def write(root: Path, name: str, own: list[dict[str, str]]) -> None:
    with (root / "acuity" / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(own[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(own)


def change_text(name: str, before: str, after: str) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        path = root / "acuity" / name
        if path.is_dir():
            path = sorted(each for each in path.iterdir() if before in each.read_text("utf-8"))[0]
        text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), "utf-8")

    return apply


SHARES = {"source": "logprobs", "case": "open-0001"}
JUDGED = {"source": "judge", "state": "level", "replicate": "0", "candidate": "Advisor", "case": "open-0001"}
READ = {"candidate": "Advisor", "case": "open-0001"}
CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no run": (drop("runs.csv", {"kind": "classify"}), "run: The release does not contain"),
    "a run of another candidate": (
        change("runs.csv", {"candidate": "Chooser"}, candidate="Other"), "candidate: Its run has “Other”."
    ),
    "a run without a judge": (
        change("runs.csv", {"kind": "acuity"}, judge=""),
        "judge: A run of kind “acuity” must have",
    ),
    "nothing that answered": (
        change("runs.csv", {"kind": "classify"}, endpoint_kind=""),
        "endpoint_kind: A run of kind “classify” must have this value."
    ),
    "something else that answered": (change("runs.csv", {"kind": "classify"}, endpoint_kind="dice"), "endpoint_kind: "),
    "a run of another kind": (change("runs.csv", {"kind": "acuity"}, kind="acuity-edited"), "source: A run of kind"),
    "fewer samples": (change("runs.csv", {"kind": "classify"}, samples="1"), "sample: Its run has “1”."),
    "settings": (change("runs.csv", {"kind": "acuity"}, settings='{"endpoint": "x"}'), "settings: endpoint: no such"),
    "settings that are none": (change("runs.csv", {"kind": "acuity"}, settings="{"), "settings: This is not JSON"),
    "a time": (change("runs.csv", {"kind": "acuity"}, finished_at="soon"), "finished_at: This is not a time"),
    "a prompt": (change_text("prompts", "Choose exactly one", "Choose one"), "digest: This is not the digest"),
    "a prompt that is missing": (
        lambda root: [path.unlink() for path in (root / "acuity" / "prompts").iterdir()] and None,
        "prompt: The release does not contain",
    ),
    "shares": (change("readings.csv", SHARES, distribution="0.5 0.1 0.1 0.1"), "distribution: These are not shares"),
    "too few shares": (change("readings.csv", SHARES, distribution="0.5 0.5"), "distribution: These are not shares"),
    "no shares": (change("readings.csv", SHARES, distribution="x"), "distribution: These are not shares"),
    "no order": (
        change("readings.csv", SHARES, descending=""), "descending: A reading from this source must have this value."
    ),
    "a level off the scale": (change("readings.csv", JUDGED, level="soon"), "level: “soon” is not a level"),
    "an escalation": (change("readings.csv", JUDGED, escalation="soon"), "escalation: “soon” is not a level"),
    "a quote": (
        change("readings.csv", JUDGED, quote="Wait."), "quote: The response does not contain these words at this place."
    ),
    "no quote": (
        change("readings.csv", JUDGED, quote="", quote_start="", quote_end=""),
        "quote: A level must be supported by words"
    ),
    "a quote without its place": (
        change("readings.csv", JUDGED, quote_end=""),
        "quote_start: This does not match the quote",
    ),
    "a quote of a changed response": (
        change("readings.csv", {"source": "edited", "state": "level", "replicate": "1"}, quote="Wait."),
        "quote: The response does not contain these words at this place.",
    ),
    "a file": (
        change("readings.csv", JUDGED, **{"import": "1"}), "import: A reading from this source cannot have this value."
    ),
    "a run of a file": (
        change("readings.csv", {"source": "imported"}, quote="x"),
        "quote: A reading from this source cannot have this value."
    ),
    "a format": (change("readings.csv", JUDGED, format="qa"), "format: Its run has “chat”."),
    "a second one": (change("readings.csv", JUDGED, replicate="1"), "sample: This appears twice here."),
    "a response": (
        change_text("responses.jsonl", "Go to", "Run to"), "quote: The response does not contain these words"
    ),
    "no response": (change_text("responses.jsonl", '"open-0001"', '"open-0002"'), "sample: "),
    "a response to a closed case": (
        change_text("responses.jsonl", '"open-0001"', '"closed-0001"'),
        "case: The text of this case may not be redistributed, but a response to it is included here.",
    ),
    "a reader": (
        change("advice.csv", READ, physician="somebody"), "physician: The release does not contain “somebody”."
    ),
    "a level that was read": (change("advice.csv", READ, level="soon"), "level: “soon” is not a level of the scale."),
    "evidence": (change("advice.csv", READ, evidence="0-500"), "evidence: The evidence is outside the response"),
    "no evidence": (change("advice.csv", READ, evidence=""), "evidence: A level must be supported by words"),
    "a batch": (change("advice_batches.csv", {}, batch="2"), "batch: The release does not contain “1”."),
    "strata": (
        change("advice_batches.csv", {}, strata='[{"level": "x", "candidate": "y", "responses": 1, "drawn": 2}]'),
        "strata: More were drawn than exist.",
    ),
    "no batches": (lambda root: (root / "acuity" / "advice_batches.csv").unlink(), "This file is missing."),
    "a missing reading": (drop("readings.csv", {"state": "missing", "source": "parsed"}), "rows; release.json says"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_named(release: Path, name: str) -> None:
    apply, message = CHANGES[name]
    apply(release)
    problems = verify(release).problems
    assert any(message in problem for problem in problems), problems


@pytest.mark.django_db
def test_the_form_says_what_judges_and_physicians_read(tmp_path: Path, client: Client) -> None:
    benchmark = runs_world(tmp_path)
    admin = UserFactory()
    benchmark.roles.create(user=admin, role="admin")
    client.force_login(admin)
    page = " ".join(client.get(f"/b/{benchmark.slug}/releases/new/").content.decode().split())
    assert "With acuity, this also includes 7 responses read by judges of levels" in page
    assert "With responses, physicians’ readings are also included: 12 answers." in page
    given = {"version": "1.0", "licence": "CC-BY-4.0", "acuity": "on", "responses": "on", "votes": "on"}
    assert client.post(f"/b/{benchmark.slug}/releases/new/", given).status_code == 302
