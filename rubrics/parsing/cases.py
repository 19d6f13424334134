"""Cases with their rubrics: HealthBench and HealthBench Professional examples, and ClinConsensus cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as made_by
from functools import lru_cache
from typing import Any, BinaryIO, Literal

from consilium.core.language_tags import normalise_language
from consilium.core.limits import MAX_TAG_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing import as_imported
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids, kind, size_of
from rubrics.parsing.language import detect_case_language
from rubrics.parsing.reader import Limits, RecordReader

CaseFormat = Literal["healthbench", "healthbench_professional", "clinconsensus"]
FORMATS: tuple[CaseFormat, ...] = ("healthbench", "healthbench_professional", "clinconsensus")
ROLES = ("user", "assistant", "system", "developer", "tool")
MAX_POINTS = 10
_PLAIN = {"criterion", "points", "tags"}
DIFFICULTIES = ("low", "medium", "high")
PHYSICIAN_RESPONSE = "physician_response"
# HealthBench: physicians of group 1 wrote unaided, those of groups 2 and 3 saw completions of models.
WRITING_MODES = {"Group 1": "unaided", "Group 2": "aided", "Group 3": "aided"}


@dataclass(frozen=True, slots=True)
class CriterionRecord:
    """One line of a rubric."""

    text: str
    points: int
    tags: tuple[str, ...] = ()
    source: str = ""
    element: str = ""
    expectation: str = ""
    bank: str = ""
    citations: tuple[str, ...] = ()  # locators of the passages it rests on
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class CompletionRecord:
    """An answer that came with its case; ``by`` is ``physician`` or ``reference``."""

    by: Literal["physician", "reference"]
    sample: int
    text: str
    field: str
    writing_mode: str = ""
    metadata: dict[str, Any] = made_by(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """A case of a file. ``user_role`` becomes the register by the benchmark's map."""

    line: int
    key: str
    conversation: list[dict[str, str]]
    criteria: tuple[CriterionRecord, ...]
    key_field: str = "prompt_id"
    conversation_field: str = "prompt"
    criteria_field: str = "rubrics"
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    reference_answer: str = ""
    language: str = ""
    language_detected: bool = False
    user_role: str = ""
    completions: tuple[CompletionRecord, ...] = ()
    metadata: dict[str, Any] = made_by(default_factory=dict)

    def weight(self) -> int:
        """About how many characters it holds."""
        texts = sum(len(turn["content"]) for turn in self.conversation) + len(self.reference_answer)
        criteria = sum(len(criterion.text) + sum(map(len, criterion.tags)) for criterion in self.criteria)
        completions = sum(len(completion.text) for completion in self.completions)
        return texts + criteria + completions + sum(map(len, self.tags)) + size_of(self.metadata)

    @property
    def canary(self) -> str:
        """The canary string of the row, empty if it has none."""
        canary = self.metadata.get("canary", self.metadata.get("canary_string"))
        return canary if isinstance(canary, str) else ""


