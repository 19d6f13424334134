"""Why a figure is undefined, and remarks that a reader needs with a figure: each a code with its English words.

A statistic says `Undefined(Reason.NO_PAIRS())` or notes `Reason.INTERVAL_CASES(cases=4, needed=10)`. The result is the
English text, which files and stored reports hold, and remembers its code and parameters, so that a page can give it in
the reader's language (`consilium.core.i18n.translate`). A new reason is one member here; `manage.py translations`
collects its words. No Django in here: `consilium.statistics` uses it.
"""

from __future__ import annotations

from enum import Enum, unique
from typing import Any

from consilium.core.phrases import Phrase


class CodedPhrase(Phrase):
    """A phrase made from a `Reason`, which is its ``code``; its parameters are its ``values``, numbers and strings."""

    code: Reason

    def __new__(cls, code: Reason, /, **values: Any) -> CodedPhrase:
        singular = code.singular if values.get("n") == 1 else ""
        return cls.stored((singular or code.template) % values, code, values)

    @classmethod
    def stored(cls, text: str, code: Reason, values: dict[str, Any]) -> CodedPhrase:
        """A phrase whose text was stored, perhaps with another plural than today's."""
        phrase = str.__new__(cls, text)
        phrase.code, phrase.template, phrase.values = code, code.template, values
        return phrase

    def __getnewargs_ex__(self) -> tuple[tuple[Reason], dict[str, Any]]:
        return (self.code,), self.values


