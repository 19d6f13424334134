"""Made-up rows in the formats that are imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CANARY = "canary: made up for tests"


def healthbench(number: int, **changes: Any) -> dict[str, Any]:
    """A HealthBench example with three criteria, one of them twice, an ideal completion and two references."""
    return {
        "prompt_id": f"p-{number}",
        "prompt": [
            {"role": "user", "content": f"I have had a cough for {number} days."},
            {"role": "assistant", "content": "Do you have a fever?"},
            {"role": "user", "content": "No, what should I do about it?"},
        ],
        "rubrics": [
            {"criterion": "Asks about smoking.", "points": 5, "tags": ["level:example", "axis:context_awareness"]},
            {"criterion": "Recommends antibiotics.", "points": -8, "tags": ["axis:accuracy"]},
            {"criterion": "Asks about smoking.", "points": 2, "tags": []},
        ],
        "example_tags": ["theme:hedging", "physician_agreed_category:any-reducible-uncertainty"],
        "ideal_completions_data": {
            "ideal_completion": "Rest, drink, and see a doctor after three weeks.",
            "ideal_completions_group": "Group 2",
            "ideal_completions_ref_completions": ["Drink tea.", "Drink water."],
        },
        "canary": CANARY,
        "extra": {"kept": [1, 2]},
        **changes,
    }


def professional(number: int, **changes: Any) -> dict[str, Any]:
    """A HealthBench Professional example: a clinician's question, two criteria, and what a physician answered."""
    return {
        "id": f"{number:032x}",
        "conversation": {
            "messages": [
                {"role": "user", "content": f"When would you take the drain out after {number} days?"},
                {"role": "assistant", "content": "How much does it drain?"},
                {"role": "user", "content": "30 ml a day."},
            ]
        },
        "rubric_items": [
            {"criterion_text": "Names a limit of the daily volume.", "points": 7},
            {"criterion_text": "Invents a guideline.", "points": -9},
        ],
        "use_case": "consult",
        "type": "red_teaming",
        "difficulty": "difficult",
        "specialty": "general surgery",
        "physician_response": "Below 30 ml a day for two days.",
        "canary_string": CANARY,
        **changes,
    }


def clinconsensus(number: int, **changes: Any) -> dict[str, Any]:
    """A ClinConsensus case in Chinese with three criteria, each written in another of the accepted ways."""
    return {
        "case_id": f"cc-{number}",
        "difficulty": "high",
        "task": "鉴别诊断",
        "task_labels": ["鉴别诊断", "治疗方案"],
        "subject": "神经内科",
        "subject_labels": ["神经内科", "心内科"],
        "user_role": "患者",
        "clinical_context": f"患者，男性，{number}岁，头痛三天，无发热，血压正常。",
        "user_request": "请问可能是什么原因？",
        "rubrics": ["询问头痛的部位", {"rubric": "建议就医", "weight": 3}, {"criterion": "说明警示症状"}],
        "reference_answer": "需排除蛛网膜下腔出血。",
        **changes,
    }


def write(path: Path, rows: list[Any]) -> Path:
    """Write rows as JSONL; a text stands for itself."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
