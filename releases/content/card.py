"""DATA_CARD.md: what is in a release, how it was made, and where its limits are. In English, from counts alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from releases.content.citation import Cited, bibtex, one_line
from releases.content.options import ReleaseOptions


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The facts on the card. ``counts`` are those of `release.json`; ``left_out`` is what a form left out.

    ``judges_without``: of verdicts and codes → the judges that were chosen and have none.
    """

    cited: Cited
    description: str
    notes: str
    options: ReleaseOptions
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    process: Mapping[str, Any]
    canary: str
    made_up: bool
    slices: Sequence[Sequence[Any]] = ()
    names: Sequence[str] = field(default_factory=tuple)
    judges_without: Mapping[str, Sequence[str]] = field(default_factory=dict)


def data_card(facts: CardFacts) -> str:
    """The card as Markdown."""
    cited = facts.cited
    parts = [f"# {cited.title}\n\nVersion {cited.version}, {cited.date}"]
    if facts.made_up:
        parts.append("**This benchmark is made up** to show the product: no patient and no physician is behind it.")
    if facts.description:
        parts.append(facts.description)
    if facts.notes:
        parts.append(f"## What this version brings\n\n{facts.notes}")
    parts += [_composition(facts), _collection(facts), _process(facts), _credentials(facts), _files(facts)]
    parts += [_use(facts), _limits(facts)]
    if facts.names:
        parts.append("## Acknowledgements\n\nWho agreed to be named: " + ", ".join(facts.names) + ".")
    parts.append(f"## How to cite\n\n{one_line(cited)}\n\n```bibtex\n{bibtex(cited)}\n```")
    return "\n\n".join(parts) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _name in header) + " |"]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _n(count: int, singular: str, many: str = "") -> str:
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def _composition(facts: CardFacts) -> str:
    counts = facts.counts
    words = (
        f"{_n(counts['cases'], 'case')} with {_n(counts['criteria'], 'criterion', 'criteria')}: "
        f"{counts['positive_criteria']:,} with positive points, {counts['negative_criteria']:,} with negative ones. "
        f"{_n(counts['turns'], 'turn')} of conversation. "
        "Each case has the published version of its rubric; drafts are not in here."
    )
    if facts.options.acuity:
        words += (
            f" {_n(counts['acuity_cases'], 'case')}, with a rubric or without, "
            f"{'has' if counts['acuity_cases'] == 1 else 'have'} labels, votes or readings of urgency; see `acuity/`."
        )
    rows = [row[:3] for row in facts.slices if str(row[0]).startswith(("difficulty:", "register:", "language:"))]
    table = "\n\n" + _table(("slice", "cases", "criteria"), rows) if rows else ""
    where = "All slices are counted in `slices.csv`; `splits/` lists the cases of each."
    return f"## Composition\n\n{words}{table}\n\n{where}"


def _collection(facts: CardFacts) -> str:
    rubrics, counts = facts.process["rubrics"], facts.counts
    lines = [
        f"- {_n(rubrics['imported'], 'rubric')} from files, with the cases; "
        f"{_n(rubrics['written_here'], 'rubric')} written or revised here.",
    ]
    if rubrics["authors"]:
        lines.append(
            f"- {_n(rubrics['authors'], 'author')} wrote; {_n(rubrics['reviewers'], 'reviewer')} approved "
            f"{_n(rubrics['approved'], 'time')} and returned {_n(rubrics['returned'], 'time')}. "
            "A rubric is published when somebody who did not write on it has approved it."
        )
    if counts.get("ideal_completions"):
        lines.append(
            f"- {_n(counts['ideal_completions'], 'ideal completion')} by physicians and "
            f"{_n(counts['reference_completions'], 'reference completion')} by models came with the cases."
        )
    return "## Collection\n\n" + "\n".join(lines)


