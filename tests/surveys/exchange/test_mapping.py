"""The questions that rows of XLSForms and REDCap dictionaries become."""

from __future__ import annotations

import json
from typing import Any

import pytest

from surveys.definition.checking import check_definition
from surveys.exchange.drafting import Drafted
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

LISTS: Rows = [
    ["list_name", "name", "label"],
    *([name, value, label] for name, value, label in (
        ("yn", "yes", "Yes"), ("yn", "no", "No"),
        ("codes", 0, "Nein"), ("codes", 1, "Ja"),
        ("sexes", 1, "Male"), ("sexes", 0, "Female"),
        ("scale", 0, "Never"), ("scale", 1, 1), ("scale", 2, "Always"),
        ("words", 1, "Never"), ("words", 2, "Sometimes"), ("words", 3, "Always"),
        ("fruit", "a", "Apple"), ("fruit", "b", "Pear"), ("fruit", "n", "None of the above"),
    )),
]  # fmt: skip


def read_rows(*rows: list[Any], heads: str = "type name label relevant constraint") -> Drafted:
    return read_sheets([heads.split(), *rows], LISTS)


def become(*cells: Any, heads: str = "type name label relevant constraint") -> dict[str, Any]:
    """Return the question that a row becomes."""
    [question] = read_rows(list(cells), heads=heads).definition["questions"]
    return {name: value for name, value in question.items() if name not in ("name", "flips")}


@pytest.mark.parametrize(
    ("kind", "constraint", "expected"),
    [
        ("select_one yn", "", {"type": "yes_no"}),
        ("select one from codes", "", {"type": "yes_no"}),
        ("select_one sexes", "", {"type": "choice", "options": ["Male", "Female"]}),
        (
            "select_one scale",
            "",
            {"type": "scale", "minimum": 0, "maximum": 2, "low_label": "Never"}
            | {"high_label": "Always"},
        ),
        ("select_one words", "", {"type": "choice", "options": ["Never", "Sometimes", "Always"]}),
        ("select_multiple fruit", "", {"type": "several", "options": ["Apple", "Pear"]}),
        (
            "select_multiple words",
            "count-selected(.) <= 2",
            {"type": "several", "options": ["Never", "Sometimes", "Always"], "limit": 2},
        ),
        ("integer", ". >= 0 and . < 31", {"type": "number", "minimum": 0, "maximum": 30}),
        ("text", ". = 'a' or . = 'b'", {"type": "choice", "options": ["a", "b"]}),
        ("note", "", {"type": "information"}),
    ],
)
def test_each_type_becomes_what_the_table_says(
    kind: str, constraint: str, expected: dict[str, Any]
) -> None:
    assert become(kind, "x", "Text", None, constraint) == {"text": "Text"} | expected


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        *((kind, "Murmur collects none of this.") for kind in ("start", "deviceid", "audit")),
        ("text", "free text"),
        ("date", "date"),
        ("geopoint", "places"),
        ("image", "pictures"),
        ("rank fruit", "ranking"),
        ("select_one nowhere", "no list “nowhere”"),
        ("select_one_from_file a.csv", "another file"),
        ("integer", "smallest and the largest"),
        ("spell", "does not know the type “spell”"),
    ],
)
def test_what_local_privacy_cannot_take_is_refused_with_the_reason(kind: str, reason: str) -> None:
    drafted = read_rows([kind, "x", "Text"])
    assert drafted.definition["questions"] == []
    row = find_row(drafted, 2)
    assert row["listed"] == "left"
    assert reason in row["reason"]
    assert ["type", kind] in [list(cell) for cell in row["cells"]]


def test_rules_of_groups_and_questions_become_one_rule() -> None:
    drafted = read_rows(
        ["select_one yn", "a", "A?"],
        ["select_one words", "b", "B?"],
        ["begin_group", "g", "Group", "${a} = 'yes'"],
        ["select_one yn", "c", "C?", "${b} = '1' or ${b} = '3'"],
        ["end_group"],
        ["select_multiple fruit", "d", "D?", "not(${c} = 'yes')"],
        ["select_one yn", "e", "E?", "selected(${d}, 'b')"],
    )
    rules = [question.get("rule") for question in drafted.definition["questions"]]
    asked = {"name": "a", "is": [1]}
    assert rules == [
        None,
        None,
        asked,
        {"all": [asked, {"name": "b", "is": [0, 2]}]},
        {"not": {"name": "c", "is": [1]}},
        {"name": "d_2", "is": [1]},
    ]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("${later} = 'yes'", "later is not an earlier question"),
        ("${nowhere} = 'yes'", "nowhere is not an earlier question"),
        ("${x} = 'yes'", "x is not an earlier question"),
        ("${a} = 'perhaps'", "a has no answer “perhaps”"),
        ("${n} = '3'", "n has no answers that a rule can name"),
        ("${d} = 'a'", "all boxes of d at once"),
        ("${n} > 3", "It compares numbers."),
        ("${a} = 'yes' or ${a} = 'no'", "would always be asked"),
        ("${a} = 'yes' and ${a} = 'no'", "would never be asked"),
    ],
)
def test_a_rule_that_cannot_be_is_left_out_and_its_question_stays(rule: str, reason: str) -> None:
    drafted = read_rows(
        ["select_one yn", "a", "A?"],
        ["integer", "n", "N?", None, ". >= 0 and . <= 9"],
        ["select_multiple fruit", "d", "D?"],
        ["select_one yn", "x", "X?", rule],
        ["select_one yn", "later", "L?"],
    )
    assert "rule" not in drafted.definition["questions"][3]
    [(column, text, said, matters)] = find_row(drafted, 5)["notes"]
    assert (column, text, matters) == ("relevant", rule, True)
    assert reason in said


