"""Submitted work that no checker can take, and assigned work that its annotator cannot read, are reported to admins."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from accounts.models import User
from annotation.models import Adjudication, Assignment, Batch
from annotation.services.reminders import open_work_in
from tests.annotation.conftest import build_workshop
from tests.annotation.test_languages_read import admin_of, clinic, reads, signed_in
from tests.factories import ExpertGroupFactory, decide, make_batch, member

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def waits(admin: Client, slug: str) -> set[tuple[str, str, str]]:
    """(kind, who is waited for, how many) of the CSV of the page."""
    answer = admin.get(f"/b/{slug}/progress/waiting.csv")
    rows = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))  # type: ignore[attr-defined]
    return {(row["kind"], row["waits_for"], row["pieces"]) for row in rows}


def submitted(*languages: str) -> tuple[Client, Batch, User, User]:
    """All work on ``languages`` is submitted; annotator and checker then named the languages they read: English."""
    group = ExpertGroupFactory(benchmark=clinic(*languages))
    annotator, checker = member(group), member(group, "checker")
    batch = make_batch(group, check_policy="all")
    for row in Assignment.objects.filter(batch=batch):
        decide(row)
    reads(checker, "en")
    return admin_of(group.benchmark), batch, annotator, checker


def test_work_in_a_language_that_no_checker_reads_is_named_as_stuck() -> None:
    admin, batch, annotator, checker = submitted("en", "de", "zh")
    slug = batch.group.benchmark.slug
    pseudonym = checker.pseudonyms.get().pseudonym
    assert waits(admin, slug) == {
        ("any_checker", pseudonym, "1"),
        ("nobody", "a checker who can take it: 1 checker does not read German.", "1"),
        ("nobody", "a checker who can take it: 1 checker does not read Chinese.", "1"),
    }
    page = admin.get(f"/b/{slug}/batches/{batch.public_id}/").content.decode()
    assert "2 submitted responses wait, but no checker of the group can take them." in page
    assert "1 checker does not read German." in page
    own = signed_in(annotator).get("/work/").content.decode()
    assert "waiting for a checker" in own
    assert "reviewing it now" not in own
    # A second checker who reads both is the way out.
    reads(member(batch.group, "checker"), "de", "zh", "en")
    assert {kind for kind, *_ in waits(admin, slug)} == {"any_checker"}
    assert "no checker of the group can take" not in admin.get(f"/b/{slug}/batches/{batch.public_id}/").content.decode()


def test_a_checker_who_never_accepted_the_invitation_can_take_nothing() -> None:
    admin, batch, _annotator, checker = submitted("en")
    checker.set_unusable_password()
    checker.save()
    assert waits(admin, batch.group.benchmark.slug) == {
        ("nobody", "a checker who can take it: 1 checker has not accepted the invitation yet.", "1")
    }
    User.objects.filter(pk=checker.pk).update(is_active=False)
    assert waits(admin, batch.group.benchmark.slug) == {
        ("nobody", "a checker who can take it: The account of 1 checker is deactivated.", "1")
    }


def test_a_batch_that_does_not_match_languages_waits_for_every_checker() -> None:
    group = ExpertGroupFactory(benchmark=clinic("de"))
    member(group)
    reads(member(group, "checker"), "en")
    batch = make_batch(group, check_policy="all", match_languages=False)
    decide(Assignment.objects.get(batch=batch))
    assert {kind for kind, *_ in waits(admin_of(group.benchmark), group.benchmark.slug)} == {"any_checker"}


def test_conflicts_that_no_adjudicator_reads_are_named() -> None:
    workshop = build_workshop(responses=1, annotators_per_item=2)
    workshop.conflict()
    assert Adjudication.objects.filter(status="open", adjudicator=None).count() == 1
    admin = signed_in(workshop.admin)
    slug = workshop.benchmark.slug
    pseudonym = workshop.adjudicator.pseudonyms.get().pseudonym
    assert ("adjudicator", pseudonym, "1") in waits(admin, slug)
    case = workshop.cases[0]
    case.language = "de"
    case.save()
    reads(workshop.adjudicator, "en")
    whom = "an adjudicator who can do it: 1 adjudicator does not read German."
    assert ("nobody", whom, "1") in waits(admin, slug)


def test_assigned_work_that_its_annotator_cannot_read_is_listed_and_handed_over() -> None:
    group = ExpertGroupFactory(benchmark=clinic("en", "de", "de", "zh"))
    english, other = member(group), member(group)
    reads(other, "fr")
    batch = make_batch(group)  # `other` reads none of them, so everything goes to the one who named no language
    assert Assignment.objects.filter(batch=batch, annotator=english).count() == 4
    reads(english, "en")
    admin = admin_of(group.benchmark)
    slug, pseudonym = group.benchmark.slug, english.pseudonyms.get().pseudonym
    reads(other, "de", "zh")
    page = admin.get(f"/b/{slug}/batches/{batch.public_id}/").content.decode()
    assert f"3 responses in languages that {english.name} does not read (Chinese, German)" in " ".join(
        page.split()
    ) or (f"3 responses in languages that {english.name} does not read (German, Chinese)" in " ".join(page.split()))
    assert {(kind, number) for kind, _whom, number in waits(admin, slug)} == {("unread", "3")}
    hand = f"/b/{slug}/batches/{batch.public_id}/handover/"
    assert "Hand over 3 assignments" in admin.get(f"{hand}?physician={pseudonym}&unread=1").content.decode()
    to = other.pseudonyms.get().pseudonym
    admin.post(hand, {"physician": pseudonym, "unread": "1", "to": to})
    live = Assignment.objects.filter(batch=batch).exclude(status="released")
    assert sorted(live.filter(annotator=other).values_list("case__language", flat=True)) == ["de", "de", "zh"]
    assert list(live.filter(annotator=english).values_list("case__language", flat=True)) == ["en"]


def test_free_places_that_nobody_may_take_wait_for_nobody_on_both_pages() -> None:
    group = ExpertGroupFactory(benchmark=clinic("en", "de"))
    reads(member(group), "en")
    batch = make_batch(group, strategy="pool", match_languages=False)
    Batch.objects.filter(pk=batch.pk).update(match_languages=True)
    admin = admin_of(group.benchmark)
    assert {(kind, number) for kind, _whom, number in waits(admin, group.benchmark.slug)} == {
        ("nobody", "1"),
        ("pool", "1"),
    }


def test_a_message_names_work_that_its_annotator_cannot_read_and_they_release_what_is_not_begun() -> None:
    group = ExpertGroupFactory(benchmark=clinic("en", "de", "de", "zh"))
    annotator = member(group)
    batch = make_batch(group)
    begun = Assignment.objects.filter(batch=batch, case__language="zh").get()
    decide(begun, submit=False)
    own = signed_in(annotator)
    profile = {"name": annotator.name, "time_zone": "UTC", "language": "en", "languages_usual": ["en"]}
    page = " ".join(own.post("/profile/", profile, follow=True).content.decode().split())
    assert "3 responses that were assigned to you earlier are in languages you do not read." in page
    assert "3 responses assigned to you are in languages that you do not read." in " ".join(
        own.get("/work/").content.decode().split()
    )
    assert own.post("/work/release-unread/").status_code == 302
    live = Assignment.objects.filter(batch=batch, annotator=annotator).exclude(status="released")
    assert sorted(live.values_list("case__language", flat=True)) == ["en", "zh"], "what was begun stays"


def test_the_page_of_one_benchmark_counts_and_releases_only_its_own_unread_work() -> None:
    group, elsewhere = (ExpertGroupFactory(benchmark=clinic("en", "de")) for _ in range(2))
    annotator = member(group)
    member(elsewhere, user=annotator)
    for each in (group, elsewhere):
        make_batch(each)
    reads(annotator, "en")
    own = signed_in(annotator)
    slug = group.benchmark.slug
    page = " ".join(own.get(f"/work/in/{slug}/").content.decode().split())
    assert "1 response assigned to you is in a language that you do not read." in page
    assert f'name="benchmark" value="{slug}"' in page
    assert own.post("/work/release-unread/", {"benchmark": slug}).headers["Location"] == f"/work/in/{slug}/"
    live = Assignment.objects.filter(annotator=annotator, case__language="de").exclude(status="released")
    assert [row.batch.group for row in live] == [elsewhere]
    assert own.post("/work/release-unread/", {"benchmark": "a/b"}).status_code == 404
    assert "1 response assigned to you" in own.get("/work/").content.decode()


def test_gold_items_in_a_language_not_read_are_counted_and_released_like_other_work() -> None:
    group = ExpertGroupFactory(benchmark=clinic("en", "de", "de", "de"))
    annotator = member(group)
    batch = make_batch(group)
    gold = Assignment.objects.filter(batch=batch, case__language="de").first()
    assert gold is not None
    Assignment.objects.filter(pk=gold.pk).update(purpose="gold", slot=None)
    reads(annotator, "en")
    own = signed_in(annotator)
    admin = admin_of(group.benchmark)
    page = admin.get(f"/b/{group.benchmark.slug}/batches/{batch.public_id}/").content.decode()
    assert "2 responses in languages" in " ".join(page.split()), "to the admin gold is no work"
    assert [work.count for work in open_work_in(batch)] == [4], "as on My work"
    text = "3 responses assigned to you are in languages that you do not read."
    assert text in " ".join(own.get("/work/").content.decode().split())
    own.post("/work/release-unread/")
    live = Assignment.objects.filter(annotator=annotator).exclude(status="released")
    assert list(live.values_list("case__language", flat=True)) == ["en"]


def test_gold_items_leave_with_the_work_that_an_admin_hands_over() -> None:
    group = ExpertGroupFactory(benchmark=clinic("en", "de", "de"))
    annotator = member(group)
    batch = make_batch(group)
    gold = Assignment.objects.filter(batch=batch, case__language="de").first()
    assert gold is not None
    Assignment.objects.filter(pk=gold.pk).update(purpose="gold", slot=None)
    reads(annotator, "en")
    pseudonym = annotator.pseudonyms.get().pseudonym
    admin_of(group.benchmark).post(
        f"/b/{group.benchmark.slug}/batches/{batch.public_id}/handover/",
        {"physician": pseudonym, "unread": "1", "to": "pool"},
    )
    live = Assignment.objects.filter(annotator=annotator).exclude(status="released")
    assert list(live.values_list("case__language", flat=True)) == ["en"]
