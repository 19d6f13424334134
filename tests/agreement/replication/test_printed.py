"""What the printed files of `replicate` say: words, where k is from, who learned from the items, and all columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from agreement.replication.papers import PAPERS
from agreement.reports.tables import Table
from agreement.writers.columns import printed_columns
from agreement.writers.markdown import stream_markdown
from rubrics.models import Case
from scoring.models import JudgeRun
from tests.agreement.replication.test_replicate import by_artefact, full_study, replicate, rows
from tests.agreement.study import Study

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODES = ("_rank", "internal_medicine", "global_health", "not_met", "@checked", "_at_k", "specialty_group")


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    return full_study()


def printed(out: Path, artefact: str, ending: str = "md") -> str:
    return (out / artefact / f"{artefact}.{ending}").read_text("utf-8").replace("\\", "")


def test_tables_with_a_judge_that_learned_from_the_items_say_so(study: Study, tmp_path: Path) -> None:
    JudgeRun.objects.filter(judge__name="K").update(snapshot={"learned": ["one", "two"]})
    replicate(study, tmp_path / "out")
    warning = "K was fitted to physicians’ decisions on one and two: figures on those are not held out"
    for artefact in ("judge-error", "graders", "fidelity", "fidelity-judges", "fidelity-ranks", "dual-judge"):
        for ending in ("md", "tex"):
            assert warning.replace("’", "'" if ending == "tex" else "’") in printed(tmp_path / "out", artefact, ending)
    assert "was fitted" not in printed(tmp_path / "out", "composition")
    replicate(study, tmp_path / "two", paper="healthbench")
    assert warning in printed(tmp_path / "two", "meta-graders")
    replicate(study, tmp_path / "one", "--judge=K", paper="healthbench")
    for artefact in ("overall", "meta-graders", "length-adjusted"):
        assert warning in printed(tmp_path / "one", artefact)


def test_what_uses_k_says_where_it_is_from(study: Study, tmp_path: Path) -> None:
    replicate(study, tmp_path / "out", "--k=3")
    table = printed(tmp_path / "out", "overall")
    assert "The threshold k = 3 was set for this report; no threshold was signed" in table
    figure = (tmp_path / "out" / "overall" / "coverage.svg").read_text("utf-8")
    assert "k = 3, set for this report, not signed." in figure
    assert "threshold" not in printed(tmp_path / "out", "groups")
    assert "k = 3" not in (tmp_path / "out" / "groups" / "candidates.svg").read_text("utf-8")


def test_codes_are_words_and_notes_are_about_columns_that_are_there(study: Study, tmp_path: Path) -> None:
    tags = ["theme:global_health", "specialty:internal_medicine"]
    Case.objects.filter(benchmark=study.benchmark, pk__in=study.benchmark.cases.order_by("pk")[:4]).update(tags=tags)
    replicate(study, tmp_path / "out")
    replicate(study, tmp_path / "two", paper="healthbench")
    assert "internal medicine" in printed(tmp_path / "out", "composition")
    assert "global health" in printed(tmp_path / "two", "composition-themes")
    for out in (tmp_path / "out", tmp_path / "two"):
        for artefact, row in by_artefact(out).items():
            if not row["files"]:
                continue
            text = printed(out, artefact)
            for code in CODES:
                assert code not in text, (artefact, code)
    # The notes of the report on ranks are not those of a table without ranks.
    noted = rows(tmp_path / "out" / "specialties" / "specialties.csv")
    assert all("_rank" not in row["note"] for row in noted)
    assert any(row["note"] for row in noted)


def test_the_cost_of_candidates_is_printed() -> None:
    artefact = PAPERS["healthbench"].artefact("cost-performance")
    assert artefact is not None
    text = {"candidate", "family", "effort", "cost_basis", "cost_currency", "dominated_by"}
    values = [[name if name in text else place + 0.5 for name in artefact.columns] for place in range(2)]
    names = [column.name for column in printed_columns(Table(artefact.columns, values, tuple(text)))]
    assert {"candidate", "score", "cost", "cost_currency"} <= set(names)
    costs = Table(("candidate", "cost"), [["one", 0.00012], ["two", 0.5], ["three", None]], ("candidate",))
    text = "".join(stream_markdown(costs, caption="Costs"))
    assert "| one | 0.00012 |" in text
    assert "| two | 0.50000 |" in text
