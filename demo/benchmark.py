"""Texts of the demo benchmark: title, instructions for graders, and maps from tags to larger groups."""

from __future__ import annotations

from pathlib import Path

TITLE = "Demo benchmark (made up)"
DESCRIPTION = (
    "Twelve invented cases with 30 criteria each, answered by four invented candidates and two invented physicians, "
    "and graded by two expert groups whose decisions were drawn by a seeded simulator; beside them 40 messages whose "
    "urgency an invented panel judged, and which two further invented candidates answered by rules. Made up for "
    "demonstration: no figure here says anything about a real model or a real physician."
)

# Keys are the labels as in the cases, without the "specialty:" or "task:" of the tags.
MAPS: dict[str, dict[str, str]] = {
    "specialty": {
        "pediatrics": "Women and children",
        "obstetrics": "Women and children",
        "nephrology": "Internal medicine",
        "cardiology": "Internal medicine",
        "endocrinology": "Internal medicine",
        "gastroenterology": "Internal medicine",
        "hematology": "Internal medicine",
        "respiratory medicine": "Internal medicine",
        "rheumatology": "Internal medicine",
        "neurology": "Neurology and mental health",
        "psychiatry": "Neurology and mental health",
        "emergency medicine": "Acute care and surgery",
        "surgery": "Acute care and surgery",
        "geriatrics": "Older people and nursing",
        "nursing": "Older people and nursing",
        "rehabilitation": "Older people and nursing",
        "clinical pharmacology": "Medication",
    },
    "task": {
        "differential_diagnosis": "Diagnostic reasoning",
        "diagnostic_workup": "Diagnostic reasoning",
        "treatment_planning": "Treatment and medication",
        "medication_review": "Treatment and medication",
        "monitoring_plan": "Treatment and medication",
        "triage": "Risk and triage",
        "care_planning": "Care over time",
        "chronic_disease_management": "Care over time",
        "follow_up_planning": "Care over time",
        "home_care_advice": "Advice and education",
        "medication_education": "Advice and education",
        "caregiver_guidance": "Advice and education",
        "patient_education": "Advice and education",
    },
    "register": {
        "patient": "lay",
        "parent": "lay",
        "family member": "lay",
        "general practitioner": "professional",
        "emergency physician": "professional",
        "resident physician": "professional",
        "clinical pharmacist": "professional",
        "ward nurse": "professional",
    },
}


def guidelines() -> str:
    """Markdown for the side panel of the grading page."""
    return Path(__file__).with_name("guidelines.md").read_text(encoding="utf-8")


def rule_sheet() -> str:
    """What "met" means, in Markdown; judges get it in their prompt as well."""
    return Path(__file__).with_name("rule_sheet.md").read_text(encoding="utf-8")
