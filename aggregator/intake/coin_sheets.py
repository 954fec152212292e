"""The ticks of a person who tossed two coins, as a form posts them.

These are scrambled codes, not answers, because the coins were tossed before ticking. Only the
format is checked here; the intake checks the wave's state and dates, and the range of the codes.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict

from aggregator.intake.wire import Upload
from aggregator.models import ID_BYTES
from surveys.base64url import decode_base64url, encode_base64url
from surveys.manifest.manifest import Manifest

CONTENT_TYPE = "application/x-www-form-urlencoded"
_CODES = {"0": 0, "1": 1}


@dataclass(frozen=True, kw_only=True)
class CoinSheet:
    """The ticked `codes` by question name; questions without a tick are left out."""

    manifest_hash: bytes
    report_id: bytes
    codes: Mapping[str, int]

    @property
    def written_id(self) -> str:
        return encode_base64url(self.report_id)

    @property
    def written_hash(self) -> str:
        return encode_base64url(self.manifest_hash)

    def missing(self, manifest: Manifest) -> list[str]:
        return [one.name for one in manifest.questions if one.name not in self.codes]

    def as_upload(self, manifest: Manifest) -> Upload:
        return Upload(
            manifest_hash=self.manifest_hash,
            report_id=self.report_id,
            symbols=bytes(self.codes[one.name] for one in manifest.questions),
        )


def new_sheet(manifest_hash: bytes) -> CoinSheet:
    """Return an empty sheet. The server draws its id, because no script runs in the browser."""
    return CoinSheet(manifest_hash=manifest_hash, report_id=secrets.token_bytes(ID_BYTES), codes={})


def read_hash(posted: QueryDict) -> bytes | None:
    """Return the hash of the manifest that the sheet belongs to, or None if the hash is invalid."""
    return _decode(posted.get("manifest", ""))


def read_sheet(posted: QueryDict, *, manifest: Manifest, manifest_hash: bytes) -> CoinSheet:
    """Read the ticks. An invalid code counts as not ticked, and an invalid id is replaced."""
    ticked = {one.name: posted.getlist(one.name) for one in manifest.questions}
    return CoinSheet(
        manifest_hash=manifest_hash,
        report_id=_decode(posted.get("report", "")) or secrets.token_bytes(ID_BYTES),
        codes={
            name: _CODES[values[0]]
            for name, values in ticked.items()
            if len(values) == 1 and values[0] in _CODES
        },
    )


def _decode(text: str) -> bytes | None:
    """Return an id or a hash, or None for anything else."""
    value = decode_base64url(text)
    return value if value is not None and len(value) == ID_BYTES else None
