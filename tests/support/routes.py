"""Every route, read from the URLconf, so that no test can miss one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver


@dataclass(frozen=True)
class Route:
    name: str  # with namespace, as in reverse()
    parameters: tuple[str, ...]


def _walk(resolver: URLResolver, namespace: str = "") -> Iterator[Route]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _walk(entry, inner)
        elif isinstance(entry, URLPattern):
            yield Route(
                name=f"{namespace}{entry.name}", parameters=tuple(entry.pattern.regex.groupindex)
            )


def all_routes() -> list[Route]:
    return list(_walk(get_resolver()))
