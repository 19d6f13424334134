"""The list of everybody, groups that are renamed or deleted, invitations and accounts that end, links to copy."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Invitation, User
from annotation.models import Assignment, ExpertGroup, Membership
from annotation.services.groups import add_member
from rubrics.services import give_authoring_role, grant_role, withdraw_authoring_role, withdraw_role
from tests.annotation.conftest import Workshop
from tests.annotation.test_languages_read import reads
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory, token_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def admin(workshop: Workshop, client: Client) -> Client:
    client.force_login(workshop.admin)
    return client


@pytest.fixture
def invited(workshop: Workshop) -> Membership:
    """Somebody with one role and an invitation whose link works."""
    row = add_member(group=workshop.group, role="annotator", email="ned@example.org", name="Ned New")
    now = timezone.now()
    Invitation.objects.create(
        user=row.user, scope=workshop.benchmark.slug, title="Pilot", part="annotator", created_at=now,
        link_shown_at=now, expires_at=now + timedelta(days=9),
    )  # fmt: skip
    return row


def test_everybody_is_in_one_list_with_roles_states_and_languages(
    workshop: Workshop, admin: Client, invited: Membership
) -> None:
    reads(workshop.checker, "en", "de")
    Membership.objects.filter(user=workshop.adjudicator).update(active=False)
    base = f"/b/{workshop.benchmark.slug}/people"
    page = admin.get(f"{base}/all/").content.decode()
    for person in (workshop.admin, workshop.annotator, workshop.checker, invited.user):
        assert str(person) in page
    assert "English, German" in page
    admin.cookies["django_language"] = "zh-hans"
    in_chinese = admin.get(f"{base}/all/").content.decode()
    assert "英语、德语" in in_chinese
    answer = admin.get(f"{base}/all.csv")
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    rows = {row["email"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (rows[workshop.admin.email]["role"], rows[workshop.admin.email]["group"]) == ("admin", "")
    assert rows[workshop.checker.email]["languages"] == "en de"
    assert rows["ned@example.org"]["state"] == "invited"
    assert rows[workshop.adjudicator.email]["state"] == "stopped"


def test_stopping_the_last_role_of_an_invited_person_withdraws_the_invitation(
    workshop: Workshop, admin: Client, invited: Membership
) -> None:
    second = add_member(group=workshop.group, role="checker", user=invited.user)
    base = f"/b/{workshop.benchmark.slug}/groups/{workshop.group.public_id}/members/"
    admin.post(f"{base}{invited.pk}/", {"active": "0"})
    assert Invitation.objects.get().withdrawn_at is None
    admin.post(f"{base}{second.pk}/", {"active": "0"})
    assert Invitation.objects.get().withdrawn_at is not None


def test_an_account_with_no_other_access_is_deactivated_and_activated(workshop: Workshop, admin: Client) -> None:
    url = f"/b/{workshop.benchmark.slug}/people/account/"
    person = workshop.annotator
    own = Client()
    own.force_login(person)
    assert own.get("/profile/").status_code == 200
    admin.post(url, {"person": person.pk, "active": "0"})
    person.refresh_from_db()
    assert person.is_active, "an admin who may not create benchmarks deactivates nobody"
    User.objects.filter(pk=workshop.admin.pk).update(is_staff=True)
    admin.post(url, {"person": person.pk, "active": "0"})
    person.refresh_from_db()
    assert not person.is_active
    assert not Membership.objects.filter(user=person, active=True).exists()
    assert own.get("/profile/").status_code == 302, "signed out at once"
    admin.post(url, {"person": person.pk, "active": "1"})
    person.refresh_from_db()
    assert person.is_active
    # The audit trail says who did it.
    events = person.events.order_by("pgh_id")  # type: ignore[attr-defined]
    trail = events.values_list("is_active", "deactivated_in", "pgh_context__user")
    assert list(trail)[1:] == [
        (False, workshop.benchmark.slug, workshop.admin.pk),
        (True, "", workshop.admin.pk),
    ]
    # Nor an account with access elsewhere, nor one's own.
    ExpertGroupFactory(benchmark=BenchmarkFactory()).memberships.create(user=workshop.checker, role="annotator")
    for other in (workshop.checker, workshop.admin):
        admin.post(url, {"person": other.pk, "active": "0"})
        other.refresh_from_db()
        assert other.is_active
    assert admin.post(url, {"person": "0", "active": "0"}).status_code == 404


def test_a_deactivated_account_keeps_no_token_and_no_session(workshop: Workshop, settings: Any) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"  # as on a server
    User.objects.filter(pk=workshop.admin.pk).update(is_staff=True)
    url = f"/b/{workshop.benchmark.slug}/people/account/"
    person = workshop.annotator
    key = token_of(person)
    admin, own, other = Client(), Client(), Client()
    for client, user in ((admin, workshop.admin), (own, person), (other, workshop.checker)):
        client.force_login(user)
    admin.post(url, {"person": person.pk, "active": "0"})
    assert person.api_tokens.get().revoked_by == workshop.admin
    page = admin.post(url, {"person": person.pk, "active": "1"}, follow=True).content.decode()
    assert "is active again. Their roles are still stopped; reactivate them under Groups." in page
    assert own.get("/profile/").status_code == 302, "the session before does not come back"
    refused = Client(headers={"Authorization": f"Token {key}"}).get("/api/v1/work/assignments/")
    assert (refused.status_code, refused.json()) == (401, {"detail": "This API token was revoked."})
    assert other.get("/profile/").status_code == 200


def test_an_account_is_activated_only_where_it_was_deactivated(workshop: Workshop, admin: Client) -> None:
    User.objects.filter(pk=workshop.admin.pk).update(is_staff=True)
    base = f"/b/{workshop.benchmark.slug}/people"
    person = workshop.annotator

    def is_active_after(active: str) -> bool:
        admin.post(f"{base}/account/", {"person": person.pk, "active": active})
        person.refresh_from_db()
        return person.is_active

    User.objects.filter(pk=person.pk).update(is_active=False)  # by whoever runs the server
    assert "Activate account" not in admin.get(f"{base}/all/").content.decode()
    assert not is_active_after("1")
    assert not is_active_after("0")
    assert not is_active_after("1"), "deactivating it once more does not make it this benchmark's"
    User.objects.filter(pk=person.pk).update(is_active=True)
    assert not is_active_after("0")
    assert "Activate account" in admin.get(f"{base}/all/").content.decode()
    User.objects.filter(pk=person.pk).update(is_active=True)
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert not is_active_after("1"), "an earlier deactivation here gives no right to end a later one"


def test_the_list_takes_as_many_queries_for_three_as_for_thirty(workshop: Workshop, admin: Client) -> None:
    User.objects.filter(pk=workshop.admin.pk).update(is_staff=True)
    counts = []
    for people in (3, 30):
        benchmark = BenchmarkFactory(admin=workshop.admin)
        ExpertGroupFactory(benchmark=benchmark, annotators=people)
        url = f"/b/{benchmark.slug}/people/all/"
        admin.get(url)
        with CaptureQueriesContext(connection) as counted:
            page = admin.get(url).content.decode()
        counts.append((page.count('data-dialog="end-'), len(counted)))
    assert [people for people, _queries in counts] == [3, 30]
    assert counts[0][1] == counts[1][1]


def test_an_invited_member_who_is_added_again_gets_the_invitation_anew(
    workshop: Workshop, admin: Client, invited: Membership
) -> None:
    base = f"/b/{workshop.benchmark.slug}/groups/{workshop.group.public_id}/members/"
    admin.post(f"{base}{invited.pk}/", {"active": "0"})
    page = admin.post(f"{base}{invited.pk}/", {"active": "1"}, follow=True).content.decode()
    assert "Their invitation was withdrawn. Send it again." in page
    admin.post(base, {"email": "ned@example.org", "role": "annotator", "name": ""})
    invitation = Invitation.objects.get()
    assert invitation.withdrawn_at is None
    # Somebody with a role left keeps the invitation, so nothing is to be sent.
    second = add_member(group=workshop.group, role="checker", user=invited.user)
    admin.post(f"{base}{second.pk}/", {"active": "0"})
    page = admin.post(f"{base}{second.pk}/", {"active": "1"}, follow=True).content.decode()
    assert "Their invitation was withdrawn" not in page
    # Whoever has opened the account is told of the role as before.
    sent = {"email": workshop.annotator.email, "role": "annotator", "name": ""}
    assert "already has this role in the group" in admin.post(base, sent, follow=True).content.decode()


@pytest.mark.parametrize("role", ["researcher", "author"])
def test_an_invitation_is_withdrawn_at_the_time_that_the_caller_gives(workshop: Workshop, role: str) -> None:
    person = UserFactory(last_login=None)
    at = timezone.now() - timedelta(days=1)
    Invitation.objects.create(
        user=person, scope=workshop.benchmark.slug, title="Pilot", part=role, created_at=at, link_shown_at=at,
        expires_at=at + timedelta(days=9),
    )  # fmt: skip
    if role == "author":
        withdraw_authoring_role(
            role=give_authoring_role(benchmark=workshop.benchmark, user=person, role=role, at=at), at=at
        )
    else:
        withdraw_role(role=grant_role(benchmark=workshop.benchmark, user=person, role=role), at=at)
    assert Invitation.objects.get().withdrawn_at == at


def test_a_group_is_renamed_and_deleted_only_while_it_was_never_used(workshop: Workshop, admin: Client) -> None:
    base = f"/b/{workshop.benchmark.slug}/groups/"
    refused = admin.post(f"{base}new/", {"name": "GROUP a"})
    assert refused.status_code == 422
    assert "A group with this name already exists: “Group A”." in refused.content.decode()
    admin.post(f"{base}new/", {"name": "North"})
    north = ExpertGroup.objects.get(name="North")
    assert admin.post(f"{base}{north.public_id}/rename/", {"name": "group A"}).status_code == 422
    assert admin.post(f"{base}{north.public_id}/rename/", {"name": "north"}).status_code == 302  # its own name
    used = admin.get(f"{base}{workshop.group.public_id}/").content.decode()
    assert "Delete group" not in used
    assert "Delete group" in admin.get(f"{base}{north.public_id}/").content.decode()
    assert admin.post(f"{base}{workshop.group.public_id}/delete/").status_code == 409
    assert admin.post(f"{base}{north.public_id}/delete/").status_code == 302
    assert list(ExpertGroup.objects.values_list("name", flat=True)) == ["Group A"]
    events = ExpertGroup.pgh_event_model.objects  # type: ignore[attr-defined]
    trail = events.filter(pgh_obj_id=north.pk).order_by("pgh_id")
    assert list(trail.values_list("name", "pgh_context__user")) == [
        ("North", workshop.admin.pk),
        ("north", workshop.admin.pk),
    ]


def test_the_dialog_of_an_account_names_its_open_work(workshop: Workshop, admin: Client) -> None:
    User.objects.filter(pk=workshop.admin.pk).update(is_staff=True)
    number = Assignment.objects.filter(annotator=workshop.annotator, status__in=Assignment.OPEN).count()
    page = admin.get(f"/b/{workshop.benchmark.slug}/people/all/").content.decode()
    dialog = page[page.index(f'id="end-{workshop.annotator.pk}"') :].split("</dialog>")[0]
    assert number > 0
    assert re.search(rf"They have {number} open assignments?\. If a particular colleague should", dialog)
    idle = page[page.index(f'id="end-{workshop.adjudicator.pk}"') :].split("</dialog>")[0]
    assert "open assignment" not in idle
