"""How many characters a person may write, for services, forms, the API, imported files and the pages alike.

Pages get them as ``limits`` from `consilium.context.limits`. A length that only one module uses is defined there.
"""

MAX_KEY_LENGTH = 200  # names of cases, candidates and raters
MAX_EXTERNAL_ID_LENGTH = 200  # of a response, in the system that it comes from
MAX_SETTING_LENGTH = 40  # the setting under which a response was generated
MAX_TAG_LENGTH = 300
MAX_SLUG_LENGTH = 80  # of benchmarks and banks
MAX_SLICE_SLUG_LENGTH = 60
MAX_TITLE_LENGTH = 200  # of benchmarks, banks, batches, audits, screenings and slices
MAX_PERSON_NAME_LENGTH = 200
MAX_SPECIALTY_LENGTH = 100
MAX_LICENCE_NUMBER_LENGTH = 60  # of a physician
MAX_GROUP_NAME_LENGTH = 100
MAX_JUDGE_NAME_LENGTH = 100
MAX_RATER_LENGTH = 300  # the text of a rater, such as ``jury:A+B``
MAX_JURY_MEMBERS = 50  # of a jury that is named by its members
MAX_LISTED_NAMES = 200  # of candidates, judges, slices and others in one list of a request
MAX_LISTED_VALUES = 1_000  # of any other list of short values in one field
MAX_QUERY_LENGTH = 8_192  # of the part of an address after the question mark, as it is sent
MAX_LICENCE_LENGTH = 200
MAX_RELEASE_VERSION_LENGTH = 40
MAX_RELEASE_NAME_LENGTH = MAX_SLUG_LENGTH + 1 + MAX_RELEASE_VERSION_LENGTH  # short name and version
MAX_DATASET_LENGTH = 60  # the name of a set of cases from elsewhere
MAX_SCALE_NAME_LENGTH = 60  # of scales of acuity and label schemes
MAX_FRAMING_LENGTH = 10_000  # of the message around the description of a case
MAX_DESCRIPTION_LENGTH = 5_000  # of a collection of documents, and of a rubric set
MAX_RUBRIC_SET_NAME_LENGTH = 100
MAX_RECIPE_NAME_LENGTH = 100  # of drafting
MAX_PAIR_GROUP_NAME_LENGTH = 100  # of near-miss pairs
MAX_PAIR_CHANGE_LENGTH = 2_000  # what was changed in the candidate of a pair

# Of a document that criteria may rest on.
MAX_COLLECTION_NAME_LENGTH = 100
MAX_DOCUMENT_KEY_LENGTH = 100
MAX_PUBLISHER_LENGTH = 200
MAX_URL_LENGTH = 1_000
MAX_VERSION_LABEL_LENGTH = 100
MAX_PANEL_QUERY_LENGTH = 400  # of a search beside the editor: as Chinese in an address, it still fits into a request

MAX_QUESTION_NAME_LENGTH = 60
MAX_LABEL_VALUE_LENGTH = 60  # of an answer to a question about a case
MAX_MODE_NAME_LENGTH = 100  # of writing
MAX_INSTRUCTIONS_LENGTH = 5_000  # to writers

MAX_NOTE_LENGTH = 5_000  # of a physician: on a decision, an answer, a skipped response or returned work
MAX_PASSAGES = 20  # of a response, attached to a decision, an answer or a code
# For an amendment, a ruling or a threshold, or for keeping a text in spite of a privacy warning.
MAX_REASON_LENGTH = 2_000
MAX_EXCLUSION_REASON_LENGTH = 5_000  # for excluding a case, by hand, by an audit or by a screening

MAX_CRITERION_LENGTH = 20_000
MAX_AXIS_LENGTH = 200
# What a criterion rests on, by the name of the field.
MAX_TRACEABILITY_LENGTHS = {"source": 2_000, "element": 2_000, "expectation": 2_000, "bank": 200}
MAX_PUBLIC_ID_LENGTH = 16  # of a passage that a criterion cites, and of the suggestion that it began as
MAX_CITATIONS = 20  # of one criterion
MAX_QUOTE_LENGTH = 2_000  # of the words of a passage that a criterion rests on
MAX_LOCATOR_LENGTH = 200  # KEY@SHA8#pPAGE:START-END

# Of an item in a bank of criteria.
MAX_BANK_KEY_LENGTH, MAX_SECTION_LENGTH, MAX_DIMENSION_LENGTH = 100, 100, 200

MAX_REVIEW_COMMENT_LENGTH = 10_000  # on a draft that is sent to review, approved or returned
MAX_AUDIT_COMMENT_LENGTH = 5_000
MAX_REVISION_ANSWER_LENGTH = 5_000  # why a criterion stays although somebody asked for a revision

# How a model is asked, by judges and in generation.
MAX_ENDPOINT_LENGTH = 500
MAX_MODEL_NAME_LENGTH = 200
MAX_VARIABLE_NAME_LENGTH = 100  # of the environment variable with the key
