"""A file imported as another kind than it is of: one error names the kind that fits, whatever the kind chosen."""

from __future__ import annotations

import io

import pytest
from django.db import transaction
from django.utils import timezone

from consilium.core.errors import ImportRefused
from rubrics import imports
from rubrics.imports.examples import examples_of
from rubrics.imports.recognition import names_in, other_kind
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
READINGS = "case,candidate,format,sample,level,confidence\n" + "".join(
    f"case-0{i},Model A,qa,0,self-care,86\n" for i in range(1, 9)
)
OPTIONS = {
    "decisions": {"group": "Experts"},
    "votes": {"group": "Readers"},
    "acuity": {"dataset": "example", "scheme": "direct"},
}


def example(kind: str) -> bytes:
    files = examples_of(imports.find(kind))
    return next(file.content() for file in files if not file.name.endswith(".xlsx"))


def refusal(chosen: str, content: bytes) -> ImportRefused:
    benchmark, user = BenchmarkFactory(), UserFactory()
    with pytest.raises(ImportRefused) as refused, transaction.atomic():
        imports.find(chosen).handler(
            benchmark=benchmark,
            file=io.BytesIO(content),
            options={**OPTIONS.get(chosen, {}), "file_name": "file"},
            by=user,
            at=timezone.now(),
            progress=lambda done: None,
        )
    return refused.value


@pytest.mark.parametrize(
    ("chosen", "of", "name"),
    [
        ("cases", "meta_eval", "Meta-evaluation labels"),
        ("decisions", "meta_eval", "Meta-evaluation labels"),
        ("decisions", "verdicts", "Judge verdicts"),
        ("responses", "decisions", "Physicians’ decisions"),
        ("acuity", "votes", "Acuity: physicians’ votes"),
        ("votes", "", "Acuity: labels and readings"),
    ],
)
def test_one_error_names_the_kind_that_fits(chosen: str, of: str, name: str) -> None:
    refused = refusal(chosen, example(of) if of else READINGS.encode())
    assert [(error.line, str(error.message)) for error in refused.errors] == [
        (0, f"This looks like a file of another kind: {name}. Choose that kind of import.")
    ]
    assert refused.total == 1


def test_a_file_of_the_kind_keeps_its_own_errors() -> None:
    refused = refusal("decisions", example("decisions") + b"nowhere,,,,,\n")
    assert not any("another kind" in str(error.message) for error in refused.errors)


def test_a_file_that_is_no_table_has_no_names() -> None:
    for content in (b"", b"{", b"[1]", b'{"a":' * 100_000, b'"' + b"x" * 200_000, b"\x00\xff,\x00"):
        assert other_kind("cases", names_in(io.BytesIO(content))) is None
