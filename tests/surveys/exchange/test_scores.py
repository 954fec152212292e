"""A score in other programs: the items are asked, and formulas compute what Murmur sends."""

from __future__ import annotations

import csv
import io
import warnings
from itertools import product
from typing import Any

import pytest
from openpyxl import load_workbook
from pyxform.xls2xform import convert

from surveys.exchange.writing.redcap import write_dictionary
from surveys.exchange.writing.score_rows import read_score
from surveys.exchange.writing.xlsform import write_xlsform
from tests.support.exported_scores import OUTPUTS, compute, define


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda one: str(one["output"]))
def test_formulas_compute_what_the_page_computes(output: dict[str, Any]) -> None:
    definition = define(output)
    score = read_score(definition["questions"][0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = write_xlsform(definition, form_id="strain")
        told: list[str] = []
        form = convert(xlsform=io.BytesIO(content), file_type=".xlsx", warnings=told)
    assert "strain" in form.xform
    assert told == []
    head, *lines = load_workbook(io.BytesIO(content))["survey"].values
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    formulas = {row["name"]: row["calculation"] for row in rows if row["type"] == "calculate"}
    fields = list(csv.DictReader(io.StringIO(write_dictionary(definition).decode("utf-8-sig"))))
    column = "Choices, Calculations, OR Slider Labels"
    theirs = {
        one["Variable / Field Name"]: one[column] for one in fields if one["Field Type"] == "calc"
    }
    assert formulas.keys() == theirs.keys()
    first = int(output["output"] == "bands")
    for chosen in product(range(3), repeat=3):
        for found in (formulas, theirs):
            answers = {
                f"strain_{place}": score.options[one].value
                for place, one in enumerate(chosen, start=1)
            }
            for name, formula in found.items():
                answers[name] = compute(formula, answers)
            assert answers["strain"] == score.find_answer(chosen) + first
            if output["output"] == "total":
                assert answers["strained"] == (score.find_total(chosen) >= 6)
    if "rule" in definition["questions"][1]:
        assert rows[-1]["relevant"] == f"${{strain}} = '{1 + first}'"
