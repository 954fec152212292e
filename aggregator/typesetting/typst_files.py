"""Make PDF and PNG files from a layout and data, only in workers; no other module imports Typst.

Fonts come from this package and from Typst, never from the computer, so that a file looks the same
everywhere.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal

_FONTS = Path(__file__).with_name("fonts")
# This standard makes a PDF tagged, with a language and a title, for screen readers. It forbids
# characters without a glyph.
_ACCESSIBLE: Literal["ua-1"] = "ua-1"
_NO_FONT = re.compile(r'the text `"(.*?)"` could not be displayed', re.DOTALL)
# Accessible PDFs may not contain the first of these characters. The next three would end a line.
# The fonts contain the last one only at another code point.
_REPLACED = {0xFEFF: None, 0x85: " ", 0x2028: " ", 0x2029: " ", 0x301C: "\uff5e"}


class NoFontError(Exception):
    """No font contains the character that the message shows."""


def typeset(
    layout: Path,
    *,
    data: object,
    file_format: Literal["pdf", "png"] = "pdf",
    is_accessible: bool = False,
    dots_per_inch: int | None = None,
) -> bytes:
    """Return a file made from a layout, which reads the data as JSON in `sys.inputs.data`.

    Typst treats the data as text and never runs it. If a character is in no font, making an
    accessible file raises NoFontError; any other file shows an empty box.
    """
    import typst  # 25 MB that web processes do not need

    words = json.dumps(data, ensure_ascii=False).translate(_REPLACED)
    try:
        made: bytes = typst.compile(
            str(layout),
            root=str(layout.parent),
            format=file_format,
            ppi=dots_per_inch,
            font_paths=_load_fonts(),
            sys_inputs={"data": words},
            pdf_standards=[_ACCESSIBLE] if is_accessible else [],
        )
    except typst.TypstError as error:
        if found := _NO_FONT.search(str(error)):
            raise NoFontError(found[1]) from None
        raise
    return made


@cache
def _load_fonts() -> Any:
    import typst

    return typst.Fonts(include_system_fonts=False, font_paths=[str(_FONTS)])
