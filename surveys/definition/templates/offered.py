"""The templates that authors can start from: definitions in this folder, in Murmur's own words.

Each template is short enough to open for 1,000 people within all limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from surveys.definition.format import Definition
from surveys.definition.parsing import parse_definition

_FOLDER = Path(__file__).parent
# In the order of the page. The words below a title describe the topics of the questions.
_ABOUT: Mapping[str, str] = {
    "harassment": "Unwanted comments and touching, repeated humiliation, and trust in the "
    "employer.",
    "substances": "Alcohol, cannabis, stimulants, and prescription medicines of others.",
    "integrity": "Missing sources, help in exams, AI tools, and how clear the rules are.",
    "voting": "Taking part, pressure, hidden views, and trust in the count.",
    "health": "Health today, low mood, care that costs too much, and medicines.",
    "strain": "Strain as one score, illness at work, managers, and looking for another job.",
    "pay": "Monthly pay, what colleagues earn, asking for more, and fairness.",
}


@dataclass(frozen=True, kw_only=True)
class Template:
    name: str
    about: str
    definition: Definition

    @property
    def title(self) -> str:
        return self.definition["title"]


@lru_cache(maxsize=1)
def list_templates() -> tuple[Template, ...]:
    return tuple(
        Template(name=name, about=about, definition=_read(name)) for name, about in _ABOUT.items()
    )


def find_template(name: str) -> Template | None:
    return next((one for one in list_templates() if one.name == name), None)


def _read(name: str) -> Definition:
    return cast(Definition, parse_definition((_FOLDER / f"{name}.json").read_bytes()))
