"""What a reader looks for is shown first: what changed in a review, and a criterion to reword where it stands."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Notification, User
from accounts.notices import words_of
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Case, PrivacyWaiver
from rubrics.services.privacy import waive_finding
from rubrics.services.revisions import request_revision, take_up_revisions
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.rubrics.versions.new_versions import Begun
from tests.rubrics.versions.test_publishing import author, drafted, send, write

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def places(page: str) -> list[str]:
    """The numbers of the criteria in the order of the page, with the heading of the unchanged ones."""
    rows = re.findall(r'class="place num">\s*([^<\s]+)|(\d+ unchanged criteri(?:a|on))', page)
    return [place or heading for place, heading in rows]


def review(case: Case, user: User, client: Client) -> str:
    client.force_login(user)
    return client.get(f"/b/b/write/{case.public_id}/review/").content.decode()


def test_a_review_of_a_new_version_begins_with_what_changed(client: Client) -> None:
    world = Begun([5, 4, 3, 2, 1])
    changed = [
        *world.items[:3],
        replace(world.items[3], points=-2),
        world.items[4],
        DraftItem("new", "Names the dose", 4),
    ]
    world.send(*changed)
    assert places(review(world.case, world.reviewer, client)) == ["4", "6", "4 unchanged criteria", "1", "2", "3", "5"]


def test_a_review_of_a_first_version_has_its_order(client: Client) -> None:
    world = Begun()
    world.send(*(DraftItem(f"n{n}", f"Names fact {n}", n) for n in (1, 2, 3)))
    assert places(review(world.case, world.reviewer, client)) == ["1", "2", "3"]


def test_the_criterion_to_reword_is_marked_where_its_link_leads(client: Client) -> None:
    benchmark = BenchmarkFactory(slug="b")
    writer = author(benchmark)
    case = CaseFactory(benchmark=benchmark, rubric=[5, 4, 3])
    rubric = case.rubrics.get()
    second = rubric.items.select_related("criterion").get(position=2).criterion
    request = request_revision(
        rubric=rubric, criterion=second, response=None, reason="Two doses", by=UserFactory(), at=timezone.now()
    )
    client.force_login(writer)
    desk = client.get("/b/b/write/").content.decode()
    address, anchor = re.search(r'href="([^"#]*/rubric/)#(criterion-\d+)"', desk).groups()  # type: ignore[union-attr]
    assert anchor == f"criterion-{second.pk}"
    page = client.get(address).content.decode()
    rows = re.findall(r'<li\s+class="item read([^"]*)"\s+id="(criterion-\d+)"', page)
    assert [name for name, _id in rows] == ["", " to-reword", ""]
    assert rows[1][1] == anchor
    assert page.count("Two doses") == 1

    # In a draft the script marks it by what the page gives it.
    take_up_revisions(benchmark=benchmark, requests=[request.public_id], by=writer, at=timezone.now())
    page = client.get(address).content.decode()
    assert f'"evidence": {{"{second.pk}": ["Two doses"]}}' in page


def flat(page: str) -> str:
    return " ".join(page.split())


def test_a_second_round_shows_the_words_that_the_reviewer_read(client: Client) -> None:
    world = Begun()
    first = [DraftItem(f"n{n}", f"Names fact {n}", n) for n in (1, 2, 3)]
    world.send(*first)
    world.return_with("Too vague")
    world.send(replace(first[0], text="Names dose 1", points=4), first[1])
    page = flat(review(world.case, world.reviewer, client))
    assert "<del >fact</del>" in page or "<del>fact</del>" in page
    assert re.search(r"<ins ?>dose</ins>", page)
    assert re.search(r"<del>\+1</del>", page) and re.search(r"<ins>\+4</ins>", page)
    assert "removed since your review" in page and re.search(r"<del ?>Names fact 3</del>", page)
    # Who has not reviewed it reads the text alone.
    assert "<del" not in flat(review(world.case, world.author(), client))
    # The reason comes before the criteria.
    assert page.index("Too vague") < page.index('id="criteria-to-review"')


def test_a_second_round_shows_both_texts_of_a_criterion_that_was_replaced_in_its_row(client: Client) -> None:
    world = Begun()
    first = [DraftItem("n1", "Names the dose", 4), DraftItem("n2", "Asks about allergies", 3)]
    world.send(*first)
    world.return_with("Not the dose")
    world.send(replace(first[0], text="Refers to a cardiologist within two days"), first[1])
    page = flat(review(world.case, world.reviewer, client))
    assert places(page) == ["1", "2", "–"]
    assert re.findall(r"> ((?:removed )?since your review) <", page) == [
        "since your review",
        "removed since your review",
    ]
    assert "Refers to a cardiologist within two days" in page and re.search(r"<del ?>Names the dose</del>", page)


def test_a_second_round_of_a_later_version_compares_with_both(client: Client) -> None:
    world = Begun([5, 4])
    world.send(replace(world.items[0], text="Names the dose"), world.items[1])
    world.return_with("Which dose?")
    world.send(replace(world.items[0], text="Names the highest dose"), world.items[1])
    page = flat(review(world.case, world.reviewer, client))
    since = page.split("Compared with the text that you reviewed:")
    assert len(since) == 2
    assert re.search(r"<ins ?>highest </ins>", since[1]) and "<del" not in since[1].split("</li>")[0]


def test_a_moved_criterion_is_not_counted_among_the_unchanged(client: Client) -> None:
    world = Begun([5, 4, 3, 2])
    world.send(world.items[1], world.items[2], world.items[3], world.items[0])
    page = flat(review(world.case, world.reviewer, client))
    assert "1 moved" in page and "3 unchanged criteria" in page
    assert re.search(r'<span class="change"> 3 unchanged </span>', page)
    assert "4 unchanged" not in page


def test_the_reviewer_and_later_readers_see_why_a_name_was_kept(client: Client) -> None:
    turns = [{"role": "user", "content": "My name is Jane Roe and I cough"}]
    world = Begun(conversation=turns)
    world.write(DraftItem("n1", "Names the dose", 5))
    waive_finding(
        case=world.case, kind="name", quote="Jane Roe", reason="A made-up person", by=world.writer, at=timezone.now()
    )
    world.send()
    assert f"Kept by {world.writer}: A made-up person" in flat(review(world.case, world.reviewer, client))
    world.agree()
    page = flat(client.get(world.address).content.decode())
    assert f"Kept by {world.writer}: A made-up person" in page and "<mark>Jane Roe</mark>" in page


def test_only_names_that_are_still_there_are_listed_as_kept(client: Client) -> None:
    turns = [{"role": "user", "content": "My name is Jane Roe and I cough"}]
    world = Begun(conversation=turns)
    source = "Told by Dr. Ann Poe, of Loess"
    world.write(DraftItem("n1", "Names the dose", 5, source=source))
    for name in ("Jane Roe", "Dr. Ann Poe", "Dr. Max Loe", "Loe"):  # "Loe" is part of another word
        values = {"reason": "Made up", "waived_by": world.writer, "waived_at": timezone.now()}
        PrivacyWaiver.objects.create(case=world.case, kind="name", quote=name, **values)
    world.send()

    def kept(page: str) -> list[str]:
        return re.findall(r"<p><mark>([^<]+)</mark></p>", flat(page))

    assert kept(review(world.case, world.reviewer, client)) == ["Jane Roe", "Dr. Ann Poe"]
    world.agree()
    assert kept(client.get(world.address).content.decode()) == ["Jane Roe", "Dr. Ann Poe"]


def test_comments_beside_criteria_stay_on_record_with_the_words_that_were_read(client: Client) -> None:
    world = Begun()
    first = [DraftItem("n1", "Names the dose", 5), DraftItem("n2", "Asks about drugs", 3)]
    world.send(*first)
    address = world.address
    client.force_login(world.reviewer)
    answer = client.post(f"{address}review/", {"outcome": "returned", "comment": "", "item-n2": "Which drugs?"})
    assert answer.status_code == 302
    notice = words_of(Notification.objects.get(user=world.writer))
    assert notice.detail == "The reason is shown above the criteria or beside them."
    world.send(first[0], replace(first[1], text="Asks about anticoagulants"))
    digest = client.get(f"{address}review/").context["draft"].digest
    decision = {"outcome": "approved", "digest": digest, "comment": "Good", "item-n1": "Next time: per kilogram"}
    assert client.post(f"{address}review/", decision).status_code == 302
    client.force_login(world.writer)
    page = flat(client.get(f"{address}history/").content.decode())
    approved, returned = page.split('<div class="review-remarks">')[1:]
    assert "Good" in approved and "Criterion 1: Names the dose" in approved and "Next time: per kilogram" in approved
    assert "Criterion 2: Asks about drugs" in returned and "Which drugs?" in returned
    assert "Which drugs?" not in approved


def test_a_conversation_that_leaves_nothing_to_answer_is_remarked_on(client: Client) -> None:
    benchmark = BenchmarkFactory(slug="b")
    writer, reviewer = author(benchmark), author(benchmark)
    turns = [{"role": "user", "content": "I cough"}, {"role": "assistant", "content": "Since when?"}]
    case = CaseFactory(benchmark=benchmark, rubric=0, conversation=turns)
    answerable = CaseFactory(benchmark=benchmark, rubric=0, conversation=turns[:1])
    remark = "The last turn is not from the patient or user, so candidates have nothing to answer."
    for each in (case, answerable):
        rubric, _items = drafted(each, writer)
        write(rubric, [DraftItem("n1", "Names the dose", 5)], writer)
        client.force_login(writer)
        editor = flat(client.get(f"/b/b/write/{each.public_id}/rubric/").content.decode())
        assert (remark in editor.split('id="send-dialog"')[1]) is (each is case)
        form = flat(client.get(f"/b/b/write/{each.public_id}/").content.decode())
        assert ('role="status" hidden >' in form.split('id="no-question"')[1].split(remark)[0]) is (each is answerable)
        send(rubric, writer)
        assert (remark in flat(review(each, reviewer, client))) is (each is case)


def test_the_address_of_a_refusal_leads_to_the_review_when_it_is_opened_anew(client: Client) -> None:
    benchmark = BenchmarkFactory(slug="b")
    writer = author(benchmark)
    case = CaseFactory(benchmark=benchmark, rubric=0)
    rubric, _items = drafted(case, writer)
    write(rubric, [DraftItem("n1", "Names the dose", 0)], writer)
    client.force_login(writer)
    place = f"/b/b/write/{case.public_id}/"
    send_address = reverse("rubrics:send-to-review", args=["b", case.public_id])
    assert client.post(send_address).status_code == 422
    for name in ("send-to-review", "take-back", "discard-draft"):
        answer = client.get(reverse(f"rubrics:{name}", args=["b", case.public_id]))
        assert (answer.status_code, answer["Location"]) == (302, f"{place}review/")
