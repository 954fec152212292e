"""Formulas are LaTeX in the files and MathML on the pages; none is left half converted."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from aggregator.methods.document import list_names, read_chapter
from aggregator.methods.formulas import write_mathml
from scripts.stack.stack import ROOT

FILES = sorted((ROOT / "docs" / "methods").glob("*.md"))
CODE = re.compile(r"<pre.*?</pre>|<code>.*?</code>", re.DOTALL)
NOT_PROSE = re.compile(r"^```.*?^```|`[^`]*`|<!--.*?-->", re.DOTALL | re.MULTILINE)


def html_of(name: str) -> str:
    chapter = read_chapter(name)
    assert chapter is not None
    return "".join(section.html for section in (chapter.lead, *chapter.sections))


def text_of(latex: str) -> str:
    return "".join(ElementTree.fromstring(write_mathml(latex, display="inline")).itertext())


@pytest.mark.parametrize("name", list_names())
def test_every_formula_of_a_chapter_is_converted(name: str) -> None:
    html = CODE.sub("", html_of(name))
    assert "$" not in html
    for formula in re.findall(r"<math.*?</math>", html, re.DOTALL):
        tree = ElementTree.fromstring(formula)
        # The library leaves unknown commands as they were written.
        assert not re.search(r"[\\&$_]", "".join(tree.itertext())), formula
        assert "style" not in formula.replace("mstyle", "").replace("displaystyle", "")
        assert not any("href" in element.attrib for element in tree.iter())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_dollars_come_in_pairs_and_blocks_of_code_are_r(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert NOT_PROSE.sub("", text).count("$") % 2 == 0
    assert set(re.findall(r"^```(\w*)\n.*?^```$", text, re.DOTALL | re.MULTILINE)) <= {"r"}


def test_formulas_say_what_they_said() -> None:
    assert text_of(r"\lambda = c + d \pi") == "λ=c+dπ"
    assert text_of(r"\varepsilon = \ln\frac{t (k - 1)}{1 - t}") == "ε=lnt(k−1)1−t"
    assert text_of(r"C \sim \text{Bin}(n - 1, 2c)") == "C∼Bin(n−1,2c)"


def test_names_of_functions_keep_their_distance() -> None:
    assert 'ln</mi><mspace width="0.167em" /><mn>3' in write_mathml(r"\ln 3", display="inline")
    assert "ln</mi><mo" in write_mathml(r"\ln(3)", display="inline")
    assert 'rspace="0">max' in write_mathml(r"\max(a, b)", display="inline")
    assert 'rspace="0.167em">max' in write_mathml(r"\max \ell", display="inline")


def test_a_displayed_formula_scrolls_in_its_own_box() -> None:
    html = html_of("notation")
    assert html.count('<div class="formula" tabindex="0">') == html.count('display="block"') > 2
