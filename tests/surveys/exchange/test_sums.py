"""Sums in other programs become scores or are left out, and the reason is given."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from surveys.exchange.drafting import Drafted
from surveys.exchange.reading.conditions import NotReadable
from surveys.exchange.reading.sums import read_sum
from surveys.exchange.writing.redcap import write_dictionary
from surveys.exchange.writing.score_rows import read_score
from surveys.exchange.writing.xlsform import write_xlsform
from surveys.manifest.scores import LEAST_ITEMS, MOST_ITEMS
from tests.support.exported_scores import OUTPUTS, SCALE, compute, define, list_questions
from tests.support.questionnaires import (
    DICTIONARY,
    XLSFORM,
    Rows,
    find_row,
    read,
    read_sheets,
    write_csv,
    write_workbook,
)

HEAD = ["type", "name", "label", "relevant", "calculation", "murmur_same_fact", "constraint"]
LISTS: Rows = [
    ["list_name", "name", "label"],
    *(["of", value, text] for value, text in ((0, "Never"), (1, "Often"), (4, "Always"))),
    *(["other", value, text] for value, text in ((0, "No"), (1, "A bit"), (4, "Much"))),
    *(["words", text, text] for text in ("one", "two", "three")),
    *(["yn", value, value] for value in ("no", "yes")),
]
ITEMS: Rows = [
    [f"select_one {'of' if name < 'e' else 'yn'}", name, f"{name}?"] for name in "abcdef"
]
FIRST = 2 + len(ITEMS)  # the first row after the items


def add_up(*formulas: str, before: Rows | None = None) -> Drafted:
    rows = [["calculate", f"sum{at}", f"Sum {at}", None, f] for at, f in enumerate(formulas)]
    return read_sheets([HEAD, *ITEMS, *(before or []), *rows], LISTS)


def list_scores(drafted: Drafted) -> list[dict[str, Any]]:
    return [one for one in drafted.definition["questions"] if one["type"] == "score"]


@pytest.mark.parametrize(
    ("formula", "items"),
    [
        ("${a} + ${b} + ${c}", ["a?", "b?", "c?"]),
        ("sum(${b}, ${a})", ["a?", "b?"]),
        ("${a} + (4 - ${b})", ["a?", "b? | reversed"]),
        ("2 * ${a} + 4 + 0 - ${b} + ${c} * 3", ["a? | ×2", "b? | reversed", "c? | ×3"]),
        ("${a} + ${a} + 2 * (4 - ${b})", ["a? | ×2", "b? | reversed | ×2"]),
        ("(4 - ${a}) + (0 + 4 - ${b})", ["a? | reversed", "b? | reversed"]),
        ("coalesce(${a}, 0) + int(${b})", ["a?", "b?"]),
        ("sum(${d}, ${c}, ${b}, ${a})", ["a?", "b?", "c?", "d?"]),
    ],
)
def test_a_sum_becomes_a_score_in_place_of_its_items(formula: str, items: list[str]) -> None:
    drafted = add_up(formula)
    [score] = list_scores(drafted)
    assert score["scored_items"] == items
    assert score["scored_options"] == ["0 Never", "1 Often", "4 Always"]
    assert (score["name"], score["text"], score["output"]) == ("sum0", "Sum 0", "total")
    assert len(drafted.definition["questions"]) == len(ITEMS) - len(items) + 1
    assert drafted.definition["questions"][0] is score
    row = find_row(drafted, FIRST)
    assert row["listed"] == "changed"
    assert f"{len(items)} questions became items of this score." in str(row["notes"])
    assert find_row(drafted, 2)["became"] == "Item 1 of Q1"
    told = str(find_row(drafted, 4, "choices"))
    assert ("becomes 3" in told) == (len(items) < 4), "of the single questions only"


def test_scores_count_what_random_formulas_count() -> None:
    chance, rows, formulas = Random(3), [], []
    for at in range(25):
        names = [f"x{at}{letter}" for letter in "abc"]
        rows += [["select_one of", name, f"{name}?"] for name in names]
        parts = [
            f"{chance.randint(1, 9)} * {chance.choice(['${%s}', '(4 - ${%s})']) % name}"
            for name in names
        ]
        formulas.append(" + ".join(chance.sample(parts, 3)))
    scores = list_scores(add_up(*formulas, before=rows))
    for at, (formula, score) in enumerate(zip(formulas, scores, strict=True)):
        for chosen in product(range(3), repeat=3):
            places = zip("abc", chosen, strict=True)
            answers = {f"x{at}{letter}": (0, 1, 4)[place] for letter, place in places}
            assert read_score(score).find_total(chosen) == compute(formula, answers)


def test_declining_is_for_the_whole_score() -> None:
    lists = [*LISTS, ["of", "99", "Prefer not to say"]]
    total = ["calculate", "t", None, None, "${a} + ${b}"]
    drafted = read_sheets([HEAD, *ITEMS, total], lists)
    [score] = list_scores(drafted)
    assert (score["refusal"], score["text"]) == (True, "t")
    told = str(find_row(drafted, FIRST)["notes"])
    assert "decline the whole score" in told
    assert "its name appears above the items" in told


def test_counts_of_answers_are_scores_too() -> None:
    [score] = list_scores(add_up("if(${e} = 'yes', 1, 0) + if(${f} = 'no', 2, 0)"))
    assert score["scored_items"] == ["e?", "f? | reversed | ×2"]
    assert score["scored_options"] == ["0 No", "1 Yes"]


REFUSED = [
    ("(${a} + ${b}) div 2", "divides"),
    ("mean(${a}, ${b})", "cannot compute “mean”"),
    ("if(${a} > 1, 1, 0) + ${b}", "compares numbers"),
    ("if(${e} = 'yes' and ${f} = 'yes', 1, 0) + ${b}", "combinations"),
    ("${a} * ${b}", "multiplies"),
    ("${a} + 3", "does not add earlier answers"),
    ("${a} + ${b} + 1", "It differs by +1 from the sum of its items."),
    ("${a} - ${b}", "It differs by −4 from the sum of its items."),
    ("${a} + 0.5 * ${b}", "b does not count in whole numbers."),
    ("${a} + 101 * ${b}", "whole weights up to 100"),
    ("${a} + if(${b} = 1, 1, 0)", "do not count the same numbers"),
    ("${a} + ${nowhere}", "nowhere is not a question that was taken over."),
    ("${a} + ${why}", "why is not a question that was taken over."),
    ("${a} + ${other}", "a and other have different answers."),
    ("${a} + ${several}", "several is not a question with one answer from a list."),
    ("${a} + ${n}", "n is not a question with one answer from a list."),
    ("${w} + ${v}", "w has an answer whose value is not a number."),
    ("${a} + ${ruled}", "a and ruled have different rules."),
    ("${a} + ${asked}", "refers to asked."),
    ("${a} + ${fact}", "same fact"),
    ("${a} + ${pair}", "The name pair is used in 2 rows."),
    ("${a} + ${barred}", "contains “|”"),
    ("${a} + ${twin}", "a and twin have the same text."),
    ("${a} + ${sum_0}", "sum_0 is not a question that was taken over."),
    ("${a} + ${sum_99}", "sum_99 is computed itself."),
    ("${a} + ${last}", "last comes after it."),
]


def test_what_a_score_cannot_say_is_left_out() -> None:
    """All sums are in one file, because none of these sums uses up its items."""
    before: Rows = [
        ["text", "why", "Why?"],
        ["select_one other", "other", "Other?"],
        ["select_multiple of", "several", "Several?"],
        ["integer", "n", "N?", None, None, None, ". >= 0 and . <= 9"],
        *(["select_one words", name, f"{name}?"] for name in "wv"),
        ["select_one of", "ruled", "Ruled?", "${e} = 'yes'"],
        ["select_one of", "asked", "Asked?"],
        ["select_one yn", "g", "G?", "${asked} = '4'"],
        ["select_one of", "fact", "Fact?", None, None, "g"],
        *([["select_one of", "pair", "Pair?"]] * 2),
        ["select_one of", "barred", "Bad | reversed"],
        ["select_one of", "twin", "A?"],
    ]
    sums: Rows = [
        ["calculate", f"sum_{at}", "Sum", None, formula] for at, (formula, _) in enumerate(REFUSED)
    ]
    last: Rows = [
        ["calculate", "sum_99", None, None, "${sum_0} + ${sum_99}"],
        ["select_one of", "last", "L?"],
    ]
    drafted = read_sheets([HEAD, *ITEMS, *before, *sums, *last], LISTS)
    for row, (formula, reason) in enumerate(REFUSED, start=FIRST + len(before)):
        found = find_row(drafted, row)
        assert found["listed"] == "left"
        assert reason in found["reason"], formula
    assert list_scores(drafted) == []
    assert "a" in [one.get("name") for one in drafted.definition["questions"]]


def test_the_first_of_two_sums_with_an_item_wins() -> None:
    drafted = add_up("${a} + ${b}", "sum(${a}, ${b}, ${c})", "${c} + ${d}", "${e} + ${sum0}")
    assert [one["name"] for one in list_scores(drafted)] == ["sum0", "sum2"]
    assert "a is an item of sum0 already." in find_row(drafted, FIRST + 1)["reason"]
    assert "sum0 is computed itself." in find_row(drafted, FIRST + 3)["reason"]


@pytest.mark.parametrize("count", [LEAST_ITEMS, MOST_ITEMS, MOST_ITEMS + 1])
def test_a_score_has_as_many_items_as_one_may_have(count: int) -> None:
    names = [f"i{at}" for at in range(count)]
    rows = [["select_one of", name, f"{name}?"] for name in names]
    formula = " + ".join(f"${{{name}}}" for name in names)
    drafted = add_up(formula, before=rows)
    assert len(list_scores(drafted)) == (count <= MOST_ITEMS)
    if count > MOST_ITEMS:
        assert f"It adds {count} questions." in find_row(drafted, FIRST + count)["reason"]


def test_a_rule_of_all_items_is_that_of_the_score() -> None:
    for rule, own, reason in (
        ("${e} = 'yes'", None, ""),
        ("${e} = 'yes'", "${e} = 'yes'", ""),
        (None, "${e} = 'yes'", "Its rule differs from the rule of its items."),
        ("${nowhere} = 'yes'", None, ""),
    ):
        before: Rows = [["select_one of", name, f"{name}?", rule] for name in ("x", "y")]
        total = ["calculate", "t", "T", own, "${x} + ${y}"]
        drafted = read_sheets([HEAD, *ITEMS, *before, total], LISTS)
        assert reason in find_row(drafted, FIRST + 2)["reason"]
        scores = list_scores(drafted)
        assert len(scores) == (not reason)
        if rule and "nowhere" in rule:
            assert "rule" not in scores[0]
            for row in (FIRST, FIRST + 1):
                assert "everyone is asked" in str(find_row(drafted, row)["notes"])
        elif scores:
            assert scores[0]["rule"] == {"name": "e", "is": [1]}


def test_texts_translations_and_strength_survive() -> None:
    drafted = read(write_workbook(XLSFORM))
    [score] = list_scores(drafted)
    assert score["scored_items"] == ["I felt tense.", "I felt calm. | reversed"]
    german = drafted.definition["translations"]["de"]
    told = [german[text] for text in ("Strain", "I felt calm.", "All of the time")]
    assert told == ["Belastung", "Ich war ruhig.", "Immer"]
    assert "The strength of the score counts." in str(find_row(drafted, 26)["notes"])
    [score] = list_scores(read(write_csv(DICTIONARY)))
    assert score["scored_items"] == ["Nervous", "Worried | ×2"]


@pytest.mark.parametrize("options", [SCALE["scored_options"], ["0 No", "0 Maybe", "2 Yes"]])
def test_totals_come_back_from_both_formats(options: list[str]) -> None:
    definition = define(OUTPUTS[0])
    definition["questions"][0]["scored_options"] = options
    definition["questions"][-1]["cut_off"] = 3
    for content in (write_xlsform(definition, form_id="a"), write_dictionary(definition)):
        drafted = read(content)
        assert list_questions(drafted.definition) == list_questions(definition)


AB = "(${a} + ${b})"


@pytest.mark.parametrize(
    ("formulas", "codes"),
    [
        ([f"if({AB} > 2, 1, 0)"], [3]),
        (["${a} + ${b}", "if(${sum0} >= 3, 'yes', 'no')"], [None, 3]),
        ([f"if(3.5 > {AB}, 'No', 'Yes')", "${b} + ${a}"], [4, None]),
        ([f"if({AB} < 3, 1, 0)"], [["0–2", "3–8"]]),
        ([f"if({AB} = 0, 'none', if({AB} <= 4, 'some', 7))"], [["0 none", "1–4 some", "5–8"]]),
        (
            [f"if(({AB} >= 0) and ({AB} <= 1), 'low', if(2 <= {AB}, 'high', ''))", AB, f"0 + {AB}"],
            [["0–1 low", "2–8 high"], None, "a is an item of sum0 already."],
        ),
        (["${a} + ${b}", "if(${sum0} > 4, 1, 0)", AB], [None, 5, "already has a second code."]),
        ([f"if({AB} > 2, 1, 0)", f"if({AB} > 4, 1, 0)"], [3, "the same kind of code"]),
        (["${a} + ${b}", "if(${sum0} > 2, 1, '')"], [None, "some totals without a result"]),
        (["${a} + ${b}", "if(${sum0} > 8, 1, 0)"], [None, "from 0 to 8 have the same result"]),
        ([f"if({AB} > 4, 1, if({AB} > 1, 0, 1))"], ["that are not neighbours"]),
        ([f"if({AB} > 3, 3, if({AB} > 2, 2, 1))"], ["Line 2 stays empty"]),
        ([f"if({AB} > 2, 1, 0)", "if(${sum0} > 0, 1, 0)"], [3, "sum0 is not a sum."]),
        (["if(${sum1} > 2, 1, 0)", "${a} + ${b}"], ["sum1 comes after it.", None]),
        (["if(${sum0} > 2, 1, 0)"], ["sum0 is not a sum."]),
        (["if(${a} > 2, 1, 0)"], ["It does not add earlier answers."]),
        ([f"if({AB} > 2 and ${{c}} > 1, 1, 0)"], ["not a comparison"]),
        ([f"if({AB} > {10**400}, 1, 0)"], ["not a comparison"]),
        (["if(" + "(" * 200 + f"{AB} > 2"], ["too deeply"]),
    ],
)
def test_what_is_computed_from_a_sum_becomes_its_codes(
    formulas: list[str], codes: list[int | list[str] | str | None]
) -> None:
    """In `codes`, a cut-off is a number, bands are lines, a total is None, and a reason is text."""
    drafted = add_up(*formulas)
    questions = {one.get("name"): one for one in drafted.definition["questions"]}
    kinds = iter(("score", "second"))
    for at, code in enumerate(codes):
        if isinstance(code, str):
            assert code in find_row(drafted, FIRST + at)["reason"]
            continue
        found = questions[f"sum{at}"]
        assert found["type"] == next(kinds)
        assert (found.get("cut_off"), found.get("options")) == (
            code if isinstance(code, int) else None,
            code if isinstance(code, list) else None,
        )


PAIRS = [(one,) for one in OUTPUTS] + list(permutations(OUTPUTS, 2))
HOSTILE_BANDS = ["-4 to 0: 50 % | None", "1–9", "10–16 Ärger_'1' "]


@pytest.mark.parametrize("outputs", PAIRS, ids=lambda pair: "+".join(o["output"] for o in pair))
def test_codes_come_back_from_both_formats(outputs: tuple[dict[str, Any], ...]) -> None:
    definition = define(outputs[0])
    definition["questions"] = definition["questions"][:2]
    rule = {"name": "asked", "is": [1]}
    questions = definition["questions"]
    questions[0]["rule"] = rule
    questions.insert(0, {"type": "yes_no", "name": "asked", "text": "Asked?", "flips": 25})
    for output in outputs[1:]:
        second = {"type": "second", "name": "more", "text": "More", "flips": 30}
        code = {key: value for key, value in output.items() if key != "refusal"}
        questions.insert(2, second | code | {"same_fact": "strain"})
        if output["output"] != "total":
            questions[-1]["rule"] = {"name": "more", "is": [0]}
    for question in questions:
        if "options" in question:
            question["options"] = [line.strip() for line in HOSTILE_BANDS]
    words = {"10–16 Ärger_'1'": "10–16 خشم", "Lately …": "اخیرا"}
    told = {"translations": {"ar": words}}
    workbook = read(write_xlsform(definition | told, form_id="a"))
    dictionary = read(write_dictionary(definition))
    assert workbook.definition["translations"]["ar"]["Lately …"] == words["Lately …"]
    if OUTPUTS[1] in outputs:
        assert words.items() <= workbook.definition["translations"]["ar"].items()
    for drafted in (workbook, dictionary):
        assert list_questions(drafted.definition) == list_questions(definition)
        assert not [
            one
            for one in drafted.outcomes
            if one["listed"] == "left" and one["name"] != "record_id"
        ]


@pytest.mark.parametrize(
    "text", ["if(" * 90 + "${a} = 1", "(" * 399, "if(${a} = 1, 1, if(${b} = 1, 2, 0)) + ${c}"]
)
def test_formulas_that_go_wrong_are_refused(text: str) -> None:
    with pytest.raises(NotReadable):
        read_sum(text)
