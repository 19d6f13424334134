"""What a search finds, and in which order."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from documents.models import Document
from documents.search import Filters, search
from tests.documents.search.corpus import add_document, build, find_texts, make_collection

if TYPE_CHECKING:
    from documents.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FEVER = "Fever in a child above 38.5 °C is treated with paracetamol 15 mg/kg every six hours."
ASTHMA = "In acute asthma give salbutamol by inhaler and spacer; a child may need oxygen."
ZH_FEVER = "儿童发热超过38.5℃时，可口服对乙酰氨基酚15毫克/公斤。"
ZH_ASTHMA = "急性哮喘发作时，应吸入沙丁胺醇，必要时吸氧。"


@pytest.fixture(params=["in the index", "beside the index"])
def collection(request: pytest.FixtureRequest) -> Collection:
    """Five passages: built into an index, or not yet."""
    collection = make_collection()
    add_document(collection, "fever", [FEVER, "Give a child enough to drink."], language="en")
    add_document(collection, "asthma", [ASTHMA], language="en", headings=["Emergencies", "Wheeze"])
    add_document(collection, "zh", [ZH_FEVER, ZH_ASTHMA], language="zh-Hans")
    if request.param == "in the index":
        build(collection)
    return collection


def test_a_passage_with_the_rarer_word_comes_first(collection: Collection) -> None:
    """Three passages have *child*, one *salbutamol*: that one wins over passages that repeat what is common."""
    assert find_texts(collection, "child salbutamol")[0] == ASTHMA


def test_words_match_by_their_stem_and_without_accents_or_case(collection: Collection) -> None:
    assert find_texts(collection, "FÉVERS treating") == [FEVER]


def test_headings_are_searched_too(collection: Collection) -> None:
    assert find_texts(collection, "wheezing") == [ASTHMA]


def test_chinese_is_found_by_pairs_of_characters(collection: Collection) -> None:
    assert find_texts(collection, "哮喘发作") == [ZH_ASTHMA]
    assert find_texts(collection, "发热") == [ZH_FEVER]


def test_one_chinese_character_finds_passages_that_have_it(collection: Collection) -> None:
    assert find_texts(collection, "哮") == [ZH_ASTHMA]
    assert find_texts(collection, "氧") == [ZH_ASTHMA]  # the last of its sentence, which begins no pair


def test_a_dose_is_found_however_it_is_spelled_and_in_both_languages(collection: Collection) -> None:
    for query in ("15mg/kg", "15 mg/kg", "15 MG per kg", "15毫克/公斤", "１５ mg／kg"):
        assert sorted(find_texts(collection, query)) == sorted([FEVER, ZH_FEVER]), query
    assert find_texts(collection, "5 mg/kg") == []
    assert find_texts(collection, "15 mg") == []
    assert find_texts(collection, "15") == []


def test_a_temperature_is_found_in_either_notation(collection: Collection) -> None:
    assert sorted(find_texts(collection, "38.5°C")) == sorted([FEVER, ZH_FEVER])


WITH_FEVER = [
    "fever AND", "+fever -child", "words:fever", "fever\x00child", "🏥 fever", "\u202efever\u202c", "fever " * 10_000,
]  # fmt: skip
WITHOUT_ANY_WORD = [
    "", " ", '"', "'", "(", ")", "fev*", "[b TIL z]", "^", "~2", "\\", "\x00", "😀", "ارتفاع الحرارة", "\ud800",
    "%s %(x)s", "'; --", "/regex/", "pad", "*:*",
    "a" * 70_000, "发" * 10_000, "\n\t\r", "e\u0301" * 500, "１" * 3000, "_ _ _",
]  # fmt: skip


def test_nothing_in_a_query_is_syntax(collection: Collection) -> None:
    """Operators, quotes, controls, other scripts: words are looked for, and whatever else there is counts nothing."""
    assert [query for query in WITH_FEVER if FEVER not in find_texts(collection, query)] == []
    assert [query for query in WITHOUT_ANY_WORD if find_texts(collection, query)] == []


def test_ten_thousand_different_words_are_no_trouble(collection: Collection) -> None:
    assert find_texts(collection, " ".join(f"w{n}" for n in range(10_000)) + " fever") == []  # past what is read
    assert find_texts(collection, "fever " + " ".join(f"w{n}" for n in range(10_000))) == [FEVER]


@pytest.mark.parametrize(
    ("fields", "filters"),
    [
        ({"language": "zh-Hans"}, {"language": "zh"}),
        ({"jurisdictions": ["GB", "INT"]}, {"jurisdiction": "INT"}),
        ({"kind": Document.Kind.GUIDELINE}, {"kinds": (Document.Kind.GUIDELINE, Document.Kind.RESEARCH)}),
        ({"tier": 2}, {"max_tier": 2}),
        ({"published_on": date(2024, 3, 1)}, {"published_from": date(2024, 3, 1)}),
    ],
    ids=lambda value: next(iter(value)),
)
@pytest.mark.parametrize("is_built", [True, False])
def test_filters_apply_before_ranking(fields: dict[str, Any], filters: dict[str, Any], is_built: bool) -> None:
    """Thirty better passages that a filter leaves out do not push the one that it lets through off a list of three."""
    collection = make_collection()
    add_document(collection, "others", ["sepsis sepsis sepsis"] * 30, language="en", tier=3)
    add_document(collection, "wanted", ["a long passage that names sepsis but once among many other words"], **fields)
    if is_built:
        build(collection)
    assert find_texts(collection, "sepsis", limit=3) == ["sepsis sepsis sepsis"] * 3
    assert find_texts(collection, "sepsis", limit=3, **filters) == [
        "a long passage that names sepsis but once among many other words"
    ]


def test_what_changes_in_the_database_changes_the_next_search(collection: Collection) -> None:
    """Permission to send, retirement and a later edition hold at once, without a new index."""
    document = Document.objects.get(key="asthma")
    assert find_texts(collection, "salbutamol", may_send=True) == [ASTHMA]
    Document.objects.filter(pk=document.pk).update(may_send=False)
    assert find_texts(collection, "salbutamol", may_send=True) == []
    assert find_texts(collection, "salbutamol") == [ASTHMA]

    Document.objects.filter(pk=document.pk).update(retired_at=timezone.now())
    assert find_texts(collection, "salbutamol") == []
    assert find_texts(collection, "salbutamol", include_retired=True) == [ASTHMA]

    Document.objects.filter(pk=document.pk).update(retired_at=None)
    add_document(collection, "asthma", ["Now terbutaline."], edition=2, supersedes=document)
    assert find_texts(collection, "salbutamol") == []
    assert find_texts(collection, "salbutamol", include_superseded=True) == [ASTHMA]
    assert find_texts(collection, "terbutaline") == ["Now terbutaline."]


def test_hits_say_why_to_take_care(collection: Collection) -> None:
    at = timezone.now()
    document = Document.objects.get(key="asthma")
    Document.objects.filter(pk=document.pk).update(
        may_send=False, retired_at=at, review_by=timezone.localdate(at).replace(year=2020, day=1)
    )
    add_document(collection, "asthma", ["Now terbutaline."], edition=2, supersedes=document)
    filters = Filters(include_retired=True, include_superseded=True)
    marks = {
        hit.passage.document.edition: hit.marks
        for hit in search(collections=[collection], query="salbutamol terbutaline", filters=filters, at=at)
    }
    assert marks == {1: ("retired", "superseded", "overdue"), 2: ()}


def test_equal_scores_are_in_the_order_of_key_edition_and_place() -> None:
    """Also where there are more of them than the list is long, in the index and beside it."""
    collection = make_collection()
    for key in ("b", "Z", "a"):
        add_document(collection, key, [f"insulin {key}{n}" for n in range(9)])
    build(collection)
    add_document(collection, "B", [f"insulin B{n}" for n in range(9)])
    order = [f"insulin {key}{n}" for key in ("B", "Z", "a", "b") for n in range(9)]
    assert find_texts(collection, "insulin", limit=36) == order
    assert find_texts(collection, "insulin", limit=12) == order[:12]


def test_several_collections_are_ranked_as_one() -> None:
    """A word is as rare as it is in all of them: *rash* is common only in the second, and counts little in both."""
    first = make_collection()
    second = make_collection(first.benchmark, "More")
    add_document(first, "one", ["rash and pain", "measles and pain", "only the pain"])
    add_document(second, "two", [f"rash number {n}" for n in range(40)])
    for collection in (first, second):
        build(collection)
    hits = search(collections=[first, second], query="rash measles", limit=2, at=timezone.now())
    assert [hit.passage.text for hit in hits] == ["measles and pain", "rash and pain"]
    assert hits[0].score > 2 * hits[1].score


def test_a_search_costs_three_queries(collection: Collection, django_assert_num_queries: Any) -> None:
    """However many documents there are, and with each hit's document, collection and marks read."""
    find_texts(collection, "child")
    with django_assert_num_queries(3):
        hits = search(collections=[collection], query="child", at=timezone.now())
        assert [hit.passage.document.collection.name for hit in hits] == ["Guidelines"] * 3
        assert all(hit.passage.locator for hit in hits)


def test_passages_of_other_collections_are_not_found(collection: Collection) -> None:
    other = make_collection(name="Others")
    add_document(other, "x", ["salbutamol elsewhere"])
    build(other)
    assert find_texts(collection, "salbutamol") == [ASTHMA]
