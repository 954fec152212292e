"""Which requests may be large: only those that send questionnaires and definitions."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import httpx
import pytest

from config.asgi import MAX_LARGE_BODY_BYTES, MAX_PAGE_BODY_BYTES, application

LARGE = (
    "/surveys/import",
    "/api/definitions/validate",
    "/api/surveys",
    "/api/surveys/x/definition",
)


async def _put(path: str, size: int) -> int:
    transport = httpx.ASGITransport(app=cast(Any, application))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return (await client.put(path, content=b" " * size)).status_code


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize("path", [*LARGE, "/surveys/new", "/api/reports/x"])
def test_a_body_may_have_two_megabytes_only_where_definitions_are_sent(path: str) -> None:
    most = MAX_LARGE_BODY_BYTES if path in LARGE else MAX_PAGE_BODY_BYTES
    assert asyncio.run(_put(path, most)) in (403, 404, 405)
    assert asyncio.run(_put(path, most + 1)) == 413
