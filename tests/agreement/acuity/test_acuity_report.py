"""Reports of acuity: from imported files to tables, page, files and API."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.acuity.inputs import read_inputs
from agreement.kinds.acuity import AcuityForm
from agreement.models import Report
from agreement.reports.freshness import freshness_of
from agreement.reports.methods import methods_of
from agreement.reports.stored import table_names, table_of
from agreement.reports.views import refuse
from consilium.core.errors import DomainError
from rubrics.acuity.scales import FOUR
from rubrics.acuity.schemes import How, Mapped, Scheme, level
from rubrics.acuity.services import make_scheme
from rubrics.models import AcuityScale, Benchmark, Case
from scoring.models import AcuityReading
from tests.agreement.acuity.stored import (
    MEDASK,
    address,
    chosen,
    csv_of,
    csv_rows,
    import_files,
    reported,
    sign,
    sign_votes,
    small,
    write_lines,
)
from tests.agreement.acuity.test_acuity_file import rows as file_rows
from tests.agreement.acuity.test_acuity_file import run as run_file
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
EXACT = 1e-9
OF_REPORTS = {"crossings", "cheapest", "frontier"}  # tables that acuity_file does not write
PLAIN = {"boundary": "exclude", "slices": False, "subsets": []}  # parameters that nobody gave


def medask(benchmark: Benchmark) -> Report:
    files = [DATA / "medask" / f"semigran_{name}.jsonl" for name in MEDASK]
    sign(import_files(benchmark, *files, dataset="semigran", scheme="em-ne-sc"))
    return reported(benchmark)


def missed_by(name: str) -> int:
    """Emergencies of a published file that were sent elsewhere."""
    lines = (DATA / "medask" / f"semigran_{name}.jsonl").read_text("utf-8").splitlines()
    answers = [(row["true_urgency"].strip(), row["llm_output"].strip()) for row in map(json.loads, lines)]
    return sum(reference == "em" != answer for reference, answer in answers)


def test_published_result_files_give_their_figures_in_table_page_and_file(benchmark: Benchmark, client: Client) -> None:
    report = medask(benchmark)
    expected = {
        "gpt-4.5": {"accuracy": 155 / 225, "over": 64 / 225, "under": 6 / 225, "macro_f1": 0.665180489200451,
                    "qwk": 0.7265625, "alpha": 0.7481883552342999, "safety": 219 / 225, "cost": 94 / 225,
                    "cost_normalised": 94 / 1275},
        "medask": {"accuracy": 197 / 225, "over": 12 / 225, "under": 16 / 225, "qwk": 0.9060402684563759,
                   "alpha": 0.9057958198684002, "safety": 209 / 225, "cost": 92 / 225},
        "o4-mini": {"accuracy": 181 / 225, "over": 27 / 225, "under": 17 / 225, "qwk": 0.8450704225352113,
                    "cost": 112 / 225},
        "o3-mini": {"accuracy": 148 / 225, "over": 66 / 225, "under": 11 / 225, "qwk": 0.6577777777777778},
    }  # fmt: skip
    of_file = csv_rows(csv_of(client, report, "acuity"))
    for name, figures in expected.items():
        place = {"candidate": f"semigran_{name}", "aggregate": "pooled"}
        own = chosen(table_of(report, "acuity").dicts(), **place)
        assert {key: own[key] for key in figures} == pytest.approx(figures, abs=EXACT)
        own = chosen(of_file, **place)
        assert {key: float(own[key]) for key in figures} == pytest.approx(figures, abs=EXACT)
    page = client.get(address(report)).content.decode()
    for text in ("68.9%", "87.6%", "80.4%", "0.418", "0.409", f"{missed_by('medask')} of 75 readings"):
        assert text in page, text
    assert report.input_digest in page
    # Of the pair one only is right on 2 and on 10 cases.
    pair = {"first": "semigran_gpt-4.5", "second": "semigran_medask", "aggregate": "mode", "measure": "accuracy"}
    own = chosen(table_of(report, "pairs").dicts(), **pair)
    assert (own["only_first"], own["only_second"], own["p_exact"]) == (2, 10, pytest.approx(0.03857421875))
    assert (own["bowker"], own["stuart_maxwell_df"]) == (pytest.approx(12.0), 2)


def test_where_published_cost_curves_cross(benchmark: Benchmark, client: Client) -> None:
    """64 + 6 r = 12 + 16 r at r = 5.2."""
    report = medask(benchmark)
    page = " ".join(client.get(address(report)).content.decode().split())
    assert "At a relative cost of 1, semigran_medask has the lowest cost; from 5.20 it is semigran_gpt-4.5." in page
    rows = table_of(report, "crossings").dicts()
    assert len(rows) == 6
    own = chosen(rows, first="semigran_medask", second="semigran_gpt-4.5")
    assert own["ratio"] == pytest.approx(5.2, abs=EXACT)
    assert 0.3 < own["share_below"] < 0.7
    # 27 + 17 r is above 12 + 16 r throughout.
    none = chosen(rows, first="semigran_medask", second="semigran_o4-mini")
    assert (none["ratio"], none["share_below"], none["note"]) == (None, None, "the first costs less at every ratio")
    cheapest = [(row["from_ratio"], row["candidate"]) for row in table_of(report, "cheapest").dicts()]
    assert cheapest == [(1.0, "semigran_medask"), (pytest.approx(5.2, abs=EXACT), "semigran_gpt-4.5")]


def equal_tables(report: Report, folder: Path, client: Client, *, exact: bool = True) -> None:
    """Every table of the report is the file that `acuity_file` wrote."""
    names = {path.stem for path in (folder / "out").glob("*.csv")} - {
        "uncertainty", "uncertainty_cases", "panel", "panel_cases"
    }  # fmt: skip
    assert set(table_names(report)) - OF_REPORTS == names
    for name in sorted(names):
        text = csv_of(client, report, name)
        if exact:
            assert text == (folder / "out" / f"{name}.csv").read_text("utf-8"), name
            continue
        for ours, theirs in zip(csv_rows(text), file_rows(folder, name), strict=True):
            for column, value in theirs.items():
                if value and value.lstrip("-")[0].isdigit() and column not in ("candidate", "first", "second"):
                    assert float(ours[column]) == pytest.approx(float(value), abs=EXACT), (name, column)
                else:
                    assert ours[column] == value, (name, column)


def test_tables_of_result_files_are_those_of_the_files(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    """To 1e-9: in files the cases have bare numbers, which stand in another order."""
    report = medask(benchmark)
    files = [DATA / "medask" / f"semigran_{name}.jsonl" for name in MEDASK]
    run_file(tmp_path, *files, scheme="em-ne-sc", scale="three")
    equal_tables(report, tmp_path, client, exact=False)


def test_tables_of_matrices_are_those_of_the_files(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    """Each candidate of a matrix was asked about its own cases alone."""
    sign(import_files(benchmark, DATA / "matrices.csv", dataset="published"))
    report = reported(benchmark)
    run_file(tmp_path, DATA / "matrices.csv")
    equal_tables(report, tmp_path, client)
    own = chosen(table_of(report, "acuity").dicts(), candidate="consumer-assistant", aggregate="pooled")
    assert (own["n_cases"], own["n_missing"], own["accuracy"]) == (480, 0, 0.6625)


def test_tables_of_a_panel_are_those_of_the_files(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    """Two formats, refusals, and cases that are ambiguous or between two levels."""
    sign_votes(import_files(benchmark, DATA / "readings.csv", dataset="made-up"), DATA / "votes.csv")
    report = reported(benchmark)
    run_file(tmp_path, DATA / "readings.csv", votes=DATA / "votes.csv")
    equal_tables(report, tmp_path, client)
    page = client.get(address(report)).content.decode()
    for words in ("Both formats", "Cases between two levels", "10 cases ambiguous", "29 cases with one clear level"):
        assert words in page, words
    # Shares in percent, and differences in percentage points, as in the table of pairs; each heading has the direction.
    both = page[page.index('id="part-formats"') :]
    assert "Advice minus forced choice" in both and "First minus second" in page
    own = next(row for row in table_of(report, "formats").dicts() if (row["slice"], row["measure"]) == ("all", "under"))
    assert f">{own['qa'] * 100:.1f}%<" in both and f">{own['chat'] * 100:.1f}%<" in both
    assert f"{own['difference'] * 100:.1f}".lstrip("-") in both
    percentile = reported(benchmark, interval="percentile", seed=3)
    run_file(tmp_path, DATA / "readings.csv", votes=DATA / "votes.csv", interval="percentile", seed=3)
    equal_tables(percentile, tmp_path, client)


def test_the_command_writes_the_same(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    sign_votes(import_files(benchmark, DATA / "readings.csv", dataset="made-up"), DATA / "votes.csv")
    report = reported(benchmark, candidates=["Model B"], ratio=3.0, gamma=0.5, seed=2)
    call_command(
        "acuity", benchmark=benchmark.slug, candidate=["Model B"], reference_set=1, ratio=3.0, gamma=0.5, seed=2,
        out=tmp_path / "out",
    )  # fmt: skip
    names = {path.stem for path in (tmp_path / "out").glob("*.csv")}
    assert names == set(table_names(report))
    for name in names:
        assert (tmp_path / "out" / f"{name}.csv").read_text("utf-8") == csv_of(client, report, name), name
    assert {own["candidate"] for own in file_rows(tmp_path, "acuity")} == {"Model B"}
    with pytest.raises(CommandError, match=r"There is no reference set 9\. Available: 1"):
        call_command("acuity", benchmark=benchmark.slug, reference_set=9, out=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_pages_and_titles_state_the_exponent_of_the_level_difference(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    small(tmp_path, benchmark)
    usual, other = reported(benchmark), reported(benchmark, gamma=0.0)
    for report, exponent in ((usual, "1"), (other, "0")):
        page = client.get(address(report)).content.decode()
        # Beside the cost, and in “How these figures were computed”.
        assert page.count(f"Exponent of the level difference in the cost: {exponent}.") == 2
    listed = client.get(f"/b/{benchmark.slug}/acuity/").content.decode()
    assert "reference set 1, 5 : 1, exponent 0" in listed
    assert "exponent 1" not in listed


def test_candidates_are_ranked_by_the_cost_of_everything_asked(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    small(tmp_path, benchmark)
    report = reported(benchmark)
    rows = table_of(report, "acuity").dicts()
    of_m, of_n = (chosen(rows, candidate=name, aggregate="expected") for name in "MN")
    # Of the three refusals one is on each level: the worst answers cost 3, 5 and 10.
    assert (of_m["cost"], of_m["cost_all"]) == (0.0, pytest.approx(18 / 12))
    assert (of_n["cost"], of_n["cost_all"]) == (1.0, 1.0)
    page = client.get(address(report)).content.decode()
    assert "N has the lowest cost over all questions asked: 1.00 per case, at a relative cost of 5 : 1." in page
    assert "2 over usable" in page and "1 over usable" in page
    board = " ".join(page[page.index('id="board"') : page.index('id="part-errors"')].split())
    assert board.index("> N <") < board.index('<span class="sub">3 refused</span>') and "0 unreadable" not in board
    # The contents come before the first table that they lead to.
    assert page.index('href="#ranking"') < page.index('href="#part-unusable"') < page.index('id="ranking"')
    # A boundary case is in its own table and nowhere else.
    boundary = {row["candidate"]: row for row in table_of(report, "boundary").dicts() if row["aggregate"] == "pooled"}
    assert [boundary[name][what] for name in "MN" for what in ("within", "upper", "above")] == [1, 1, 0, 0, 0, 1]
    assert of_m["n_cases"] == 12
    assert "B Primary care | C Urgent care" in page


def test_one_candidate_alone(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    report = reported(benchmark, candidates=["M"])
    assert not table_of(report, "pairs").rows and not table_of(report, "crossings").rows
    page = client.get(address(report)).content.decode()
    assert "M costs 1.50 per case over all questions asked, at a relative cost of 5 : 1." in page
    assert "Pairs of candidates" not in page
    listed = client.get(f"/b/{benchmark.slug}/acuity/").content.decode()
    assert "Acuity of M, reference set 1, 5 : 1" in listed


def test_who_was_asked_depends_on_the_files_and_not_on_who_is_chosen(benchmark: Benchmark, tmp_path: Path) -> None:
    """Two imports share a case, and are one dataset; the third is another."""
    first = write_lines(tmp_path, "a.csv", [f"a{i},M,qa,0,emergency,emergency" for i in range(3)])
    second = write_lines(
        tmp_path, "b.csv", ["a0,N,qa,0,emergency,emergency", *(f"b{i},N,qa,0,emergency,emergency" for i in range(2))]
    )
    third = write_lines(tmp_path, "c.csv", [f"c{i},M,qa,{n},emergency,emergency" for i in range(4) for n in (0, 1)])
    import_files(benchmark, first, dataset="one")
    import_files(benchmark, second, dataset="one")
    scale = import_files(benchmark, third, dataset="other")
    whole, part = sign(scale), sign(scale, "one")
    n_cases_by_set = {
        name: dict(zip(inputs.data.series_names, inputs.data.is_asked.sum(axis=0).tolist(), strict=True))
        for name, inputs in (
            ("all", read_inputs(whole, ["M", "N"])),
            ("M", read_inputs(whole, ["M"])),
            ("part", read_inputs(part, ["M", "N"])),
        )
    }
    assert n_cases_by_set["all"] == {("M", "qa"): 9, ("N", "qa"): 5}
    assert n_cases_by_set["M"] == {("M", "qa"): 9}
    # The samples of a dataset that is no part of the set are none of its figures.
    assert n_cases_by_set["part"] == {("M", "qa"): 5, ("N", "qa"): 5}
    own = chosen(table_of(reported(benchmark, reference_set=2), "acuity").dicts(), candidate="M", aggregate="pooled")
    assert (own["n_readings"], own["n_missing"]) == (3, 2)


def test_missing_answers_were_asked_for(benchmark: Benchmark, tmp_path: Path) -> None:
    lines = ["c1,M,qa,0,emergency,emergency", "c2,M,qa,0,,emergency", "c1,N,qa,0,NA,emergency"]
    sign(import_files(benchmark, write_lines(tmp_path, "m.csv", lines), dataset="gaps"))
    assert AcuityReading.objects.filter(state="missing").count() == 2
    rows = table_of(reported(benchmark), "acuity").dicts()
    of_m, of_n = (chosen(rows, candidate=name, aggregate="pooled") for name in "MN")
    assert (of_m["n_readings"], of_m["n_missing"], of_m["accuracy_all"]) == (1, 1, 0.5)
    assert (of_n["n_readings"], of_n["n_missing"], of_n["accuracy"], of_n["accuracy_all"]) == (0, 2, None, 0.0)


def test_the_leading_figures_are_over_everything_asked(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    """Of two samples on each of ten cases one is refused, which costs 3 levels too high, and one is not there."""
    lines = [f"c{i:02},M,qa,{sample},self-care,self-care" for i in range(10) for sample in (0, 1)][:-1]
    lines[0] = lines[0].replace("self-care", "refused", 1)
    lines += [f"c{i:02},M,chat,0,self-care,self-care" for i in range(10)]
    sign(import_files(benchmark, write_lines(tmp_path, "asked.csv", lines), dataset="asked"))
    page = " ".join(client.get(address(reported(benchmark))).content.decode().split())
    assert "M (Forced choice) costs 0.30 per case over all questions asked" in page
    tile = page[page.index("Cost, refusals included") :][:400]
    assert "0.300" in tile and "0.000" not in tile
    assert "18 / 20" in page and "10 / 10" in page


def test_an_excluded_case_counts_nowhere(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    before = reported(benchmark)
    assert freshness_of(before).fresh is True
    Case.with_stubs.filter(key__in=["c11", "b1"]).update(excluded_at=timezone.now(), exclusion_reason="wrong")
    freshness = freshness_of(before)
    assert (freshness.fresh, freshness.digest == before.input_digest) == (False, False)
    after = reported(benchmark)
    own = chosen(table_of(after, "acuity").dicts(), candidate="M", aggregate="pooled")
    assert (own["n_cases"], own["n_refused"]) == (11, 2)
    assert not table_of(after, "boundary").rows
    assert after.result["facts"]["statuses"] == {
        "clear": 11, "boundary": 0, "ambiguous": 0, "set_aside": 0, "without_reference": 0
    }  # fmt: skip
    assert [row["case"] for row in table_of(after, "unusable").dicts()] == ["c09", "c10"]
    # The same as a benchmark that holds only the others.
    other = BenchmarkFactory()
    lines = (tmp_path / "small.csv").read_text().splitlines()[1:]
    kept = [line for line in lines if not line.startswith(("c11", "b1"))]
    sign(import_files(other, write_lines(tmp_path, "small.csv", kept), dataset="small"))
    assert {name: table_of(after, name).rows[:] for name in table_names(after) if name != "unusable"} == {
        name: table_of(report, name).rows[:]
        for report in [reported(other)]
        for name in table_names(report)
        if name != "unusable"
    }


def test_further_readings_make_a_report_stale(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    report = reported(benchmark, candidates=["M"])
    # Another candidate on the same cases changes nothing of this one.
    lines = [f"c{i:02},O,qa,0,emergency," for i in range(3)]
    import_files(benchmark, write_lines(tmp_path, "o.csv", lines), dataset="small")
    assert freshness_of(report).fresh is True
    import_files(benchmark, write_lines(tmp_path, "m.csv", ["c00,M,qa,1,emergency,"]), dataset="small")
    freshness = freshness_of(report)
    assert freshness.fresh is False
    assert [(change.what, change.n) for change in freshness.changes] == [("readings", 4)]
    assert "Check if stale" in client.get(f"/b/{benchmark.slug}/acuity/").content.decode()


def test_labels_that_are_mapped_again_are_named_as_what_changed(benchmark: Benchmark, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    report = reported(benchmark, slices=True)
    rules = {value: level(place) for place, value in enumerate(FOUR.values)}
    rules["primary-care|urgent-care"] = Mapped(How.BOUNDARY, 1, 2)
    scale = AcuityScale.objects.get(benchmark=benchmark)
    make_scheme(scale=scale, scheme=Scheme("own", FOUR, rules), by=None, at=timezone.now())
    call_command(
        *("import_acuity", "--stored", "--benchmark", benchmark.slug, "--dataset", "small", "--scheme", "own"),
        stdout=io.StringIO(),
    )
    changes = [(change.what, change.n) for change in freshness_of(report).changes]
    assert changes == [("source_labels", 13)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reference_set": 4}, "There is no reference set 4. Available: 1."),
        ({"reference_set": "newest"}, "“reference_set” must be the number of a reference set."),
        ({"candidates": ["X"]}, "These candidates have no readings for the cases of reference set 1: X."),
        ({"candidates": "M"}, "“candidates” must be a list of candidate names."),
        ({"candidates": []}, "“candidates” must be a list of candidate names."),
        ({"ratio": 0}, "“ratio” must be a number greater than 0 and at most 1000."),
        ({"ratio": 1001}, "“ratio” must be a number greater than 0 and at most 1000."),
        ({"ratio": "5"}, "“ratio” must be a number greater than 0 and at most 1000."),
        ({"gamma": -0.1}, "“gamma” must be a number from 0 to 10."),
        ({"gamma": float("nan")}, "“gamma” must be a number from 0 to 10."),
        ({"rater": "echo"}, "This kind of report does not accept the parameter rater."),
    ],
)
def test_wrong_parameters(benchmark: Benchmark, tmp_path: Path, parameters: dict[str, Any], message: str) -> None:
    small(tmp_path, benchmark)
    with pytest.raises(DomainError) as refused:
        services.create_report(benchmark=benchmark, kind="acuity", parameters=parameters, at=timezone.now())
    assert str(refused.value) == message
    assert not Report.objects.exists()


def test_the_api_takes_the_kind_and_gives_its_files(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    endpoint = f"/api/v1/benchmarks/{benchmark.slug}/reports/"
    answer = client.post(endpoint, {"kind": "acuity", "parameters": {"ratio": 2}}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    report = Report.objects.get(public_id=answer.json()["id"])
    assert report.parameters == {"reference_set": 1, "candidates": ["M", "N"], "ratio": 2.0, "gamma": 1.0, **PLAIN}
    services.run(report_id=report.pk, clock=timezone.now)
    detail = client.get(f"{endpoint}{report.public_id}/").json()
    assert (detail["status"], detail["facts"]["reference_set"]) == ("finished", 1)
    assert {"errors", "cost-qa", "confusion-1", "confusion-2"} <= set(detail["figures"])
    for name in detail["figures"]:
        drawn = client.get(f"{endpoint}{report.public_id}/figures/{name}.svg").content
        assert b"<svg" in drawn, name
    assert b"".join(client.get(f"{endpoint}{report.public_id}/report.zip").streaming_content)[:2] == b"PK"
    csv = b"".join(client.get(f"{endpoint}{report.public_id}/tables/acuity.csv").streaming_content)
    assert csv.decode() == csv_of(client, Report.objects.get(pk=report.pk), "acuity")
    wrong = client.post(endpoint, {"kind": "acuity", "parameters": {"ratio": -1}}, content_type="application/json")
    assert wrong.status_code == 422


def test_the_form_computes_with_its_defaults(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    page = f"/b/{benchmark.slug}/acuity/"
    sent = {"kind": "acuity", "acuity-reference_set": "1", "acuity-ratio": "5", "acuity-gamma": "1"}
    answer = client.post(page, sent)
    assert answer.status_code == 302
    report = Report.objects.get()
    assert answer["Location"] == address(report)
    assert report.parameters == {"reference_set": 1, "candidates": ["M", "N"], "ratio": 5.0, "gamma": 1.0, **PLAIN}
    services.run(report_id=report.pk, clock=timezone.now)
    assert 'class="newest"' in client.get(page).content.decode()
    refused = client.post(page, {**sent, "acuity-ratio": "0"})
    text = refused.content.decode()
    assert refused.status_code == 422 and "Enter a number greater than 0" in text
    field = re.search(r'<input[^>]*name="acuity-ratio"[^>]*>', text)
    assert field is not None and 'aria-invalid="true"' in field[0] and 'min="0.001"' in field[0]
    assert 'class="newest"' not in text  # the earlier report does not answer what was refused


def test_a_refusal_is_beside_its_field_and_names_it_as_the_page_does(benchmark: Benchmark) -> None:
    form = AcuityForm(benchmark, {})
    refuse(form, DomainError("“gamma” must be a number.", field="parameters.gamma"))
    assert "“Exponent of the level difference” must be a number." in form.errors["gamma"]
    refuse(form, DomainError("Too late."))
    assert "Too late." in form.non_field_errors()


def test_empty_states_name_cause_and_next_step(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    page = f"/b/{benchmark.slug}/acuity/"
    assert "No data on the urgency of the cases yet" in client.get(page).content.decode()
    labels = tmp_path / "v.jsonl"
    labels.write_text('{"urgency_level": "em", "case_description": "Made up."}\n', "utf-8")
    scale = import_files(benchmark, labels, dataset="texts", scheme="em-ne-sc")
    assert "No reference set has been signed" in client.get(page).content.decode()
    sign(scale)
    assert "No candidate has readings" in client.get(page).content.decode()
    with pytest.raises(DomainError, match="No candidate has readings for the cases of reference set 1"):
        services.create_report(benchmark=benchmark, kind="acuity", parameters={}, at=timezone.now())
    import_files(
        benchmark, write_lines(tmp_path, "r.csv", ["texts-0001,M,qa,0,emergency,"]), dataset="texts", scale="three",
    )  # fmt: skip
    assert "Choose a reference set and compute a report." in client.get(page).content.decode()


def test_a_set_without_a_clear_case(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    lines = [f"b{i},M,qa,0,emergency,urgent-care|emergency" for i in range(3)]
    sign(import_files(benchmark, write_lines(tmp_path, "b.csv", lines), dataset="edges"))
    report = reported(benchmark)
    page = client.get(address(report)).content.decode()
    assert "No case has one clear level" in page and "Cases between two levels" in page
    assert methods_of(report).paragraphs


def test_methods_name_cases_readings_and_intervals(benchmark: Benchmark, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    text = methods_of(reported(benchmark)).text
    for words in (
        "12 cases with one clear level are in the main figures; excluded from them: 1 case between two levels",
        "There were 24 readings on them, 21 of one level; 3 refused, 0 without a level",
        "costs 5 · d^1 + o^1",
        "jackknife standard error",
        "Kopka et al. 2023",
        "Cohen 1968: Weighted kappa",
    ):
        assert words in text, words


def test_methods_of_a_cost_without_distances_name_no_power(benchmark: Benchmark, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    text = methods_of(reported(benchmark, gamma=0)).text
    assert "A reading below the reference costs 5 and one above it 1, by however many levels; over" in text
    assert "^0" not in text


def test_others_do_not_get_in(benchmark: Benchmark, tmp_path: Path) -> None:
    small(tmp_path, benchmark)
    report = reported(benchmark)
    outsider, researcher = UserFactory(), UserFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=researcher, role="researcher")
    for user, status in ((outsider, 404), (researcher, 200)):
        client = Client()
        client.force_login(user)
        assert client.get(f"/b/{benchmark.slug}/acuity/").status_code == status
        assert client.get(address(report)).status_code == status
        assert client.get(f"/b/{benchmark.slug}/scores/{report.public_id}/").status_code == 404
