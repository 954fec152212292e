"""Writes scores.json: the scores that both implementations must compute, computed a third time.

`python -m tests.vectors.make_scores` regenerates the file. The rule is written out here and shares
no line with surveys/manifest/scores.py or score.js, so that a fault in either one is noticed.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("scores.json")
SEED = 20261128


def expect(score: dict[str, Any], chosen: list[int]) -> int:
    ordered = sorted(one["value"] for one in score["options"])
    total = 0
    for item, place in zip(score["items"], chosen, strict=True):
        value = score["options"][place]["value"]
        if item.get("reversed"):
            # The reversed value is as far below the highest value as the original is above the
            # lowest.
            value = ordered[-1] - (value - ordered[0])
        for _ in range(item.get("weight", 1)):
            total += value
    bounds = score.get("bounds")
    if bounds is None:
        return total
    return next((code for code, bound in enumerate(bounds) if total < bound), len(bounds))


def describe(values: list[int], items: list[dict[str, Any]], bounds: list[int]) -> dict[str, Any]:
    score: dict[str, Any] = {
        "items": [{"text": f"Item {place}"} | item for place, item in enumerate(items)],
        "options": [{"text": f"Answer {place}", "value": one} for place, one in enumerate(values)],
    }
    return score | ({"bounds": bounds} if bounds else {})


SCALES = (
    describe([0, 1, 2, 3], [{}] * 9, []),  # totals from 0 to 27
    describe([0, 1, 2, 3], [{}] * 9, [10]),
    describe([0, 1, 2, 3], [{}] * 9, [5, 10, 15, 20]),
    describe([0, 0, 1, 1], [{}] * 12, [4]),  # two answers may count the same
    describe([-2, -1, 0, 1, 2], [{}, {"reversed": True}] * 5, []),  # negative totals
    describe([4, 0, 8], [{"reversed": True}, {"weight": 3}, {"weight": 7, "reversed": True}], [40]),
    describe([1000, -1000], [{"weight": 17}] * 30, [-1, 0, 1]),  # nearly the widest range
)


def cases() -> list[dict[str, Any]]:
    generator = random.Random(SEED)
    made = []
    for score in SCALES:
        answers, items = len(score["options"]), len(score["items"])
        same = [[place] * items for place in range(answers)]
        mixed = [[generator.randrange(answers) for _ in range(items)] for _ in range(20)]
        found = [{"chosen": one, "answer": expect(score, one)} for one in (*same, *mixed)]
        made.append({"score": score, "cases": found})
    return made


if __name__ == "__main__":
    PATH.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases()) + "\n]\n")
