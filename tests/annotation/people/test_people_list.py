"""Lists of people: what is read from them, and which line and field a fault names."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.people.people_list import MAX_PEOPLE, ListedPerson, as_csv, people_of_text
from rubrics.parsing.faults import Faults


def read(text: str, *, role: str = "annotator", group: str = "A") -> tuple[list[ListedPerson], list[str]]:
    faults = Faults()
    people = people_of_text(text, faults, role=role, group=group)
    return people, [f"{fault.line} {fault.field}: {fault.message}" for fault in faults.first]


@pytest.mark.parametrize("sign", [",", ";", "\t", ", "])
def test_without_a_heading_the_columns_have_a_fixed_order(sign: str) -> None:
    cells = ["ann@example.org", "Ann Lee", "checker", "Group B", "neurology"]
    assert read(sign.join(cells)) == (
        [ListedPerson(1, "ann@example.org", "Ann Lee", "checker", "Group B", "neurology", None)],
        [],
    )


def test_a_comma_between_languages_ends_no_cell_of_a_list_with_semicolons() -> None:
    assert read("ann@example.org;Ann Lee;annotator;Group B;neurology;20;en, de\n") == (
        [ListedPerson(1, "ann@example.org", "Ann Lee", "annotator", "Group B", "neurology", 20, "de; en")],
        [],
    )


def test_addresses_alone_suffice() -> None:
    people, faults = read("ann@example.org\n\nbo@example.org\n")
    assert faults == []
    assert [(person.line, person.email, person.role, person.group) for person in people] == [
        (1, "ann@example.org", "annotator", "A"),
        (3, "bo@example.org", "annotator", "A"),
    ]


def test_a_heading_gives_the_order_in_english_or_chinese() -> None:
    people, faults = read("角色,姓名,邮箱\n复核医师,李波,bo@example.org\n")
    english, no_faults = read("Role;Email address;Capacity\nSecondary checker;bo@example.org;\n")
    assert (faults, no_faults) == ([], [])
    assert (people[0].name, people[0].role) == ("李波", "checker")
    assert (english[0].email, english[0].role) == ("bo@example.org", "checker")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "email,name,rôle\na@example.org,A,x",
            "1 rôle: This column is unknown. The columns are: email, name, role, group, specialty, capacity, languages",
        ),
        ("name,role\nAnn,checker", "1 email: This column is required."),
        ("email,email\na@example.org,b@example.org", "1 email: This column appears twice."),
        (
            "a@example.org,A,boss",
            "1 role: “boss” is not a role. The roles are: annotator, checker, adjudicator, admin, researcher, author,",
        ),
        ("a@example.org\n,Bo", "2 email: Enter an email address."),
        ("a@example.org\nA@example.org", "2 email: Line 1 already gives this person this role."),
        ("a@example.org,A,admin,Group A", "1 group: This role does not belong to an expert group."),
        ("a@example.org,A,checker,A,,3", "1 capacity: Only annotators have a capacity."),
        ("a@example.org,A,annotator,A,,,Klingonese", "1 languages: “Klingonese” is not a known language."),
        ("a@example.org,A,annotator,A,,0", "1 capacity: A capacity must be a whole number from 1 to 10000,"),
        (f"a@example.org,{'x' * 300}", "1 name: This has more than"),
        ("a@example.org,A,annotator,A,,3,en,4", "1 : This row has more cells than there are columns."),
        ("", "0 : The list does not contain any people. Add at least one line with an email address."),
        ("email,name\n", "0 : The list does not contain any people. Add at least one line with an email address."),
    ],
)
def test_a_fault_names_line_and_field(text: str, fault: str) -> None:
    _people, faults = read(text)
    assert len(faults) == 1, faults
    assert faults[0].startswith(fault)


@pytest.mark.parametrize("cell", ["en;de", "German, English", "de en", "英语；德语", "en-GB, de, en"])
def test_languages_are_read_by_name_or_tag(cell: str) -> None:
    people, faults = read(f"email\tlanguages\na@example.org\t{cell}")
    assert faults == []
    assert (people[0].languages, people[0].reads) == ("de; en", ["de", "en"])


def test_who_works_in_a_group_needs_one() -> None:
    assert read("a@example.org", group="")[1] == [
        "1 group: Annotators, checkers and adjudicators belong to an expert group. Enter its name."
    ]
    assert read("a@example.org", role="researcher", group="A")[0][0].group == ""


def test_a_list_has_a_limit() -> None:
    text = "\n".join(f"p{number}@example.org" for number in range(MAX_PEOPLE + 1))
    assert read(text)[1] == [f"{MAX_PEOPLE + 1} : A list can have at most {MAX_PEOPLE} people. Split it."]


CELL = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=12)
PEOPLE = st.lists(
    st.builds(
        ListedPerson,
        st.just(0),
        st.text(string.ascii_lowercase, min_size=1, max_size=8).map(lambda name: f"{name}@example.org"),
        CELL,
        st.just("annotator"),
        CELL.filter(bool),
        CELL,
        st.none() | st.integers(1, 10_000),
        st.sampled_from(["", "de", "en; zh"]),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda person: person.email,
)


@pytest.mark.slow
@given(PEOPLE)
def test_a_list_that_was_written_is_read_back(people: list[ListedPerson]) -> None:
    again, faults = read(as_csv(people))
    assert faults == []
    assert again == [
        ListedPerson(
            line,
            *(
                getattr(person, name)
                for name in ("email", "name", "role", "group", "specialty", "capacity", "languages")
            ),
        )
        for line, person in enumerate(people, start=2)
    ]


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    people, faults = read(text)
    assert people or faults
