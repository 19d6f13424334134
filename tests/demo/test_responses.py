"""A composed response satisfies exactly the criteria whose sentence it contains."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest

from demo import PHYSICIAN_CANDIDATE, SEED
from demo.cases import read_cases
from demo.responses import CANDIDATES, DemoResponse, compose_all

ROOT = Path(__file__).parents[2]
CASES = {case.key: case for case in read_cases()}
RESPONSES = compose_all(tuple(CASES.values()), random.Random(SEED))


def coverage(name: str) -> float:
    return mean(mean(response.truth) for response in RESPONSES if response.candidate.name == name)


def test_every_candidate_and_both_physicians_answer_every_case() -> None:
    assert len(RESPONSES) == 12 * (4 + 2)
    assert len({response.key for response in RESPONSES}) == len(RESPONSES)
    assert len({response.text for response in RESPONSES}) == len(RESPONSES)


@pytest.mark.parametrize("response", RESPONSES, ids=lambda response: response.key)
def test_truth_is_what_the_text_says(response: DemoResponse) -> None:
    for item, met, near, truth in zip(
        CASES[response.case].criteria, response.met_spans, response.near_spans, response.truth, strict=True
    ):
        assert (item.met_by in response.text) == truth
        assert not (met and near)
        for span in (met, near):
            if span:
                assert response.text[span.start : span.end] == span.quote
        if met:
            assert met.quote == item.met_by
        if near:
            assert near.quote == item.near_miss


def test_candidates_differ_in_coverage_as_planned() -> None:
    for candidate in CANDIDATES:
        assert coverage(candidate.name) == pytest.approx(candidate.coverage, abs=0.04)


def test_candidates_differ_in_length_and_layout() -> None:
    by_name = {c.name: [r.text for r in RESPONSES if r.candidate.name == c.name] for c in CANDIDATES}
    assert mean(map(len, by_name["Borage-chat"])) > 1.5 * mean(map(len, by_name["Comfrey-mini"]))
    assert all("\n- " in text for text in by_name["Dittany-L"])
    assert all("\n## " in text for text in by_name["Borage-chat"])


def test_physicians_meet_about_ten_of_thirty() -> None:
    hits = [sum(r.truth) for r in RESPONSES if r.candidate.name == PHYSICIAN_CANDIDATE]
    assert len(hits) == 24
    assert 9.2 <= mean(hits) <= 10.8
    assert {r.candidate.author for r in RESPONSES if r.candidate.kind == "physician"} == {
        "writer-1@example.org",
        "writer-2@example.org",
    }


def test_no_response_names_its_author() -> None:
    names = [c.name.split("-")[0] for c in CANDIDATES] + ["Quill", "Reed"]
    assert not [r.key for r in RESPONSES for name in names if name in r.text]


@pytest.mark.slow
def test_the_same_seed_composes_the_same_texts_in_another_process() -> None:
    code = (
        "import hashlib, random; from demo import SEED; from demo.cases import read_cases;"
        "from demo.responses import compose_all;"
        "print(hashlib.sha256('|'.join(r.text for r in compose_all(read_cases(), random.Random(SEED))).encode())"
        ".hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=env, cwd=ROOT
        ).stdout
        for env in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    }
    assert len(digests) == 1
    other = compose_all(tuple(CASES.values()), random.Random(SEED + 1))
    assert [r.text for r in other] != [r.text for r in RESPONSES]
