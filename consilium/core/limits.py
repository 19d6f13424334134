"""How many characters a person may write, for services, forms, the API, imported files and the pages alike.

Pages get them as ``limits`` from `consilium.context.limits`. Lengths that only one module uses stand there.
"""

MAX_KEY_LENGTH = 200  # what cases, candidates and raters are called
MAX_TAG_LENGTH = 300

MAX_NOTE_LENGTH = 5_000  # of a physician: on a decision, an answer, a skipped response or returned work
MAX_REASON_LENGTH = 2_000  # for an amendment or a ruling, or for what may stay in spite of a privacy warning
MAX_EXCLUSION_REASON_LENGTH = 5_000  # for excluding a case, by hand, by an audit or by a screening

MAX_CRITERION_LENGTH = 20_000
MAX_AXIS_LENGTH = 200
# What a criterion rests on, by the name of the field.
MAX_TRACEABILITY_LENGTHS = {"source": 2_000, "element": 2_000, "expectation": 2_000, "bank": 200}

MAX_REVIEW_COMMENT_LENGTH = 10_000  # on a draft that is sent to review, approved or returned
MAX_AUDIT_COMMENT_LENGTH = 5_000
MAX_REVISION_ANSWER_LENGTH = 5_000  # why a criterion stays although somebody asked for a revision
