"""The form data of each type of question, as an author types them."""

from __future__ import annotations

COINS = {"flips": "25"}
GOOD: dict[str, dict[str, str]] = {
    "yes_no": {"text": "Q?", **COINS},
    "choice": {"text": "Q?", "options": "A\nB\nC", **COINS},
    "scale": {"text": "Q?", "minimum": "1", "maximum": "5", **COINS},
    "several": {"text": "Q?", "options": "A\nB\nC", "limit": "", **COINS},
    "number": {"text": "Q?", "minimum": "0", "maximum": "100", "unit": "hours", **COINS},
    "follow_up": {"text": "Q?", "follow_up": "And?", **COINS},
    "score": {
        "text": "In the last two weeks …",
        "scored_items": "I slept badly\nI felt calm | reversed\nI could not work | ×2",
        "scored_options": "0 Never\n1 Sometimes\n3 Always",
        "output": "bands",
        "options": "0–4 Low\n5–12 High",
        **COINS,
    },
    "information": {"text": "Read\nthis"},
    "declared": {"text": "Q?", "options": "North\nSouth", "confirmed": "on"},
}
