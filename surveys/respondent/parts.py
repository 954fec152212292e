"""Decides which parts of the page's script a survey needs (client/parts).

Each part is a module that nothing imports. It adds itself to a table that the rest of the script
reads: `kinds` in client/visit/fields.js, or `additions` in client/visit/additions.js.
"""

from __future__ import annotations

from surveys.manifest.grids import count_pages
from surveys.manifest.manifest import Manifest
from surveys.respondent.label.length import count_all_pages, count_questions

# The parts are in the order in which they run. A part for one type of question has the name of the
# type.
PARTS = (
    "consent",
    "drawn",
    "file",
    "grid",
    "information",
    "languages",
    "long",
    "moments",
    "number",
    "scale",
    "score",
    "several",
    "shared",
    "split",
    "second",
)
ONLY_IN_THE_FILE = "file"
MOST_OF_A_SHORT_SURVEY = 10  # pages, or questions to check


def list_kinds(manifest: Manifest) -> set[str]:
    """List the types of questions that people see. For a score, they see its items."""
    kinds = {
        str(question.type) if question.score is None else "score" for question in manifest.questions
    }
    return kinds | {"grid"} if any(one.together for one in manifest.questions) else kinds


def is_long(manifest: Manifest) -> bool:
    most = max(count_all_pages(manifest), count_questions(manifest))
    return most > MOST_OF_A_SHORT_SURVEY


def choose_parts(manifest: Manifest, *, mode: str) -> tuple[str, ...]:
    """Return the parts for a survey and a mode of the page (surveys.respondent.page)."""
    needed = list_kinds(manifest)
    if manifest.asks_consent:
        needed.add("consent")
    if manifest.drawn:
        needed.add("drawn")
    if manifest.translations and mode != "disk":
        needed.add("languages")
    if is_long(manifest):
        needed.add("long")
    if manifest.closes:
        needed.add("moments")
    if any(one.is_second for one in manifest.questions):
        needed.add("second")
    if any(one.score is not None and count_pages([one]) > 1 for one in manifest.questions):
        needed.add("split")
    if manifest.shared_devices:
        needed.add("shared")
    if mode == "disk":
        needed.add(ONLY_IN_THE_FILE)
    return tuple(part for part in PARTS if part in needed)