def test_duplicate_names_are_renamed_and_rules_cannot_use_them() -> None:
    drafted = read_rows(
        ["select_one yn", "a", "A?"],
        ["select_one yn", "a", "Again?"],
        ["select_one yn", "x", "X?", "${a} = 'yes'"],
    )
    names = [question["name"] for question in drafted.definition["questions"]]
    assert names == ["a", "a_b", "x"]
    assert "Row 2 also has this name. Becomes a_b." in str(find_row(drafted, 3)["notes"])
    assert "The name a is used in 2 rows." in str(find_row(drafted, 4)["notes"])


def test_duplicate_values_of_answers_name_row_and_duplicate() -> None:
    lists = [*LISTS[:1], ["l", "a", "One"], ["l", "a", "Two"], ["l", "b", "Three"]]
    drafted = read_sheets([["type", "name", "label"], ["select_one l", "x", "X?"]], lists)
    assert drafted.definition["questions"][0]["options"] == ["One", "Two", "Three"]
    assert "Answer 2 has the same value as answer 1" in str(
        find_row(drafted, 3, "choices")["notes"]
    )


def test_translations_are_taken_and_missing_ones_are_listed() -> None:
    drafted = read(write_workbook(XLSFORM))
    german = drafted.definition["translations"]["de"]
    assert german["How often?"] == "Wie oft?"
    assert german["Never"] == "Nie"
    assert "Yes" not in german, "Murmur has its own"
    [missing] = [one for one in drafted.outcomes if "German lacks" in one["reason"]]
    assert missing["listed"] == "changed"
    assert "9 texts: the title and rows 6, " in missing["reason"]


def test_a_file_whose_title_alone_lacks_a_translation_says_so() -> None:
    heads = ["type", "name", "label::English (en)", "label::Deutsch (de)"]
    drafted = read_sheets([heads, ["note", "hello", "Hello.", "Hallo."]])
    assert drafted.outcomes[-1]["reason"] == "German lacks 1 text: the title."


def test_two_columns_of_one_language_and_unknown_languages_are_listed() -> None:
    heads = ["type", "name", "label::English", "label::English (en)", "label::Swahili (sw)"]
    drafted = read_sheets([heads, ["note", "x", "One", "Two", "Tatu"], ["note", "y", "A", "A"]])
    assert [one["text"] for one in drafted.definition["questions"]] == ["One", "A"]
    told = {column: reason for column, _, reason, _ in find_row(drafted, 2)["notes"]}
    assert "another column has this language" in told["label::English (en)"]
    assert "Swahili" in told["label::Swahili (sw)"]
    assert find_row(drafted, 3)["listed"] == "taken"


def test_strength_and_declared_groups_come_from_murmurs_own_columns() -> None:
    heads = "type name label murmur_flips murmur_declared murmur_same_fact"
    drafted = read_rows(
        ["select_one words", "a", "A?", None, "yes"],
        ["select_one yn", "b", "B?", 10],
        ["select_one yn", "c", "C?", 70, None, "b"],
        heads=heads,
    )
    first, second, third = drafted.definition["questions"]
    assert first["type"] == "declared"
    assert "Sent unprotected" in str(find_row(drafted, 2)["notes"])
    assert second["flips"] == 10
    assert third["same_fact"] == "b"
    assert "from 1 to 49" in str(find_row(drafted, 4)["notes"])


def test_more_questions_than_a_survey_holds_are_left_out() -> None:
    rows = [["note", f"n{at}", f"Text {at}"] for at in range(103)]
    drafted = read_rows(*rows)
    assert len(drafted.definition["questions"]) == 100
    assert "at most" in find_row(drafted, 104)["reason"]


def test_definitions_are_valid() -> None:
    for content in (write_workbook(XLSFORM), write_csv(DICTIONARY)):
        definition = json.loads(json.dumps(read(content).definition))
        assert check_definition(definition).problems == []