@unique
class Reason(Enum):
    """The codes. A second text is the English one where ``n`` is 1."""

    # Nothing to compute with.
    NO_RESPONSES = Phrase("no responses")
    NO_CANDIDATES = Phrase("no candidates")
    NO_SAMPLES = Phrase("no samples")
    NO_PAIRS = Phrase("no pairs")
    NO_ITEMS = Phrase("no items")
    NO_ANSWERS = Phrase("no answers")
    NOTHING_COUNTED = Phrase("nothing to count yet")
    RATIO_WITHOUT_EVENT = Phrase("marked in no response on one side, so the ratio is 0 or infinite")
    RATIO_ALL_EVENTS = Phrase("marked in every response on one side, so the odds are infinite")
    CONSTANT_CODE = Phrase("one of the two codes is marked everywhere or nowhere")
    NO_VALID_VERDICT = Phrase("no valid verdict")
    NO_POSITIVE_CRITERIA = Phrase("no positive criteria")
    NO_SCORED_RESPONSE = Phrase("no response has a score")
    NO_SCORED_REFERENCES = Phrase("no response whose references all have a score")
    NO_RESPONSE_WITH_POSITIVE_CRITERIA = Phrase("no response with positive criteria")
    TOO_FEW_POSITIVE_CRITERIA = Phrase("no response has %(k)s positive criteria")
    VARYING_POSITIVE_CRITERIA = Phrase("the number of positive criteria is not constant (%(low)s to %(high)s)")
    TOO_FEW_SAMPLES = Phrase("no case has %(k)s samples")
    NO_PAIRED_UNIT = Phrase("no unit with two ratings")
    NO_PAIRED_ITEM = Phrase("no item with two ratings")
    NO_PAIRED_CASE = Phrase("no case with two ratings")
    TOO_FEW_PHYSICIANS = Phrase("%(n)s of the %(needed)s physicians needed have a figure")
    TOO_FEW_REPEATS = Phrase("%(n)s of the %(needed)s repeats needed")
    FEW_PAIRS_OF_PHYSICIAN = Phrase("not counted: %(n)s of the %(needed)s pairs needed")
    NO_CASE_IN_EVERY_REPEAT = Phrase("no case has a score in every repeat")
    CASES_NOT_REPEATED = (
        Phrase("%(n)s cases excluded: not scored in every repeat"),
        "%(n)s case excluded: not scored in every repeat",
    )
    RESPONSES_NOT_REPEATED = (
        Phrase("%(n)s responses excluded: not scored in every repeat"),
        "%(n)s response excluded: not scored in every repeat",
    )
    NO_BALANCED_F1_OF_JUDGE = Phrase("the judge or the physicians never gave one of the answers")
    MEANS_ONLY = Phrase("only means are averaged over themes")
    NO_THEME_WITH_PERCENTILE = Phrase("no theme has a percentile")
    THEMES_UNDEFINED = Phrase("%(n)s themes excluded: undefined"), "%(n)s theme excluded: undefined"

    # Composition.
    NO_CASE_INSIDE = Phrase("no case in the slice")
    NO_CASE_OUTSIDE = Phrase("no case outside the slice")
    LABEL_ON_NO_CASE = Phrase("no case has this label")
    LABEL_ON_NO_OTHER_CASE = Phrase("no case outside the slice has this label")
    NOTHING_TO_MEASURE = Phrase("nothing to measure")
    SPREAD_OF_ONE = Phrase("a standard deviation needs two values")

    # Acuity.
    NO_USABLE_READING = Phrase("no usable reading on a case with a clear reference")
    NO_CASE_ASKED = Phrase("no case with a clear reference")
    NO_CASE_ASKED_OF_BOTH = Phrase("no case with a clear reference about which both were asked")
    NO_TRIAGE_ERROR = Phrase("no error in either direction")
    TWO_LEVELS_ONLY = Phrase("a severe error needs three levels")
    ONE_LEVEL_THROUGHOUT = Phrase("reference and readings have one level throughout")
    CASES_WITH_HALVES = (
        Phrase("over the %(n)s cases with as many readings as half of the votes"),
        "over the %(n)s case with as many readings as half of the votes",
    )
    LIKE_THE_PANEL = Phrase("not distinguishable from the panel")
    MODE_OF_USABLE = Phrase("the mode is that of usable readings")
    LEVELS_NEVER_DIFFER = Phrase("the two never differ")
    WEIGHTED_READINGS = Phrase("weighted readings")
    NOTHING_TO_LOSE = Phrase("no answer costs anything")
    COSTS_ALIKE = Phrase("the two cost the same at every ratio")
    COSTS_LESS_THROUGHOUT = Phrase("the first costs less at every ratio")
    NO_RESAMPLE_CROSSES = Phrase("the two cross in no resample")
    RESAMPLES_NEVER_CROSS = Phrase("the two do not cross in %(n)s of %(all)s resamples")
    NO_CONFIDENCE = Phrase("no confidence was stated, and no case has two usable readings")
    CONFIDENCE_ANSWERS = Phrase("%(n)s of the %(needed)s answers needed")
    CONSTANT_CONFIDENCE = Phrase("constant confidence")
    ALL_RIGHT_OR_ALL_WRONG = Phrase("all answers are right, or all are wrong")
    ONLY_RIGHT = Phrase("only qa right in %(qa)s cases, only chat in %(chat)s")
    NO_PANEL_CASE = Phrase("no case with three votes and two usable readings")
    NO_CASE_WITH_LOGPROBS = Phrase("no case with three votes and log probabilities")
    LOGPROBS_HAVE_NO_SIZE = Phrase("requires a number of readings, which log probabilities do not have")
    NO_SHARED_CASE = Phrase("no case with a usable reading of both")
    NO_CASE_OF_ALL = Phrase("no case with a usable reading of every candidate")
    ONE_CANDIDATE = Phrase("one candidate alone")
    IMPORTED_WITHOUT_CALLS = Phrase("readings from files, of which no call is recorded")
    NO_CALL_RECORDED = Phrase("no call of these answers is recorded")
    CALLS_IN_PART = Phrase("calls are recorded of %(n)s of %(all)s answers")
    NO_LATENCY = Phrase("no latency is recorded")
    NO_TOKEN_PRICE = Phrase("no price of the tokens is known")
    SEVERAL_CURRENCIES = Phrase("prices in several currencies: %(names)s")
    ANSWERS_OF_OTHER_RUNS = Phrase("all answers were reused from other runs, which paid for them")
    # Cost and quality.
    NO_TOKENS_RECORDED = Phrase("no tokens are recorded with these responses")
    TOKENS_IN_PART = Phrase("calls or tokens are recorded of %(n)s of %(all)s responses")
    NO_LISTED_PRICE = Phrase("the attributes do not have the prices of input and output tokens")
    NO_OUTPUT_PRICE = Phrase("the attributes do not have the price of output tokens")
    NO_CASE_SCORED_OF_BOTH = Phrase("no case with a score of both")
    NOTHING_PAID = Phrase("the first costs nothing")
    NO_EARLIER_OF_FAMILY = Phrase("no earlier candidate of the family")
    NO_FAMILY = Phrase("the family is unknown")
    NO_READING_TOO_LOW = Phrase("no reading is too low")
    NO_ESCALATION_KNOWN = Phrase("no reading states what is advised under a condition")
    ESCALATION_UNKNOWN = Phrase("readings too low that do not state what is advised under a condition: %(n)s")
    MODE_WITHOUT_ESCALATION = Phrase("the mode of a case has no advice under a condition")
    UNREAD_STRATA = (
        Phrase("%(n)s responses are in strata (judge’s level and candidate) of which none drawn for this run was read"),
        "%(n)s response is in a stratum (judge’s level and candidate) of which none drawn for this run was read",
    )
    SAMPLE_OF_ANOTHER_RUN = Phrase(
        "physicians read a sample drawn for another run, which is not a random sample of this run"
    )
    STRATA_WITHOUT_LEVEL = (
        Phrase("%(n)s responses excluded: physicians found no level in what they read of their strata"),
        "%(n)s response excluded: physicians found no level in what they read of its stratum",
    )
    FEW_CANDIDATES = Phrase("relative to %(n)s candidates only"), "relative to %(n)s candidate only"

    # No interval; `Reason.withholds_interval` goes by the prefix of these names.
    INTERVAL_CASES = Phrase("no interval: %(cases)s of the %(needed)s cases needed")
    INTERVAL_EFFECTIVE_CASES = Phrase("no interval: %(cases)s of the %(needed)s effective cases needed")
    INTERVAL_CASES_OF_A_SIDE = Phrase("no interval: %(cases)s of the %(needed)s effective cases needed on each side")
    INTERVAL_RATE_WHOLE = Phrase("no interval: marked in every response on one side")
    INTERVAL_RATIO_AT_EDGE = Phrase("no interval: without one case the ratio is 0, infinite or undefined")
    INTERVAL_RATIO_ALIKE = Phrase("no interval: all cases are alike")
    INTERVAL_INFINITE_END = Phrase("no interval: its upper end is infinite")
    INTERVAL_CHANGES_ALIKE = Phrase(
        "no interval: leaving out any case changes both figures by the same amount, so the cases do not show how far "
        "they may be apart"
    )
    INTERVAL_CHANGES_ALIKE_BEFORE = Phrase("no interval: the two figures change alike without each case")
    INTERVAL_CORRELATION = Phrase("no interval: percentile intervals are not given for correlations")
    INTERVAL_CASES_APART = Phrase("no interval: %(cases)s of the %(needed)s cases needed with the rarer answer")
    INTERVAL_CASES_APART_BEFORE = Phrase(  # in reports stored before it was reworded
        "no interval: %(cases)s of the %(needed)s cases needed with a rating outside the most frequent category"
    )
    INTERVAL_CASES_MOSTLY_APART = Phrase(
        "no interval: %(cases)s of the %(needed)s cases needed where most ratings are outside the most frequent "
        "category"
    )
    INTERVAL_CASES_OF_LEVEL = Phrase("no interval: %(cases)s of the %(needed)s cases needed of each level")
    INTERVAL_RESAMPLES = Phrase("no interval: undefined in %(some)s of %(all)s resamples")
    INTERVAL_RESAMPLES_AGREE = Phrase("no interval: all resamples agree")
    INTERVAL_RESAMPLES_NEARLY_AGREE = Phrase("no interval: nearly all resamples agree")
    INTERVAL_DRAWS_NEARLY_AGREE = Phrase("no interval: nearly all draws agree")
    INTERVAL_MISSES_VALUE = Phrase("no interval: it would not contain the value")
    INTERVAL_OUT_OF_BOUNDS = Phrase("no interval: all of it is outside the bounds of the measure")
    INTERVAL_LABELLED_CASES_ALIKE = Phrase("no interval: all labelled cases are alike")
    INTERVAL_JUDGED_CASES_ALIKE = Phrase("no interval: all judged cases are alike")
    INTERVAL_ERRORS_ALIKE = Phrase(
        "no interval: the judge’s errors are all alike in the sample, those elsewhere unknown"
    )
    NO_INTERVAL = Phrase("no interval")

    # Agreement of two raters or more.
    CONSTANT_BOTH_RATERS = Phrase("constant ratings: both raters gave one answer throughout")
    CONSTANT_RATER = Phrase("constant ratings: rater %(rater)s gave one answer throughout")
    CONSTANT_ALPHA = Phrase("constant ratings: alpha has no expected disagreement")
    CONSTANT_KAPPA = Phrase("constant ratings: kappa has no expected disagreement")
    CONSTANT_RATINGS = Phrase("constant ratings")
    UNEQUAL_RATINGS_OF_ITEMS = Phrase("unequal numbers of ratings: %(low)s to %(high)s an item")
    UNEQUAL_RATINGS_OF_CASES = Phrase("unequal numbers of ratings: %(low)s to %(high)s a case")
    CORRELATION_CASES = Phrase("an intraclass correlation needs at least %(n)s cases")
    DIFFERENT_RATERS = Phrase("not the same raters on each case")
    CASES_DO_NOT_DIFFER = Phrase("cases do not differ: the denominator is not positive")
    NEITHER_MET = Phrase("neither rater said met")
    NEITHER_NOT_MET = Phrase("neither rater said not met")
    NEITHER_MARKED = Phrase("neither rater marked the code")
    MF1_WITHOUT_MET = Phrase("neither rater said met: MF1 is the F1 of not met alone")
    MF1_WITHOUT_NOT_MET = Phrase("neither rater said not met: MF1 is the F1 of met alone")
    F1_MET_TAKEN_AS = Phrase("neither rater said met: its F1 is set to %(value)s")
    F1_NOT_MET_TAKEN_AS = Phrase("neither rater said not met: its F1 is set to %(value)s")
    RATER_NEVER_MET = Phrase("the rater never said met")
    RATER_NEVER_NOT_MET = Phrase("the rater never said not met")
    REFERENCE_NEVER_MET = Phrase("the reference never said met")
    REFERENCE_NEVER_NOT_MET = Phrase("the reference never said not met")
    AC1_ONE_CLASS = Phrase("AC1 is based on one class only")
    NO_BALANCED_F1_OF_TWO = Phrase("no balanced F1: %(one)s and %(two)s")
    NO_BALANCED_F1 = Phrase("no balanced F1: %(why)s")
    MF1_VALID = (
        Phrase("mf1 on the %(n)s pairs with a valid verdict: %(value)s"),
        "mf1 on the %(n)s pair with a valid verdict: %(value)s",
    )
    MF1_OF_VERDICTS = Phrase("mf1 on the pairs with a verdict: %(value)s")
    NO_PEER_DECISION = Phrase("no other physician of the group decided the same")
    NO_SHARED_DECISION = Phrase("decides nothing that the other rater decided")
    NO_PAIR_ANSWERED_BY_BOTH = Phrase("the raters share no pair that both answered met or not met")
    NO_PAIR_OF_GROUPS = Phrase("no pair of expert groups: two groups with submitted work are needed")
    NOT_TWO_GROUPS = Phrase(
        "it is computed for exactly two expert groups with submitted work, and there are %(n)s "
        "(to compare two of them, create an agreement report)"
    )
    BETWEEN_GROUPS = Phrase("between two groups, in the rows of all groups")
    INVALID_AND_MISSING = Phrase("%(n)s invalid, %(missing)s missing")

    # Correlations, ranks, information.
    CONSTANT_VALUES = Phrase("constant values")
    CONSTANT_LENGTH_OR_SCORE = Phrase("constant length or score")
    NO_RESIDUAL_VARIANCE = Phrase("nothing varies after adjustment for candidate and case")
    NO_INTERVAL_AT_LENGTH = Phrase("no interval: a length that does not change may lie outside what was seen")
    DEGREES_OF_FREEDOM = (
        Phrase("%(n)s degrees of freedom left after candidate and case"),
        "%(n)s degree of freedom left after candidate and case",
    )
    CORRELATION_UNITS = Phrase("a correlation needs at least %(n)s units")
    ALL_IN_TOP_K = (
        Phrase("only %(n)s candidates: all are in the top %(k)s"),
        "only %(n)s candidate: it is in the top %(k)s",
    )
    TIES_IN_TOP_K = Phrase("ties at the border: %(one)s and %(two)s candidates in the top %(k)s")
    RANKS_UNCHANGED = Phrase("all resamples agree: no resample changes the ranks")
    RANK_NO_FIGURE = Phrase("no figure by which to rank")
    RANK_CASES = Phrase("no rank: %(cases)s of the %(needed)s cases needed")
    RANK_EFFECTIVE_CASES = Phrase("no rank: %(cases)s of the %(needed)s effective cases needed")
    RANK_NO_SHARED_CASE = (
        Phrase("range not narrowed by %(n)s candidates with which it has no shared case"),
        "range not narrowed by %(n)s candidate with which it has no shared case",
    )
    RANK_FEW_SHARED_CASES = (
        Phrase("range not narrowed by %(n)s candidates with which it shares too few cases (%(needed)s needed)"),
        "range not narrowed by %(n)s candidate with which it shares too few cases (%(needed)s needed)",
    )
    RANK_NO_OTHER_CANDIDATE = Phrase("no rank: no other candidate to be ranked with")
    CONSTANT_ATTRIBUTE = Phrase("the attribute has one value only")
    RATERS_NEVER_DIFFER = Phrase("the raters never differ")
    RATERS_ALWAYS_DIFFER = Phrase("the raters always differ")
    DETERMINED_BY_CASE = Phrase("determined by the case alone")
    NO_CHANCE_DRAWS = Phrase("no permutations")

    # Tests.
    TEST_CASES = Phrase("no test: %(cases)s of the %(needed)s cases needed")
    TEST_CONSTANT = Phrase("no test: nothing varies between cases")
    NO_DISCORDANT_PAIR = Phrase("no pair on which one judge alone is right")
    DISCORDANT_PAIRS_BALANCED = Phrase("in every case each judge alone is right equally often")
    NO_SHARED_INSTANCE = Phrase("no instance that another annotator labelled")
    TEST_INSTANCES = Phrase("not tested: %(n)s of the %(needed)s instances needed")
    TEST_DIFFERENCES_EQUAL_EPSILON = Phrase("not tested: every difference equals ε")
    SIGN_TEST = Phrase("every difference is the same: sign test")
    NO_TESTED_ANNOTATOR = Phrase("no annotator was tested: %(n)s instances are needed")
    TESTED_ANNOTATORS = Phrase("%(n)s of the %(needed)s tested annotators needed")

    # What was left out of a figure, or done to it.
    CLIPPED = Phrase("clipped from %(value)s")
    CLIPPED_INTERVAL = Phrase("interval before clipping: %(low)s to %(high)s")
    EDGE_INTERVAL = Phrase(
        "without one case the figure is at its limit or undefined: interval by the number of cases alone"
    )
    ALIKE_INTERVAL = Phrase("all cases are alike: interval by the number of cases alone")
    EDGE_INTERVAL_BEFORE = Phrase(  # in reports stored before it was reworded, as the next
        "fewer than two cases differ from the bound: interval by the number of cases"
    )
    ALIKE_INTERVAL_BEFORE = Phrase("all cases are alike: interval by the number of cases")
    EDGE_INTERVAL_OF_ONE = Phrase("one of the two intervals is based on the number of cases alone")
    SETTING = Phrase("setting %(setting)s")
    RESAMPLES_LEFT_OUT = Phrase("%(n)s resamples excluded: undefined"), "%(n)s resample excluded: undefined"
    DRAWS_LEFT_OUT = Phrase("%(n)s draws excluded: undefined"), "%(n)s draw excluded: undefined"
    MEAN_OF_REPLICATES = Phrase("mean of the valid replicates")
    SLICE_CASES_EXCLUDED = (
        Phrase("%(n)s cases of the slice not counted: excluded since it was made"),
        "%(n)s case of the slice not counted: excluded since it was made",
    )
    EXCLUDED_CASES = Phrase("%(n)s excluded cases not counted"), "%(n)s excluded case not counted"
    PAIRS_REFERENCE_INVALID = (
        Phrase("%(n)s pairs excluded: invalid verdict of the reference"),
        "%(n)s pair excluded: invalid verdict of the reference",
    )
    PAIRS_UNDECIDED = Phrase("%(n)s pairs excluded: undecided"), "%(n)s pair excluded: undecided"
    PAIRS_FAULTY = Phrase("%(n)s pairs excluded: criterion faulty"), "%(n)s pair excluded: criterion faulty"
    PAIRS_JURY_DIVIDED = (
        Phrase("%(n)s pairs excluded: the jury did not agree"),
        "%(n)s pair excluded: the jury did not agree",
    )
    PAIRS_JUDGE_DIVIDED = (
        Phrase("%(n)s pairs excluded: the judge’s replicates did not agree"),
        "%(n)s pair excluded: the judge’s replicates did not agree",
    )
    PAIRS_JUDGE_OR_JURY_DIVIDED = (
        Phrase("%(n)s pairs excluded: the judge’s replicates or the jury did not agree"),
        "%(n)s pair excluded: the judge’s replicates or the jury did not agree",
    )
    PAIRS_NOT_DECIDED = (
        Phrase("%(n)s pairs excluded: undecided, not assessed or faulty"),
        "%(n)s pair excluded: undecided, not assessed or faulty",
    )
    PAIRS_NOT_DUE = (
        Phrase("%(n)s pairs excluded: one of the two judges was not assigned them"),
        "%(n)s pair excluded: one of the two judges was not assigned it",
    )
    PAIRS_NOT_OF_ALL_JUDGES = (
        Phrase("%(n)s pairs excluded: another of the judges was not assigned them or left them undecided"),
        "%(n)s pair excluded: another of the judges was not assigned it or left it undecided",
    )
    PAIRS_LEARNED = (
        Phrase("%(n)s pairs excluded: the judge learned from these candidates"),
        "%(n)s pair excluded: the judge learned from this candidate",
    )
    UNDECIDED_BY_JURY = Phrase("%(n)s of %(all)s pairs are undecided by the jury")
    UNDECIDED_BY_JUDGE = Phrase("%(n)s of %(all)s pairs are undecided by the judge")
    UNDECIDED_BY_GROUP = Phrase("%(n)s of %(all)s pairs are undecided by the group")
    UNSCORED_RESPONSES = Phrase("%(n)s responses without a score"), "%(n)s response without a score"
    UNSCORED_REFERENCES = (
        Phrase("%(n)s responses excluded: they or their references have no score"),
        "%(n)s response excluded: it or its references have no score",
    )
    SCORED_CANDIDATES = Phrase("%(n)s of the %(needed)s candidates needed have a score")
    SHORT_RESPONSES = (
        Phrase("%(n)s responses with fewer than k positive criteria"),
        "%(n)s response with fewer than k positive criteria",
    )
    SHORT_RESPONSES_LEFT_OUT = (
        Phrase("%(n)s responses excluded: fewer than %(k)s positive criteria"),
        "%(n)s response excluded: fewer than %(k)s positive criteria",
    )
    SHORT_RESPONSES_CANNOT_PASS = (
        Phrase("%(n)s responses have fewer than %(k)s positive criteria and cannot pass"),
        "%(n)s response has fewer than %(k)s positive criteria and cannot pass",
    )
    SHORT_CASES_LEFT_OUT = (
        Phrase("%(n)s cases excluded: fewer than %(k)s samples"),
        "%(n)s case excluded: fewer than %(k)s samples",
    )
    RESPONSES_AIDED = (
        Phrase("%(n)s responses excluded: written with model references shown"),
        "%(n)s response excluded: written with model references shown",
    )
    RESPONSES_OF_UNKNOWN_MODE = (
        Phrase("%(n)s responses without a record of how they were written, treated as unaided"),
        "%(n)s response without a record of how they were written, treated as unaided",
    )
    RESPONSES_GRADED_BY_AUTHORS = (
        Phrase("%(n)s responses excluded: graded by one of their authors"),
        "%(n)s response excluded: graded by one of their authors",
    )
    RESPONSES_NOT_GRADED = (
        Phrase("%(n)s responses excluded: not graded by the group"),
        "%(n)s response excluded: not graded by the group",
    )
    RESPONSES_WITH_FAULTY_CRITERION = (
        Phrase("%(n)s responses excluded: a positive criterion is faulty"),
        "%(n)s response excluded: a positive criterion is faulty",
    )
    RESPONSES_WITH_UNDECIDED_CRITERION = (
        Phrase("%(n)s responses excluded: a positive criterion is undecided"),
        "%(n)s response excluded: a positive criterion is undecided",
    )

    # Judges: what they learned from, their runs and errors. `from_english` takes the first reason that fits, so reasons
    # about "the judge" or members of a jury come before those that name a judge.
    JUDGE_LEARNED_CANDIDATE = Phrase("the judge learned from decisions on this candidate")
    JUDGE_LEARNED_CANDIDATES = Phrase(
        "the judge learned from decisions on %(names)s: only the other candidates measure it"
    )
    MEMBERS_LEARNED_CANDIDATE = Phrase("%(members)s in the jury learned from decisions on this candidate")
    MEMBERS_LEARNED_CANDIDATES = Phrase(
        "%(members)s in the jury learned from decisions on %(names)s: only the other candidates measure it"
    )
    NAMED_JUDGE_LEARNED_CANDIDATE = Phrase("%(judge)s learned from decisions on this candidate")
    NAMED_JUDGE_LEARNED_CANDIDATES = Phrase(
        "%(judge)s learned from decisions on %(names)s: only the other candidates measure it"
    )
    JUDGE_LEARNED_OTHERS = Phrase(
        "the judge learned from decisions on other candidates: on cases it has not seen it may err more"
    )
    OLDER_RUNS = (
        Phrase("older runs of %(judge)s cover %(n)s more pairs than the runs that count (newest older run: %(date)s)"),
        "older runs of %(judge)s cover %(n)s more pair than the runs that count (newest older run: %(date)s)",
    )
    EQUAL_TRUE_VALUES = Phrase("the true values are equal, so there is no order to reverse")
    ONLY_WORST_AND_BEST_JUDGE = Phrase("only the worst and the best judge’s errors are carried on")
    JUDGE_ON_FEW_CASES = Phrase("too few cases for a conclusion: %(cases)s of the %(needed)s effective cases needed")
    JUDGES_NOT_APART = Phrase("the intervals of the worst and the best judge overlap")
    NO_FINISHED_RUN = Phrase("no judge has a finished run")
    NO_JUDGE_WITH_BOTH_OUTCOMES = Phrase("no judge shares pairs of both outcomes with the group")
    NO_OTHER_CANDIDATE = Phrase("no other candidate is graded in full by the group")

    # Prediction-powered scores.
    NO_LABELLED_RESPONSE = Phrase("no response that the judge scored is graded by physicians")
    NO_JUDGED_RESPONSE = Phrase("the judge scored no response")
    ALL_LABELLED = Phrase("physicians graded all of them: the judge adds nothing")
    CONSTANT_JUDGE = Phrase("the judge gave every response the same result, so it adds nothing")
    SAMPLE_NOT_RECORDED = Phrase("not recorded how the graded responses were drawn: treated as a random sample")
    SAMPLE_OF_SEVERAL_DRAWS = Phrase("the graded responses come from several draws: treated as one random sample")
    SAMPLE_OF_SOME_CASES = Phrase(
        "the graded responses were drawn from some of the cases: treated as a random sample of all"
    )
    SAMPLE_WEIGHTED = Phrase("weighted by the inverse of the recorded inclusion probabilities")
    SAMPLE_GRADED_SO_FAR = Phrase("%(n)s of %(all)s drawn responses are graded so far")
    LABELLED_WITHOUT_SCORE = (
        Phrase("%(n)s graded responses without a score to compare with the judge’s"),
        "%(n)s graded response without a score to compare with the judge’s",
    )
    LABELLED_NOT_DUE = (
        Phrase("%(n)s graded responses excluded: the judge was not assigned them"),
        "%(n)s graded response excluded: the judge was not assigned them",
    )

    # Plans.
    PLAN_LABELLED_CASES = Phrase("no plan: the pilot has %(n)s of the %(needed)s effective labelled cases needed")
    PLAN_LABELLED_CASES_ALIKE = Phrase("no plan: all labelled cases are alike")
    PLAN_CASES = Phrase("no plan: %(n)s of the %(needed)s effective cases needed")
    PLAN_CASES_OF_BOTH = Phrase("no plan: both have %(n)s of the %(needed)s effective cases needed")
    PLAN_DIFFERENCES_ALIKE = Phrase("no plan: the differences are all alike")
    PLAN_LEARNED_CANDIDATE = Phrase("no plan: the judge learned from this candidate")
    PLAN_LEARNED_CANDIDATES = Phrase("no plan with the judge for %(names)s: the judge learned from these candidates")
    PLAN_OUT_OF_REACH = Phrase("out of reach: physicians on all %(n)s cases give ±%(width)s, and %(more)s are needed")
    PLAN_CANDIDATES_WITHOUT_NUMBER = Phrase("no number for %(n)s candidates"), "no number for %(n)s candidate"

    # Susceptibility to injections.
    NO_CONTROL_VERDICT = Phrase("no verdict on any unchanged response")
    NO_FAULT_SEEN = Phrase("the judge failed none of the unchanged responses")
    NO_INJECTION_VERDICT = Phrase("no verdict on any response with an injection")
    NO_HARMLESS_EDIT_VERDICT = Phrase("no verdict on any response with a harmless edit")
    NO_HARMLESS_EDITS = Phrase("noise not measured: there were no harmless edits")
    FLIPS_WITH_INVALID = Phrase("with invalid answers as flips: %(value)s")
    PAIRS_NO_FAULT_SEEN = (
        Phrase("%(n)s pairs excluded: the judge did not fail the unchanged response"),
        "%(n)s pair excluded: the judge did not fail the unchanged response",
    )
    PAIRS_CONTROL_INVALID = (
        Phrase("%(n)s pairs excluded: invalid verdict on the unchanged response"),
        "%(n)s pair excluded: invalid verdict on the unchanged response",
    )
    PAIRS_CONTROL_MISSING = (
        Phrase("%(n)s pairs excluded: no verdict on the unchanged response"),
        "%(n)s pair excluded: no verdict on the unchanged response",
    )
    OTHER_SUITE = Phrase("measured with another suite of injections")
    MEASURE_AGAIN = Phrase("measure again for this table")

    # Validation of rubrics: coverage, near-miss pairs, refinement.
    NO_GOLD_POINT = Phrase("no gold point")
    NO_VALID_EXTENT = Phrase("no valid answer on any gold point")
    GOLD_POINTS_WITHOUT_POINTS = Phrase("not every gold point has points")
    NO_CRITERION = Phrase("no criterion")
    NO_CRITERIA_IN_FILE = Phrase("the file does not contain the criteria of the set")
    NO_DECIDED_POINT = Phrase("no gold point with a physician’s decision")
    UNMATCHED_WITHOUT_DECISION = Phrase("physicians have not decided on %(n)s of %(all)s unmatched criteria")
    EXTENT_WITHOUT_DECISION = Phrase("physicians have decided on no gold point whose answer is %(extent)s")
    INTERVAL_OVER_POINTS = Phrase("over gold points, which are not independent within a case")
    NO_POINT_OF_ONE_SET = Phrase("no gold point that one set alone covers in full")
    POINTS_OF_SETS_BALANCED = Phrase("in every case each set alone covers equally many gold points in full")
    NO_DECIDED_PAIR = Phrase("no pair with a decision")
    NO_SHARED_PAIR = Phrase("no pair with a decision by both sets")
    NO_PAIR_OF_ONE_SET = Phrase("no pair that one set alone wins")
    PAIRS_OF_SETS_BALANCED = Phrase("in every case each set alone wins equally many pairs")
    PAIRS_ALL_OR_NONE_WON = Phrase("all pairs are won, or none is")
    PAIRS_WITHOUT_POINTS = Phrase("not every pair has points_abs")
    ON_RAW_TOTALS = Phrase("on raw totals: not every pair has points_min and points_max")
    PAIRS_AS_CASES = Phrase("the file does not name cases: every pair is treated as a case")
    TIES_BY_MARGIN = Phrase("a trial is a tie up to %(margin)s of the points")
    TRIALS_LEFT_OUT = Phrase("%(n)s unusable trials excluded"), "%(n)s unusable trial excluded"
    NO_SCORED_CASE = Phrase("no case with both scores")
    CASES_WITHOUT_SCORES = (
        Phrase("%(n)s cases excluded: a score is missing"),
        "%(n)s case excluded: a score is missing",
    )
    DRAWN_SIGNS = Phrase("by %(draws)s drawn patterns of signs")
    BASE_NOT_ABOVE_0 = Phrase("the mean base score is not above 0")
    NO_BASE_ABOVE_0 = Phrase("no case with a base score above 0")
    NO_HEADROOM = Phrase("the mean base score is 100")
    NO_UPPER_BOUND = Phrase("no arm “%(arm)s” as upper bound")
    NO_CASE_OF_UPPER_BOUND = Phrase("no case that the upper bound has too")
    UPPER_BOUND_WITHOUT_GAIN = Phrase("the upper bound does not gain")
    NO_LENGTHS = Phrase("no case with both lengths")
    LENGTHS_OF_CASES = Phrase("over the %(cases)s cases with both lengths")
    NO_TEXTS_IN_FILE = Phrase("the file does not contain texts")

    # Drafting: what became of suggestions.
    NO_SUGGESTION_DECIDED = Phrase("no suggestion decided on in a rubric that was published")
    NO_SUGGESTION_TAKEN = Phrase("no suggestion was accepted")
    NO_SUGGESTION_REWORDED = Phrase("no suggestion was edited")
    NO_SUGGESTION_REJECTED = Phrase("no suggestion was rejected")
    ALL_OR_NONE_REJECTED = Phrase("all suggestions were rejected, or none")
    INTERVAL_OF_ORDER = Phrase("no interval: a median over suggestions does not follow from sums over cases")
    NO_PUBLISHED_CRITERION = Phrase("no published criterion")
    NO_COVERAGE_NAMED = Phrase("not known: no run of coverage was named")
    NO_POINT_OF_CASES = Phrase("not known: the run of coverage has none of these cases")
    ANSWERS_NOT_VALID = (
        Phrase("%(n)s invalid or missing answers count as not covered"),
        "%(n)s invalid or missing answer counts as not covered",
    )
    NO_TIME_RECORDED = Phrase("no active time was recorded")
    NO_OWN_LIST = Phrase("no one opened the suggestions")
    FEW_CASES = Phrase("too few cases for a conclusion: %(cases)s of the %(needed)s cases needed")

    # Answers to questions about cases, and audits.
    ONE_ANSWER = Phrase("one answer has no spread")
    ONE_OPTION = Phrase("a single option")
    LEVELS_HAVE_SPREAD = Phrase("of ordered levels the spread is given")
    NOT_ORDERED = Phrase("not ordered")
    NO_CERTAINTY = Phrase("no certainty given")
    NO_CASE_READ = Phrase("no case was read")
    NO_CASE_READ_TWICE = Phrase("no case was read by two auditors")

    # When a batch will be handed in: sentences.
    FORECAST_DAYS = Phrase("No forecast yet: fewer than three working days of data.")
    FORECAST_PACE = Phrase("No forecast: nothing was submitted on most of the recent working days.")
    FORECAST_OUT_OF_REACH = Phrase("No forecast: at this pace, the work would take years to finish.")

    def __init__(self, template: Phrase, singular: str = "") -> None:
        self.template = str(template)
        self.singular = singular

    def __call__(self, **parameters: Any) -> CodedPhrase:
        """The reason in words; KeyError where a parameter of its template is missing."""
        return CodedPhrase(self, **parameters)

    def counted(self, n: int) -> str:
        """The reason with its number ``n``; empty where that is 0."""
        return self(n=int(n)) if n else ""

    @property
    def withholds_interval(self) -> bool:
        """Whether the reason says why a figure has no interval."""
        return self.name.startswith("INTERVAL_")


def code_of(phrase: str) -> Reason | None:
    """The code of a phrase; None for any other text."""
    return phrase.code if isinstance(phrase, CodedPhrase) else None
