"""Turn the LaTeX formulas of the files into MathML, which browsers typeset and read aloud."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

THIN = '<mspace width="0.167em" />'
NAME = "<mi>(?:ln|exp)</mi>"
OPENING = '(?:<mo stretchy="false">&#x00028;|<mrow><mo stretchy)'
# Signs that browsers, limited to MathML Core, would space too narrowly or too widely.
REPAIRS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # A function's name has a thin space on both sides, but none before a parenthesis.
        (rf"(</(?:m[in]|mfrac|mover|msqrt|msu[bp]|msubsup)>)(?={NAME})", rf"\1{THIN}"),
        (rf"({NAME})(?!{OPENING})", rf"\1{THIN}"),
        (r"(&#x00028;</mo>)<mo>(max|min)</mo>", r'\1<mo lspace="0" rspace="0">\2</mo>'),
        (rf"<mo>(max|min)</mo>(?={OPENING})", r'<mo lspace="0.167em" rspace="0">\1</mo>'),
        (r"<mo>(max|min)</mo>", r'<mo lspace="0.167em" rspace="0.167em">\1</mo>'),
        (r"<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">&#x0002F;</mo>'),
        # Relations and signs that the library writes as letters.
        (r"<mi>&#x0007E;</mi>", "<mo>&#x223C;</mo>"),
        (r"<mi>&#x000B1;</mi>", "<mo>&#x000B1;</mo>"),
    )
)


def add_formulas(markdown: MarkdownIt) -> MarkdownIt:
    """Read `$…$` and `$$…$$` as formulas, as hosting sites do."""
    return markdown.use(
        dollarmath_plugin,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        allow_blank_lines=False,
        renderer=_render,
    )


def _render(latex: str, options: dict[str, Any]) -> str:
    return write_mathml(latex, display="block" if options["display_mode"] else "inline")


def write_mathml(latex: str, *, display: str) -> str:
    mathml: str = convert(latex, display=display)
    for pattern, replacement in REPAIRS:
        mathml = pattern.sub(replacement, mathml)
    return mathml
