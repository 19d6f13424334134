"""The files of codes in a release: their names and columns. Writing and checking share it."""

from __future__ import annotations

import re

FOLDER = "codes/"
PHYSICIANS, RULINGS, JUDGES = f"{FOLDER}physicians.csv", f"{FOLDER}rulings.csv", f"{FOLDER}judges.csv"
PROMPTS = f"{FOLDER}prompts/"
BOOK = re.compile(r"codes/book-([1-9][0-9]{0,8})\.jsonl")
ADJUDICATION = "adjudication"  # the rater of rulings

# What names a response of the release, and the version of the code book.
NAMED = ("code_book", "case", "candidate", "setting", "sample")
TABLES = {
    PHYSICIANS: (*NAMED, "rater", "group", "code", "criterion", "evidence", "note"),
    RULINGS: (*NAMED, "rater", "group", "code", "note"),
    JUDGES: (*NAMED, "rater", "state", "code", "criterion", "why", "evidence"),
}
CODES_TEXT = ("case", "candidate", "setting", "rater", "group", "evidence", "note", "why")
# Names under which release.json counts the rows.
COUNTED = {PHYSICIANS: "codes_of_physicians", RULINGS: "codes_ruled", JUDGES: "codes_of_judges"}


def book_path(version: int) -> str:
    """The file of a version of the code book."""
    return f"{FOLDER}book-{version}.jsonl"


def rater_named(judge: str) -> str:
    """A judge as the rater of a row."""
    return f"judge:{judge}"
