"""What questions cost, compared with docs/methods and with drawn reports."""

from __future__ import annotations

import re
from math import log
from random import Random
from typing import Any

import numpy as np
import pytest

from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.scores import Output
from surveys.manifest.strength import describe_strength
from surveys.planning.assumptions import MARGIN, SHARE
from surveys.planning.packing import offer_packing
from surveys.planning.question_costs import (
    QuestionCost,
    describe_refusal_cost,
    describe_rule_cost,
    describe_ties,
    find_question_cost,
)
from surveys.planning.question_facts import list_facts
from surveys.planning.subsets import describe_subset, list_blocks, list_subsets
from tests.support.manifests import make_manifest
from tests.support.manifests import make_question as make
from tests.support.scores import carry, draw_score

YES = {"name": "q1", "is": [1]}
ROUNDED = (
    "The number becomes one end of the range at random, with the same mean. Then, of every 100 "
    "people, 25 send the other end’s code."
)


def cost_of(question: ManifestQuestion) -> QuestionCost:
    cost = find_question_cost(make_manifest(question), question)
    assert cost is not None
    return cost


def test_a_full_question_has_no_room_for_another_code() -> None:
    for question, offers in (
        (make("choice", options=62), (True, True)),
        (make("choice", options=63), (True, True)),
        (make("choice", options=63, refusal=True), (True, False)),
        (make("choice", name="q2", options=63, rule=YES), (False, True)),
        (make("choice", options=64), (False, False)),
    ):
        manifest = make_manifest(make(), question)
        said = (
            describe_refusal_cost(manifest, question),
            describe_rule_cost(manifest, question),
        )
        assert tuple("more people: about" in text for text in said) == offers
        assert tuple("at most 64" not in text for text in said) == offers


def test_a_rule_says_what_it_ties_together() -> None:
    first, second = make(), make(name="q2", rule=YES)
    assert describe_ties(make_manifest(first), first) == ""
    assert describe_ties(make_manifest(first, second), second) == (
        "This question also reveals something about Q1, raising Q1’s ε from 1.10 to 2.20 "
        "(“Protection: light” instead of “Protection: strong”)."
    )
    weaker = [make(flips=8), make(name="q2", rule=YES, flips=49)]
    assert describe_ties(make_manifest(*weaker), weaker[1]) == (
        "This question also reveals something about Q1, raising Q1’s ε from 2.45 to 2.49 "
        "(“Hardly protected” instead of “Protection: light”)."
    )
    alike = [make(flips=40), make(name="q2", rule=YES, flips=40)]
    assert describe_ties(make_manifest(*alike), alike[1]).endswith("from 0.41 to 0.82.")
    third = make(name="q3")
    text = describe_ties(make_manifest(first, second, third, drawn=2), second)
    assert (
        "The random subset draws these questions together, so there are 2 blocks instead of 3."
        in text
    )
    assert "too few to draw 2 blocks from" in text


def test_both_parts_of_a_follow_up_have_their_cost() -> None:
    """For each part, the spread of 4,000 drawn surveys is within 10 % of MARGIN / 1.96."""
    question, generator = make("follow_up", options=3), np.random.default_rng(7)
    cost = find_question_cost(make_manifest(question, cap=5000), question)
    assert cost is not None
    [line] = [line for line in cost.lines if "the follow-up needs about" in line]
    later = re.search(r"about ([\d,]+) people", line)
    assert later is not None
    mechanism = question.mechanism

    def draw(people: int, *, asked: float) -> Any:
        truth = [1 - asked, asked * SHARE, asked * (1 - SHARE)]
        counts = generator.multinomial(people, mechanism.channel() @ truth, size=4000)
        return (counts / people - mechanism.other_probability) / mechanism.slope

    first = 1 - draw(cost.people, asked=SHARE)[:, 0]
    assert first.std() * 1.96 == pytest.approx(MARGIN, rel=0.1)
    shares = draw(int(later[1].replace(",", "")), asked=0.3)
    second = shares[:, 1] / shares[:, 1:].sum(axis=1)
    assert second.std() * 1.96 == pytest.approx(MARGIN, rel=0.1)


