"""Who runs a benchmark: letting in, changing, withdrawing, and who must stay out."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import User
from annotation.services import add_member, create_group
from rubrics.models import BenchmarkRole
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return UserFactory(name="Ada")


@pytest.fixture
def client(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


@pytest.mark.slow
def test_an_admin_lets_a_researcher_in_and_out_again(client: Client, admin: User) -> None:
    BenchmarkFactory(slug="b", admin=admin)
    answer = client.post("/b/b/people/", {"email": "new@example.org", "name": "Nia", "role": "researcher"}, follow=True)
    assert "Nia" in answer.text
    person = User.objects.get(email="new@example.org")
    assert not person.has_usable_password()
    theirs = Client()
    theirs.force_login(person)
    assert theirs.get("/b/b/").status_code == 200
    assert theirs.get("/b/b/people/").status_code == 404
    role = BenchmarkRole.objects.get(user=person)
    client.post(f"/b/b/people/{role.pk}/withdraw/")
    assert theirs.get("/b/b/").status_code == 404
    assert BenchmarkRole.objects.filter(pk=role.pk, active=False).exists()  # the row stays


def test_the_last_admin_stays(client: Client, admin: User) -> None:
    benchmark = BenchmarkFactory(slug="b", admin=admin)
    own = benchmark.roles.get()
    assert "at least one admin" in client.post(f"/b/b/people/{own.pk}/withdraw/", follow=True).text
    refused = client.post("/b/b/people/", {"email": admin.email, "role": "researcher"})
    assert refused.status_code == 422
    assert "at least one admin" in refused.text
    assert benchmark.roles.get().role == "admin"


@pytest.mark.slow
def test_a_member_of_an_expert_group_stays_out_and_a_former_researcher_does_not_grade(
    client: Client, admin: User
) -> None:
    benchmark = BenchmarkFactory(slug="b", admin=admin)
    group = create_group(benchmark=benchmark, name="Group")
    physician = add_member(group=group, email="physician@example.org", role="annotator").user
    refused = client.post("/b/b/people/", {"email": physician.email, "role": "researcher"})
    assert refused.status_code == 422
    assert "member of an expert group" in refused.text
    client.post("/b/b/people/", {"email": "former@example.org", "role": "researcher"})
    former = BenchmarkRole.objects.get(user__email="former@example.org")
    client.post(f"/b/b/people/{former.pk}/withdraw/")
    answer = client.post(f"/b/b/groups/{group.public_id}/members/", {"email": "former@example.org", "role": "checker"})
    assert answer.status_code == 422
    assert group.memberships.count() == 1


@pytest.mark.slow
def test_the_first_person_comes_from_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "a long enough secret")
    call_command("add_person", "first@example.org", "--creates-benchmarks", stdout=StringIO())
    client = Client()
    answer = client.post("/accounts/login/", {"login": "first@example.org", "password": "a long enough secret"})
    assert answer.status_code == 302
    client.post("/benchmarks/new/", {"title": "New", "slug": "new"})
    assert client.get("/b/new/").status_code == 200
    BenchmarkFactory(slug="imported")
    assert client.get("/b/imported/").status_code == 404
    out = StringIO()
    call_command("grant_role", "--benchmark", "imported", "--email", "first@example.org", stdout=out)
    assert client.get("/b/imported/people/").status_code == 200
    with pytest.raises(CommandError, match="no benchmark"):
        call_command("grant_role", "--benchmark", "none", "--email", "first@example.org")
    monkeypatch.setenv("PASSWORD", "12345")
    with pytest.raises(CommandError, match="short"):
        call_command("add_person", "second@example.org")
    assert not User.objects.filter(email="second@example.org").exists()
