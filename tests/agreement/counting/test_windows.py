"""Decisions of any number are read in windows: their size, and the order of rows, change nothing that comes of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pgtrigger
import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import services
from agreement.counting import windows as counting
from agreement.counting.compare import compare_tallies
from agreement.counting.inputs import RatingsDigest, digest_of, join
from agreement.counting.pairs import PairStatus, pair
from agreement.counting.windows import Tallies, count
from agreement.exports.decisions import TEXT_COLUMNS as TEXT_OF_DECISIONS
from agreement.exports.decisions import DecisionExport
from agreement.models import Report, ReportRows
from agreement.reports import stored
from agreement.reports.tables import Table
from annotation.models import Decision
from consilium.core.csvfile import beginning, stream_csv
from consilium.core.ratings import Ratings, Span, windows
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.outcomes import Outcome
from scoring.selectors.raters import resolve_rater
from tests.agreement.judged.test_compare import everything, frame
from tests.agreement.study import Study, coin, make_study, noisy

CODES = [outcome for outcome in Outcome if outcome != Outcome.MISSING]  # a row has an outcome


def drawn(seed: int, cases: int = 12) -> tuple[Any, Ratings, Ratings, Ratings, Ratings]:
    """A frame, two raters with some of all outcomes that each lack some pairs, what B was to decide, faulty pairs."""
    rng = np.random.default_rng(seed)
    study_frame = frame(cases)
    response, criterion = everything(study_frame)

    def some(share: float, codes: list[int], p: list[float] | None = None) -> Ratings:
        kept = rng.random(len(response)) < share
        return Ratings.of(response[kept], criterion[kept], rng.choice(codes, kept.sum(), p=p))

    odds = [0.4, 0.4, 0.05, 0.05, 0.05, 0.05]
    return study_frame, some(0.9, CODES, odds), some(0.8, CODES, odds), some(0.95, [4]), some(0.03, [5])


def of_all(
    frame: Any, spans: list[Span | None], a: Ratings, b: Ratings, due: Ratings, faulty: Ratings
) -> tuple[Any, Any]:
    """Every row of the report, and the digest of what was read, span by span."""
    tallies, read = Tallies(frame), [RatingsDigest() for _ in range(3)]
    for span in spans:
        parts = [whole.within(span) for whole in (a, b, due)]
        tallies.add(pair(parts[0], parts[1], due_of_b=parts[2], faulty=faulty.within(span), judges=(False, True)))
        for digest, part in zip(read, parts, strict=True):
            digest.add(part)
    rows = list(compare_tallies(tallies, rule=DEFAULT_RULE).rows)
    names = (frame.described_by(*tallies.touched()),)
    return rows, digest_of(*read, faulty, names=names)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 120))
def test_windows_of_any_size_give_the_same_report_and_digest(seed: int, most: int) -> None:
    frame, *given_ = drawn(seed)
    sizes = np.full(len(frame.response_ids), 4)
    spans = [span for span, _done in windows(frame.response_ids, sizes, most)]
    assert (len(spans) == 1) == (most >= sizes.sum())
    whole, digest = of_all(frame, [None], *given_)
    assert of_all(frame, spans, *given_) == (whole, digest)
    # The same digest as of the raters read at once, and another where one outcome is another.
    a, b, due, faulty = given_
    touched = pair(a, b, due_of_b=due, faulty=faulty, judges=(False, True))
    places = frame.response_places(touched.response), frame.criterion_places(touched.criterion)
    assert digest_of(a, b, due, faulty, names=(frame.described(*places),)) == digest
    changed = Ratings(b.response, b.criterion, np.where(np.arange(len(b)) == 0, 1 - b.outcome, b.outcome))
    assert digest_of(a, changed, due, faulty, names=(frame.described(*places),)) != digest


@pytest.mark.slow
def test_a_thousand_orders_of_the_rows_are_one_report() -> None:
    frame, a, b, due, faulty = drawn(5, cases=11)
    expected = Tallies(frame)
    expected.add(pair(a, b, due_of_b=due, faulty=faulty))
    digest = digest_of(a, b, due, faulty)
    rng = np.random.default_rng(1)
    for _ in range(1000):
        mixed = []
        for ratings in (a, b, due, faulty):
            order = rng.permutation(len(ratings))
            mixed.append(Ratings.of(ratings.response[order], ratings.criterion[order], ratings.outcome[order]))
        tallies = Tallies(frame)
        tallies.add(pair(mixed[0], mixed[1], due_of_b=mixed[2], faulty=mixed[3]))
        # All rows are made of these alone (`compare_tallies` has no other argument that could differ).
        assert (tallies.by_response == expected.by_response).all()
        assert (tallies.by_criterion == expected.by_criterion).all()
        assert tallies.responses_behind == expected.responses_behind
        assert digest_of(*mixed) == digest


def test_windows_hold_whole_responses_and_leave_none_out() -> None:
    ids, sizes = np.array([3, 4, 9, 20, 21]), np.array([2, 2, 5, 1, 1])
    spans = list(windows(ids, sizes, 4))
    # 2 + 2, then the response of 5 that is larger than a window, then 1 + 1; both ends are open.
    assert spans == [(Span(0, 4), 4 / 11), (Span(5, 9), 9 / 11), (Span(10, 2**63 - 1), 1.0)]
    assert list(windows(ids, sizes, 11)) == [(None, 1.0)]
    assert list(windows(ids[:0], sizes[:0], 11)) == [(None, 1.0)]


# From the database ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=11, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met", "met", "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.25))
    broken, own = coin(4, *[""] * 9, "invalid"), noisy(study, "A", 3, 0.1)
    study.judge("echo", lambda pair: broken(pair) or own(pair))
    study.judge("other", noisy(study, "A", 6, 0.3))
    return study


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("group:A", "group:B@final"),
        ("group:B@first", "echo"),
        ("jury:echo+other", "group:A"),
        ("consensus", "other"),
        ("physician:{first}@last", "physician:{last}"),
    ],
)
def test_every_kind_of_rater_is_read_in_windows_as_at_once(
    study: Study, a: str, b: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_fault = Ratings.of(*zip(*sorted(study.outcomes["A"])[::13], strict=True), [Outcome.FAULTY] * 6)
    monkeypatch.setattr("agreement.counting.inputs.faulty_pairs", lambda benchmark: at_fault)
    people = sorted(study.benchmark.physicians.values_list("pseudonym", flat=True))
    a, b = (name.format(first=people[0], last=people[-1]) for name in (a, b))
    raters = resolve_rater(study.benchmark, a), resolve_rater(study.benchmark, b)
    shares: list[float] = []
    whole, parts = count(study.benchmark, *raters), count(study.benchmark, *raters, window=9, progress=shares.append)
    assert len(shares) == 8  # 22 responses of 3 criteria, three at a time
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert list(compare_tallies(parts.tallies).rows) == list(compare_tallies(whole.tallies).rows)
    assert whole.tallies.by_response.sum() > 0
    assert whole.tallies.by_response[:, PairStatus.FAULTY].sum() == 6
    assert parts.digest == whole.digest == join(study.benchmark, a, b).digest


@pytest.mark.slow
@pytest.mark.django_db
def test_a_table_is_kept_in_pieces_and_computed_again_byte_for_byte(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = []
    for rows_a_piece, window in ((5000, counting.WINDOW), (7, 10)):
        monkeypatch.setattr(stored, "ROWS_A_PIECE", rows_a_piece)
        monkeypatch.setattr(counting.count, "__kwdefaults__", {**counting.count.__kwdefaults__, "window": window})
        report = services.create_report(
            benchmark=study.benchmark,
            kind="agreement",
            parameters={"rater_a": "group:A", "rater_b": "echo"},
            seed=4,
            at=timezone.now(),
        )
        services.run(report_id=report.pk, clock=timezone.now)
        report = Report.objects.get(pk=report.pk)
        assert report.status == "done", report.error
        reports.append(report)
    first, second = reports
    assert "tables" not in second.result
    assert ReportRows.objects.filter(table__report=second, table__name="agreement").count() > 3
    assert first.input_digest == second.input_digest
    assert stored.table_names(first) == ["agreement", "candidates", "slices", "distribution", "raters"]
    for name in stored.table_names(first):
        assert "".join(stored.table_of(first, name).csv()) == "".join(stored.table_of(second, name).csv())
    rows = stored.table_of(second, "agreement").rows
    assert rows[-1] == list(rows)[-1] == rows[len(rows) - 1]
    with pytest.raises(KeyError):
        stored.table_of(second, "nothing")


@pytest.mark.django_db
def test_tables_of_earlier_versions_are_read_from_the_result(study: Study) -> None:
    kept = {"columns": ["a", "b"], "rows": [["=x", 1.5]], "text": ["a"]}
    report = Report.objects.create(
        benchmark=study.benchmark, kind="agreement", status="done", created_at=timezone.now(),
        result={"tables": {"old": kept}, "facts": {}, "notes": []},
    )  # fmt: skip
    assert stored.table_of(report, "old") == Table(("a", "b"), [["=x", 1.5]], ("a",))
    assert stored.table_names(report) == ["old"]


@pytest.mark.django_db
def test_a_row_that_cannot_be_made_fails_the_report_and_leaves_no_table(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> Iterator[object]:
        raise ZeroDivisionError

    monkeypatch.setattr("agreement.counting.compare.ResponseRows.__getitem__", broken)
    parameters = {"rater_a": "group:A", "rater_b": "group:B"}
    report = services.create_report(
        benchmark=study.benchmark, kind="agreement", parameters=parameters, at=timezone.now()
    )
    with pytest.raises(ZeroDivisionError):
        services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert (report.status, report.tables.count()) == ("failed", 0)


# Decisions as a file ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("rater", ["group:A", "physician", "run"])
@pytest.mark.parametrize("several_settings", [False, True])
def test_decisions_are_written_as_the_one_csv_writer_would(study: Study, rater: str, several_settings: bool) -> None:
    person = Decision.objects.order_by("pk").first().assignment.annotator.pseudonyms.get().pseudonym
    run = study.benchmark.judge_runs.first() if rater == "run" else None
    name = {"physician": f"physician:{person}", "run": f"run:{run.public_id if run else ''}"}.get(rater, rater)
    notes = ["=1+1", 'says "no", twice', "two\nlines", "", " ＋1", "’"]
    for decision, note in zip(Decision.objects.order_by("pk"), notes, strict=False):
        Decision.objects.filter(pk=decision.pk).update(note=note)
    response = study.responses()[0]
    response.candidate.name = '-"alpha", first'
    response.candidate.save()
    if several_settings:
        with pgtrigger.ignore("rubrics.Response:content_stands"):
            type(response).objects.filter(pk=response.pk).update(setting="@tools")
    files = []
    for window in (100_000, 7):
        plain = DecisionExport(study.benchmark, resolve_rater(study.benchmark, name), window)
        rows = stream_csv(plain.columns, plain.rows(), text_columns=TEXT_OF_DECISIONS)
        quick = DecisionExport(study.benchmark, resolve_rater(study.benchmark, name), window)
        files += ["".join(rows), "".join(quick.csv())]
        assert (plain.written, plain.left_out) == (quick.written, quick.left_out)
        assert quick.written > 50
    assert len(set(files)) == 1
    stages = {record["stage"] for record in csv.DictReader(io.StringIO(files[0]))}
    assert stages == ({""} if rater == "run" else {"annotator"})
    assert '"\'-""alpha"", first"' in files[0]
    assert ("'=1+1" in files[0]) == (rater == "physician")
    assert ("'@tools" in files[0]) == several_settings


def test_the_beginning_of_a_row_is_that_of_the_whole_row() -> None:
    rows = [["=x", 'a "b"', "c,d"], ["", None, " -1"], ["two\nlines", "plain", "’"]]
    for row in rows:
        whole = "".join(stream_csv(("a", "b", "c"), [row], text_columns=("a", "c"))).partition("\n")[2]
        flags = (True, False, True)
        pieces = [beginning([value], is_text=[flag]) for value, flag in zip(row, flags, strict=True)]
        assert "".join(pieces)[:-1] + "\n" == whole == beginning(row, is_text=flags)[:-1] + "\n"


@pytest.mark.slow
@pytest.mark.django_db
def test_a_rater_is_downloaded_from_the_page_and_by_the_api(study: Study, client: Client) -> None:
    client.force_login(study.admin)
    page, api = (f"/{place}{study.benchmark.slug}/{rest}decisions.csv" for place, rest in ENDPOINTS)
    chosen = client.get(f"/b/{study.benchmark.slug}/agreement/").content.decode()
    assert f'action="{page}"' in chosen
    assert '<option value="group:A@checked">' in chosen
    sent = client.get(page, {"rater": "group:A"})
    assert sent.streaming
    assert sent["Content-Disposition"].endswith('-group-a-checked.csv"')
    expected = "".join(DecisionExport(study.benchmark, resolve_rater(study.benchmark, "group:A")).csv())
    assert b"".join(sent).decode() == expected == b"".join(client.get(api, {"rater": "group:A"})).decode()
    for unknown in ({}, {"rater": "group:None"}):
        refused = client.get(page, unknown, follow=True)
        assert refused.redirect_chain == [(f"/b/{study.benchmark.slug}/agreement/", 302)]
        assert [str(message) for message in refused.context["messages"]]
        assert client.get(api, unknown).status_code == (422 if unknown else 400)  # 400: a parameter is missing


ENDPOINTS = (("b/", "agreement/"), ("api/v1/benchmarks/", ""))