@pytest.mark.parametrize(
    ("question", "epsilons", "sentence"),
    [
        (make("several", options=5), 5, "5 × ε of one option, 1.10."),
        (make("several", options=5, limit=2), 4, "two people can differ in 4: 4 × ε"),
        (
            make("several", options=5, limit=3),
            5,
            "This limit saves nothing, because two people can differ in all 5",
        ),
        (
            make("several", options=5, limit=2, refusal=True),
            5,
            "plus ε once more for the code",
        ),
    ],
)
def test_select_several_costs_what_can_differ(
    question: ManifestQuestion, epsilons: int, sentence: str
) -> None:
    cost = cost_of(question)
    assert cost.epsilon == pytest.approx(epsilons * log(3))
    assert sentence in cost.lines[-1]


@pytest.mark.parametrize(
    ("question", "codes", "sentence"),
    [
        (make(), "2 codes", "Of every 100 people, 25 send the other answer’s code."),
        (
            make(refusal=True),
            "3 codes: 2 answers and “prefer not to say”",
            "Of every 100 people, 20 send each of the other answers’ codes.",
        ),
        (
            make("choice", options=6, flips=12),
            "6 codes",
            "Of every 100 people, 8.1 send each of the other answers’ codes.",
        ),
        (
            make("number", minimum=0, maximum=9, options=0),
            "2 codes",
            ROUNDED,
        ),
        (
            make("scale", minimum=0, maximum=9, options=0, rule=YES, name="q2"),
            "3 codes: the range’s two ends and “not asked”",
            "Of every 100 people, 20 send each of the other answers’ codes.",
        ),
        (
            make("several", options=3, rule=YES, name="q2"),
            "one code for each of 3 options, and one for “not asked”",
            "For each option: of every 100 people, 25 send the other code.",
        ),
    ],
)
def test_codes_are_counted_and_their_odds_come_from_the_real_mechanism(
    question: ManifestQuestion, codes: str, sentence: str
) -> None:
    parent = [] if question.name == "q1" else [make()]
    cost = find_question_cost(make_manifest(*parent, question), question)
    assert cost is not None
    assert (cost.codes, cost.sentence) == (codes, sentence)


@pytest.mark.parametrize(
    ("question", "warning"),
    [
        (make("choice", options=6), ""),  # 1.05 times as many people
        (
            make("choice", options=7),
            "For this strength, 7 codes are many. The question takes 1.2 times",
        ),
        (
            make("choice", options=15, refusal=True),
            "For this strength, 16 codes are many. The question",
        ),
        (make("scale", minimum=1, maximum=5, options=5), ""),
        (make("scale", minimum=1, maximum=7, options=7), "A scale of 7 points is long"),
        (
            make("scale", minimum=0, maximum=10, options=0),
            "With 11 points, you learn only the mean",
        ),
        (make("several", options=3, limit=1), "“one answer” costs half as much"),
    ],
)
def test_a_question_shows_its_warning(question: ManifestQuestion, warning: str) -> None:
    found = " ".join(cost_of(question).warnings)
    assert warning in found
    assert bool(found) == bool(warning)


def test_the_statement_names_everything_that_depends_on_a_question() -> None:
    chain = [
        make(),
        make(name="q2", rule=YES),
        make("information", name="q3", options=0, rule=YES),
        make(name="q4", rule={"name": "q2", "is": [0]}),
    ]
    manifest = make_manifest(*chain)
    first, second, _, fourth = (facts.cost for facts in list_facts(manifest))
    assert first is not None
    assert second is not None
    assert fourth is not None
    assert first.together == pytest.approx(3 * first.epsilon)
    assert fourth.together is None
    assert first.lines == (
        "Q2 and Q3 depend on this question and also reveal something about it: together ε = 3.30.",
    )
    assert second.lines == (
        "Q3 depends on this question and also reveals something about it: together ε = 2.20.",
    )
    assert fourth.lines == ()
    assert find_question_cost(manifest, chain[2]) is None


def test_a_switch_has_the_same_cost_on_and_off() -> None:
    off, on = make(), make(refusal=True)
    said = describe_refusal_cost(make_manifest(off), off)
    assert said == describe_refusal_cost(make_manifest(on), on)
    assert "2,604 instead of 1,913 for ±5 points" in said
    # A rule on a yes/no question of equal strength costs as much as pages say of any new rule.
    off, on = make(name="q2"), make(name="q2", rule=YES)
    said = describe_rule_cost(make_manifest(make(), off), off)
    assert said == describe_rule_cost(make_manifest(make(), on), on)
    assert "6,611 instead of 1,913 for ±5 points among those asked, if 50" in said


