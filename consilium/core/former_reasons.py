"""Former English words of reasons: reports that were stored with them are still read and translated.

A reason that is reworded adds its old text here.
"""

from __future__ import annotations

from consilium.core.reasons import Reason

FORMER_TEXTS: dict[Reason, tuple[str, ...]] = {
    Reason.LOGPROBS_HAVE_NO_SIZE: ("it takes a number of readings, which log probabilities do not have",),
    Reason.ANSWERS_OF_OTHER_RUNS: ("all answers were taken from other runs, which paid for them",),
    Reason.NO_ESCALATION_KNOWN: ("no reading says what is advised under a condition",),
    Reason.ESCALATION_UNKNOWN: ("readings too low that do not say what is advised under a condition: %(n)s",),
    Reason.SAMPLE_OF_ANOTHER_RUN: (
        "physicians read a sample drawn for another run, which is no random sample of this",
    ),
    Reason.STRATA_WITHOUT_LEVEL: (
        "%(n)s response is left out, since physicians found no level in what they read of its stratum",
        "%(n)s responses are left out, since physicians found no level in what they read of their strata",
    ),
    Reason.F1_MET_TAKEN_AS: ("neither rater said met: its F1 is taken as %(value)s",),
    Reason.F1_NOT_MET_TAKEN_AS: ("neither rater said not met: its F1 is taken as %(value)s",),
    Reason.AC1_ONE_CLASS: ("AC1 rests on one class only",),
    Reason.NO_PAIR_OF_GROUPS: ("no pair of expert groups: this takes two with submitted work",),
    Reason.NO_RESIDUAL_VARIANCE: ("nothing varies once candidate and case are taken out",),
    Reason.RANK_NO_FIGURE: ("no figure to rank by",),
    Reason.DETERMINED_BY_CASE: ("the case alone tells it",),
    Reason.NO_CHANCE_DRAWS: ("not dealt",),
    Reason.EDGE_INTERVAL_OF_ONE: ("one of the two intervals rests on the number of cases alone",),
    Reason.RESAMPLES_LEFT_OUT: ("%(n)s resamples left out as undefined",),
    Reason.DRAWS_LEFT_OUT: ("%(n)s draws left out as undefined",),
    Reason.EXCLUDED_CASES: ("%(n)s excluded cases left out",),
    Reason.PAIRS_REFERENCE_INVALID: (
        "%(n)s pair left out: invalid verdict of the reference",
        "%(n)s pairs left out: invalid verdict of the reference",
    ),
    Reason.PAIRS_UNDECIDED: (
        "%(n)s pair left out: undecided",
        "%(n)s pairs left out: undecided",
    ),
    Reason.PAIRS_FAULTY: (
        "%(n)s pair left out: criterion faulty",
        "%(n)s pairs left out: criterion faulty",
    ),
    Reason.PAIRS_JURY_DIVIDED: (
        "%(n)s pair left out: the jury was not of one mind",
        "%(n)s pairs left out: the jury was not of one mind",
    ),
    Reason.PAIRS_JUDGE_DIVIDED: (
        "%(n)s pair left out: the judge was not of one mind",
        "%(n)s pairs left out: the judge was not of one mind",
    ),
    Reason.PAIRS_JUDGE_OR_JURY_DIVIDED: (
        "%(n)s pair left out: the judge or jury was not of one mind",
        "%(n)s pairs left out: the judge or jury was not of one mind",
    ),
    Reason.PAIRS_NOT_DECIDED: ("%(n)s pairs left out: undecided, not assessed or faulty",),
    Reason.PAIRS_NOT_DUE: ("%(n)s pairs left out: one of the two judges was not to decide them",),
    Reason.PAIRS_LEARNED: ("%(n)s pairs of candidates that the judge learned from left out",),
    Reason.SHORT_RESPONSES_LEFT_OUT: ("%(n)s responses with fewer than %(k)s positive criteria left out",),
    Reason.SHORT_CASES_LEFT_OUT: ("%(n)s cases with fewer than %(k)s samples left out",),
    Reason.RESPONSES_AIDED: (
        "%(n)s response written with model references shown left out",
        "%(n)s responses written with model references shown left out",
    ),
    Reason.RESPONSES_OF_UNKNOWN_MODE: (
        "%(n)s response without a record of how they were written taken as unaided",
        "%(n)s responses without a record of how they were written taken as unaided",
    ),
    Reason.RESPONSES_GRADED_BY_AUTHORS: (
        "%(n)s response graded by one of their authors left out",
        "%(n)s responses graded by one of their authors left out",
    ),
    Reason.RESPONSES_NOT_GRADED: (
        "%(n)s response not graded by the group left out",
        "%(n)s responses not graded by the group left out",
    ),
    Reason.RESPONSES_WITH_FAULTY_CRITERION: (
        "%(n)s response with a faulty positive criterion left out",
        "%(n)s responses with a faulty positive criterion left out",
    ),
    Reason.RESPONSES_WITH_UNDECIDED_CRITERION: (
        "%(n)s response with an undecided positive criterion left out",
        "%(n)s responses with an undecided positive criterion left out",
    ),
    Reason.EQUAL_TRUE_VALUES: ("the same true value: there is no order to turn",),
    Reason.JUDGE_ON_FEW_CASES: ("few cases for a claim: %(cases)s of the %(needed)s effective cases that it takes",),
    Reason.CONSTANT_JUDGE: ("the judge says the same of all: it adds nothing",),
    Reason.SAMPLE_NOT_RECORDED: ("not recorded how the graded responses were drawn: taken as a random sample",),
    Reason.SAMPLE_OF_SEVERAL_DRAWS: ("the graded responses came by several draws: taken as one random sample",),
    Reason.SAMPLE_OF_SOME_CASES: (
        "the graded responses were drawn from a part of the cases: taken as a random sample of all",
    ),
    Reason.LABELLED_WITHOUT_SCORE: (
        "%(n)s graded response without a score to put beside the judge’s",
        "%(n)s graded responses without a score to put beside the judge’s",
    ),
    Reason.LABELLED_NOT_DUE: (
        "%(n)s graded response that the judge was not to judge left out",
        "%(n)s graded responses that the judge was not to judge left out",
    ),
    Reason.NO_CONTROL_VERDICT: ("no verdict on any response as it stands",),
    Reason.NO_FAULT_SEEN: ("the judge sees none of the faults by itself",),
    Reason.PAIRS_NO_FAULT_SEEN: ("%(n)s pairs left out: judge saw no fault on the response as it stands",),
    Reason.PAIRS_CONTROL_INVALID: ("%(n)s pairs left out: invalid verdict on the response as it stands",),
    Reason.PAIRS_CONTROL_MISSING: ("%(n)s pairs left out: no verdict on the response as it stands",),
    Reason.NO_CRITERIA_IN_FILE: ("the file does not hold the criteria of the set",),
    Reason.PAIRS_AS_CASES: ("the file names no cases: every pair is taken as a case",),
    Reason.TRIALS_LEFT_OUT: ("%(n)s unusable trial left out", "%(n)s unusable trials left out"),
    Reason.CASES_WITHOUT_SCORES: (
        "%(n)s case without both scores left out",
        "%(n)s cases without both scores left out",
    ),
    Reason.NO_TEXTS_IN_FILE: ("the file holds no texts",),
    Reason.NO_SUGGESTION_TAKEN: ("no suggestion was taken",),
    Reason.NO_SUGGESTION_REWORDED: ("no suggestion was reworded",),
    Reason.NO_OWN_LIST: ("nobody opened the suggestions",),
    Reason.FEW_CASES: ("%(cases)s of the %(needed)s cases that a claim takes at least",),
}
