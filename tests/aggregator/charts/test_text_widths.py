"""Text breaks into lines that fit, without measuring a font."""

from __future__ import annotations

import json

import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st

from aggregator.charts.text_widths import measure, wrap
from aggregator.typesetting.typst_files import _load_fonts

TEXTS = [
    "The quick brown fox jumps over 12.5 % (10–14) †",
    "Žluťoučký kůň, çà et là, İstanbul, Việt Nam",
    "Ελληνικά Українська עברית",
    "مسح عن العمل، هل حدث",
    "上个月，我们清单 日本語のガ 한국어",
    "हिन्दी में प्रश्न বাংলা தமிழ் കേരളം සිංහල",
    "ไทย คำถาม አማርኛ Հայերեն ქართული",
]
WIDTHS = b"""
#let weigh(words) = ("regular", "bold").map(weight => measure(
  text(font: "Liberation Sans", size: 1000pt, weight: weight, words)
).width.pt())
#context [#metadata(json(bytes(sys.inputs.data)).map(weigh)) <widths>]
"""


def test_widths_are_those_of_helvetica() -> None:
    # "Wm1" is 944 + 833 + 556 thousandths.
    assert measure("Wm1", size=10) == pytest.approx(23.33)
    assert measure("é", size=10) == measure("e", size=10)
    assert measure("日", size=10) == 10
    assert measure("e\u0301", size=10) == measure("e", size=10)
    assert measure("Wm1", size=10, bold=True) > 24


@given(st.text(max_size=300), st.floats(min_value=20, max_value=200))
def test_every_line_fits_and_no_letter_is_lost(text: str, width: float) -> None:
    lines = wrap(text, width=width, size=7)
    assert all(measure(line, size=7) <= width or len(line) == 1 for line in lines)
    spaces = dict.fromkeys(map(ord, " \t\r\n"))
    assert "".join(lines).translate(spaces) == text.translate(spaces)


def test_lines_break_between_words_but_not_inside_a_number_with_its_sign() -> None:
    assert wrap("12.5\u00a0% (10.2–14.9) †", width=40, size=6.5) == [
        "12.5\u00a0%",
        "(10.2–14.9) †",
    ]
    assert wrap("", width=40, size=6.5) == []
    assert wrap("x" * 20, width=40, size=6.5) == ["x" * 12, "x" * 8]


def test_no_text_is_wider_in_a_file_than_measured() -> None:
    found = typst.query(
        WIDTHS, "<widths>", field="value", one=True, font_paths=_load_fonts(),
        sys_inputs={"data": json.dumps(TEXTS)},
    )  # fmt: skip
    for text, widths in zip(TEXTS, json.loads(found), strict=True):
        for bold, width in enumerate(widths):
            assert width <= 1.005 * measure(text, size=1000, bold=bool(bold)), text
    regular, _ = json.loads(found)[0]
    assert regular >= 0.99 * measure(TEXTS[0], size=1000)  # Latin letters are measured exactly