def _process(facts: CardFacts) -> str:
    process, parts = facts.process, []
    if process["groups"]:
        measures = ("annotators", "checkers", "adjudicators", "responses", "decisions", "imported decisions", "checks")
        rows = [[name, *(f"{group[name]:,}" for group in process["groups"])] for name in measures]
        parts.append(
            _table(("expert group", *(group["name"] for group in process["groups"])), rows)
            + f"\n\n{_how_decided(process)}"
        )
    for entry in process["screening"]:
        parts.append(
            f"- Screening ({entry['status']}): {_n(entry['cases'], 'case')} scored "
            f"over {_n(entry['candidates'], 'candidate')} ({entry['aggregate']}); "
            f"{entry['flagged']:,} at or above {entry['threshold']:.0%}, {entry['excluded']:,} excluded."
        )
    for entry in process["audits"]:
        parts.append(
            f"- Senior audit ({entry['status']}): {_n(entry['drawn'], 'case')} drawn at random ({entry['share']:.0%}), "
            f"{_n(entry['auditors'], 'auditor')}; {entry['sound']:,} sound, {entry['revise']:,} to revise, "
            f"{entry['remove']:,} to remove, {entry['open']:,} open."
        )
    left_out = {name: count for name, count in process["left_out"].items() if count}
    words = {
        "excluded_screening": "excluded by screening",
        "excluded_audit": "excluded by the senior audit",
        "excluded_decision": "excluded by a decision of an admin",
        "without_published_rubric": "without a published rubric",
    }
    listed = ", ".join(f"{count:,} {words.get(name, name)}" for name, count in left_out.items())
    parts.append(f"Cases that are not in here: {listed}." if listed else "No case was left out.")
    return "## Process\n\n" + "\n\n".join(parts)


def _how_decided(process: Mapping[str, Any]) -> str:
    """How decisions are made here, and that this is not known of those from elsewhere."""
    decisions, elsewhere = (sum(group[name] for group in process["groups"]) for name in _DECISIONS)
    words = []
    if decisions > elsewhere or not decisions:
        words.append(
            "Annotators decide on their own and without knowing who answered; where checks are made, another "
            "physician reads the decisions; conflicts go to an adjudicator. "
            f"{_n(process['rubrics']['adjudications'], 'response')} went through adjudication."
        )
    if elsewhere:
        which = "All decisions" if elsewhere == decisions else f"Of the decisions, {elsewhere:,}"
        were = "was" if 1 == elsewhere < decisions else "were"
        words.append(
            f"{which} {were} imported. How imported decisions were made, and whether their raters knew who answered, "
            "is not recorded here."
        )
    return " ".join(words)


_DECISIONS = ("decisions", "imported decisions")


def _credentials(facts: CardFacts) -> str:
    credentials = dict(facts.process["credentials"])
    physicians = credentials.pop("physicians", 0)
    if not physicians:
        votes = facts.counts.get("votes", 0) if facts.options.votes else 0
        words = "No physician has worked on rubrics or responses here."
        if any(group["decisions"] for group in facts.process["groups"]):
            words = "Decisions on responses were imported; the credentials of those who made them are not known here."
        if votes:
            words += f" {_n(votes, 'vote')} of physicians on urgency {'is' if votes == 1 else 'are'} in `acuity/`."
        return f"## Physicians\n\n{words}"
    rows = [
        (name.replace("_", " "), value, count)
        for name, counts in credentials.items()
        for value, count in counts.items()
    ]
    words = (
        f"{_n(physicians, 'physician')} took part. Who they are stays apart from what they decided; "
        "their credentials are counted here, and small counts are merged or withheld."
    )
    table = _table(("credential", "", "physicians"), rows) if rows else "No count of a credential is large enough."
    return f"## Physicians\n\n{words}\n\n{table}"


def _files(facts: CardFacts) -> str:
    counts, options, left_out = facts.counts, facts.options, facts.left_out
    lines = [
        f"- `cases/healthbench.jsonl`: {_n(counts['cases'], 'case')} in HealthBench's form.",
        f"- `cases/clinconsensus.jsonl`: {_n(counts['clinconsensus_cases'], 'case')} in ClinConsensus' form"
        f"{'' if options.reference_answers else ', without reference answers'}.",
        *(
            [f"- `cases/healthbench_professional.jsonl`: {_n(n, 'case')} in the form of HealthBench Professional."]
            if (n := counts.get("professional_cases"))
            else []
        ),
        "- `rubrics.csv`: the criteria as a table, with the source each rests on, the element of the case it hangs on "
        "and what it checks.",
        *_citation_files(counts),
        "- `splits/`, `slices.csv`: parts of the benchmark and their sizes.",
        "- `schema/`: JSON Schema of every file of lines. `croissant.json`: Croissant 1.0 metadata.",
    ]
    if counts.get("prompts"):
        lines.append(f"- `prompts/`: the prompts of {_n(counts['prompts'], 'judge')}, with their hash.")
    if options.responses:
        lines.append(f"- `responses.jsonl`: {_n(counts['responses'], 'response')}.")
    if options.decisions:
        lines.append(
            f"- `decisions.csv`: {_n(counts['decisions'], 'decision')} of physicians under pseudonyms, "
            f"{'with' if options.notes else 'without'} their notes. A criterion is named by its place in the rubric."
        )
        lines += _later_decisions(counts)
    if options.verdicts:
        lacking = _judges_without(facts, "verdicts")
        lines.append(f"- `verdicts.csv`: {_n(counts['verdicts'], 'verdict')} of judges.{lacking}")
    if options.codes:
        lines += _code_files(facts)
    if n := counts.get("attributes"):
        lines.append(
            f"- `candidates.csv`: family, developer, release date, size, effort and listed prices of "
            f"{_n(n, 'candidate')}."
        )
    if options.acuity:
        lines += _acuity_files(facts)
    lines.append("- `release.json`: what this release was made from.")
    lines.append("- `SHA256SUMS`: check it with `sha256sum --check SHA256SUMS`.")
    return "## Files\n\n" + "\n".join(lines) + _changes_section(left_out)


