"""QR codes of text in bytes at level L, as segno draws them, to compare with the page's codes."""

from __future__ import annotations

import pytest
import segno
import segno.encoder


def draw_symbol(text: str, mask: int) -> list[bytearray]:
    with pytest.MonkeyPatch.context() as patch:
        # Text in bytes needs no bits to fill its last byte, but segno 1.6.6 adds eight.
        patch.setattr(segno.encoder, "write_padding_bits", lambda *_: None)
        made = segno.make(text, error="l", mask=mask, mode="byte", boost_error=False, micro=False)
    return list(made.matrix)
