"""Fetch every address of a survey that someone can reach by its name."""

from __future__ import annotations

import re

from django.test import Client
from django.urls import reverse

from surveys.models import Wave
from tests.support.routes import all_routes

NAMESPACES = ("surveys:", "aggregator:", "api:")
# These replies differ each time: a page with a new id, a file that contains the time at which it
# was made, and the history, which lists what was fetched.
LEFT_OUT = (
    "aggregator:coins",
    "surveys:xlsform",
    "aggregator:history",
    "aggregator:history_csv",
)
# Tokens that differ in every reply.
TOKENS = re.compile(rb'(name="csrfmiddlewaretoken" value=|"X-CSRFToken": ?|nonce=)"[^"]*"')


def fetch_everything(client: Client, wave: Wave) -> dict[str, tuple[int, bytes]]:
    """Fetch each address that needs only the survey's name."""
    found = {}
    for route in all_routes():
        is_left_out = route.name in LEFT_OUT or not route.name.startswith(NAMESPACES)
        if not is_left_out and set(route.parameters) <= {"slug"}:
            path = reverse(route.name, kwargs=dict.fromkeys(route.parameters, wave.survey.slug))
            reply = client.get(path)
            found[route.name] = reply.status_code, TOKENS.sub(b"", reply.getvalue())
    return found
