"""Acuity in a release: what goes out by which option, and that every change to it is found without a database."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.test import Client

from consilium.core.errors import DomainError
from releases.content.acuity_files import OF_READERS, TABLES, value_of
from releases.models import Release
from releases.verification import verify
from rubrics.acuity.services import set_dataset_licence
from rubrics.models import Benchmark, Case
from tests.factories import BenchmarkFactory, UserFactory, publish_rubric
from tests.releases.acuity_world import EVERYTHING, OPEN_TEXT, OPTIONAL, SECRETS, acuity_world
from tests.releases.releasing import AT, built, bytes_of, command, lines

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the release lies once a test has made it."""
    return tmp_path_factory.mktemp("release") / "made"


@pytest.fixture
def release(db: None, built_release: Path, tmp_path: Path) -> Path:
    """A release with everything, in a folder of its own."""
    if not built_release.exists():
        built(acuity_world(tmp_path), built_release, **EVERYTHING)
    return Path(shutil.copytree(built_release, tmp_path / "made"))


def rows(root: Path, name: str) -> list[dict[str, str]]:
    with (root / "acuity" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# What goes out --------------------------------------------------------------------------------------------------------


def test_everything_holds_and_each_row_is_what_its_schema_says(release: Path) -> None:
    assert verify(release).problems == []
    assert verify(release).counts["readings"] == 30  # five cases by six; those of the excluded case are left out
    for path, columns in TABLES.items():
        if path in OF_READERS:
            continue  # beside responses, which this release has none of
        stem = path.removeprefix("acuity/").removesuffix(".csv")
        schema = json.loads((release / "schema" / f"acuity_{stem}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        for row in rows(release, f"{stem}.csv"):
            record = {name: value_of(cell, row[name]) for name, cell in columns.items()}
            jsonschema.validate(record, schema, cls=jsonschema.Draft202012Validator)
    schema = json.loads((release / "schema" / "acuity_cases.schema.json").read_text())
    for record in lines(release / "acuity" / "cases.jsonl"):
        jsonschema.validate(record, schema, cls=jsonschema.Draft202012Validator)


def test_the_card_counts_cases_and_votes_on_urgency(release: Path) -> None:
    card = (release / "DATA_CARD.md").read_text("utf-8")
    n_cases, n_votes = len(lines(release / "acuity" / "cases.jsonl")), len(rows(release, "votes.csv"))
    composition = card[card.index("## Composition") : card.index("## Collection")]
    assert f" {n_cases} cases, with a rubric or without, have labels, votes or readings of urgency" in composition
    assert f"{n_votes} votes of physicians on urgency are in `acuity/`." in card


def test_the_text_of_a_dataset_goes_out_only_where_it_may(release: Path) -> None:
    cases = {case["case"]: case for case in lines(release / "acuity" / "cases.jsonl")}
    assert cases["open-0002"]["prompt"] == [{"role": "user", "content": OPEN_TEXT}]
    assert cases["open-0002"]["digest"] == hashlib.sha256(OPEN_TEXT.encode()).hexdigest()
    closed = hashlib.sha256(SECRETS["text of a closed dataset"].encode()).hexdigest()
    assert cases["closed-0001"] == {
        "case": "closed-0001", "dataset": "closed", "digest": closed, "released": "false", "excluded": "",
        "not_in_sets": [],
    }  # fmt: skip
    assert cases["only-a-key"]["digest"] == ""
    # Excluded after both sets, which name it still; nothing else does.
    assert cases["closed-0002"]["excluded"] == "decision"
    assert [row["set"] for row in rows(release, "reference.csv") if row["case"] == "closed-0002"] == ["1", "2"]
    others = ("source_labels.csv", "readings.csv", "votes.csv")
    assert not any(row["case"] == "closed-0002" for name in others for row in rows(release, name))


def test_sets_have_rulings_and_labels_where_they_come_from(release: Path) -> None:
    references = {(row["set"], row["case"]): row for row in rows(release, "reference.csv")}
    # Votes 0, 1, 3 of one case: the median is primary care, and their squared distances 1, 9, 4 have the mean 14/3.
    first, second = references["1", "open-0002"], references["2", "open-0002"]
    assert (first["status"], first["source"], first["low"]) == ("ambiguous", "panel", "primary-care")
    assert float(first["dispersion"]) == pytest.approx(14 / 3)
    assert (second["source"], second["low"], second["high"]) == ("ruling", "primary-care", "urgent-care")
    # Two of three votes: too few for a panel of three, whose label decides, and enough for one of two.
    assert (references["1", "open-0003"]["source"], references["2", "open-0003"]["source"]) == ("direct", "panel")
    (ruling,) = rows(release, "rulings.csv")
    assert (ruling["first_set"], ruling["reason"]) == ("2", "border")
    assert {row["first_set"] for row in rows(release, "votes.csv")} == {"1"}


@pytest.mark.django_db
def test_nothing_hidden_goes_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    benchmark = acuity_world(tmp_path)
    secrets = {name: text.encode() for name, text in SECRETS.items()}
    for number, options in enumerate(({}, {"votes": True}, EVERYTHING)):
        root = tmp_path / str(number)
        built(benchmark, root, **{"acuity": True, **options})
        whole = b"".join(bytes_of(root).values())
        for name, text in secrets.items():
            option = OPTIONAL.get(name, "")
            assert (text in whole) is bool(option and options.get(option)), (number, name)
        assert verify(root).problems == []
    assert not (tmp_path / "0" / "acuity" / "votes.csv").exists()
    assert {row["certainty"] for row in rows(tmp_path / "1", "votes.csv")} == {""}


@pytest.mark.django_db
def test_a_case_with_a_rubric_stays_out_of_cases_until_its_dataset_may_be_passed_on(tmp_path: Path) -> None:
    benchmark = acuity_world(tmp_path)
    case = Case.objects.get(benchmark=benchmark, key="closed-0001")
    publish_rubric(case, [1])
    first = built(benchmark, tmp_path / "a", acuity=True)
    assert lines(tmp_path / "a" / "cases" / "healthbench.jsonl") == []
    assert first.facts["left_out"]["cases_of_datasets_not_passed_on"] == 1
    given: dict[str, Any] = {"benchmark": benchmark, "name": "closed", "by": None, "at": AT}
    with pytest.raises(DomainError, match="Enter the licence of the dataset"):
        set_dataset_licence(licence="", may_redistribute=True, **given)
    set_dataset_licence(licence="CC-BY-4.0", may_redistribute=True, **given)
    built(benchmark, tmp_path / "b", acuity=True)
    (released,) = lines(tmp_path / "b" / "cases" / "healthbench.jsonl")
    assert released["prompt"][0]["content"] == SECRETS["text of a closed dataset"]
    assert verify(tmp_path / "b").problems == []
    # Another licence may not be passed on until somebody says so.
    assert not set_dataset_licence(licence="Ask first", may_redistribute=None, **given).may_redistribute


# Changes that are found -----------------------------------------------------------------------------------------------


def change(name: str, which: dict[str, str], **values: str) -> Callable[[Path], None]:
    """Write other values into the rows of a table that have those of ``which``."""

    def apply(root: Path) -> None:
        own = rows(root, name)
        chosen = [row for row in own if all(row[column] == value for column, value in which.items())]
        assert chosen
        for row in chosen:
            row.update(values)
        with (root / "acuity" / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(own[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(own)

    return apply


def drop(name: str, which: dict[str, str]) -> Callable[[Path], None]:
    """Take the rows away that have the values of ``which``."""

    def apply(root: Path) -> None:
        own = rows(root, name)
        with (root / "acuity" / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(own[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(row for row in own if any(row[column] != value for column, value in which.items()))

    return apply


FIRST = {"case": "open-0001", "round": "1"}
ITEM = {"set": "1", "case": "open-0001"}
REFERENCE, SETS = "acuity/reference.csv", "acuity/sets.csv"
CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a vote": (
        change("votes.csv", {**FIRST, "certainty": "50"}, level="self-care"),
        f"{REFERENCE}, line 4, votes: According to votes, labels and rulings it is",
    ),
    "a certainty": (
        change("votes.csv", {**FIRST, "certainty": "60"}, certainty="75"),
        f"{REFERENCE}, line 4, certainty: According to votes, labels and rulings it is “70.0”",
    ),
    "a name": (
        change("votes.csv", {**FIRST, "certainty": "50"}, physician="somebody"),
        "acuity/votes.csv, line 2, physician: The release does not contain “somebody”.",
    ),
    "a level off the scale": (
        change("votes.csv", {**FIRST, "certainty": "50"}, level="soon"),
        "acuity/votes.csv, line 2, level: “soon” is neither a level of the scale",
    ),
    "a reference": (change("reference.csv", ITEM, low="self-care", high="self-care"), f"{SETS}, line 2, digest: "),
    "a status": (
        change("reference.csv", ITEM, status="boundary"),
        f"{REFERENCE}, line 4, status: According to votes, labels",
    ),
    "a distribution": (
        change("reference.csv", ITEM, q="0.0 0.0 0.0 1.0"),
        f"{REFERENCE}, line 4, q: According to the votes",
    ),
    "a dispersion": (
        change("reference.csv", ITEM, dispersion="0.5"),
        f"{REFERENCE}, line 4, dispersion: According to the",
    ),
    "an item": (drop("reference.csv", ITEM), f"{SETS}, line 2, set: Set 1 lacks open-0001."),
    "a digest": (change("sets.csv", {"set": "1"}, digest="0" * 64), f"{SETS}, line 2, digest: This is not the digest"),
    "a rule": (
        change("sets.csv", {"set": "1"}, ambiguous_threshold="20.0"),
        f"{REFERENCE}, line 5, status: According to votes",
    ),
    "a ruling": (
        change("rulings.csv", {"case": "open-0002"}, low="urgent-care"),
        f"{REFERENCE}, line 10, low: According to votes, labels and rulings it is “urgent-care”.",
    ),
    "a ruling of a voter": (
        lambda root: change("rulings.csv", {}, adjudicator=rows(root, "votes.csv")[0]["physician"])(root),
        "acuity/rulings.csv, line 2, adjudicator: A physician who voted on the case cannot rule on it.",
    ),
    "a label": (
        change("source_labels.csv", {"case": "open-0001"}, label="sc"),
        "acuity/source_labels.csv, line 2, low: The scheme “em-ne-sc” maps this label differently.",
    ),
    "a flow": (change("flow.csv", {"dataset": "open"}, panel="2"), "acuity/flow.csv, line 3, panel: source_labels.csv"),
    "a reading": (
        change("readings.csv", {"case": "only-a-key", "sample": "0", "format": "qa"}, level="soon"),
        "acuity/readings.csv, line 22, level: “soon” is not a level of the scale",
    ),
    "a state": (
        change("readings.csv", {"case": "only-a-key", "sample": "0", "format": "qa"}, state="refused"),
        "acuity/readings.csv, line 22, level: This does not match the state “refused”.",
    ),
    "a licence taken away": (
        change("datasets.csv", {"dataset": "open"}, may_redistribute="false"),
        "acuity/cases.jsonl, line 1, prompt: The dataset “open” may not be redistributed, but a text is included here.",
    ),
    "a licence given": (
        change("datasets.csv", {"dataset": "closed"}, licence="MIT", may_redistribute="true"),
        "acuity/cases.jsonl, line 4, prompt: The dataset “closed” may be redistributed, but the text is missing.",
    ),
    "no licence": (change("datasets.csv", {"dataset": "open"}, licence=""), "acuity/datasets.csv, licence: No licence"),
    "a text": (
        lambda root: (root / "acuity" / "cases.jsonl").write_text(
            (root / "acuity" / "cases.jsonl").read_text("utf-8").replace("runny", "bloody"), "utf-8"
        ),
        "acuity/cases.jsonl, line 3, digest: This is not the SHA-256 of the text.",
    ),
    "a file": (lambda root: (root / "acuity" / "readings.csv").unlink(), "acuity/readings.csv: This file is missing."),
    "a column": (
        lambda root: (root / "acuity" / "physicians.csv").write_text("physician\n", "utf-8"),
        "acuity/physicians.csv, line 1: The heading must be: physician, group.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_named(release: Path, name: str) -> None:
    apply, message = CHANGES[name]
    apply(release)
    problems = verify(release).problems
    assert any(problem.startswith(message) for problem in problems), problems


# Pages and API --------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_form_and_the_api_take_acuity_and_refuse_half_of_it(tmp_path: Path, client: Client) -> None:
    benchmark = acuity_world(tmp_path)
    admin = UserFactory()
    benchmark.roles.create(user=admin, role="admin")
    client.force_login(admin)
    address = f"/b/{benchmark.slug}/releases/new/"
    assert "30 readings, 2 signed reference sets." in client.get(address).content.decode()
    given = {"version": "1.0", "licence": "CC-BY-4.0"}
    page = client.post(address, {**given, "votes": "on"})
    assert (
        page.status_code,
        "Votes are released only together with the other acuity data" in page.content.decode(),
    ) == (422, True)
    assert client.post(address, given).status_code == 422  # no rubric, so there is nothing without acuity
    assert client.post(address, {**given, "acuity": "on", "votes": "on"}).status_code == 302
    assert Release.objects.get().options["votes"] is True
    api = f"/api/v1/benchmarks/{benchmark.slug}/releases/"
    answer = client.post(api, {"version": "2.0", "certainty": True, "acuity": True}, content_type="application/json")
    assert (answer.status_code, "Certainty is released only together with votes" in answer.json()["detail"]) == (
        422,
        True,
    )
    answer = client.post(api, {"version": "2.0", "acuity": True}, content_type="application/json")
    assert (answer.status_code, answer.json()["options"]["acuity"]) == (201, True)


@pytest.mark.django_db
def test_the_command_releases_a_benchmark_without_a_rubric(tmp_path: Path) -> None:
    acuity_world(tmp_path)
    arguments = ("release", "--benchmark", "source", "--with", "acuity,votes,certainty,reading-texts")
    out, _err = command(*arguments, "--out", str(tmp_path / "a"))
    assert "0 cases" in out
    command(*arguments, "--out", str(tmp_path / "b"))  # nothing has changed: the same version
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    assert "Everything holds." in command("verify_release", str(tmp_path / "a"))[0]


@pytest.mark.django_db
def test_without_a_scale_there_is_nothing_about_acuity(tmp_path: Path) -> None:
    benchmark: Benchmark = BenchmarkFactory(slug="bare", licence="CC-BY-4.0")
    with pytest.raises(DomainError, match="no acuity scale"):
        built(benchmark, tmp_path / "a", acuity=True)
