"""Menus of raters have a heading for each kind of rater."""

from __future__ import annotations

import pytest

from agreement.forms import grouped
from agreement.kinds.fidelity import FidelityForm
from agreement.selectors.rater_choices import rater_choices
from scoring.models import JudgeRun
from tests.agreement.study import make_study
from tests.factories import JudgeRunFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_physicians_judges_and_imported_verdicts_are_kept_apart() -> None:
    study = make_study(cases=2)
    for name in ("A", "B"):
        study.group(name, lambda pair: "met")
    live, filed = study.judge("live", lambda pair: "met"), study.judge("filed", lambda pair: "met")
    JudgeRun.objects.filter(pk=live.pk).update(imported=False)
    menu = {str(heading): [value for value, _label in own] for heading, own in grouped(rater_choices(study.benchmark))}
    assert list(menu)[:1] == ["Expert groups"]
    assert menu["Judges"] == ["live"]
    assert menu["Imported verdicts"] == ["filed", f"run:{filed.public_id}"]
    assert menu["Single runs of judges"] == [f"run:{live.public_id}"]
    html = str(FidelityForm(study.benchmark)["judges"])
    assert html.index("Judges") < html.index('value="live"') < html.index("Imported verdicts")
    assert html.index("Imported verdicts") < html.index('value="filed"')


def test_a_run_that_was_broken_off_before_its_first_verdict_is_in_no_menu() -> None:
    """As one with a wrong key is; one that has some verdicts says how many."""
    study = make_study(cases=2)
    begun = study.judge("live", lambda pair: "met")
    JudgeRun.objects.filter(pk=begun.pk).update(status=JudgeRun.Status.INCOMPLETE, expected=500, imported=False)
    dead = JudgeRunFactory(judge=begun.judge, status=JudgeRun.Status.INCOMPLETE, expected=500)
    offers = {offer.rater: offer for offer in rater_choices(study.benchmark)}
    assert f"run:{dead.public_id}" not in offers
    n = begun.verdicts.count()
    assert n and f"incomplete, {n} of 500 verdicts" in offers[f"run:{begun.public_id}"].choice
