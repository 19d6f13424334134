"""croissant.json: the release described as Croissant 1.0 (JSON-LD of MLCommons), so that loaders find its files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from releases.content.citation import Cited, one_line
from releases.content.code_files import BOOK
from releases.content.folder import WrittenFile
from releases.content.licences import SPDX, spdx_of

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
_ALIASES = (
    *("citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format", "includes"),
    *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
    *("repeated", "replace", "separator", "source", "subField", "transform"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{name: f"cr:{name}" for name in _ALIASES},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
_TYPES = {
    "jsonl": "application/jsonlines",
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "cff": "application/yaml",
}
# Columns of each file of records: name, type, whether it is a list, description.
Column = tuple[str, str, bool, str]
_LATER: tuple[Column, ...] = (
    ("case", "sc:Text", False, "Key of the case."),
    ("candidate", "sc:Text", False, "Who answered."),
    ("sample", "sc:Integer", False, "Which of its answers, from 0."),
    ("criterion", "sc:Integer", False, "Place of the criterion in the rubric, from 1."),
    ("rater", "sc:Text", False, "Pseudonym of the physician who decided."),
    ("outcome", "sc:Text", False, "met, not_met or cannot_assess; of a ruling also faulty."),
    ("stage", "sc:Text", False, "annotator, checker or adjudicator."),
)
_CODED: tuple[Column, ...] = (
    ("code_book", "sc:Integer", False, "Version of the code book."),
    ("case", "sc:Text", False, "Key of the case."),
    ("candidate", "sc:Text", False, "Who answered."),
    ("setting", "sc:Text", False, "The setting in which it answered."),
    ("sample", "sc:Integer", False, "Which of its answers, from 0."),
)
_CODE: tuple[Column, ...] = (("code", "sc:Text", False, "Key of the code; none where no code applies."),)
_BOOK: tuple[Column, ...] = (
    ("key", "sc:Text", False, "Key of the code."),
    ("title_en", "sc:Text", False, "Its title."),
    ("definition_en", "sc:Text", False, "Which failure it is."),
    ("severity", "sc:Text", False, "minor, moderate or severe; may be empty."),
    ("was", "sc:Text", True, "Codes of the version before that it continues."),
)
_CASE: dict[str, tuple[Column, ...]] = {
    "cases/healthbench.jsonl": (
        ("prompt_id", "sc:Text", False, "Key of the case."),
        ("example_tags", "sc:Text", True, "Tags of the case."),
    ),
    "cases/healthbench_professional.jsonl": (
        ("id", "sc:Text", False, "Key of the case."),
        ("use_case", "sc:Text", False, "consult, writing or research."),
        ("type", "sc:Text", False, "How it was tested: good_faith or red_teaming."),
        ("difficulty", "sc:Text", False, "By physicians: typical or difficult."),
        ("specialty", "sc:Text", False, "The medical specialty."),
        ("physician_response", "sc:Text", False, "What a physician answered."),
    ),
    "cases/clinconsensus.jsonl": (
        ("case_id", "sc:Text", False, "Key of the case."),
        ("difficulty", "sc:Text", False, "low, medium or high."),
        ("task", "sc:Text", False, "The first task."),
        ("subject", "sc:Text", False, "The first specialty."),
        ("user_role", "sc:Text", False, "Who asks."),
        ("clinical_context", "sc:Text", False, "What is known, or the turns before the last."),
        ("user_request", "sc:Text", False, "What is asked."),
    ),
    "rubrics.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("position", "sc:Integer", False, "Place of the criterion in the rubric, from 1."),
        ("criterion", "sc:Text", False, "The criterion."),
        ("points", "sc:Integer", False, "What it is worth, or costs where negative."),
        ("tags", "sc:Text", False, "Its tags, with a semicolon between two."),
        ("source", "sc:Text", False, "The guideline or paper it rests on."),
        ("element", "sc:Text", False, "The element of the case it hangs on."),
        ("expectation", "sc:Text", False, "What it checks."),
        ("bank", "sc:Text", False, "The item of a bank it was taken from."),
        ("citations", "sc:Text", False, "Locators of the passages it rests on, with a semicolon between two."),
    ),
    "citations.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("criterion", "sc:Integer", False, "Place of the criterion in the rubric, from 1."),
        ("locator", "sc:Text", False, "Key, digest, page and place of the words in the document."),
        ("quote", "sc:Text", False, "The words, where the document may be quoted."),
        ("document", "sc:Text", False, "Key of the document."),
        ("sha256", "sc:Text", False, "Of the document's original bytes."),
        ("page", "sc:Text", False, "Page or pages of the passage."),
        ("headings", "sc:Text", False, "Headings above the passage."),
        ("text", "sc:Text", False, "The passage, where the document may be passed on."),
    ),
    "documents.csv": (
        ("document", "sc:Text", False, "Key of the document."),
        ("sha256", "sc:Text", False, "Of its original bytes."),
        ("title", "sc:Text", False, "Its title."),
        ("publisher", "sc:Text", False, "Who published it."),
        ("version", "sc:Text", False, "Its version."),
        ("licence", "sc:Text", False, "SPDX identifier or terms; empty if it is not known."),
    ),
    "suggestions.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("criterion", "sc:Integer", False, "Place of the criterion in the rubric, from 1."),
        ("suggestion", "sc:Text", False, "Id of the suggestion that it began as."),
        ("recipe", "sc:Text", False, "The recipe that drafted it."),
        ("recipe_version", "sc:Text", False, "Its version."),
        ("state", "sc:Text", False, "accepted as it was, or edited by a physician."),
        ("distance", "sc:Text", False, "Edit distance between both texts, 0 to 1."),
        ("endpoint_kind", "sc:Text", False, "model, or rules where no language model drafted it."),
        ("facts", "sc:Text", False, "Numbers of the facts that it rests on."),
        ("citations", "sc:Text", False, "Locators of its passages, with a semicolon between two."),
        ("text", "sc:Text", False, "The suggestion, where all of its documents may be quoted."),
    ),
    "facts.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("criterion", "sc:Integer", False, "Place of the criterion in the rubric, from 1."),
        ("suggestion", "sc:Text", False, "Id of the suggestion that it began as."),
        ("fact", "sc:Integer", False, "Number of the fact."),
        ("kind", "sc:Text", False, "statement, number, condition, prohibition or red_flag."),
        ("locator", "sc:Text", False, "Key, digest, page and place of its words in the document."),
        ("text", "sc:Text", False, "The fact, where the document may be quoted."),
        ("words", "sc:Text", False, "The words that it quotes, where the document may be quoted."),
    ),
    "slices.csv": (
        ("slice", "sc:Text", False, "Name of the slice."),
        ("n_cases", "sc:Integer", False, "Cases in it."),
        ("n_criteria", "sc:Integer", False, "Criteria in it."),
        ("n_positive_criteria", "sc:Integer", False, "Criteria with positive points."),
        ("positive_points", "sc:Integer", False, "Sum of positive points."),
        ("negative_points", "sc:Integer", False, "Sum of negative points."),
    ),
    "responses.jsonl": (
        ("case", "sc:Text", False, "Key of the case."),
        ("candidate", "sc:Text", False, "Who answered."),
        ("sample", "sc:Integer", False, "Which of its answers, from 0."),
        ("response", "sc:Text", False, "The answer."),
    ),
    "decisions.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("candidate", "sc:Text", False, "Who answered."),
        ("sample", "sc:Integer", False, "Which of its answers, from 0."),
        ("criterion", "sc:Integer", False, "Place of the criterion in the rubric, from 1."),
        ("rater", "sc:Text", False, "A physician's pseudonym, or a group."),
        ("outcome", "sc:Text", False, "met, not_met or cannot_assess."),
    ),
    "amendments.csv": (
        *_LATER,
        ("annotator", "sc:Text", False, "Pseudonym of the physician whose decision it changes."),
        ("before", "sc:Text", False, "The outcome that it replaces."),
        ("round", "sc:Integer", False, "Round of the work, from 1; each return begins another."),
    ),
    "rulings.csv": (
        *_LATER,
        ("group", "sc:Text", False, "The expert group."),
        ("other_group", "sc:Text", False, "The other group, where two groups differed."),
    ),
    "verdicts.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("candidate", "sc:Text", False, "Who answered."),
        ("sample", "sc:Integer", False, "Which of its answers, from 0."),
        ("criterion", "sc:Integer", False, "Place of the criterion in the rubric, from 1."),
        ("rater", "sc:Text", False, "The judge."),
        ("outcome", "sc:Text", False, "met, not_met or invalid."),
        ("explanation", "sc:Text", False, "In the words of the judge."),
    ),
    "codes/physicians.csv": (
        *_CODED,
        ("rater", "sc:Text", False, "A physician's pseudonym."),
        ("group", "sc:Text", False, "The expert group."),
        *_CODE,
        ("criterion", "sc:Text", False, "Place of the criterion that it is tied to; empty without one."),
        ("evidence", "sc:Text", False, "The words that show it, a list as JSON."),
    ),
    "codes/rulings.csv": (
        *_CODED,
        ("rater", "sc:Text", False, "adjudication."),
        ("group", "sc:Text", False, "The expert group."),
        *_CODE,
    ),
    "codes/judges.csv": (
        *_CODED,
        ("rater", "sc:Text", False, "The judge, after “judge:”."),
        ("state", "sc:Text", False, "coded, or invalid where the answer could not be read."),
        *_CODE,
        ("criterion", "sc:Text", False, "Place of the criterion that it is tied to; empty without one."),
        ("why", "sc:Text", False, "In the words of the judge."),
        ("evidence", "sc:Text", False, "The words that show it, a list as JSON."),
    ),
    "candidates.csv": (
        ("candidate", "sc:Text", False, "Who answered."),
        ("family", "sc:Text", False, "The line of models that it belongs to."),
        ("developer", "sc:Text", False, "Who made it."),
        ("base_model", "sc:Text", False, "The model of which it is a setting."),
        ("effort", "sc:Text", False, "Its setting."),
        ("release_date", "sc:Date", False, "When it was released."),
        ("size_total", "sc:Float", False, "Billions of parameters."),
        ("size_active", "sc:Float", False, "Billions of parameters used for each token."),
        ("open_weights", "sc:Boolean", False, "Whether its weights are open."),
        ("price_in", "sc:Float", False, "Price of a million input tokens."),
        ("price_out", "sc:Float", False, "Price of a million output tokens."),
        ("currency", "sc:Text", False, "Of the prices."),
        ("price_date", "sc:Date", False, "When the prices were valid."),
    ),
    "acuity/source_labels.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("dataset", "sc:Text", False, "Where the label comes from."),
        ("label", "sc:Text", False, "The label, word for word."),
        ("low", "sc:Text", False, "The lowest level that it means."),
        ("high", "sc:Text", False, "The highest level that it means."),
    ),
    "acuity/votes.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("physician", "sc:Text", False, "A physician's pseudonym."),
        ("round", "sc:Integer", False, "Round of votes; only the first is independent."),
        ("level", "sc:Text", False, "A level, two adjacent ones joined by a bar, or cannot-tell."),
        ("certainty", "sc:Integer", False, "0 to 100."),
    ),
    "acuity/reference.csv": (
        ("set", "sc:Integer", False, "Number of the reference set."),
        ("case", "sc:Text", False, "Key of the case."),
        ("status", "sc:Text", False, "Whether the reference is clear."),
        ("low", "sc:Text", False, "The lowest level that is right."),
        ("high", "sc:Text", False, "The highest level that is right."),
    ),
    "acuity/readings.csv": (
        ("case", "sc:Text", False, "Key of the case."),
        ("candidate", "sc:Text", False, "Who answered."),
        ("format", "sc:Text", False, "qa for a forced choice, chat as to a patient."),
        ("sample", "sc:Integer", False, "Which of its answers, from 0."),
        ("level", "sc:Text", False, "The level, or why there is none."),
        ("confidence", "sc:Float", False, "0 to 1."),
    ),
}
_SPLIT: tuple[Column, ...] = (
    ("case", "sc:Text", False, "Key of the case."),
    ("split", "sc:Text", False, "The part it is in."),
)


def croissant(cited: Cited, description: str, files: Iterable[WrittenFile]) -> dict[str, Any]:
    """The whole document, about ``files``, which were written before it."""
    written = sorted(files, key=lambda file: file.path)
    document: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": cited.slug,
        "alternateName": cited.title,
        "description": description or cited.title,
        "version": cited.version,
        "datePublished": cited.date,
        "citeAs": one_line(cited),
        "creator": {"@type": "sc:Organization", "name": cited.authors},
        "license": SPDX.get(spdx_of(cited.licence), cited.licence or "All rights reserved."),
        "isLiveDataset": False,
        "distribution": [_file(file) for file in written],
        "recordSet": [_records(file) for file in written if _columns(file.path) and file.rows],
    }
    if cited.url:
        document["url"] = cited.url
    return document


def _file(file: WrittenFile) -> dict[str, Any]:
    ending = file.path.rpartition(".")[2] if "." in file.path else ""
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": _TYPES.get(ending, "text/plain"),
        "sha256": file.sha256,
    }


def _columns(path: str) -> tuple[Column, ...]:
    if BOOK.fullmatch(path):
        return _BOOK
    return _SPLIT if path.startswith("splits/") else _CASE.get(path, ())


def _records(file: WrittenFile) -> dict[str, Any]:
    name = file.path.rpartition(".")[0]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [_field(name, file.path, *column) for column in _columns(file.path)],
    }


def _field(record_set: str, path: str, column: str, kind: str, repeated: bool, what: str) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column}",
        "name": f"{record_set}/{column}",
        "description": what,
        "dataType": kind,
        "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
    }
    return {**field, "repeated": True} if repeated else field
