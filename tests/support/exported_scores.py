"""Definitions with scores, and the formulas that other programs compute from them."""

from __future__ import annotations

import json
import re
from typing import Any

SCALE: dict[str, Any] = {
    "type": "score",
    "text": "Lately …",
    "flips": 25,
    "scored_items": ["I slept badly", "I felt calm | reversed", "I could not work | ×2"],
    "scored_options": ["-1 Never", "0 Sometimes", "4 Always"],
}
OUTPUTS: list[dict[str, Any]] = [
    {"output": "total", "refusal": True},
    {"output": "bands", "options": ["-4–0 Low", "1–9 Middle", "10–16 High"]},
    {"output": "cut_off", "cut_off": 6},
]


def define(output: dict[str, Any]) -> dict[str, Any]:
    asked = {"type": "yes_no", "name": "worse", "text": "Worse?", "flips": 25}
    if output["output"] != "total":
        asked["rule"] = {"name": "strain", "is": [1]}
    questions = [{"name": "strain", **SCALE, **output}, asked]
    if output["output"] == "total":
        second = {"type": "second", "name": "strained", "text": "High", "flips": 25}
        questions.append(second | OUTPUTS[2] | {"same_fact": "strain"})
    return {"title": "Strain", "questions": questions}


def compute(formula: str, answers: dict[str, int]) -> int:
    """Compute a formula, in which if(a, b, c) is read as a function."""
    written = re.sub(
        r"\$\{(\w+)\}|\[(\w+)\]", lambda one: f"answers['{one[1] or one[2]}']", formula
    )
    written = written.replace("if(", "choose(").replace(" = ", " == ")
    names = {"answers": answers, "choose": lambda test, yes, no: yes if test else no}
    return int(eval(written, names))


def list_questions(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the questions, without strengths that have no effect."""
    found = json.loads(json.dumps(definition["questions"]))
    for question in found:
        if question["type"] in ("information", "declared"):
            question.pop("flips", None)
    return list(found)