def _later_decisions(counts: Mapping[str, int]) -> list[str]:
    """What annotators, checkers and adjudicators decided after the first decisions, where there is any of it."""
    lines = []
    if n := counts.get("amendments"):
        lines.append(
            f"- `amendments.csv`: {_n(n, 'change')} of these first decisions in accepted work, by a checker (stage "
            "`checker`) or by the annotator after a return (stage `annotator`), with the outcome before and after."
        )
    if n := counts.get("rulings_on_decisions"):
        lines.append(
            f"- `rulings.csv`: {_n(n, 'ruling')} of adjudicators on conflicts within a group, or between two groups. "
            "The outcome `faulty` means that the criterion does not fit the response."
        )
    return lines


def _code_files(facts: CardFacts) -> list[str]:
    counts = facts.counts
    return [
        f"- `codes/book-N.jsonl`: the code book of failures, {_n(counts['code_books'], 'version')} in use, a code on "
        "each line.",
        f"- `codes/physicians.csv`: {_n(counts['codes_of_physicians'], 'row')} of codes that physicians gave to "
        f"responses, under pseudonyms, {'with' if facts.options.notes else 'without'} their notes. "
        f"`codes/rulings.csv`: {_n(counts['codes_ruled'], 'row')} of codes that adjudicators ruled. A row with the "
        "code `none` says that no code applies.",
        f"- `codes/judges.csv`: {_n(counts['codes_of_judges'], 'row')} of codes that judges gave, one each for an "
        "answer that no code applies and for one that could not be read, in the "
        f"{_n(counts['coding_runs'], 'run')} that count for them.{_judges_without(facts, 'codes')} `codes/prompts/`: "
        "what they were asked.",
    ]


def _judges_without(facts: CardFacts, part: str) -> str:
    """A sentence about the chosen judges that have none of a part."""
    names = facts.judges_without.get(part, ())
    listed = ", ".join(f"`{name}`" for name in names)
    return f" Of the chosen judges, {listed} {'has' if len(names) == 1 else 'have'} no {part}." if names else ""


def _citation_files(counts: Mapping[str, int]) -> list[str]:
    lines = _cited_files(counts) if counts.get("documents") or counts.get("citations") else []
    if counts.get("suggestions"):
        lines.append(
            f"- `suggestions.csv`: the criteria that began as suggestions of a machine "
            f"({_n(counts['suggestions'], 'criterion', 'criteria')}), each taken by a physician as it was or reworded, "
            f"with recipe and edit distance. `facts.csv`: {_n(counts['facts'], 'fact')} that they rest on."
        )
    return lines


def _cited_files(counts: Mapping[str, int]) -> list[str]:
    return [
        f"- `citations.csv`: the passages that criteria rest on ({_n(counts['citations'], 'citation')}), by locator; "
        "their words where the document may be quoted, the whole passage where it may be passed on. "
        f"`documents.csv`: {_n(counts['documents'], 'document')} with licence and SHA-256."
    ]


def _acuity_files(facts: CardFacts) -> list[str]:
    counts, options = facts.counts, facts.options
    lines = [
        f"- `acuity/`: how urgent cases are ({_n(counts['acuity_cases'], 'case')}). `scale.json`, `schemes.csv`, "
        f"`source_labels.csv` ({_n(counts['source_labels'], 'label')} from elsewhere) and `flow.csv`; `sets.csv` and "
        f"`reference.csv` ({_n(counts['reference_sets'], 'signed reference set')}); `readings.csv` "
        f"({_n(counts['readings'], 'reading')}, {'word for word' if options.reading_texts else 'without words'}).",
        f"- `acuity/runs.csv`, `acuity/prompts/`: the {_n(counts['runs_of_levels'], 'run')} that asked for levels or "
        "read them in responses, and what was sent.",
        "- `acuity/datasets.csv`: the licence of each dataset. The texts of a dataset that may not be passed on are in "
        "no file; its cases stand in `acuity/cases.jsonl` by key and digest.",
    ]
    if options.responses:
        lines.append(
            f"- `acuity/responses.jsonl`: {_n(counts['responses_read'], 'response')} that a judge or a physician read."
        )
        if options.votes:
            lines.append(
                f"- `acuity/advice.csv`, `acuity/advice_batches.csv`: which level physicians read in responses "
                f"({_n(counts['advice'], 'answer')} under pseudonyms), and how these were drawn."
            )
    if options.votes:
        lines.append(
            f"- `acuity/votes.csv`, `acuity/rulings.csv`: {_n(counts['votes'], 'vote')} and "
            f"{_n(counts['rulings'], 'ruling')} of physicians under pseudonyms, "
            f"{'with' if options.certainty else 'without'} certainty, {'with' if options.notes else 'without'} notes."
        )
    return lines