def test_packing_is_compared_at_the_same_total() -> None:
    parent, child = make(), make(name="q2", rule=YES)
    read = make("information", name="t1")  # texts have no number
    offer = offer_packing(make_manifest(read, parent, child), child)
    assert offer is not None
    assert (offer.parent, offer.flips) == (1, 10)
    assert offer.total == pytest.approx(2 * log(3))
    assert offer.apart == pytest.approx(0.0585, abs=5e-5)
    assert offer.packed == pytest.approx(0.031, abs=5e-4)
    packed = RandomizedResponse.from_flips(symbols=3, flips=offer.flips)
    assert packed.epsilon == pytest.approx(offer.total)


def test_nobody_chooses_a_score_so_none_is_packed() -> None:
    """The carrier of a cut-off is yes/no, but no page could ask it before or after a question."""
    for scored in ("parent", "child"):
        parent, child = make(), make(name="q2", rule=YES)
        if scored == "parent":
            parent = carry(draw_score(Random(1), output=Output.CUT_OFF), Output.CUT_OFF, name="q1")
        else:
            score = draw_score(Random(1), output=Output.CUT_OFF)
            child = carry(score, Output.CUT_OFF, name="q2", rule=YES)
        assert offer_packing(make_manifest(parent, child), child) is None


@pytest.mark.parametrize("flips", range(1, 50))
def test_packing_never_costs_more_than_both_apart(flips: int) -> None:
    parent, child = make(flips=flips), make(name="q2", rule=YES, flips=flips)
    offer = offer_packing(make_manifest(parent, child), child)
    if offer is not None:
        packed = RandomizedResponse.from_flips(symbols=3, flips=offer.flips)
        assert packed.epsilon <= offer.total + 1e-6
        assert offer.packed < offer.apart


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (make(flips=5), "95 of 100 codes are the true answer."),
        (
            make("several", flips=5),
            "For each option: 95 of 100 codes are the true answer.",
        ),
        # 95 / (95 + 2 · 5) = 90.5
        (make("choice", options=3, flips=5), "91 of 100 codes are the true answer."),
        (
            make("number", options=0, flips=5, minimum=0, maximum=30, refusal=True),
            f"{ROUNDED.partition(' Then')[0]} Then 91 of 100 codes stay as they are.",
        ),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_below_twelve_flips_the_codes_that_are_kept_are_counted(
    question: ManifestQuestion, sentence: str
) -> None:
    cost = find_question_cost(make_manifest(question), question)
    assert cost is not None
    assert cost.sentence == sentence


def test_strengths_do_not_promise_too_much() -> None:
    for flips in range(1, 50):
        for symbols in (2, 3, 4, 7, 64):
            chosen = describe_strength(flips, symbols=symbols)
            mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
            if kept := re.match(r"(\d+) of 100 codes are sent unchanged", chosen.sentence):
                assert 100 * mechanism.threshold / 2**32 <= int(kept[1])
                assert flips < 12
                continue
            said = re.search(r", ([\d.]+) send each", chosen.sentence)
            times = float(said[1]) if said else flips
            assert (said is None) == (symbols == 2)
            assert times <= 100 * mechanism.other_probability + 1e-9
            assert chosen.epsilon == mechanism.epsilon
            assert ("coins" in chosen.name) == (symbols == 2 and flips == 25)
    assert "depends on the number of answers" in describe_strength(25, symbols=None).sentence


def test_random_subsets_are_described_by_their_fractions() -> None:
    questions = [make(name=f"q{number}") for number in range(1, 7)]
    manifest = make_manifest(*questions)
    assert [subset.drawn for subset in list_subsets(manifest)] == [1, 2, 3, 4, 5]
    three = describe_subset(manifest, drawn=3)
    assert three is not None
    assert (three.asked, three.paired) == (0.5, 0.2)  # 3/6 and 3·2 / 6·5
    assert three.total_epsilon == pytest.approx(3 * log(3))
    assert list_blocks(manifest) == [[number] for number in range(1, 7)]
    assert describe_subset(manifest, drawn=None) is None
    assert list_subsets(make_manifest(make())) == []


def test_a_random_subset_needs_more_people() -> None:
    questions = [make(name=f"q{number}") for number in range(1, 4)]
    cost = find_question_cost(make_manifest(*questions, drawn=2), questions[0])
    assert cost is not None
    assert cost.people == 2099  # 1,399 reports
    [line] = cost.lines
    assert line.endswith("Numbers of people count everyone who takes part.")
