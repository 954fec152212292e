"""The format of a definition: the whole content of a draft as JSON, with names in place of keys.

Values mean the same as in the models. Default values may be left out. Rules are written as they are
stored (surveys.manifest.rules), but with variable names in place of primary keys. The items of a
"select several" question are called name_1, name_2, … Information texts have no names, because
nothing refers to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from surveys.lifecycle.errors import SurveyError
from surveys.models import Question
from surveys.models.settings import SETTING_NAMES

FORMAT, VERSION = "murmur-definition", 1
MOST_BYTES = 2_000_000
# The settings, in the order in which files list them.
SETTINGS_IN_FILES = tuple(name for name in SETTING_NAMES if name != "title")
_FIRST = ("name", "source_name", "short_label")
_ORDER = (*_FIRST, *(name for name in Question.CONTENT if name not in _FIRST))
LABEL = "short_label"  # the field that files call label
# Maps each key to its field, in the order in which files list the keys.
QUESTION_KEYS = {"label" if name == LABEL else name: name for name in _ORDER}


class QuestionDefinition(TypedDict):
    """A question. Each type has the keys of its form, and other keys are rejected."""

    name: NotRequired[str]  # required for questions that people answer
    source_name: NotRequired[str]
    label: NotRequired[str]  # the short label
    type: str
    text: str
    flips: NotRequired[int]  # required if answers are scrambled
    options: NotRequired[list[str]]
    minimum: NotRequired[int]
    maximum: NotRequired[int]
    unit: NotRequired[str]
    low_label: NotRequired[str]
    high_label: NotRequired[str]
    limit: NotRequired[int]
    follow_up: NotRequired[str]
    # A score's lines are written as authors write them. The options of a score are its bands.
    scored_items: NotRequired[list[str]]
    scored_options: NotRequired[list[str]]
    output: NotRequired[str]
    cut_off: NotRequired[int]
    refusal: NotRequired[bool]
    rule: NotRequired[dict[str, Any]]
    same_fact: NotRequired[str]
    together: NotRequired[bool]


class ReleaseDefinition(TypedDict):
    kind: str
    questions: list[str]
    epsilon_hundredths: int
    answer: NotRequired[int]
    percent: NotRequired[int]
    group: NotRequired[str]


class Definition(TypedDict):
    format: str
    version: int
    title: str
    settings: NotRequired[dict[str, Any]]
    questions: list[QuestionDefinition]
    # Keyed by language, and then by the words that are translated.
    translations: NotRequired[dict[str, dict[str, str]]]
    # The outcome comes first. Each entry is a name with its indicator's suffix, as in "work.2".
    planned_comparisons: NotRequired[list[list[str]]]
    planned_releases: NotRequired[list[ReleaseDefinition]]


@dataclass(frozen=True, kw_only=True, order=True)
class Problem:
    """A problem in a definition. `pointer` is its place, as a JSON pointer (RFC 6901)."""

    pointer: str
    text: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.text}"


def point(*parts: str | int) -> str:
    """Write a JSON pointer."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


class ImportOutdated(SurveyError):
    def __init__(self) -> None:
        super().__init__(
            "Your surveys or the text have changed since the preview, so nothing was created. If "
            "you pressed the button twice, the draft is among your surveys. Otherwise, press it "
            "again."
        )


class InvalidDefinition(SurveyError):
    """Nothing was created. `problems` lists everything that is wrong."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(map(str, self.problems)))
