"""The only accepted format of a report on the wire, byte for byte.

Every respondent of a wave sends the same number of bytes, so the size reveals nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aggregator import problems
from aggregator.intake.errors import Refused
from surveys.base64url import decode_base64url, encode_base64url
from surveys.manifest.manifest import NOT_DRAWN

MAX_BODY_BYTES = 4096
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
SENTINEL = b"~"  # stands for NOT_DRAWN on the wire
_CODES = bytes.maketrans(ALPHABET + SENTINEL, bytes([*range(64), NOT_DRAWN]))
_SYMBOLS = bytes(ALPHABET).ljust(NOT_DRAWN, b" ") + SENTINEL
_BODY = re.compile(
    rb'\{"format":1,"manifest":"([A-Za-z0-9_-]{43})","id":"([A-Za-z0-9_-]{43})"'
    rb',"symbols":"([A-Za-z0-9_~-]+)"\}'
)
SHAPE = '{"format":1,"manifest":"…","id":"…","symbols":"…"}'


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A report as it arrived: well-formed, but not yet compared with a manifest."""

    manifest_hash: bytes
    report_id: bytes
    symbols: bytes  # one code per byte, or NOT_DRAWN


def parse_upload(body: bytes) -> Upload:
    """Parse the body, or refuse it and say what is expected."""
    if len(body) > MAX_BODY_BYTES:
        raise Refused(problems.TOO_LARGE, f"A report has at most {MAX_BODY_BYTES} bytes.")
    match = _BODY.fullmatch(body)
    if match is None:
        raise Refused(
            problems.MALFORMED_REPORT,
            f"The body must be exactly {SHAPE}, in this order and without spaces.",
        )
    return Upload(
        manifest_hash=_decode("manifest", match[1]),
        report_id=_decode("id", match[2]),
        symbols=match[3].translate(_CODES),
    )


def _decode(field: str, text: bytes) -> bytes:
    # The 43 characters carry 258 bits. The last two bits must be zero; otherwise, one id would have
    # four spellings.
    value = decode_base64url(text.decode("ascii"))
    if value is None:
        raise Refused(problems.MALFORMED_REPORT, f"{field} is not canonical unpadded base64url.")
    return value


def encode_report(*, manifest_hash: bytes, report_id: bytes, symbols: bytes) -> bytes:
    """Write a report as the browser does, for the demo and tests."""
    return b'{"format":1,"manifest":"%s","id":"%s","symbols":"%s"}' % (
        encode_base64url(manifest_hash).encode(),
        encode_base64url(report_id).encode(),
        symbols.translate(_SYMBOLS),
    )