def read_cases(
    file: BinaryIO,
    faults: Faults,
    *,
    form: str = "auto",
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[CaseRecord]:
    """The sound cases of ``file``; everything else is in ``faults`` when the iterator ends.

    ``form`` is one of `FORMATS`, or ``auto``: by the keys of the first record.
    """
    ids = Ids(Phrase("case"))
    chosen: str | None = None if form == "auto" else form
    for line, record in RecordReader(file, faults, limits=limits, progress=progress):
        if chosen is None:
            chosen = detect_format(record)
            if chosen is None:
                faults.add(
                    line,
                    "",
                    Phrase(
                        "This is neither a HealthBench example (prompt_id) nor a HealthBench Professional example "
                        "(rubric_items) nor a ClinConsensus case (case_id)."
                    ),
                )
                return
        fields = Fields(line, record, faults)
        case = _READERS[chosen](fields)
        if case.key:
            ids.add(fields, case.key_field, case.key)
        if fields.sound:
            yield case


def detect_format(record: dict[str, Any]) -> CaseFormat | None:
    """The format of a record by its keys."""
    if "prompt_id" in record or "prompt" in record:
        return "healthbench"
    if "case_id" in record or "user_request" in record:
        return "clinconsensus"
    if "rubric_items" in record:
        return "healthbench_professional"
    return None


def healthbench_case(fields: Fields) -> CaseRecord:
    """A HealthBench example; look at ``fields.sound`` before using it."""
    key = fields.key("prompt_id")
    conversation, whole = conversation_of(fields, "prompt")
    kept: dict[str, Any] = {}
    criteria, extras = _criteria(fields, kept, "rubrics", "criterion")
    tags = fields.texts("example_tags")
    completions, more = _completions(fields, kept)
    metadata = as_imported.unknown_fields(fields.rest(), kept)
    if absent := [name for name in ("example_tags", "ideal_completions_data") if name not in fields.record]:
        kept["absent"] = absent
    if "example_tags" not in absent and fields.record["example_tags"] != list(dict.fromkeys(tags)):
        kept["example_tags"] = fields.record["example_tags"]
    _keep(fields, "prompt_id", kept, metadata)
    if whole is not None:
        metadata["prompt"] = whole
    if extras:
        metadata["criterion_extras"] = extras
    if more is not None:
        metadata["ideal_completions_data"] = more
    language = given_language(metadata)
    # A physician's answer comes before those of models.
    answers = [each.text for each in sorted(completions, key=lambda each: each.by == "reference")]
    return CaseRecord(
        line=fields.line,
        key=key,
        conversation=conversation,
        criteria=criteria,
        tags=tuple(dict.fromkeys(tags)),
        **(language or detected_language(conversation, answers)),
        completions=completions,
        metadata=metadata,
    )


def _keep(fields: Fields, key_field: str, kept: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Put the details of a line that the tables do not hold into the metadata, if there are any."""
    key = fields.record.get(key_field)
    if not isinstance(key, str):
        kept["key"] = key
    if kept:
        metadata[as_imported.KEY] = kept


def conversation_of(fields: Fields, name: str) -> tuple[list[dict[str, str]], list[Any] | None]:
    """The turns of a conversation, and the original list if its turns hold more than role and content."""
    value = fields.objects(name, what=Phrase("turn"))
    turns: list[dict[str, str]] = []
    more = False
    for index, turn in enumerate(value):
        inner = fields.within(f"{name}[{index}]", turn)
        if inner is None:
            continue
        role = inner.choice("role", ROLES)
        turns.append({"role": role, "content": inner.text("content", blank=True)})
        more = more or len(turn) > 2
        fields.absorb(inner)
    return turns, value if more else None


def _plain(element: Any) -> CriterionRecord | None:
    """A criterion of the usual form, read by a short cut; any other is read field by field, which takes longer."""
    if type(element) is not dict or element.keys() != _PLAIN:
        return None
    text, points, tags = element["criterion"], element["points"], element["tags"]
    if type(text) is not str or not text.strip() or type(points) is not int or not 0 < abs(points) <= MAX_POINTS:
        return None
    if type(tags) is not list or not {str}.issuperset(map(type, tags)) or not _sound_tags(tag_names := tuple(tags)):
        return None
    return CriterionRecord(text, points, tag_names)


@lru_cache(maxsize=4096)
def _sound_tags(tags: tuple[str, ...]) -> bool:
    return all(tag.strip() and len(tag) <= MAX_TAG_LENGTH for tag in tags)


def _criteria(
    fields: Fields, kept: dict[str, Any], name: str, text_field: str, *, tagged: bool = True
) -> tuple[tuple[CriterionRecord, ...], dict[str, Any]]:
    """The criteria of an example, and by their place what else is said of them.

    ``tagged``: the form has tags; where a criterion lacks them, that is kept.
    """
    criteria = []
    extras: dict[str, Any] = {}
    for index, element in enumerate(fields.objects(name, what=Phrase("criterion"))):
        if tagged and (plain := _plain(element)):
            criteria.append(plain)
            continue
        inner = fields.within(f"{name}[{index}]", element)
        if inner is None:
            continue
        place = str(index + 1)
        text = inner.text(text_field)
        points = inner.integer("points", low=-MAX_POINTS, high=MAX_POINTS)
        if points == 0 and inner.sound:
            inner.fault("points", Phrase("A criterion must add or deduct at least one point."))
        tags = inner.texts("tags")
        rests_on = as_imported.traceability_of(element.get("traceability"))
        if rests_on is not None:
            inner.take("traceability")
            if rests_on.get(as_imported.CITATIONS):
                kept.setdefault(as_imported.CITATIONS, {})[place] = list(rests_on[as_imported.CITATIONS])
        criteria.append(CriterionRecord(text, points, tuple(tags), **(rests_on or {})))
        rest = inner.rest()
        if not tagged and "tags" in element and not element["tags"]:
            rest["tags"] = element["tags"]
        if rest:
            extras[place] = rest
        if tagged and element.get("tags") is None:
            rest = {"tags": None} if "tags" in element else {}
            kept.setdefault("criteria", {})[place] = {"rest": rest}
        fields.absorb(inner)
    return tuple(criteria), extras


def _completions(fields: Fields, kept: dict[str, Any]) -> tuple[tuple[CompletionRecord, ...], dict[str, Any] | None]:
    """The completions that came with an example, and the other fields beside them."""
    value = fields.take("ideal_completions_data")
    if value is None:
        return (), None
    name = "ideal_completions_data"
    inner = fields.within(name, value)
    if inner is None:
        return (), None
    completions = []
    group = inner.text("ideal_completions_group", required=False)
    ideal = inner.text("ideal_completion", required=False)
    if ideal:
        metadata = {"ideal_completions_group": group} if group else {}
        place = f"{name}.ideal_completion"
        completions.append(CompletionRecord("physician", 0, ideal, place, WRITING_MODES.get(group, ""), metadata))
    references = inner.take("ideal_completions_ref_completions")
    if references is not None and not isinstance(references, list):
        inner.fault(
            "ideal_completions_ref_completions", Phrase("This must be a list, not %(kind)s.", kind=kind(references))
        )
        references = None
    for index, text in enumerate(references or []):
        if isinstance(text, str):
            place = f"{name}.ideal_completions_ref_completions[{index}]"
            completions.append(CompletionRecord("reference", index, text, place))
        else:
            inner.fault(
                f"ideal_completions_ref_completions[{index}]",
                Phrase("This must be text, not %(kind)s.", kind=kind(text)),
            )
    fields.absorb(inner)
    rest = inner.rest()
    if group and not ideal:
        rest["ideal_completions_group"] = group
    texts = [completion.text for completion in completions if completion.by == "reference"]
    if fields.sound and value != as_imported.ideal_completions(ideal, group if ideal else "", texts, rest):
        kept[name] = value
    return tuple(completions), rest or None


def professional_case(fields: Fields) -> CaseRecord:
    """A HealthBench Professional example; look at ``fields.sound`` before using it.

    Its physician wrote without responses of models.
    """
    key = fields.key("id")
    kept: dict[str, Any] = {as_imported.FORM: as_imported.PROFESSIONAL}
    conversation = _messages(fields, kept)
    criteria, extras = _criteria(fields, kept, "rubric_items", "criterion_text", tagged=False)
    tags = []
    for name in as_imported.PROFESSIONAL_LABELS:
        if label := fields.text(name, required=False, longest=MAX_TAG_LENGTH - len(name) - 1).strip():
            tags.append(f"{name}:{label}")
    physician = fields.text(PHYSICIAN_RESPONSE, required=False)
    completions: tuple[CompletionRecord, ...] = ()
    if physician.strip():
        completions = (CompletionRecord("physician", 0, physician, PHYSICIAN_RESPONSE, "unaided"),)
    elif PHYSICIAN_RESPONSE in fields.record:
        kept[PHYSICIAN_RESPONSE] = fields.record[PHYSICIAN_RESPONSE]
    metadata = as_imported.unknown_fields(fields.rest(), kept)
    # Kept word for word, so that the case can be written out as it came in.
    metadata |= {name: fields.record[name] for name in as_imported.PROFESSIONAL_LABELS if name in fields.record}
    _keep(fields, "id", kept, metadata)
    if extras:
        metadata["criterion_extras"] = extras
    return CaseRecord(
        line=fields.line,
        key=key,
        key_field="id",
        conversation_field="conversation",
        criteria_field="rubric_items",
        conversation=conversation,
        criteria=criteria,
        tags=tuple(dict.fromkeys(tags)),
        **(given_language(metadata) or detected_language(conversation, [each.text for each in completions])),
        completions=completions,
        metadata=metadata,
    )


def _messages(fields: Fields, kept: dict[str, Any]) -> list[dict[str, str]]:
    """The turns inside ``conversation``; what else it and its turns hold is kept."""
    value = fields.take("conversation")
    if value is None:
        fields.fault("conversation", Phrase("This field is missing."))
        return []
    inner = fields.within("conversation", value)
    if inner is None:
        return []
    turns, whole = conversation_of(inner, "messages")
    if whole is not None:
        kept["messages"] = whole
    if beside := inner.rest():
        kept["conversation"] = beside
    fields.absorb(inner)
    return turns


def clinconsensus_case(fields: Fields) -> CaseRecord:
    """A ClinConsensus case; look at ``fields.sound`` before using it."""
    key = fields.key("case_id")
    # Empty where the original case had none; a missing field is a fault.
    difficulty = "" if fields.take("difficulty") == "" else fields.choice("difficulty", DIFFICULTIES)
    context = fields.text("clinical_context", blank=True)
    request = fields.text("user_request")
    reference_answer = fields.text("reference_answer", required=False)
    user_role = fields.text("user_role", required=False)
    tags: list[str] = []
    for prefix, singular, many in (("task", "task", "task_labels"), ("specialty", "subject", "subject_labels")):
        labels = fields.texts(many, longest=280)
        single = fields.text(singular, required=False, longest=280)
        tags += [f"{prefix}:{label}" for label in labels or ([single] if single.strip() else [])]
    kept: dict[str, Any] = {}
    criteria, extras = _clinconsensus_criteria(fields, kept)
    metadata = as_imported.unknown_fields(fields.rest(), kept)
    # Kept word for word, so that the case can be written out as it came in.
    for name in ("task", "task_labels", "subject", "subject_labels", "user_role"):
        if name in fields.record:
            metadata[name] = fields.record[name]
    metadata["context_length"] = len(context)
    _keep(fields, "case_id", kept, metadata)
    if extras:
        metadata["criterion_extras"] = extras
    conversation = [{"role": "user", "content": f"{context}\n\n{request}" if context else request}]
    return CaseRecord(
        line=fields.line,
        key=key,
        key_field="case_id",
        conversation_field="user_request",
        conversation=conversation,
        criteria=criteria,
        tags=tuple(dict.fromkeys(tags)),
        difficulty=difficulty,
        reference_answer=reference_answer,
        **(given_language(metadata) or detected_language(conversation, [reference_answer])),
        user_role=user_role,
        metadata=metadata,
    )


def given_language(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `CaseRecord` for the language that a file gives: ``language`` with a tag of BCP 47; else none.

    The format does not define the field, so that anything else in it stays what it was: a detail that is kept.
    """
    value = metadata.get("language")
    try:
        return {"language": normalise_language(value)} if isinstance(value, str) and value.strip() else {}
    except ValueError:
        return {}


def detected_language(conversation: Sequence[Mapping[str, Any]], answers: Sequence[str] = ()) -> dict[str, Any]:
    """The fields of a `CaseRecord` for the language that the words of the case show."""
    language = detect_case_language(conversation, answers)
    return {"language": language, "language_detected": bool(language)}


def _clinconsensus_criteria(fields: Fields, kept: dict[str, Any]) -> tuple[tuple[CriterionRecord, ...], dict[str, Any]]:
    criteria = []
    extras: dict[str, Any] = {}
    for index, element in enumerate(fields.objects("rubrics", what=Phrase("criterion"))):
        place = f"rubrics[{index}]"
        if isinstance(element, str):
            if not element.strip():
                fields.fault(place, Phrase("This must not be empty."))
            criteria.append(CriterionRecord(element, 1))
            continue
        inner = fields.within(place, element)
        if inner is None:
            continue
        name = inner.name_of("criterion", "rubric", "text")
        text = inner.text(name)
        criteria.append(CriterionRecord(text, 1, tuple(inner.texts("tags"))))
        rest = inner.rest()
        if rest:
            extras[str(index + 1)] = rest
        kept.setdefault("criteria", {})[str(index + 1)] = as_imported.clinconsensus_criterion_kept(element, rest, name)
        fields.absorb(inner)
    return tuple(criteria), extras


_READERS: dict[str, Callable[[Fields], CaseRecord]] = {
    "healthbench": healthbench_case,
    "healthbench_professional": professional_case,
    "clinconsensus": clinconsensus_case,
}
