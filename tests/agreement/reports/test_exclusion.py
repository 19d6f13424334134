"""An excluded case is in no figure and no digest; taken back in, everything is as it was."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from agreement.kinds import KINDS
from agreement.reports.freshness import freshness_of
from annotation.services.drawing import ResponseFilter
from rubrics.models import Case
from rubrics.selectors.exclusion import record_of
from rubrics.services.exclusion import exclude_case, restore_case
from scoring.runs.services import RunFrame, frame_size
from scoring.scores.sheet import read_sheet
from scoring.selectors.raters import resolve_rater
from tests.agreement.reports.test_freshness import ASKED, ask, study
from tests.agreement.study import Study

__all__ = ["study"]

# The record dates a row by the beginning of its transaction, so each write needs its own.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def digest(study: Study, kind: str) -> str:
    read = KINDS[kind].digest
    assert read is not None
    return str(read(study.benchmark, ask_parameters(study, kind)))


def ask_parameters(study: Study, kind: str) -> dict[str, object]:
    return KINDS[kind].complete(study.benchmark, ASKED[kind])


def test_an_excluded_case_leaves_every_figure_and_comes_back(study: Study) -> None:
    before = {kind: digest(study, kind) for kind in ASKED if KINDS[kind].digest is not None}
    report = ask(study)
    case = Case.objects.filter(benchmark=study.benchmark).order_by("pk")[3]
    raters = [resolve_rater(study.benchmark, name) for name in ("group:A", "echo", "jury:echo+other")]
    sizes = [len(rater.ratings()) for rater in raters]

    exclude_case(case=case, kind="decision", reason="leaks its answer", by=study.admin, at=timezone.now())

    for kind, was in before.items():
        if kind == "cohort":  # counts physicians, no case
            continue
        assert digest(study, kind) != was, kind
    own = set(case.responses.values_list("pk", flat=True))
    for rater in raters:
        assert not own & set(rater.ratings().response.tolist())
        assert case.pk not in read_sheet(study.benchmark, rater).case_ids
    assert [len(rater.ratings()) for rater in raters] == [size * 10 / 11 for size in sizes]
    assert frame_size(benchmark=study.benchmark, frame=RunFrame()).responses == 3 * 10
    drawn = ResponseFilter(skip_given=False).responses(study.groups["A"])
    assert drawn.count() == 3 * 10
    stale = freshness_of(report)
    assert stale.fresh is False
    assert [(change.what, change.n) for change in stale.changes] == [("cases_excluded", 1)]
    again = ask(study)
    assert again.result["facts"]["n_cases_excluded"] == 1
    assert "1 excluded case not counted" in again.result["notes"]

    restore_case(case=case, reason="it does not, after all", by=study.admin, at=timezone.now())

    assert {kind: digest(study, kind) for kind in before} == before
    assert freshness_of(report).fresh is True
    assert [(change.what, change.n) for change in freshness_of(again).changes] == [("cases_taken_back", 1)]
    entries = [(entry.kind, entry.reason, entry.by) for entry in record_of(case)]
    assert entries == [
        ("decision", "leaks its answer", str(study.admin)),
        ("", "it does not, after all", str(study.admin)),
    ]


def test_leaving_a_case_out_takes_a_reason_and_the_list_keeps_it(study: Study) -> None:
    case = Case.objects.filter(benchmark=study.benchmark).first()
    client = Client()
    client.force_login(study.admin)
    place = f"/b/{study.benchmark.slug}/cases/"
    assert "Give the reason" in client.post(f"{place}{case.public_id}/exclude/", {}, follow=True).content.decode()
    assert Case.objects.included().count() == 11
    for _twice in range(2):
        client.post(f"{place}{case.public_id}/exclude/", {"reason": "=too easy"})
    page = client.get(f"{place}{case.public_id}/").content.decode()
    assert "This case is not counted." in page and page.count("excluded (") == 1
    assert "=too easy" in client.get(f"{place}excluded/").content.decode()
    lines = b"".join(client.get(f"{place}excluded.csv").streaming_content).decode().splitlines()
    assert len(lines) == 2 and lines[1].startswith(f"{case.key},decision,'=too easy,{study.admin}")
    # The list has the way back that the dialog names.
    assert "You can restore the case later under “Excluded cases”." in " ".join(
        client.get(f"{place}{Case.objects.included().first().public_id}/").content.decode().split()
    )
    listed = client.get(f"{place}excluded/").content.decode()
    restore = f"{place}{case.public_id}/restore/"
    assert "Restore case…" in listed and f'action="{restore}"' in listed
    answer = client.post(restore, {"reason": "not so easy", "back": "excluded"}, follow=True)
    assert answer.redirect_chain == [(f"{place}excluded/", 302)]
    assert f"“{case.key}” is no longer excluded." in answer.content.decode()
    assert not Case.objects.filter(excluded_at__isnull=False).exists()
