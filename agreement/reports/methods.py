"""The methods paragraph of a report: how its figures were computed, in words for a paper.

The words are English whatever the language of the page, and the same for the same report: they go into its files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils import translation

from agreement.kinds import kind_of
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.endpoint_facts import is_by_rules
from agreement.reports.sentences import capital, counted, judge_in_words, rater_in_words
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import names_in
from agreement.writers import latex, markdown
from consilium.statistics.bootstrap import MINIMUM_CASES
from consilium.statistics.two_raters import COEFFICIENTS
from scoring.judges.kinds.kind import kind_named

SOURCES = {
    "Angelopoulos et al. 2023": "Angelopoulos, Duchi, Zrnic 2023: PPI++: Efficient Prediction-Powered Inference. "
    "arXiv 2311.01453.",
    "Arora et al. 2025": "Arora et al. 2025: HealthBench: Evaluating Large Language Models Towards Improved Human "
    "Health. arXiv 2505.08775.",
    "Benjamini and Hochberg 1995": "Benjamini, Hochberg 1995: Controlling the false discovery rate: a practical and "
    "powerful approach to multiple testing. Journal of the Royal Statistical Society B 57.",
    "Benjamini and Yekutieli 2001": "Benjamini, Yekutieli 2001: The control of the false discovery rate in multiple "
    "testing under dependency. Annals of Statistics 29.",
    "Calderon et al. 2025": "Calderon, Reichart, Dror 2025: The Alternative Annotator Test for LLM-as-a-Judge. "
    "arXiv 2501.10970.",
    "Carter et al. 2017": "Carter, Schnepel, Steigerwald 2017: Asymptotic behavior of a t-test robust to cluster "
    "heterogeneity. Review of Economics and Statistics 99.",
    "Chen et al. 2026": "Chen et al. 2026: Automated Rubrics for Reliable Evaluation of Medical Dialogue Systems.",
    "Cohen 1968": "Cohen 1968: Weighted kappa: Nominal scale agreement with provision for scaled disagreement or "
    "partial credit. Psychological Bulletin 70.",
    "Efron and Tibshirani 1993": "Efron, Tibshirani 1993: An Introduction to the Bootstrap, chapter 13.",
    "Fagerland et al. 2013": "Fagerland, Lydersen, Laake 2013: The McNemar test for binary matched-pairs data: mid-p "
    "and asymptotic are better than exact conditional. BMC Medical Research Methodology 13.",
    "Fleiss 1971": "Fleiss 1971: Measuring nominal scale agreement among many raters. Psychological Bulletin 76.",
    "Kendall 1945": "Kendall 1945: The treatment of ties in ranking problems. Biometrika 33.",
    "Kopka et al. 2023": "Kopka, Feufel, Berner, Schmieding 2023: How suitable are clinical vignettes for the "
    "evaluation of symptom checker apps? A test theoretical perspective. Digital Health 9.",
    "Hyndman and Fan 1996": "Hyndman, Fan 1996: Sample quantiles in statistical packages. The American Statistician "
    "50.",
    "Koopman 1984": "Koopman 1984: Confidence intervals for the ratio of two binomial proportions. Biometrics 40.",
    "Levenshtein 1966": "Levenshtein 1966: Binary codes capable of correcting deletions, insertions, and reversals. "
    "Soviet Physics Doklady 10.",
    "Hanley and McNeil 1982": "Hanley, McNeil 1982: The meaning and use of the area under a receiver operating "
    "characteristic (ROC) curve. Radiology 143.",
    "Holm 1979": "Holm 1979: A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
    "Statistics 6.",
    "Lancaster 1961": "Lancaster 1961: Significance tests in discrete distributions. Journal of the American "
    "Statistical Association 56.",
    "Liang and Zeger 1986": "Liang, Zeger 1986: Longitudinal data analysis using generalized linear models. "
    "Biometrika 73.",
    "McNemar 1947": "McNemar 1947: Note on the sampling error of the difference between correlated proportions or "
    "percentages. Psychometrika 12.",
    "Miller 1974": "Miller 1974: The jackknife – a review. Biometrika 61.",
    "Mogstad et al. 2024": "Mogstad, Romano, Shaikh, Wilhelm 2024: Inference for ranks with applications to mobility "
    "across neighbourhoods and academic achievement across countries. Review of Economic Studies 91.",
    "Obuchowski 1998": "Obuchowski 1998: On the comparison of correlated proportions for clustered data. Statistics in "
    "Medicine 17.",
    "Piaggio et al. 2012": "Piaggio et al. 2012: Reporting of noninferiority and equivalence randomized trials: "
    "extension of the CONSORT 2010 statement. JAMA 308.",
    "Phipson and Smyth 2010": "Phipson, Smyth 2010: Permutation p-values should never be zero: calculating exact "
    "p-values when permutations are randomly drawn. Statistical Applications in Genetics and Molecular Biology 9.",
    "Shrout and Fleiss 1979": "Shrout, Fleiss 1979: Intraclass correlations: uses in assessing rater reliability. "
    "Psychological Bulletin 86.",
    "Soskin Hicks et al. 2026": "Soskin Hicks et al. 2026: HealthBench Professional: Evaluating Large Language Models "
    "on Real Clinician Chats. arXiv 2604.27470.",
    "Tukey 1958": "Tukey 1958: Bias and confidence in not-quite large samples (abstract). Annals of Mathematical "
    "Statistics 29.",
    "Wilcoxon 1945": "Wilcoxon 1945: Individual comparisons by ranking methods. Biometrics Bulletin 1.",
    "Yang et al. 2010": "Yang, Sun, Hardin 2010: A note on the tests for clustered matched-pair binary data. "
    "Biometrical Journal 52.",
    "Zheng et al. 2026": "Zheng et al. 2026: ClinConsensus: A Physician-Calibrated Benchmark for Evaluating Clinical "
    "Rubric Coverage in Chinese Medical LLMs. arXiv 2603.02097.",
    "Zou and Donner 2008": "Zou, Donner 2008: Construction of confidence limits about effect measures: a general "
    "approach. Statistics in Medicine 27.",
    **{name: source for coefficient in COEFFICIENTS for name, source in coefficient.sources.items()},
}
# How large a case is by kind, and the bounds of figures.
_SIZES: dict[str, str] = {
    Report.Kind.AGREEMENT: sentences.SIZES_OF_AGREEMENT,
    Report.Kind.FIDELITY: sentences.SIZES_OF_MF1,
    Report.Kind.COMPARISON: sentences.SIZES_OF_MF1,
    Report.Kind.ITEMS: sentences.SIZES_OF_RATES,
    Report.Kind.ALTERNATIVE: sentences.SIZES_OF_ADVANTAGES,
    Report.Kind.SCORES: sentences.SIZES_OF_SCORES,
    Report.Kind.POWERED: sentences.SIZES_OF_POWERED,
    Report.Kind.FRONTIER: sentences.SIZES_OF_POWERED,
    Report.Kind.CALIBRATION: sentences.SIZES_OF_HITS,
    Report.Kind.ACUITY: sentences.SIZES_OF_ACUITY,
    Report.Kind.ACUITY_FORMATS: sentences.SIZES_OF_ACUITY,
    Report.Kind.ACUITY_JUDGE: sentences.SIZES_OF_ACUITY,
    Report.Kind.COVERAGE: sentences.SIZES_OF_COVERAGE,
    Report.Kind.PAIRS: sentences.SIZES_OF_PAIRS,
    Report.Kind.REFINEMENT: sentences.SIZES_OF_REFINEMENT,
    Report.Kind.DRAFTING: sentences.SIZES_OF_DRAFTING,
    Report.Kind.META_EVAL: sentences.SIZES_OF_MF1,
    Report.Kind.CONSENSUS: sentences.SIZES_OF_CONSENSUS,
    Report.Kind.MODES: sentences.SIZES_OF_MODES,
    Report.Kind.FAILURES: sentences.SIZES_OF_FAILURES,
}
# The figures that take account of chance where cases have few pairs, with their verb.
_FEW_PAIRS: dict[str, str] = {
    Report.Kind.AGREEMENT: "MF1, kappa and alpha have",
    Report.Kind.FIDELITY: "MF1 has",
    Report.Kind.COMPARISON: "MF1 has",
    Report.Kind.ITEMS: "MF1 has",
    Report.Kind.ALTERNATIVE: "MF1 has",
    Report.Kind.CALIBRATION: "MF1 has",
    Report.Kind.SCORES: "the MF1 of groups has",
    Report.Kind.META_EVAL: "MF1 has",
    Report.Kind.FAILURES: "kappa, F1 and alpha have",
}
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Methods:
    """Paragraphs, and the sources that they name, in full."""

    title: str
    paragraphs: list[str]
    sources: list[str]

    @property
    def text(self) -> str:
        """Plain text: to copy, and ``methods.txt``."""
        parts = list(self.paragraphs)
        if self.sources:
            parts.append("\n".join(["References", *self.sources]))
        return "\n\n".join(parts) + "\n"

    @property
    def markdown(self) -> str:
        """``methods.md``."""
        lines = [f"# Methods: {markdown.escaped(self.title)}", *map(markdown.escaped, self.paragraphs)]
        if self.sources:
            lines += ["## References", "\n".join(f"- {markdown.escaped(source)}" for source in self.sources)]
        return "\n\n".join(lines) + "\n"

    @property
    def latex(self) -> str:
        """``methods.tex``: a paragraph to \\input."""
        lines = [rf"\paragraph{{{latex.escaped(self.title)}}}", *map(latex.escaped, self.paragraphs)]
        if self.sources:
            items = [rf"\item {latex.escaped(source)}" for source in self.sources]
            lines.append("\n".join([r"\begin{itemize}", *items, r"\end{itemize}"]))
        return "\n\n".join(lines) + "\n"


def methods_of(report: Report) -> Methods:
    """The methods of a finished report."""
    own = [_BLANKS.sub(" ", sentence).strip() for sentence in kind_of(report).methods(report)]
    parts = [
        _answered_by_rules(report),
        filter(None, own),
        _raters(report),
        _notes(report),
        filter(None, _computation(report)),
    ]
    paragraphs = list(filter(None, map(" ".join, parts)))
    text = " ".join(paragraphs)
    with translation.override("en"):
        title = str(kind_of(report).title(report.parameters, names_in([report])))
    return Methods(title, paragraphs, [source for name, source in sorted(SOURCES.items()) if _names(text, name)])


def _names(text: str, source: str) -> bool:
    """Whether a text names a source: its first author, and the year soon after."""
    author, year = source.split()[0], source.split()[-1]
    return re.search(rf"\b{author}\b[^.()]{{0,60}}\b{year}\b", text.replace("et al.", "et al")) is not None


def _answered_by_rules(report: Report) -> Iterator[str]:
    if is_by_rules(report):
        yield (
            "Requests were answered by an endpoint that follows fixed rules and is no language model: the figures say "
            "nothing about any model."
        )


def _raters(report: Report) -> Iterator[str]:
    """How each kind of rater came to its outcome, and of each judge what it was asked."""
    facts = report.result["facts"]
    rows: list[Row] = [*(facts.get("raters") or []), *(facts.get("raters_beside") or [])]
    if any(row["kind"] == "group" for row in rows):
        final = any(str(row["rater"]).endswith("@final") for row in rows)
        yield (
            "The outcome of a group on a pair is what most of its annotators chose; a tie is undecided and excluded"
            f"{' unless an adjudicator of the group settled it' if final else ''}."
        )
    if any(row["kind"] == "consensus" for row in rows):
        yield "The consensus is what both groups said after adjudication, or the ruling between them where they differ."
    for row in rows:
        if kind_named(row["kind"]).has_members:
            rule = "what all its members say" if row["model"] == "unanimous" else "the majority of its members"
            yield f"{_name(row)} gives {rule}, on the pairs that all of them judged; otherwise it is undecided."
        elif row["run"]:
            yield _of_judge(row)


def _name(row: Row) -> str:
    # A jury that is written out has no name of its own.
    if not row["judge"]:
        return capital(rater_in_words(row["rater"]))
    is_jury = kind_named(row["kind"]).has_members
    return f"The jury {row['judge']}" if is_jury else capital(judge_in_words(row["judge"]))


def _of_judge(row: Row) -> str:
    kind = kind_named(row["kind"])
    parts = [f"version {row['version']}"]
    if row["model"]:
        parts.append(f"model {row['model']}")
    if row["prompt"]:
        parts.append(f"prompt {row['prompt']}")
    if row["prompt_hash"]:
        what = kind.hash_name or "prompt with rule sheet"
        parts.append(f"SHA-256 of the {what} {row['prompt_hash']}")
    parts.append(f"run {row['run']}")
    if row["finished_at"]:
        parts.append(f"finished {row['finished_at'][:10]}")
    if kind.is_imported:
        parts.append("verdicts made elsewhere and imported")
    return f"{_name(row)}: {', '.join(parts)}."


def _notes(report: Report) -> Iterator[str]:
    notes = report.result.get("notes") or []
    if notes:
        yield f"Remarks: {'; '.join(notes)}."


def _computation(report: Report) -> Iterator[str]:
    facts = report.result["facts"]
    if facts.get("interval") == Report.Interval.JACKKNIFE:
        yield from sentences.JACKKNIFE
        yield _SIZES[report.kind]
        if figures := _FEW_PAIRS.get(report.kind):
            yield sentences.few_pairs(figures)
        yield sentences.effective_cases(report)
    elif resamples := facts.get("resamples"):
        yield (
            f"Intervals are 95% percentile intervals of a bootstrap over cases (Efron and Tibshirani 1993) with "
            f"{counted(resamples, 'resample')} and seed {report.seed}, given only where at least {MINIMUM_CASES} cases "
            "stand behind a figure, it is defined in 95% of the resamples (the others are excluded), the resamples do "
            "not all agree, and the interval contains the figure. With few cases such intervals are too short."
        )
        yield sentences.effective_cases(report)
    else:
        yield f"The seed was {report.seed}."
    at = report.started_at
    yield (
        f"Figures were computed with {report.software}{f' on {at:%Y-%m-%d} (UTC)' if at else ''} "
        f"from inputs with the SHA-256 digest {report.input_digest}."
    )
