"""Variable names: every suggestion is legal and unique, whatever the text is."""

from __future__ import annotations

import random
import sqlite3
import unicodedata
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.exports import (
    breakdown,
    codebook,
    comparisons,
    csv_format,
    estimates,
    history,
    ledger,
    modes,
    releases,
    report_codes,
)
from scripts.attacks.linker.server import Server
from surveys.authoring.reserved_names import OWN_COLUMNS, RESERVED_WORDS
from surveys.authoring.variable_names import conform_name, find_name_problem, suggest_name
from surveys.manifest.names import MAX_NAME_LENGTH, rename_in_files

WORDS = frozenset[str]().union(OWN_COLUMNS, *RESERVED_WORDS.values())


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("Have you ever used cannabis?", "used_cannabis", "used_cannabis_b"),
        ("1. Do you smoke?", "smoke", "smoke_b"),
        ("Sind Sie größer als 1,80 m?", "grosser", "grosser_b"),
        ("Êtes-vous malade ?", "malade", "malade_b"),
        ("Łódź, ﬁrst visit", "lodz_first_visit", "lodz_first_visit_b"),
        ("I don't drink", "dont_drink", "dont_drink_b"),
        ("Did you have COVID-19?", "covid", "covid_b"),
        ("Donaudampfschifffahrtsgesellschaft", "donaudampfschifffahr", "donaudampfschifffa_b"),
        ("Data", "data_a", "data_b"),
        ("While", "while_a", "while_b"),
        ("Q3", "q3_a", "q3_b"),
        ("Rnd", "rnd_a", "rnd_b"),
        ("Where?", "where_a", "where_b"),
        ("你吸烟吗？", "item_a", "item_b"),
        ("هل تدخن؟", "item_a", "item_b"),
        ("Курите?", "item_a", "item_b"),
        ("12?", "item_a", "item_b"),
        ("😀", "item_a", "item_b"),
        ("", "item_a", "item_b"),
    ],
)
def test_names_come_from_the_text(text: str, first: str, second: str) -> None:
    assert suggest_name(text, taken=[]) == first
    assert suggest_name(text, taken=[first]) == second


@pytest.mark.parametrize(
    ("name", "conformed"),
    [
        ("phq9_1", "phq9_i1"),
        ("PHQ9_1", "phq9_i1"),
        ("smokes", "smokes"),
        ("1a", "i1a"),
        ("data", "idata"),
        ("if", "iif"),
        ("q3", "iq3"),
        ("str12", "istr12"),
        ("x_gate", "x_igate"),
        ("my-Var.Näme", "my_var_name"),
        ("__a__b__", "a_b"),
        ("depression_scale_item_12", "depression_scale_i12"),
        ("a" * 30, "a" * 20),
        ("选项", "item_a"),
        ("", "item_a"),
    ],
)
def test_imported_names_change_by_one_rule(name: str, conformed: str) -> None:
    assert conform_name(name, taken=[]) == conformed
    assert conform_name(conformed, taken=[]) == conformed
    assert conform_name(conformed, taken=[conformed.upper()]) != conformed


REFUSED = """
    A a__b _a a_ 1a ä a-b a.b q3 t12 q1_2 phq9_1 a_gate rnd a_rnd a_rounded gate data row question
    while byte with if all select str9 =1+1 <b> a\u202eb a\0 ａ taken browser_n
"""


@pytest.mark.parametrize("name", ["", " ", "a b", "a\n", "a" * 21, *REFUSED.split()])
def test_names_that_no_file_could_hold_are_refused(name: str) -> None:
    assert find_name_problem(name, taken=["Taken"])


@pytest.mark.parametrize("name", ["a", "q", "q3a", "t1_x", "phq9", "a1_b2", "a_rndx", "a" * 20])
def test_other_names_are_right(name: str) -> None:
    assert not find_name_problem(name, taken=["b"])


def test_a_thousand_random_texts_get_legal_and_unique_names() -> None:
    draw = random.Random(39)
    words = [
        *OWN_COLUMNS,
        *RESERVED_WORDS["SQL"],
        *["gate", "rnd", "rounded", "q3", "12", "ß", "Ünï", "你好", "кофе"],
    ]
    characters = [chr(one) for one in range(0x20, 0x3000) if unicodedata.category(chr(one)) != "Cn"]
    taken: list[str] = []
    for number in range(1000):
        text = " ".join(draw.choices(words, k=draw.randint(0, 4)))
        if number % 2:
            text = "".join(draw.choices(characters, k=draw.randint(0, 40)))
        name = suggest_name(text, taken=taken)
        assert not find_name_problem(name, taken=taken)
        taken.append(name)
    assert len(set(taken)) == 1000


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_becomes_a_legal_name(text: str, others: list[str]) -> None:
    for make in (suggest_name, conform_name):
        assert not find_name_problem(make(text, taken=others), taken=others)


def test_no_two_columns_of_a_file_can_have_one_name() -> None:
    endings = ["", "_rnd", "_rounded_rnd", "_gate_rnd", *(f"_{n}_rnd" for n in range(1, 21))]
    assert max(map(len, endings)) + MAX_NAME_LENGTH == 32
    names = ["a", "a_rndx", "a_i1", "a_b", "a_gates", "b"]
    assert not any(find_name_problem(name, taken=[]) for name in names)
    columns = [f"{name}{ending}" for name in names for ending in endings]
    assert len(set(columns)) == len(columns)


def test_our_own_columns_are_reserved() -> None:
    own = {
        report_codes.ORIGIN_COLUMN,
        *breakdown.COLUMNS,
        *codebook.CODEBOOK_COLUMNS,
        *codebook.LABEL_COLUMN,
        *comparisons.QUANTITY_COLUMNS,
        *csv_format.WAVE_IN_FULL,
        *estimates.ESTIMATE_COLUMNS,
        *history.COLUMNS,
        *ledger.ROW_COLUMNS,
        *ledger.WAVE_COLUMNS,
        *modes.ESTIMATE_COLUMNS,
        *modes.DIFFERENCE_COLUMNS,
        *modes.POOLED_COLUMNS,
        *releases.COLUMNS,
    }
    own |= {f"{side}_{name}" for side in ("browser", "coins") for name in modes.ESTIMATE_COLUMNS}
    assert [name for name in sorted(own) if not find_name_problem(name, taken=[])] == []


@given(st.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True) | st.sampled_from(sorted(WORDS)))
def test_sqlite_takes_every_legal_name_without_quotation_marks(name: str) -> None:
    if not find_name_problem(name, taken=[]):
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute(f"CREATE TABLE t ({name} int)")


def test_words_that_postgresql_reserves_are_refused(postgres_server: Server) -> None:
    with postgres_server.connect() as database:
        found = database.execute("SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')")
        words = [word for (word,) in found]
    assert len(words) > 90
    assert [word for word in words if not find_name_problem(word, taken=[])] == []


def test_only_the_question_of_a_name_is_replaced() -> None:
    variables = {"q1": "smokes", "q12": ""}
    for name, shown in {
        "q1": "smokes", "q1_2": "smokes_2", "q1_gate": "smokes_gate", "q1.all.2": "smokes.all.2",
        "q12": "q12", "q2": "q2", "t1": "t1", "0": "0", "": "", "difference": "difference",
    }.items():  # fmt: skip
        assert rename_in_files(name, variables) == shown