_SENTENCES = {
    "cases_with_several_turns": "cases with several turns are flattened: the turns before the last stand in "
    "`clinical_context`, each after the name of its speaker, and the last is `user_request`",
    "cases_without_a_request": "cases are left out, since their last turn is not a request of the user",
    "cases_without_positive_criteria": "cases are left out, since none of their criteria has positive points",
    "criteria_with_negative_points": "criteria with negative points are left out; the form knows none",
    "criteria_with_other_points": "criteria are worth other than 1 point, which the form does not say",
    "cases_without_difficulty": "cases have no difficulty; it is empty",
}


def _changes_section(left_out: Mapping[str, int]) -> str:
    lines = [f"- {left_out[name]:,} {words}." for name, words in _SENTENCES.items() if left_out.get(name)]
    text = "\n\nWhat ClinConsensus' form does not hold:\n\n" + "\n".join(lines) if lines else ""
    if count := left_out.get("decisions_on_earlier_criteria"):
        text += f"\n\n{_n(count, 'decision')} on criteria of earlier versions are left out."
    if count := left_out.get("pairs_without_outcome"):
        text += f"\n\n{_n(count, 'pair')} without an outcome (ties) are left out."
    for what in ("amendment", "ruling"):
        if count := left_out.get(f"{what}s_on_earlier_criteria"):
            text += f"\n\n{_n(count, what)} on criteria of earlier versions {'is' if count == 1 else 'are'} left out."
    for name, what in (
        ("decisions_on_faulty_criteria", "decision"),
        ("amendments_on_faulty_criteria", "amendment"),
        ("verdicts_on_faulty_criteria", "verdict"),
    ):
        if count := left_out.get(name):
            text += (
                f"\n\n{_n(count, what)} on criteria that an adjudicator found faulty on the response are left out, as "
                "they are of every score."
            )
    if count := left_out.get("cases_of_datasets_not_passed_on"):
        text += f"\n\n{_n(count, 'case')} with a rubric cannot be in here: the datasets may not be passed on."
    if count := left_out.get("readings_on_excluded_cases"):
        text += f"\n\n{_n(count, 'reading')} on excluded cases are left out."
    if count := left_out.get("judge_readings_without_responses"):
        text += (
            f"\n\n{_n(count, 'reading')} of judges are left out, since the responses that they were read in are not in "
            "this release."
        )
    if count := left_out.get("advice_without_responses"):
        text += (
            f"\n\n{_n(count, 'response')} read by physicians are left out with what they read, since these responses "
            "are not in this release."
        )
    if count := left_out.get("codes_tied_to_earlier_criteria"):
        text += (
            f"\n\n{_n(count, 'code')} {'was' if count == 1 else 'were'} tied to criteria of earlier versions: "
            "the codes are in this release, without the criteria."
        )
    if count := left_out.get("verdicts_without_majority"):
        text += f"\n\n{_n(count, 'pair')} on which the replicates of a judge tie are left out."
    return text


def _use(facts: CardFacts) -> str:
    licence = facts.cited.licence
    lines = [f"Licence: {licence}. See `LICENSE`." if licence else "There is no licence. See `LICENSE`."]
    if facts.canary:
        lines.append(
            "The canary below stands in the cases that carry one. Do not publish examples in plain text, and leave "
            f"files with it out of training data:\n\n```\n{facts.canary}\n```"
        )
    return "## Use\n\n" + "\n\n".join(lines)


def _limits(facts: CardFacts) -> str:
    return (
        "## Limits\n\n"
        "- A rubric says what its authors thought of; a good answer may do more, and be no better scored for it.\n"
        "- Cases stand for the settings, languages and specialties counted above, and for no others.\n"
        "- Scores are for comparing systems, not for deciding whether one is safe to use with patients."
    )
