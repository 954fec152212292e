"""Label, cost, ledger and readers mean the same questions by "tells about this answer"."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from django.utils.translation import override

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.planning.question_costs import find_question_cost
from surveys.respondent.label.odds import describe_groups
from tests.support.label import draw_manifest

TOLD = "The codes of other questions tell about this answer too."
NAMED = re.compile("(?:ask|asks|depend|depends|reveal|reveals) .*: together")


def find_telling(manifest: Manifest, question: ManifestQuestion) -> set[str]:
    """Follow rules and equal facts, one step at a time, until nothing new is found."""
    found = {question.name}
    while True:
        facts = {manifest.facts[name] for name in found}
        more = {
            one.name
            for one in manifest.questions
            if one.is_scrambled
            and (manifest.facts[one.name] in facts or found & set(manifest.parents_of(one)))
        }
        if more <= found:
            return found
        found |= more


def list_sums(manifest: Manifest, names: set[str]) -> list[Fraction]:
    """Add up ε over every set of blocks that one person can be asked."""
    blocks: dict[int, Fraction] = {}
    for one in manifest.questions:
        if one.is_scrambled:
            own = Fraction(one.epsilon) if one.name in names else Fraction(0)
            blocks[manifest.blocks[one.name]] = (
                blocks.get(manifest.blocks[one.name], Fraction(0)) + own
            )
    drawn = len(blocks) if manifest.drawn is None else manifest.drawn
    return [sum(chosen, Fraction(0)) for chosen in combinations(blocks.values(), drawn)]


@pytest.mark.parametrize(
    ("seed", "surveys"), [(34, 300), pytest.param(35, 1700, marks=pytest.mark.long)]
)
def test_random_surveys_have_one_answer_to_what_tells_about_an_answer(
    seed: int, surveys: int
) -> None:
    random = Random(seed)
    told_by_others = 0
    for _ in range(surveys):
        manifest = draw_manifest(random)
        with override("en"):
            groups = describe_groups(manifest)
        labelled = {
            name for group in groups for one in group.odds if TOLD in one.sentence
            for name in one.names
        }  # fmt: skip
        for question in manifest.questions:
            if not question.is_scrambled:
                continue
            names = find_telling(manifest, question)
            assert {one.name for one in manifest.telling(question)} == names
            others = [one for one in manifest.questions if one.name in names - {question.name}]
            # The ledger.
            most = max(list_sums(manifest, names))
            assert most <= Fraction(manifest.statement_epsilon(question)) <= most * (1 + 2**-50)
            # The cost.
            cost = find_question_cost(manifest, question)
            assert cost is not None
            said = "".join(line for line in cost.lines if NAMED.search(line))
            assert set(re.findall(r"Q(\d+)", said)) == {str(one.number) for one in others}
            # The label names the codes that one person can send besides the answer's own code.
            own = manifest.blocks[question.name]
            sent = [
                one for one in others if manifest.drawn != 1 or manifest.blocks[one.name] == own
            ]
            assert (question.name in labelled) == bool(sent)
            told_by_others += bool(sent)
    assert told_by_others > surveys // 2
