"""An admin reminds people of open work: once a day for each person, role and batch; the page says who was."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import Notification, User
from accounts.notices import words_of
from annotation import services
from annotation.services.groups import add_member
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def workshop(db: None) -> Workshop:
    """Each of two annotators has one response; everything is checked."""
    return build_workshop(responses=2, check_policy="all")


def messages_of(client: Client, url: str, **data: object) -> str:
    return client.post(url, data, follow=True).content.decode()


def test_those_with_open_work_are_reminded_once_a_day(workshop: Workshop, client: Client) -> None:
    first, second = workshop.people()
    decide(workshop.queue(first)[0])  # now a check that either checker may claim
    client.force_login(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/remind/"
    page = messages_of(client, url)
    reminded = [second, *workshop.people("checker")]
    assert all(person.name in page.split("Reminded: ")[1].split("</p>")[0] for person in reminded)
    rows = Notification.objects.filter(kind="due")
    assert {row.user_id: row.values["by"] for row in rows} == {user.pk: workshop.admin.pk for user in reminded}
    words = words_of(rows.get(user=second)).text
    assert words == "Your study coordinator reminds you of “Pilot batch”. 1 response was open when this was sent."
    assert "Checks that you had or could claim when this was sent: 1." in words_of(rows.get(user=workshop.checker)).text
    assert "Already reminded today" in messages_of(client, url)
    assert rows.count() == 3


def test_one_person_is_reminded_from_the_list_of_who_waits_for_whom(workshop: Workshop, client: Client) -> None:
    decide(workshop.queue()[0])
    client.force_login(workshop.admin)
    page = client.get(f"/b/{workshop.benchmark.slug}/progress/").content.decode()
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/remind/"
    assert f'action="{url}"' in page
    pseudonym = workshop.checker.pseudonyms.get().pseudonym
    assert f'name="physician" value="{pseudonym}"' in page
    messages_of(client, url, physician=pseudonym)
    assert [row.user for row in Notification.objects.filter(kind="due")] == [workshop.checker]


def test_reminding_a_checker_of_checks_does_not_remind_them_of_their_own_grading(
    workshop: Workshop, client: Client
) -> None:
    first, second = workshop.people()
    add_member(group=workshop.group, role="checker", user=second)  # who has a response to grade, too
    decide(workshop.queue(first)[0])
    client.force_login(workshop.admin)
    page = client.get(f"/b/{workshop.benchmark.slug}/progress/").content.decode()
    assert '<input type="hidden" name="part" value="checker">' in page
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/remind/"
    pseudonym = second.pseudonyms.get().pseudonym
    messages_of(client, url, physician=pseudonym, part="checker")
    own = Notification.objects.filter(kind="due", user=second).order_by("pk")
    assert [row.values["part"] for row in own] == ["checker"]
    assert words_of(own[0]).text.endswith("Checks that you had or could claim when this was sent: 1.")
    # They can be reminded of their grading the same day, and are named once.
    answer = messages_of(client, url)
    assert answer.split("Reminded: ")[1].split("</p>")[0].count(second.name) == 1
    assert [row.values["part"] for row in own.all()] == ["checker", "annotator"]
    assert "Already reminded" not in answer


def test_nobody_is_reminded_of_a_paused_batch_and_the_invited_are_named(workshop: Workshop, client: Client) -> None:
    client.force_login(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/remind/"
    invited = add_member(group=workshop.group, role="checker", email="ned@example.org", name="Ned New").user
    assert User.objects.filter(User.INVITED, pk=invited.pk).exists()
    services.pause_batch(batch=workshop.batch)
    assert "This batch is not open" in messages_of(client, url)
    assert not Notification.objects.filter(kind="due").exists()
    services.open_batch(batch=workshop.batch)
    person = workshop.annotator
    person.set_unusable_password()
    person.last_login = None
    person.save()
    assert "has never signed in" in messages_of(client, url)
    assert not Notification.objects.filter(kind="due", user=person).exists()


def test_without_a_mail_server_the_page_says_that_no_email_goes_out(
    workshop: Workshop, client: Client, settings: Any
) -> None:
    url = f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/remind/"
    client.force_login(workshop.admin)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    words = "No mail server is set up, so no email was sent."
    assert words in messages_of(client, url)
    assert words not in messages_of(client, url)  # nobody is reminded a second time on one day
    Notification.objects.all().delete()
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    answer = messages_of(client, url)
    assert "Reminded: " in answer
    assert words not in answer
