"""Comments on a response: who reads them, under which role, and who is notified."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from accounts.services.deliveries import sweep_mails
from annotation import access, services
from annotation.models import Assignment, Comment, Membership
from rubrics.models import Case
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import BenchmarkRoleFactory, UserFactory, decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


class Scene:
    """A response in its second check: sent back once by the first checker, now held by the second."""

    def __init__(self) -> None:
        self.w: Workshop = build_workshop(check_policy="all")
        self.annotator, self.other_annotator = self.w.people()
        self.first_checker, self.checker = self.w.people("checker")
        self.second_admin: User = BenchmarkRoleFactory(benchmark=self.w.benchmark).user
        everybody = [*self.w.people(), *self.w.people("checker"), self.second_admin, self.w.admin]
        for number, user in enumerate(everybody):
            user.name, user.email, user.last_login = f"canary-{number}", f"canary-{number}@example.org", timezone.now()
            user.save()
        self.work = self.w.queue()[0]
        decide(self.work)
        self.take(self.first_checker)
        services.return_check(assignment=self.work, checker=self.first_checker, note="Look.", at=timezone.now())
        services.submit(assignment=self.work, annotator=self.annotator, at=timezone.now())
        Assignment.objects.filter(pk=self.work.pk).update(checker=None)  # as if the first one had left in between
        self.take(self.checker)
        self.address = f"/work/{self.work.public_id}/comments/"
        self.admin_address = f"/b/{self.w.benchmark.slug}/comments/{self.work.public_id}/"

    def take(self, checker: User) -> None:
        rows = access.waiting_checks(checker).filter(pk=self.work.pk)
        self.work = services.claim_check(checker=checker, waiting=rows, at=timezone.now()) or self.work
        assert self.work.status == "in_check"

    def client(self, user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    def say(self, user: User, text: str) -> Any:
        is_admin = user in (self.w.admin, self.second_admin)
        return self.client(user).post(self.admin_address if is_admin else self.address, {"text": text})

    def page(self, user: User) -> str:
        is_admin = user in (self.w.admin, self.second_admin)
        page = self.client(user).get(self.admin_address if is_admin else self.address).content.decode()
        # The menu holds the reader's own name.
        return page.partition('<main id="main"')[2].partition("</main>")[0]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_everybody_reads_parts_and_nobody_a_name(scene: Scene) -> None:
    speakers = (scene.annotator, scene.first_checker, scene.checker, scene.w.admin)
    for number, user in enumerate(speakers):
        assert scene.say(user, f"said {number}").status_code == 302
    expected = {
        scene.annotator: ["You", "Checker", "Checker", "Admin"],
        scene.checker: ["Annotator", "Checker", "You", "Admin"],
        scene.first_checker: ["Annotator", "You", "Checker", "Admin"],
    }
    for user, roles in expected.items():
        page = scene.page(user)
        assert re.findall(r'<div class="author-role">\s*<b>(.*?)</b>', page) == roles
        assert all(f"said {number}" in page for number in range(4))
        assert "canary" not in page
        assert "P-" not in page
    page = scene.page(scene.second_admin)
    assert "canary" not in page
    assert page.count("Annotator P-") == 1
    assert page.count("Checker P-") == 2


def test_the_page_leads_to_the_response_for_who_may_open_it(scene: Scene) -> None:
    Case.objects.update(tags=["specialty: cardiology"], language="en")
    slug, number = scene.w.benchmark.slug, scene.work.public_id
    parts = {
        scene.annotator: (f"/work/{number}/", f"/work/in/{slug}/", f"Response 1 of {len(scene.w.queue())}"),
        scene.checker: (f"/work/checks/{number}/", f"/work/checks/in/{slug}/", "cardiology · English"),
        scene.first_checker: (f"/work/checks/{number}/", f"/work/checks/in/{slug}/", "cardiology · English"),
    }
    for user, (work, listing, about) in parts.items():
        page = " ".join(scene.page(user).split())
        assert f'<a class="button" href="{work}">' in page
        assert f'<a href="{listing}">Pilot batch</a>' in page
        assert about in page
        assert scene.w.cases[0].key not in page
        for url in (work, listing):
            assert scene.client(user).get(url).status_code == 200
    # A checker who has released the work may read the comments, but not open the response.
    services.release_check(assignment=scene.work, checker=scene.checker)
    Assignment.objects.filter(pk=scene.work.pk).update(checker=scene.checker)
    assert 'class="button"' not in scene.page(scene.checker)


def test_who_takes_no_part_finds_nothing(scene: Scene) -> None:
    scene.say(scene.annotator, "hidden words")
    superuser = UserFactory(is_superuser=True, is_staff=True)
    for user in (scene.other_annotator, scene.w.adjudicator, scene.w.admin, superuser):
        assert scene.client(user).get(scene.address).status_code == 404
        assert scene.client(user).post(scene.address, {"text": "x"}).status_code == 404
    for user in (scene.annotator, scene.checker, superuser):
        assert scene.client(user).get(scene.admin_address).status_code == 404
    Membership.objects.filter(user__in=[scene.annotator, scene.first_checker]).update(active=False)
    for user in (scene.annotator, scene.first_checker):
        assert scene.client(user).get(scene.address).status_code == 404
    assert Comment.objects.count() == 1


def test_the_others_are_notified_once_while_it_is_unread_and_mails_hold_no_words(scene: Scene) -> None:
    Notification.objects.all().delete()
    scene.say(scene.checker, "canary words")
    scene.say(scene.checker, "canary again")
    notifications = Notification.objects.all()
    assert {row.user for row in notifications} == {scene.annotator, scene.w.admin, scene.second_admin}
    assert notifications.count() == 3
    assert notifications.get(user=scene.annotator).url == scene.address
    assert notifications.get(user=scene.w.admin).url == scene.admin_address
    at = timezone.now() + timedelta(days=1)
    assert sweep_mails(at=at) == 3
    for sent in mail.outbox:
        text = sent.subject + sent.body + sent.alternatives[0].content
        assert "A new comment by the checker of a response" in text
        assert "canary words" not in text
        assert "canary again" not in text
        others = {f"canary-{n}" for n in range(6)} - {User.objects.get(email=sent.to[0]).name}
        assert not any(name in text for name in others)
        assert "canary-candidate" not in text
    page = scene.client(scene.annotator).get("/notifications/").content.decode()
    assert "A new comment by the checker of a response" in page


def test_whoever_reads_the_thread_has_read_its_notification(scene: Scene) -> None:
    scene.say(scene.annotator, "Which dose?")
    notice = Notification.objects.get(user=scene.checker, kind="comment")
    scene.client(scene.checker).head(scene.address)
    scene.client(scene.other_annotator).get(scene.address)
    notice.refresh_from_db()
    assert notice.read_at is None
    scene.client(scene.checker).get(scene.address, headers={"HX-Request": "true"})  # as the drawer does
    notice.refresh_from_db()
    assert notice.read_at is not None
    assert Notification.objects.filter(user=scene.second_admin, kind="comment", read_at=None).exists()
    # Answering reads it as well.
    scene.say(scene.annotator, "And when?")
    scene.say(scene.checker, "At noon.")
    assert not Notification.objects.filter(user=scene.checker, kind="comment", read_at=None).exists()


def test_a_closed_batch_is_for_reading(scene: Scene) -> None:
    scene.say(scene.annotator, "before")
    services.close_batch(batch=scene.w.batch, at=timezone.now())
    for user in (scene.annotator, scene.w.admin):
        page = scene.page(user)
        assert "before" in page
        assert "<textarea" not in page
        assert scene.say(user, "after").status_code == 409
    assert Comment.objects.count() == 1


@pytest.mark.parametrize("text", ["", "  \n ", "\x00", "x" * 2001])
def test_nothing_and_too_much_are_refused_with_the_words_kept(scene: Scene, text: str) -> None:
    answer = scene.say(scene.annotator, text)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    if len(text) > 2000:
        assert text in answer.content.decode()
    assert not Comment.objects.exists()


def test_the_drawer_gets_the_thread_alone_and_markup_stays_text(scene: Scene) -> None:
    answer = scene.client(scene.annotator).post(
        scene.address, {"text": "<b>bold</b> <img src=x>"}, headers={"HX-Request": "true"}
    )
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert scene.client(scene.annotator).get(scene.address, headers={"HX-Request": "true"}).status_code == 200
    assert Client().get(scene.address, headers={"HX-Request": "true"}).status_code == 401


def test_the_admin_finds_every_thread_and_a_file_of_them(scene: Scene) -> None:
    admin = scene.client(scene.w.admin)
    listing = f"/b/{scene.w.benchmark.slug}/comments/"
    assert "No comments yet" in admin.get(listing).content.decode()
    scene.say(scene.annotator, "=HYPERLINK(1)")
    page = admin.get(listing).content.decode()
    assert scene.admin_address in page
    assert "<td>Annotator</td>" in page
    assert "canary-1" not in page
    answer = admin.get(f"/b/{scene.w.benchmark.slug}/comments.csv")
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "batch,case,annotator,state,voice,author,written,text"
    assert lines[1].endswith("'=HYPERLINK(1)")
    assert "canary-" not in lines[1]
