"""Many people at once: the preview stores nothing, one fault adds nobody, and links are shown once."""

from __future__ import annotations

import re
from html import unescape
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import Invitation, PhysicianProfile, User
from annotation.models import ExpertGroup, Membership
from annotation.services.groups import set_member_active
from rubrics.models import Benchmark
from tests.annotation.conftest import build_workshop
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory, decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PAGE = "/b/cardio/groups/people/"
LIST = """email,name,role,group,specialty,capacity,languages
ann@example.org,Ann Lee,annotator,Group A,cardiology,20,de; French
bo@example.org,Bo Li,checker,Group A,,
bo@example.org,Bo Li,adjudicator,group a,,
eva@example.org,Eva,researcher,,,
kim@example.org,Kim,author,,,
"""


@pytest.fixture
def ada() -> User:
    return UserFactory(name="Ada Admin", last_login=timezone.now())


@pytest.fixture
def benchmark(ada: User) -> Benchmark:
    return BenchmarkFactory(slug="cardio", title="Cardiology pilot", admin=ada)


@pytest.fixture
def admin(ada: User, benchmark: Benchmark, client: Client) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def no_mail(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


def preview(admin: Client, text: str = LIST, **values: Any) -> Any:
    return admin.post(PAGE, {"text": text, "role": "annotator", "group": "", "step": "preview", **values})


def add_previewed(admin: Client, shown: Any, **values: Any) -> Any:
    """Press *Add* on the page that shows the preview: send its own fields."""
    form = shown.context["form"]
    fields = {name: form.initial.get(name) or "" for name in ("text", "role", "group", "digest")}
    return admin.post(PAGE, {**fields, "step": "add", **values}, follow=True)


def nothing_stored() -> bool:
    stored = [ExpertGroup.objects, Membership.objects, Invitation.objects, PhysicianProfile.objects]
    return User.objects.count() == 1 and not any(rows.exists() for rows in stored)


def test_the_preview_stores_nothing_and_then_everybody_is_added(
    admin: Client, benchmark: Benchmark, no_mail: None
) -> None:
    shown = preview(admin)
    text = shown.content.decode()
    assert shown.status_code == 200
    assert text.count("You receive an invitation link to pass on.") == 4
    assert "Capacity is the maximum number of responses that an annotator has open at the same time" in text
    assert re.findall(r'<td class="num">\s*(\S+)\s*</td>', text) == ["20", "–", "–", "–", "–"]
    assert "Already has an invitation link." in text  # Bo's second part
    assert "Add all 5" in text
    assert "/welcome/" not in text
    assert nothing_stored()

    links = add_previewed(admin, shown)
    page = unescape(links.content.decode())
    paths = re.findall(r"http://localhost:8000(/welcome/[^<\s]+)", page)
    assert len(paths) == 4
    assert "no-store" in links["Cache-Control"]
    assert all(Client().get(path).status_code == 200 for path in paths)
    members = Membership.objects.values_list("user__email", "role", "group__name", "capacity").order_by("pk")
    assert list(members) == [
        ("ann@example.org", "annotator", "Group A", 20),
        ("bo@example.org", "checker", "Group A", None),
        ("bo@example.org", "adjudicator", "Group A", None),
    ]
    assert benchmark.roles.get(user__email="eva@example.org").role == "researcher"
    assert benchmark.authoring_roles.get().user.name == "Kim"
    assert Invitation.objects.exclude(link_shown_to=None).count() == 4
    # The specialty that the admin knew is proposed to its owner.
    welcome = Client().get(paths[page.split("/welcome/")[0].count("nobody")]).content.decode()
    assert 'value="cardiology"' in welcome
    # So are the languages.
    assert "<td>German, French</td>" in text
    assert set(re.findall(r'value="(\w+)" checked', welcome)) == {"de", "fr"}


def test_who_was_assigned_responses_in_another_group_is_warned_of(admin: Client) -> None:
    workshop = build_workshop(responses=6)
    admin.force_login(workshop.admin)
    page, row = f"/b/{workshop.benchmark.slug}/groups/people/", workshop.queue()[0]
    decide(row)
    assert len(workshop.queue()) == 3
    set_member_active(membership=Membership.objects.get(user=row.annotator), active=False, at=timezone.now())
    # The two that were released untouched are barred as well.
    warning = "Was assigned 3 responses in “Group A”, and cannot grade, check or adjudicate them in another group."
    values = {"text": row.annotator.email, "role": "annotator", "step": "preview"}
    assert warning in admin.post(page, {**values, "group": "Group B"}).content.decode()
    assert "Was assigned" not in admin.post(page, {**values, "group": "group a"}).content.decode()
    group = ExpertGroupFactory(benchmark=workshop.benchmark)
    members = f"/b/{workshop.benchmark.slug}/groups/{group.public_id}/members/"
    answer = admin.post(members, {"email": row.annotator.email, "role": "annotator"}, follow=True)
    assert f"{row.annotator}: {warning}" in answer.content.decode()


def test_with_a_mail_server_everybody_gets_a_mail(
    admin: Client, benchmark: Benchmark, mails_at_once: None, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        shown = preview(admin)
    assert mail.outbox == []
    with django_capture_on_commit_callbacks(execute=True):
        page = add_previewed(admin, shown).content.decode()
    assert "4 people were added. 4 invitations are being sent." in page
    assert sorted(sent.to[0] for sent in mail.outbox) == [f"{name}@example.org" for name in ("ann", "bo", "eva", "kim")]


def test_one_fault_and_nobody_is_added(admin: Client, ada: User, benchmark: Benchmark) -> None:
    wrong = LIST + f"no address,X,author\n{ada.email},Ada,annotator,Group A\nann@example.org,,annotator,Group B\n"
    # A row that cannot be read is refused together with rows that can be read and not be done.
    wrong += "carl@example.org,Carl,surgeon,Group A\ndora@example,Dora,annotator,Group A,,many\n"
    for step in ("preview", "add"):
        answer = preview(admin, wrong, step=step)
        assert answer.status_code == 422
        text = unescape(re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", answer.content.decode())))
        assert "6 errors; nothing was imported." in text
        assert "10 role “surgeon” is not a role. The roles are:" in text
        assert "11 email “dora@example” is not a valid email address." in text
        assert "11 capacity A capacity must be a whole number" in text
        assert "7 email “no address” is not a valid email address." in text
        assert "8 role People who run the benchmark see the candidates’ names" in text
        assert "9 group Line 2 already gives this physician a role in the expert group “Group A”." in text
        assert nothing_stored()


def test_a_file_is_read_as_the_list_is(admin: Client, benchmark: Benchmark) -> None:
    ExpertGroupFactory(benchmark=benchmark, name="Group A")
    book = openpyxl.Workbook()
    for row in (["Role", "E-mail", "Name"], ["annotator", "ann@example.org", "Ann Lee"]):
        book.active.append(row)
    stream = BytesIO()
    book.save(stream)
    for name, content in (("people.csv", "\ufeffRole;E-mail;Name\nannotator;ann@example.org;Ann Lee".encode()),
                          ("people.xlsx", stream.getvalue())):  # fmt: skip
        shown = preview(admin, "", file=SimpleUploadedFile(name, content), group="Group A")
        assert shown.context["form"].initial["text"].splitlines()[1] == "ann@example.org,Ann Lee,annotator,Group A,,,"
    add_previewed(admin, shown)
    assert Membership.objects.get().user.email == "ann@example.org"


def test_a_chinese_csv_of_excel_is_read_and_what_was_not_read_is_named(admin: Client, benchmark: Benchmark) -> None:
    csv = "姓名,邮箱,科室\n李医生,li@example.org,心内科\n王医生,wang@example.org,神经内科\n"
    shown = preview(admin, "", file=SimpleUploadedFile("people.csv", csv.encode("gb18030")), group="甲组")
    assert shown.status_code == 200
    people = shown.context["form"].initial["text"].splitlines()[1:]
    assert people == [
        "li@example.org,李医生,annotator,甲组,心内科,,",
        "wang@example.org,王医生,annotator,甲组,神经内科,,",
    ]
    assert "The file was read as GB18030. If a name looks wrong, save the file as UTF-8." in shown.content.decode()

    book = openpyxl.Workbook()
    book.active.append(["ann@example.org", "Ann Lee"])
    book.create_sheet("Checkers").append(["bo@example.org", "Bo Li"])
    stream = BytesIO()
    book.save(stream)
    shown = preview(admin, "", file=SimpleUploadedFile("people.xlsx", stream.getvalue()), group="A")
    assert "Only the first sheet, “Sheet”, was read. Sheets not read: “Checkers”." in shown.content.decode()


def test_a_list_that_was_changed_after_its_preview_is_shown_again(admin: Client, benchmark: Benchmark) -> None:
    shown = preview(admin)
    answer = add_previewed(admin, shown, text="eve@example.org,Eve,researcher")
    assert "The list has changed since the preview." in answer.content.decode()
    assert nothing_stored()
    add_previewed(admin, answer)
    assert benchmark.roles.filter(user__email="eve@example.org").exists()


def test_somebody_with_an_account_keeps_their_profile(admin: Client, benchmark: Benchmark) -> None:
    known = UserFactory(email="ann@example.org", name="Dr. Ann", last_login=timezone.now())
    PhysicianProfile.objects.create(user=known, specialty="neurology")
    add_previewed(admin, preview(admin))
    known.refresh_from_db()
    assert (known.name, known.physician_profile.specialty) == ("Dr. Ann", "neurology")


def test_neither_list_nor_file_is_refused(admin: Client, benchmark: Benchmark) -> None:
    answer = preview(admin, "")
    assert answer.status_code == 422
    assert "Paste a list, or choose a file." in answer.content.decode()


def test_a_file_that_is_no_workbook_is_refused_as_such(admin: Client, benchmark: Benchmark) -> None:
    shown = preview(admin, "", file=SimpleUploadedFile("people.xlsx", b"\x93\x00\xff\xfejunk\n" * 40), group="A")
    text = shown.content.decode()
    assert "This is not a workbook (XLSX) that can be read." in text
    assert "is not UTF-8" not in text
    assert nothing_stored()
