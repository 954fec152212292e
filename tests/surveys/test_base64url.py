"""Unpadded base64url: every spelling but the canonical one is rejected."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.base64url import decode_base64url, encode_base64url


@given(st.binary(max_size=70))
def test_bytes_survive_encoding_and_have_one_spelling(value: bytes) -> None:
    text = encode_base64url(value)
    assert text == base64.urlsafe_b64encode(value).decode().rstrip("=")
    assert decode_base64url(text) == value


@given(st.text(max_size=12))
def test_a_text_that_is_read_is_the_one_that_would_be_written(text: str) -> None:
    value = decode_base64url(text)
    assert value is None or encode_base64url(value) == text


@pytest.mark.parametrize(
    "text",
    [
        "AB",  # the unused bits are not zero
        "AA==",
        "A",
        "A A",
        "AA\n",
        "+/8",  # the characters of standard base64
        "AÄA",
        "=",
    ],
)
def test_other_spellings_are_refused(text: str) -> None:
    assert decode_base64url(text) is None
