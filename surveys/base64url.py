"""Unpadded base64url (RFC 4648 §5), the encoding of bytes in manifests and reports."""

from __future__ import annotations

import base64


def encode_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode("ascii")


def decode_base64url(text: str) -> bytes | None:
    """Return the bytes, or None if `text` is not their canonical encoding.

    Python's decoder skips invalid characters and ignores unused bits at the end, so many strings
    decode to the same bytes. This function accepts only the string that `encode_base64url` writes.
    """
    try:
        value = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:  # binascii.Error, or a character outside ASCII
        return None
    return value if encode_base64url(value) == text else None
