"""Writing modes: from responses with known references to tables, page, files, API and command."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.kinds import kind_of
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_of
from annotation.models import Assignment, Decision
from annotation.writing.services import TextInput, hand_in, save_text
from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Candidate, Case, Response
from tests.agreement.study import Study, make_study
from tests.annotation.writing.writing_world import WritingWorld, build_writing_world
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ResponseFactory,
    UserFactory,
    publish_rubric,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# How many of the four criteria each response to each of six cases meets.
HITS = {
    "old-1": [2, 3, 1, 4, 2, 1],
    "old-2": [4, 1, 1, 2, 2, 3],
    "unaided": [1, 2, 1, 3, 2, 2],
    "older": [4, 3, 2, 4, 1, 3],
    "newer": [2, 2, 2, 2, 2, 2],
}


def judged(study: Study, hits: Mapping[int, int]) -> None:
    """A judge who finds the first so many criteria of each response met."""

    def outcome(pair: tuple[int, int]) -> str:
        response, criterion = pair
        place = study.criteria[case_of[response]].index(criterion)
        return "met" if place < hits[response] else "not_met"

    case_of = {response.pk: response.case_id for response in study.responses()}
    study.judge("echo", outcome)


def written_study(tags: Sequence[Sequence[str]] | None = None) -> Study:
    """Six cases of four criteria: two references, and a physician who wrote unaided, beside both and beside one.

    The responses beside *old-1* alone have no name of a mode; a seventh, aided, does not say what was shown.
    """
    study = make_study(cases=6, points=(1, 1, 1, 1), candidates=("old-1", "old-2"), tags=tags)
    written = CandidateFactory(benchmark=study.benchmark, name="physician", kind=Candidate.Kind.PHYSICIAN)
    hits = {response.pk: 0 for response in study.responses()}
    both = ["old-1", {"candidate": "old-2", "sample": 0}]
    modes: list[tuple[str, str, dict[str, Any]]] = [
        ("unaided", "unaided", {}),
        ("older", "aided", {"mode_name": "older", "references": both}),
        ("newer", "aided", {"references": ["old-1"]}),
    ]
    for n, case in enumerate(Case.objects.filter(benchmark=study.benchmark).order_by("key")):
        for name in ("old-1", "old-2"):
            hits[Response.objects.get(case=case, candidate__name=name).pk] = HITS[name][n]
        for sample, (name, mode, metadata) in enumerate(modes):
            response = ResponseFactory(
                case=case, candidate=written, sample=sample, writing_mode=mode, metadata=metadata, text=name + "x" * n
            )
            hits[response.pk] = HITS[name][n]
    unknown = ResponseFactory(case=case, candidate=written, sample=3, writing_mode="aided", text="?")
    judged(study, {**hits, unknown.pk: 4})
    return study


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    return written_study()


def computed(benchmark: Benchmark, **parameters: Any) -> Report:
    report = services.create_report(
        benchmark=benchmark, kind="modes", parameters={"rater": "echo", **parameters}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def beside(report: Report, mode: str, name: str, against: str, measure: str = "rubric_score") -> dict[str, Any]:
    (row,) = [
        row
        for row in table_of(report, "beside").dicts()
        if (row["mode"], row["beside"], row["against"], row["measure"]) == (mode, name, against, measure)
    ]
    return row


def test_each_mode_beside_the_references_of_its_writers(study: Study) -> None:
    report = computed(study.benchmark, k=2)
    assert report.parameters == {"rater": "echo", "candidates": ["physician"], "k": 2}
    modes = {(row["mode"], row["mode_name"]): row for row in table_of(report, "modes").dicts()}
    assert set(modes) == {("unaided", ""), ("aided", "older"), ("aided", "old-1"), ("aided", "")}
    older = modes["aided", "older"]
    assert (older["n_responses"], older["n_cases"], older["n"], older["references"]) == (6, 6, 6, "old-1, old-2")
    # 4 + 3 + 2 + 4 + 1 + 3 = 17 of 24 criteria; CACS@2: 3 + 2 + 1 + 3 + 0 + 2 = 11 thirds of 6 responses.
    assert older["rubric_score"] == pytest.approx(17 / 24)
    assert older["rubric_accuracy"] == pytest.approx(1700 / 24)
    assert older["cacs_at_k"] == pytest.approx(1100 / 18)
    assert older["rubric_score_low"] < 17 / 24 < older["rubric_score_high"]
    # “older” and 0 to 5 characters more.
    assert (older["mean_length"], older["median_length"]) == (7.5, 7.5)
    assert modes["aided", ""]["n_unknown"] == 1

    row = beside(report, "aided", "older", "mean")
    # Means of the two references: 3, 2, 1, 3, 2, 2 of 4.
    assert (row["n_responses"], row["n_cases"], row["n_left_out"]) == (6, 6, 0)
    assert (row["written"], row["shown"]) == (pytest.approx(17 / 24), pytest.approx(13 / 24))
    assert row["difference"] == pytest.approx(4 / 24)
    assert row["difference_low"] < 4 / 24 < row["difference_high"]
    assert (row["n_better"], row["n_equal"], row["n_worse"]) == (5, 0, 1)
    assert row["better"] == pytest.approx(5 / 6)
    assert row["better_low"] < 5 / 6 < row["better_high"]
    # The best of each two: 4, 3, 1, 4, 2, 3.
    row = beside(report, "aided", "older", "best")
    assert (row["shown"], row["difference"]) == (pytest.approx(17 / 24), pytest.approx(0))
    assert (row["n_better"], row["n_equal"], row["n_worse"]) == (1, 4, 1)
    row = beside(report, "aided", "older", "mean", "cacs_at_k")
    # Thirds: old-1 has 1 + 2 + 0 + 3 + 1 + 0, old-2 3 + 0 + 0 + 1 + 1 + 2.
    assert (row["shown"], row["difference"]) == (pytest.approx(700 / 18), pytest.approx(400 / 18))
    # Beside old-1 alone, which has 13 of 24: 12 less 13. Better where it has 1, equal at 2.
    row = beside(report, "aided", "old-1", "mean", "rubric_accuracy")
    assert row["difference"] == pytest.approx(-100 / 24)
    assert (row["n_better"], row["n_equal"], row["n_worse"]) == (2, 2, 2)


def test_each_mode_on_each_axis() -> None:
    completeness = ["axis:completeness"]
    study = written_study([completeness, completeness, [], []])
    report = computed(study.benchmark, k=2)
    rows = {(row["axis"], row["mode"], row["mode_name"]): row for row in table_of(report, "axes").dicts()}
    # All four criteria are of accuracy, the first two of completeness too.
    assert rows["accuracy", "aided", "older"]["rubric_score"] == pytest.approx(17 / 24)
    older, unaided = (rows["completeness", *mode] for mode in (("aided", "older"), ("unaided", "")))
    # Halves of the first two criteria: 2 + 2 + 2 + 2 + 1 + 2, and 1 + 2 + 1 + 2 + 2 + 2.
    assert older["rubric_score"] == pytest.approx(11 / 12)
    assert unaided["rubric_score"] == pytest.approx(10 / 12)
    assert unaided["rubric_accuracy"] == pytest.approx(1000 / 12)
    assert unaided["rubric_score_low"] < 10 / 12 < unaided["rubric_score_high"]
    assert (older["n"], older["n_cases"]) == (6, 6)
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/scores/{report.public_id}/"
    assert "Scores by mode and axis" in client.get(place).content.decode()
    figure = client.get(f"{place}figures/axes_rubric_score.svg").content.decode()
    assert "completeness" in figure and "With references · older" in figure


def test_axes_are_those_of_the_written_responses_alone() -> None:
    study = written_study([["axis:completeness"], [], [], []])
    judge = study.outcomes["echo"]
    other = CaseFactory(benchmark=study.benchmark, key="other", rubric=[1, 1], rubric__tags=[["axis:safety"], []])
    response = ResponseFactory(case=other, candidate=Candidate.objects.get(benchmark=study.benchmark, name="old-2"))
    del study.criteria  # there is one more case
    study.group("B", lambda pair: judge.get(pair, "met"))
    report = computed(study.benchmark, rater="group:B")
    assert {row["axis"] for row in table_of(report, "axes").dicts()} == {"accuracy", "completeness"}
    # A decision on a response of somebody else, with an axis that no written response has, changes nothing here.
    Decision.objects.filter(assignment__response=response).update(outcome="not_met")
    assert freshness_of(Report.objects.get(pk=report.pk)).fresh


def test_a_report_from_before_there_were_axes_is_shown() -> None:
    study = written_study()
    report = computed(study.benchmark)
    report.tables.filter(name="axes").delete()
    client = Client()
    client.force_login(study.admin)
    html = client.get(f"/b/{study.benchmark.slug}/scores/{report.public_id}/").content.decode()
    assert "Scores by mode" in html and "Scores by mode and axis" not in html


def test_of_many_modes_the_six_with_the_most_responses_are_drawn() -> None:
    study = make_study(cases=2, points=(1, 1), candidates=("old",))
    written = CandidateFactory(benchmark=study.benchmark, name="physician", kind=Candidate.Kind.PHYSICIAN)
    for n in range(7):
        for case in Case.objects.filter(benchmark=study.benchmark)[: 1 if n == 3 else 2]:
            metadata = {"mode_name": f"mode {n}"}
            ResponseFactory(case=case, candidate=written, sample=n, writing_mode="aided", metadata=metadata)
    study.judge("echo", lambda pair: "met")
    report = computed(study.benchmark)
    (figure,) = [figure for figure in kind_of(report).figures(report) if figure.name == "axes_rubric_score"]
    assert "The 6 of 7 modes with the most responses are drawn" in figure.caption
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/scores/{report.public_id}/figures/axes_rubric_score.svg"
    svg = client.get(place).content.decode()
    assert [n for n in range(7) if f"mode {n}" in svg] == [0, 1, 2, 4, 5, 6]


def test_unaided_responses_beside_the_same_references(study: Study) -> None:
    report = computed(study.benchmark)
    assert report.parameters["k"] is None
    # 11 of 24, beside means 3, 2, 1, 3, 2, 2: one worse by 2, the others equal.
    row = beside(report, "unaided", "older", "mean")
    assert (row["written"], row["difference"]) == (pytest.approx(11 / 24), pytest.approx(-2 / 24))
    assert (row["n_better"], row["n_equal"], row["n_worse"]) == (0, 5, 1)
    # Beside old-1 alone: 2, 3, 1, 4, 2, 1.
    row = beside(report, "unaided", "old-1", "mean")
    assert (row["difference"], row["n_better"], row["n_worse"]) == (pytest.approx(-2 / 24), 1, 3)
    assert {row["measure"] for row in table_of(report, "beside").dicts()} == {"rubric_score", "rubric_accuracy"}
    written = [row for row in table_of(report, "written").dicts() if (row["mode"], row["beside"]) == ("aided", "older")]
    assert [4 * row["rubric_score"] for row in written] == HITS["older"]
    assert [4 * row["rubric_score_shown_mean"] for row in written] == [3, 2, 1, 3, 2, 2]
    assert [4 * row["rubric_score_shown_best"] for row in written] == [4, 3, 1, 4, 2, 3]


def test_a_response_without_a_score_of_each_reference_is_left_out(study: Study) -> None:
    """A group that graded everything but old-2 on the first case."""
    missing = Response.objects.get(case__key="case-00", candidate__name="old-2")
    study.group("A", lambda pair: "cannot_assess" if pair[0] == missing.pk else study.outcomes["echo"][pair])
    report = computed(study.benchmark, rater="group:A")
    row = beside(report, "aided", "older", "mean")
    assert (row["n_responses"], row["n_left_out"]) == (5, 1)
    # Without the first case, 13 less 10 of 20.
    assert row["difference"] == pytest.approx(3 / 20)
    assert "1 response excluded: it or its references have no score" in row["note"]
    assert beside(report, "aided", "old-1", "mean")["n_responses"] == 6


def test_gradings_by_a_writer_do_not_count(study: Study) -> None:
    """A response with an author who is in the group: the group graded it, by hand of another writer of the candidate.

    The author may not grade it (a trigger refuses it), so a second response of the candidate is by the grader.
    """
    group = study.group("A", lambda pair: study.outcomes["echo"][pair])
    grader = Assignment.objects.filter(batch__group=group).first().annotator  # type: ignore[union-attr]
    own = ResponseFactory(
        case=Case.objects.get(key="case-00", benchmark=study.benchmark),
        candidate=Candidate.objects.get(name="physician", benchmark=study.benchmark),
        sample=9,
        writing_mode="unaided",
        author=grader,
    )
    report = computed(study.benchmark, rater="group:A")
    modes = {(row["mode"], row["mode_name"]): row for row in table_of(report, "modes").dicts()}
    assert (modes["aided", "older"]["n_by_authors"], modes["aided", "older"]["n"]) == (6, 0)
    assert modes["aided", "older"]["rubric_score"] is None
    assert modes["unaided", ""]["n_by_authors"] == 6
    assert not [row for row in table_of(report, "beside").dicts() if row["n_responses"]]
    # A judge is nobody's author.
    assert computed(study.benchmark).result["facts"]["n_by_authors"] == 0
    assert own.author_id == grader.pk


def test_groups_2_and_3_of_healthbench_are_apart(tmp_path: Path) -> None:
    """What each group of physicians saw is in the file of cases; group 1 wrote unaided."""
    benchmark = BenchmarkFactory(slug="bench")
    examples = []
    # (group, hits of the physician, hits of each reference); two criteria.
    shapes: Sequence[tuple[str, int, list[int]]] = [
        ("Group 1", 1, []),
        ("Group 2", 2, [1, 1]),
        ("Group 2", 1, [1, 0]),
        ("Group 3", 0, [2, 1]),
    ]
    for n, (group, _hits, references) in enumerate(shapes):
        examples.append(
            {
                "prompt_id": f"p{n}",
                "prompt": [{"role": "user", "content": f"Question {n}"}],
                "rubrics": [{"criterion": f"c{i}", "points": 5, "tags": []} for i in (1, 2)],
                "example_tags": [],
                "ideal_completions_data": {
                    "ideal_completion": f"Answer {n}",
                    "ideal_completions_group": group,
                    "ideal_completions_ref_completions": [f"Reference {n}.{i}" for i, _ in enumerate(references)],
                },
            }
        )
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(f"{json.dumps(example)}\n" for example in examples), encoding="utf-8")
    call_command("import_cases", str(path), "--benchmark", "bench", stdout=io.StringIO())
    hits = {}
    for response in Response.objects.filter(case__benchmark=benchmark).select_related("case", "candidate"):
        _group, own, references = shapes[int(response.case.key[1:])]
        hits[response.pk] = own if response.candidate.name == "physician" else references[response.sample]
    judged(Study(benchmark, UserFactory(), []), hits)
    report = computed(benchmark)
    rows = table_of(report, "modes").dicts()
    assert [(row["mode"], row["mode_name"], row["n_responses"], row["rubric_score"]) for row in rows] == [
        ("unaided", "Group 1", 1, 1 / 2),
        ("aided", "Group 2", 2, 3 / 4),
        ("aided", "Group 3", 1, 0),
    ]
    second = beside(report, "aided", "Group 2", "mean")
    # 2/2 and 1/2 beside 1/2 and 1/4.
    assert (second["written"], second["shown"], second["difference"]) == (3 / 4, 3 / 8, 3 / 8)
    third = beside(report, "aided", "Group 3", "best")
    assert (third["shown"], third["difference"], third["n_worse"]) == (1, -1, 1)
    # The cases of group 1 have no references.
    unaided = beside(report, "unaided", "Group 2", "mean")
    assert (unaided["n_responses"], unaided["difference"]) == (0, None)
    assert unaided["note"] == "no response whose references all have a score"


def test_what_was_shown_on_the_page_is_known_by_response() -> None:
    """A later response of a shown candidate is none of the references."""
    world: WritingWorld = build_writing_world(annotators=1)
    batch = world.give_out(mode="aided", references=world.models, mode_name="newer models", draw=1)
    (writer,) = world.people
    task = world.task(batch, writer)
    save_text(task=task, writer=writer, change=TextInput("My answer"), at=timezone.now())
    task.refresh_from_db()
    response = hand_in(task=task, writer=writer, version=task.version, attested=False, at=timezone.now())
    later = ResponseFactory(case=response.case, candidate=world.models[0], sample=0, setting="agent")
    hits = {own.pk: 1 for own in Response.objects.filter(case__benchmark=world.benchmark)} | {
        response.pk: 3,
        later.pk: 3,
    }
    for case in world.cases.values():
        if not case.rubrics.exists():
            publish_rubric(case, [1, 1, 1])
    judged(Study(world.benchmark, world.admin, []), hits)
    report = computed(world.benchmark)
    row = beside(report, "aided", "newer models", "best")
    assert (row["written"], row["shown"]) == (1, pytest.approx(1 / 3))


def test_page_files_command_and_api(study: Study, client: Client, tmp_path: Path) -> None:
    client.force_login(study.admin)
    address = f"/b/{study.benchmark.slug}/scores/"
    page = client.get(address).content.decode()
    assert "Compare modes of writing" in page
    answer = client.post(
        address, {"kind": "modes", "modes-rater": "echo", "modes-candidates": ["physician"], "modes-k": "2"}
    )
    assert answer.status_code == 302, answer.content.decode()
    report = Report.objects.get()
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    page = client.get(f"{address}{report.public_id}/").content.decode()
    assert "With references · older" in page
    assert "+0.167" in page
    assert "For 1 response written with references it is not known which ones were shown." in page
    file = b"".join(client.get(f"{address}{report.public_id}/tables/beside.csv").streaming_content).decode()
    rows = list(csv.DictReader(file.splitlines()))
    assert {row["against"] for row in rows} == {"mean", "best"}
    assert [figure.name for figure in kind_of(report).figures(report)] == [
        "beside_rubric_score",
        "beside_rubric_accuracy",
        "beside_cacs_at_k",
        "axes_rubric_score",
    ]
    methods = methods_of(report).text
    assert "19 responses that physicians wrote (physician) to 6 cases" in methods
    refused = client.post(address, {"kind": "modes", "modes-rater": "echo"})
    assert refused.status_code == 422

    out = tmp_path / "out"
    options = ("--param", "rater=echo", "--param", "k=2", "--out", str(out))
    call_command("report", "--benchmark", study.benchmark.slug, "--kind", "modes", *options)
    assert (out / "tables/beside.csv").read_text(encoding="utf-8") == file
    api = client.get(f"/api/v1/benchmarks/{study.benchmark.slug}/reports/{report.public_id}/").json()
    # Of the first mode with references by name: beside old-1.
    assert api["facts"]["headline"]["value"] == pytest.approx(-1 / 24)


def test_parameters_that_make_no_report_are_refused(study: Study) -> None:
    for parameters, message in (
        ({"candidates": ["old-1"]}, "No physician candidate is called old-1. Physician candidates: physician."),
        ({"candidates": []}, "Choose a candidate of the type physician. Physician candidates: physician."),
        ({"candidates": "physician"}, "“candidates” must be a list of names."),
        ({"k": 0}, "k must be a whole number"),
        ({"rater": "nobody"}, "rater"),
    ):
        with pytest.raises(DomainError, match=message.replace("(", r"\(")):
            services.create_report(
                benchmark=study.benchmark, kind="modes", parameters={"rater": "echo", **parameters}, at=timezone.now()
            )
    study.group("A", lambda pair: "met")
    pseudonym = study.benchmark.physicians.first().pseudonym
    with pytest.raises(DomainError, match="Decisions must be those of a judge or of a group"):
        services.create_report(
            benchmark=study.benchmark,
            kind="modes",
            parameters={"rater": f"physician:{pseudonym}"},
            at=timezone.now(),
        )
    with pytest.raises(CommandError):
        call_command("report", "--benchmark", study.benchmark.slug, "--kind", "modes", "--out", "/nonexistent/x")
