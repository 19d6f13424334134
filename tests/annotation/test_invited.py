"""People who were invited and have not opened their account: shown as such, and given no work unless asked for."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from accounts.services import person_of
from annotation import services
from annotation.models import Assignment
from annotation.services import BatchTerms, ResponseFilter
from annotation.services.groups import add_member
from annotation.services.planning import plan_batch
from consilium.core.errors import DomainError
from tests.annotation.conftest import Workshop
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LEFT_OUT = "1 annotator has been invited but has not signed in yet, and is not included."


def terms(**values: object) -> BatchTerms:
    return BatchTerms(title="Second", check_policy="none", seed=3, **values)  # type: ignore[arg-type]


ALL = ResponseFilter(skip_given=False)


@pytest.fixture
def invited(workshop: Workshop) -> User:
    """A third annotator of the group, whom an admin added by address."""
    return add_member(group=workshop.group, role="annotator", email="bo@example.org", name="Bo Li").user


def loads(workshop: Workshop, **values: object) -> dict[int, int]:
    plan = plan_batch(group=workshop.group, terms=terms(**values), filter=ALL)
    return {load.user.pk: load.responses for load in plan.loads}


def test_who_has_not_signed_in_gets_no_work_and_the_preview_says_so(workshop: Workshop, invited: User) -> None:
    services.close_batch(batch=workshop.batch, at=timezone.now())
    plan = plan_batch(group=workshop.group, terms=terms(), filter=ALL)
    assert LEFT_OUT in plan.warnings
    assert {load.user.pk: load.responses for load in plan.loads}[invited.pk] == 0
    assert sum(load.responses for load in plan.loads) == 3
    services.create_batch(plan=plan, by=workshop.admin, at=timezone.now())
    assert not Assignment.objects.filter(annotator=invited).exists()


def test_they_get_work_where_that_is_chosen(workshop: Workshop, invited: User) -> None:
    services.close_batch(batch=workshop.batch, at=timezone.now())
    assert loads(workshop, include_invited=True)[invited.pk] == 1
    plan = plan_batch(group=workshop.group, terms=terms(include_invited=True), filter=ALL)
    assert (
        "1 annotator has been invited but has not signed in yet. Their assignments wait until they do." in plan.warnings
    )


@pytest.mark.parametrize("opened", ["password", "sign-in"])
def test_whoever_has_opened_the_account_gets_work(workshop: Workshop, invited: User, opened: str) -> None:
    services.close_batch(batch=workshop.batch, at=timezone.now())
    if opened == "password":
        invited.set_password("seven quiet herons")
    else:  # single sign-on
        invited.last_login = timezone.now()
    invited.save()
    assert not invited.is_invited
    assert loads(workshop)[invited.pk] == 1


def test_a_group_of_invited_people_alone_is_refused_with_what_to_do(workshop: Workshop) -> None:
    group = services.create_group(benchmark=workshop.benchmark, name="New")
    add_member(group=group, role="annotator", user=person_of(email="kim@example.org"))
    with pytest.raises(DomainError, match="choose “Also assign work to invited people”"):
        plan_batch(group=group, terms=terms(), filter=ALL)


def test_the_pages_show_them_as_invited(client: Client, workshop: Workshop, invited: User) -> None:
    client.force_login(workshop.admin)
    address = f"/b/{workshop.benchmark.slug}/groups/"
    page = client.get(f"{address}{workshop.group.public_id}/").content.decode()
    row = page[page.index("Bo Li") :].split("</tr>")[0]
    assert "invited" in row
    assert ">active<" not in row
    assert "1 person has not signed in yet" in client.get(address).content.decode()
    query = {"title": "x", "group": workshop.group.public_id, "annotators_per_item": 1, "check_policy": "none",
             "order": "by_case", "strategy": "planned", "specialty_match": "none", "seed": 1}  # fmt: skip
    preview = client.get(f"/b/{workshop.benchmark.slug}/batches/preview/", query).content.decode()
    assert LEFT_OUT in preview


def test_an_annotator_imported_from_a_file_is_not_invited() -> None:
    assert not UserFactory(email="", password="!", last_login=None).is_invited
    assert not User.objects.filter(User.INVITED).exists()


def test_a_benchmark_without_a_rule_sheet_brings_a_warning(workshop: Workshop) -> None:
    services.close_batch(batch=workshop.batch, at=timezone.now())
    warning = "The benchmark has no rule sheet, so physicians do not know when a criterion is met."
    plan = plan_batch(group=workshop.group, terms=terms(), filter=ALL)
    assert not any(text.startswith(warning) for text in plan.warnings)
    workshop.group.benchmark.rule_sheet = " "
    plan = plan_batch(group=workshop.group, terms=terms(), filter=ALL)
    assert any(text.startswith(warning) for text in plan.warnings)
