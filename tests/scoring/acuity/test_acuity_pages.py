"""The pages about acuity for staff: the import with its preview, what is there, scales and schemes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from rubrics.acuity.scales import FOUR
from rubrics.models import AcuityScale, Benchmark, Case, ImportJob, LabelScheme, SourceLabel
from scoring.models import AcuityReading
from tests.scoring.acuity.acuity_files import (
    VIGNETTES,
    command,
    jsonl,
    preview,
    result,
    table,
    table_sizes,
    work,
    write,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ACUITY, IMPORT, SCALES = (f"/b/bench/case-acuity/{place}" for place in ("", "import/", "scales/"))
NEW_SCALE, NEW_SCHEME = f"{SCALES}new/", "/b/bench/case-acuity/schemes/new/"


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def confirm(client: Client, job: ImportJob) -> ImportJob:
    answer = client.post(f"/b/bench/case-acuity/imports/{job.public_id}/confirm/")
    assert answer.status_code == 302
    return ImportJob.objects.get(public_id=answer.url.split("/")[-2])  # type: ignore[attr-defined]


def test_an_empty_benchmark_says_what_this_is_for(staff: Client) -> None:
    page = text(staff, ACUITY)
    assert "No labels and no readings yet" in page
    assert f'href="{IMPORT}"' in page


def test_from_the_form_over_the_preview_into_the_benchmark(staff: Client) -> None:
    rows = [
        result(1, "em", "em", correct=True),
        result(2, "ne", "I cannot help with that.", correct=True),
        result(3, "sc", "", note="aside"),
    ]
    before = table_sizes(ImportJob._meta.db_table)
    job, page = preview(staff, jsonl(*rows))
    assert table_sizes(ImportJob._meta.db_table) == before
    assert (job.status, job.options["preview"]) == ("done", "1")
    assert "Preview: nothing has been saved yet" in page
    assert "I cannot help with that." in page
    assert "1 stored flag contradicts its label and level (lines 2)" in page
    assert "Columns not read: note." in page
    assert "previews" not in page
    # The label, what it becomes, its cases and an example.
    cells = page[page.index("Mapping of each label</h2>") :]
    assert cells.index(">em<") < cells.index("emergency") < cells.index("d-0001")

    second = confirm(staff, job)
    assert confirm(staff, job) == second, "pressed twice, it is one import"
    page = text(staff, f"/b/bench/imports/{job.public_id}/")
    assert f'href="/b/bench/imports/{second.public_id}/">Go to the import' in page
    assert "nothing has been saved yet" not in page
    assert ImportJob.objects.count() == 2
    assert (second.file.name, second.options) == (
        job.file.name,
        {name: value for name, value in job.options.items() if name != "preview"},
    )
    assert work(second).status == "done"
    assert confirm(staff, job) == second
    page = text(staff, f"/b/bench/imports/{second.public_id}/")
    assert f'href="{ACUITY}"' in page
    assert "Cases without a text" in page
    assert "1 reading does not indicate a single level (Refused: 1)" in page
    assert SourceLabel.objects.count() == 3
    assert AcuityReading.objects.count() == 3
    assert Case.with_stubs.filter(is_stub=True).count() == 3

    page = text(staff, ACUITY)
    assert "results.jsonl" in page
    assert table(staff, "flow.csv")[1:] == [["d", "em-ne-sc", "1", "three", "1", "3", "3", "0", "0", "0"]]
    assert table(staff, "candidates.csv")[1:] == [
        ["three", "1", "results", "qa", "imported", "3", "2", "1", "1", "0", "0", "0", "1"]
    ]
    assert table(staff, "readings.csv") == [
        ["case", "candidate", "format", "sample", "level", "confidence"],
        ["d-0001", "results", "qa", "0", "emergency", ""],
        ["d-0002", "results", "qa", "0", "refused", ""],
        ["d-0003", "results", "qa", "0", "", ""],
    ]
    assert table(staff, "unusable.csv") == [
        ["candidate", "format", "case", "sample", "state", "text", "file", "line"],
        ["results", "qa", "d-0002", "0", "refused", "I cannot help with that.", "results.jsonl", "2"],
    ]
    labels = table(staff, "source_labels.csv")
    assert labels[0] == [
        *("case", "dataset", "source_id", "label", "scheme", "version", "how", "low", "high", "file", "digest", "line"),
        "ambiguous",
    ]
    assert labels[2][:9] == ["d-0002", "d", "2", "ne", "em-ne-sc", "1", "direct", "non-emergency", "non-emergency"]
    assert labels[2][-2:] == ["2", ""]
    assert table(staff, "labels.csv")[1] == [*("d", "em-ne-sc", "1", "em", "direct", "emergency", "emergency", "1")]
    assert len(table(staff, "imports.csv")) == 2
    assert len(table(staff, "scales/scales.csv")) == 4
    # em-ne-sc has two names for each of three labels.
    assert len(table(staff, "scales/rules.csv")) == 7


def test_the_same_file_again_changes_nothing(staff: Client) -> None:
    content = jsonl(result(1, "em", "em"), result(2, "ne", ""))
    work(confirm(staff, preview(staff, content)[0]))
    jobs = ImportJob._meta.db_table
    before = table_sizes(jobs)
    job, page = preview(staff, content)
    assert "Everything in this file has already been imported" in page
    again = work(confirm(staff, job))
    assert again.counts["readings"] == {"created": 0, "unchanged": 1}
    assert table_sizes(jobs) == before


def test_a_label_without_a_rule_leads_to_a_new_version_of_the_scheme(staff: Client) -> None:
    content = jsonl(result(1, "em", "em"), result(2, "urgent <b>", "em"), result(3, "urgent <b>", "em"))
    job, page = preview(staff, content)
    assert "the labels of 2 rows have no rule" in page
    assert "lines 2, 3" in page
    assert page.index("urgent &lt;b&gt;") < page.index(">em<"), "labels without a rule come first"
    assert 'class="primary">Import' not in page
    assert confirm(staff, job) == job, "it cannot be imported"
    assert ImportJob.objects.count() == 1

    form = f"{NEW_SCHEME}?preview={job.public_id}"
    page = text(staff, form)
    assert page.index('value="urgent &lt;b&gt;"') < page.index('value="em"')
    rows = {"row-0-source_label": "Urgent <B>", "row-0-becomes": "level-2", "row-1-source_label": "em"}
    answer = staff.post(form, {"name": "em-ne-sc", "scale": "three", **rows, "row-1-becomes": "level-2", "save": "1"})
    assert answer.status_code == 302, answer.content.decode()
    own = LabelScheme.objects.get(version=2)
    assert list(own.rules.values_list("source_label", "how", "low")) == [
        ("urgent <b>", "direct", 2),
        ("em", "direct", 2),
    ]
    assert LabelScheme.objects.get(version=1).rules.count() == 6, "version 1 is the starter's"

    # Back in the form the file is kept, and what was entered.
    back = answer.url  # type: ignore[attr-defined]
    page = text(staff, back)
    assert "If you choose no other file, results.jsonl is used again." in page
    assert '<option value="em-ne-sc" selected>' in page
    terms = {"dataset": "d", "scale": "three", "scheme": "em-ne-sc", "reading_format": "qa", "format": "auto"}
    assert staff.post(back, terms).status_code == 302
    second = work(ImportJob.objects.order_by("pk").last())  # type: ignore[arg-type]
    assert second.counts["previews"][0]["flow"]["without_rule"] == 0
    assert second.counts["previews"][0]["scheme"] == "em-ne-sc 2"
    assert work(confirm(staff, second)).status == "done"
    assert SourceLabel.objects.filter(label="urgent <b>", low=2).count() == 2


def test_a_newer_scheme_asks_for_another_preview(staff: Client, benchmark: Benchmark) -> None:
    job, _page = preview(staff, jsonl(result(1, "em", "em")))
    rules = {"row-0-source_label": "em", "row-0-becomes": "level-1", "save": "1"}
    assert staff.post(NEW_SCHEME, {"name": "em-ne-sc", "scale": "three", **rules}).status_code == 302
    assert confirm(staff, job) == job
    assert "has a new version since this preview" in text(staff, f"/b/bench/imports/{job.public_id}/")
    assert not SourceLabel.objects.exists()


def test_the_scheme_is_found_by_the_labels_and_changed_on_the_preview(staff: Client) -> None:
    rows = "".join(f"c{number},M,emergency,{number}\n" for number in (1, 2, 3, 4, 5))
    content = f"case,candidate,level,reference\n{rows}c6,M,,5\n".encode()
    job, page = preview(staff, content, "one.csv", scheme="", scale="")
    # 1 to 5 are messages of a portal on four levels, and the levels of an emergency department on five.
    shown = job.counts["previews"][0]
    assert (shown["scale"], shown["scheme"]) == ("four", "portal-1-6")
    fitting = {(row["scheme"], row["scale"]) for row in shown["fitting"] if not row["without_rule"]}
    assert fitting == {
        ("portal-1-6", "four"), ("direct", "five"), ("emergency-department", "three"),
        ("emergency-department", "four"), ("emergency-department", "five"),
    }  # fmt: skip
    assert "selected by the labels in the file" in page
    assert "1 answer is missing (line 7)" in page
    choice = 'value="emergency-department four"'
    assert "5 labels without a level" in page[page.index(choice) :][:400]
    form = page[page.index('class="form scheme-choice"') :]
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")]))
    fields.pop("csrfmiddlewaretoken", None)
    answer = staff.post(f"{IMPORT}?from={job.public_id}", {**fields, "scheme_on_scale": "direct five"})
    assert answer.status_code == 302, answer.content.decode()
    second = work(ImportJob.objects.order_by("pk").last())  # type: ignore[arg-type]
    shown = second.counts["previews"][0]
    assert (shown["scale"], shown["scheme"], second.options["dataset"]) == ("five", "direct", "d")
    # What the preview showed is imported, whatever fits best by then.
    assert work(confirm(staff, job)).options["scheme"] == "portal-1-6"
    assert set(SourceLabel.objects.values_list("scheme__name", "scheme__scale__name")) == {("portal-1-6", "four")}


def test_a_file_without_labels_is_read_by_its_levels(staff: Client) -> None:
    job, page = preview(staff, b"case,candidate,level\na,M,em\nb,M,sc\n", "one.csv", scheme="", scale="")
    assert (job.counts["previews"][0]["scheme"], job.counts["previews"][0]["scale"]) == ("em-ne-sc", "four")
    assert job.counts["previews"][0]["series"][0]["level"] == 2
    # No scheme fits labels that are not there.
    assert job.counts["previews"][0]["fitting"] == []
    assert "This file contains no labels." in page
    assert "selected by the words of the readings" in page
    assert "Another scheme" not in page
    _job, page = preview(staff, b"case,candidate,level,reference\na,M,em,em\n", "two.csv", scheme="", scale="")
    assert "This file contains no labels." not in page
    assert "Another scheme" in page


def test_the_same_file_as_another_candidate_has_a_note(staff: Client) -> None:
    content = jsonl(result(1, "em", "em"), result(2, "ne", "sc"))
    work(confirm(staff, preview(staff, content, "gpt.jsonl")[0]))
    _job, page = preview(staff, content, "gpt.jsonl")
    assert "This file was already imported" not in page
    _job, page = preview(staff, content, "renamed.jsonl")
    assert "This file was already imported as “gpt” (gpt.jsonl). You are now importing it as “renamed”" in page


def test_a_finished_import_says_its_options_in_words(staff: Client) -> None:
    job = work(confirm(staff, preview(staff, jsonl(result(1, "em", "em")), candidate="M")[0]))
    page = text(staff, f"/b/bench/imports/{job.public_id}/")
    facts = dict(re.findall(r"<dt>([^<]*)</dt>\s*<dd>([^<]*)</dd>", page))
    assert facts == {
        "Dataset": "d", "Scale": "three", "Label scheme": "em-ne-sc", "Candidate": "M",
        "Format of readings": "Forced choice", "Shape of the file": "Detect from the beginning of the file",
    }  # fmt: skip


def test_forms_and_lists_cost_the_same_with_more_scales_and_imports(staff: Client) -> None:
    urls = (ACUITY, IMPORT, SCALES, NEW_SCALE, f"{NEW_SCHEME}?scale=three", "/b/bench/imports/")

    def counts() -> dict[str, int]:
        seen = {}
        for url in urls:
            with CaptureQueriesContext(connection) as queries:
                text(staff, url)
            seen[url] = len(queries)
        return seen

    work(confirm(staff, preview(staff, jsonl(result(1, "em", "em")), "a.jsonl")[0]))
    before = counts()
    levels = {"row-0-value": "x", "row-0-label_en": "X", "row-0-definition_en": "x"}
    levels |= {"row-1-value": "y", "row-1-label_en": "Y", "row-1-definition_en": "y", "save": "1"}
    rules = {"row-0-source_label": "em", "row-0-becomes": "level-1", "save": "1"}
    for name in ("p", "q", "r"):
        assert staff.post(NEW_SCALE, {"name": name, **levels}).status_code == 302
        assert staff.post(NEW_SCHEME, {"name": f"on-{name}", "scale": name, **rules}).status_code == 302
        work(confirm(staff, preview(staff, jsonl(result(1, "em", "em")), f"{name}.jsonl")[0]))
    assert counts() == before


def test_faults_of_a_preview_stand_by_line_and_field(staff: Client) -> None:
    job, page = preview(staff, jsonl(result(1, "em", "em"), result(1, "em", "ne")))
    assert "This file cannot be imported. Fix the errors below." in page
    assert "The candidate already has this sample" in page
    assert confirm(staff, job) == job
    assert ImportJob.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scheme": "portal-1-6"}, "The label scheme “portal-1-6” has no rules for the scale “three”."),
        ({"dataset": "a b"}, "id_dataset_error"),
        ({"candidate": "all"}, "A candidate cannot be called “all”."),
        ({"scale": "seven"}, "id_scale_error"),
        ({"format": "xls"}, "id_format_error"),
        ({"reading_format": "both"}, "id_reading_format_error"),
        ({"file": ""}, "id_file_error"),
    ],
)
def test_a_form_that_cannot_be_right(staff: Client, fields: dict[str, Any], message: str) -> None:
    terms = {"dataset": "d", "scale": "three", "scheme": "em-ne-sc", "reading_format": "qa", "format": "auto"}
    file = SimpleUploadedFile("f.jsonl", jsonl(result(1, "em", "em")))
    answer = staff.post(IMPORT, {"file": file, **terms, **fields})
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not ImportJob.objects.exists()


def test_the_page_of_imports_leads_here_and_does_not_take_the_kind(staff: Client) -> None:
    page = text(staff, "/b/bench/imports/")
    assert f'href="{IMPORT}"' in page
    assert 'value="acuity"' not in page
    file = SimpleUploadedFile("f.jsonl", jsonl(result(1, "em", "em")))
    assert staff.post("/b/bench/imports/", {"kind": "acuity", "dataset": "d", "file": file}).status_code == 422


def test_only_a_preview_can_be_confirmed(staff: Client, benchmark: Benchmark) -> None:
    job = work(confirm(staff, preview(staff, jsonl(result(1, "em", "em")))[0]))
    assert confirm(staff, job) == job
    assert ImportJob.objects.count() == 2
    cases = ImportJob.objects.create(benchmark=benchmark, kind="cases", created_by=benchmark.roles.get().user)
    assert staff.get(f"{IMPORT}?from={cases.public_id}").status_code == 404
    assert staff.get(f"{IMPORT}?from=nothing").status_code == 404


def test_several_scales_have_a_file_each(staff: Client) -> None:
    content = jsonl(result(1, "em", "em"))
    work(confirm(staff, preview(staff, content)[0]))
    work(confirm(staff, preview(staff, content, scale="four")[0]))
    page = text(staff, ACUITY)
    assert "readings.csv?scale=three&amp;version=1" in page
    assert table(staff, "readings.csv?scale=three")[1][4] == "emergency"
    assert staff.get(f"{ACUITY}readings.csv?scale=five").status_code == 404


def test_the_page_takes_as_many_queries_for_many_rows(staff: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            text(staff, ACUITY)
        return len(captured)

    work(confirm(staff, preview(staff, jsonl(result(1, "em", "em")))[0]))
    queries()
    first = queries()
    for name in ("two.jsonl", "three.jsonl"):
        work(confirm(staff, preview(staff, jsonl(result(1, "em", "em"), result(9, "ne", "x")), name=name)[0]))
    assert queries() == first


# Scales and schemes --------------------------------------------------------------------------------------------------


def level_rows(*values: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for number, value in enumerate(values):
        fields |= {f"row-{number}-value": value, f"row-{number}-label_en": value.title()}
        fields |= {f"row-{number}-label_zh": "", f"row-{number}-definition_zh": ""}
        fields |= {f"row-{number}-definition_en": f"What {value} means."}
    return fields


def test_a_scale_is_made_and_a_change_is_a_new_version(staff: Client, benchmark: Benchmark) -> None:
    page = text(staff, f"{NEW_SCALE}?from=four")
    assert 'value="urgent-care"' in page
    assert page.count('<span class="acuity-level at-') == 4
    answer = staff.post(NEW_SCALE, {"name": "ours", **level_rows("later", "now"), "save": "1"})
    assert answer.status_code == 302
    scale = AcuityScale.objects.get()
    assert (scale.version, scale.levels[1]) == (
        1,
        {
            "value": "now",
            "label_en": "Now",
            "label_zh": "Now",
            "definition_en": "What now means.",
            "definition_zh": "What now means.",
        },
    )
    staff.post(NEW_SCALE, {"name": "ours", **level_rows("later", "now"), "save": "1"})
    assert AcuityScale.objects.count() == 1, "the same levels are the same version"
    staff.post(NEW_SCALE, {"name": "ours", **level_rows("later", "soon", "now"), "save": "1"})
    assert list(AcuityScale.objects.order_by("version").values_list("version", flat=True)) == [1, 2]
    page = text(staff, SCALES)
    assert "a newer version is now in use" in page
    assert "What soon means." in page


def test_a_scale_with_a_starters_name_follows_the_starter(staff: Client) -> None:
    staff.post(NEW_SCALE, {"name": "four", **level_rows("later", "now"), "save": "1"})
    first, second = AcuityScale.objects.order_by("version")
    assert [level["value"] for level in first.levels] == list(FOUR.values)
    assert [level["value"] for level in second.levels] == ["later", "now"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (level_rows("only"), "A scale must have 2 to 6 levels."),
        (level_rows("a", "b", "c", "d", "e", "f", "g"), "A scale must have 2 to 6 levels."),
        (level_rows("a", "a"), "Another level already has this name."),
        (level_rows("a", "cannot-tell"), "This cannot be the name of a level."),
        (level_rows("a", ""), "row-1-value_error"),
    ],
)
def test_a_scale_that_cannot_be(staff: Client, rows: dict[str, str], message: str) -> None:
    answer = staff.post(NEW_SCALE, {"name": "ours", **rows, "save": "1"})
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not AcuityScale.objects.exists()


def test_rows_of_levels_are_added_and_removed_without_saving(staff: Client) -> None:
    page = staff.post(NEW_SCALE, {"name": "ours", **level_rows("a", "b"), "add": "1"}).content.decode()
    assert 'name="row-2-value"' in page
    assert 'value="ours"' in page
    page = staff.post(NEW_SCALE, {"name": "ours", **level_rows("a", "b", "c"), "remove": "0"}).content.decode()
    assert 'value="a"' not in page
    assert 'name="row-1-value" value="c"' in page
    assert not AcuityScale.objects.exists()


def test_a_scheme_has_levels_borders_the_panel_and_what_is_left_out(staff: Client) -> None:
    rules = [("Red", "level-3"), ("orange", "between-2"), ("grey", "panel"), ("test", "exclude")]
    rows: dict[str, str] = {}
    for number, (label, becomes) in enumerate(rules):
        rows |= {f"row-{number}-source_label": label, f"row-{number}-becomes": becomes}
    assert staff.post(NEW_SCHEME, {"name": "colours", "scale": "four", **rows, "save": "1"}).status_code == 302
    scheme = LabelScheme.objects.get()
    assert list(scheme.rules.values_list("source_label", "how", "low", "high")) == [
        ("red", "direct", 3, 3),
        ("orange", "boundary", 2, 3),
        ("grey", "panel", None, None),
        ("test", "exclude", None, None),
    ]
    page = text(staff, f"{NEW_SCHEME}?scale=four&from=colours")
    assert '<option value="between-2" selected>' in page
    content = jsonl(*({**VIGNETTES[0], "urgency_level": label, "case_description": label} for label, _to in rules))
    job, _page = preview(staff, content, scale="four", scheme="colours")
    assert job.counts["previews"][0]["flow"] == (
        {"labelled": 4, "direct": 1, "boundary": 1, "panel": 1, "exclude": 1, "without_rule": 0}
    )
    work(confirm(staff, job))
    assert table(staff, "flow.csv")[1] == ["d", "colours", "1", "four", "1", "4", "1", "1", "1", "1"]


def test_two_rules_for_one_label_are_refused(staff: Client) -> None:
    rows = {f"row-{number}-{name}": value for number, label in enumerate(("Red", " red"))
            for name, value in (("source_label", label), ("becomes", "panel"))}  # fmt: skip
    answer = staff.post(NEW_SCHEME, {"name": "colours", "scale": "four", **rows, "save": "1"})
    assert answer.status_code == 422
    assert "An earlier rule already applies to this label." in answer.content.decode()
    assert staff.post(NEW_SCHEME, {"name": "colours", "scale": "four", "save": "1"}).status_code == 422
    assert not LabelScheme.objects.exists()


def test_a_preview_asks_whether_the_columns_are_physicians(staff: Client) -> None:
    question = "If these are physicians, import the file under Imports"
    wide = b"case,Dr A,Dr B\na,emergency,self-care\n"
    job, page = preview(staff, wide, "votes.csv", scheme="direct")
    assert question in page and "“Dr A”, “Dr B”" in page
    assert question not in text(staff, f"/b/bench/imports/{confirm(staff, job).public_id}/")
    long = b"case,physician,level\nb,P1,emergency\n"
    assert question in preview(staff, long, "votes.csv", scheme="direct")[1]
    assert question not in preview(staff, b"case,candidate,level\nc,M,emergency\n", "m.csv", scheme="direct")[1]
    assert 'href="/b/bench/imports/?kind=votes"' in text(staff, IMPORT)


def test_samples_that_a_file_does_not_have_are_named(staff: Client) -> None:
    rows = [result(case, "em", "em", run_id=run) for case in (1, 2, 3) for run in (1, 2, 3) if (case, run) != (2, 3)]
    job, page = preview(staff, jsonl(*rows), candidate="M")
    note = "M (Forced choice) has 3 samples on some cases and is 1 sample short in total on others (d-0002)."
    assert note in page
    done = confirm(staff, job)
    work(done)
    assert note in text(staff, f"/b/bench/imports/{done.public_id}/")
    assert "short in total" not in preview(staff, jsonl(*rows[:3]), candidate="N")[1]
    # A line that is refused is no sample that the file lacks: its preview names the line alone.
    page = preview(staff, jsonl(*rows, rows[0]), candidate="O")[1]
    assert "Fix the errors below." in page and "short in total" not in page


def test_readings_that_are_labels_of_several_levels_are_named(staff: Client) -> None:
    rows = [result(1, "em", "em"), result(2, "ne", "ne"), result(3, "ne", "ne"), result(4, "sc", "sc|em")]
    note = "2 readings have labels for which the scheme gives no single level (“ne”)"
    # On four levels non-emergency is for the panel.
    assert note in preview(staff, jsonl(*rows), scale="four")[1]
    assert "no single level (" not in preview(staff, jsonl(*rows), scale="three")[1]


def test_results_of_cases_with_a_text_are_not_counted_as_cases_without_one(staff: Client, tmp_path: Path) -> None:
    command(write(tmp_path, "v.jsonl", jsonl(*VIGNETTES)), dataset="d", scheme="em-ne-sc")
    rows = [result(1, "em", "em"), result(2, "ne", "em"), result(4, "sc", "sc")]
    job, _page = preview(staff, jsonl(*rows), candidate="M")
    assert job.counts["cases"] == {"created": 0, "unchanged": 2}
    assert job.counts["stubs"] == {"created": 1, "unchanged": 0}


def test_a_preview_names_fifty_lines_of_what_is_not_there(staff: Client, tmp_path: Path) -> None:
    rows = [result(n, "new" if n > 10 else "em", "" if n % 2 else "em") for n in range(1, 71)]
    _job, page = preview(staff, jsonl(*rows))
    missing = ", ".join(str(n) for n in range(1, 11, 2))
    # A row whose label has no rule is not read any further.
    assert f"5 answers are missing (lines {missing}). They count as requested but not given." in " ".join(page.split())
    assert f"lines {', '.join(map(str, range(11, 61)))}" in " ".join(page.split())
    assert "61, 62" not in page
    known = [result(n, "em", "" if n % 10 else "em") for n in range(1, 71)]
    _job, page = preview(staff, jsonl(*known))
    first = [n for n in range(1, 71) if n % 10][:50]
    assert f"63 answers are missing (lines {', '.join(map(str, first))})" in " ".join(page.split())
    out = command(write(tmp_path, "p.jsonl", jsonl(*rows)), dataset="d", scheme="em-ne-sc", preview="1")
    assert "new → NO RULE: 60 cases\n    lines 11, 12" in out and "59, 60 and 10 more" in out
    assert f"missing answers in lines {missing}" in out
