"""Manifests for tests of the privacy label, and the rules for its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from django.template.loader import render_to_string

from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from surveys.manifest.scores import Output
from surveys.respondent.label.label import PrivacyLabel, describe_protection
from surveys.respondent.label.parts import Odds
from tests.support.factories import FOLLOW_UP, YES_NO
from tests.support.manifests import make_manifest
from tests.support.scores import carry, draw_score

FORBIDDEN = re.compile(
    r"anonym|\blie[sd]?\b|\blying\b|false answer|\bfake|\bnois[ey]|garbl|epsilon|ε", re.IGNORECASE
)
LONGEST_SENTENCE = 20
RULE = {"name": "q1", "is": [1]}
NO = "Can the researchers see my answers? No. Hackers or courts with the database cannot either."
SEE = "Can researchers, hackers or courts see my answers?"
PROVE = "Can anyone prove my answer?"
MOSTLY = f"{SEE} Mostly yes."
PARTLY = f"{SEE} Partly. They could make a fair guess."
TOGETHER = f"{SEE} Partly. They could learn a lot from all your codes together."
NOBODY = f"{PROVE} No."
OPENED = "Can others see that this device opened this page? Yes."
WEBSITE = "The website’s owners see which code is yours, and could change this page."
THREE = tuple(Option(code=code, text=f"Row {code}") for code in range(3))
ITEMS = tuple(Option(code=code, text=f"Row {code}") for code in (1, 2, 3))


def survey(*questions: ManifestQuestion, cap: int | None = None) -> Manifest:
    return make_manifest(
        *(replace(each, name=f"q{number}") for number, each in enumerate(questions, start=1)),
        minimum_batch=50,
        display_minimum=100,
        cap=cap,
    )


def text_of(label: PrivacyLabel) -> str:
    """Return all text of the label that a person can read on the start page."""
    names = ("_consequences", "_respond_label")
    html = [render_to_string(f"surveys/respondent/{name}.html", {"label": label}) for name in names]
    return "\n".join([f"<p>{label.lead}</p>", *html])


def describe(*questions: ManifestQuestion) -> PrivacyLabel:
    return describe_protection(survey(*questions))


def lines(label: PrivacyLabel) -> list[str]:
    told = [(one.question, one.answer, *one.sentences, one.exception) for one in label.consequences]
    return [" ".join(filter(None, line)) for line in told]


def warnings(label: PrivacyLabel) -> list[str]:
    return [one.sentence for one in label.warnings]


def all_odds(label: PrivacyLabel) -> list[Odds]:
    return [odds for group in label.groups for odds in group.odds]


def sentences(html: str) -> Iterator[str]:
    html = re.sub(r'{% translate "([^"]*)"[^%]*%}', r"\1", html)
    html = re.sub(r"\{%.*?%\}|\{#.*?#\}", "", html, flags=re.DOTALL)
    for block in re.split(
        r"</?(?:p|dt|dd|h1|h2|div|br|span|b|button|title|section|li|summary)\b[^>]*>", html
    ):
        text = " ".join(re.sub(r"<[^>]*>", " ", block).split())
        yield from (part for part in re.split(r"(?<=[.?!]) ", text) if part)


def make(kind: str, *, flips: int = 25, text: str = "Driven?", **content: Any) -> ManifestQuestion:
    usual: dict[str, dict[str, Any]] = {
        "yes_no": {"options": YES_NO},
        "choice": {"options": THREE},
        "scale": {"options": THREE, "minimum": 1, "maximum": 3},
        "several": {"options": ITEMS},
        "number": {"minimum": 0, "maximum": 24, "unit": "hours"},
        "follow_up": {"options": FOLLOW_UP, "follow_up": "And now?"},
        "declared": {"options": THREE},
        "information": {},
    }
    if kind in Output:
        output = Output(kind)
        scale = draw_score(Random(len(text)), output=output)
        return carry(scale, output, flips=flips, text=text, **content)
    question = ManifestQuestion(
        name="", type=QuestionType(kind), text=text, **(usual[kind] | content)
    )
    return with_strength(question, flips=flips)


KINDS = ("yes_no", "choice", "scale", "several", "number", "follow_up", *Output.values)


def draw_manifest(random: Random) -> Manifest:
    """Draw a survey of up to 15 questions with rules, shared facts, subsets and plain answers."""
    strongest = random.choice((5, 12, 25))
    questions: list[ManifestQuestion] = []
    for number in range(1, random.randint(1, 15) + 1):
        flips = random.randint(strongest, 49) if random.random() < 0.9 else random.randint(1, 49)
        kind = random.choice(KINDS if random.random() < 0.3 else KINDS[:3])
        content: dict[str, Any] = {"flips": flips, "refusal": random.random() < 0.2}
        if number > 1 and random.random() < 0.1:
            parent = random.randint(1, number - 1)
            row = "_1" if questions[parent - 1].has_items else ""
            content["rule"] = {"name": f"q{parent}{row}", "is": [1]}
        elif number > 1 and random.random() < 0.05:
            content["same_fact"] = "q1"
        questions.append(make(kind, **content))
    plain = [make("declared")] * random.choice((0, 0, 1, 2))
    manifest = survey(*questions, *plain, cap=10_000)
    drawn = random.randint(1, 3 * manifest.block_count)
    return replace(manifest, drawn=drawn if drawn < manifest.block_count else None)
