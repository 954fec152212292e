"""The pages and files of a protected survey that anyone may request."""

from __future__ import annotations

import csv
import io
from datetime import datetime

import pytest
from django.test import Client
from django.urls import reverse

from surveys.manifest.manifest import Publication
from surveys.models import StoredText, Survey, Wave
from tests.support.factories import make_launched_survey

NAMES = ("public_results", "public_results_csv")


def protect(**settings: object) -> Wave:
    return make_launched_survey(publication=Publication.PROTECTED, **settings)


def read(
    survey: Survey, *, name: str = "public_results", status: int = 200, language: str = ""
) -> bytes:
    StoredText.objects.all().delete()  # so that the page is made again
    return read_as_kept(survey, name=name, status=status, language=language)


def read_as_kept(
    survey: Survey, *, name: str = "public_results", status: int = 200, language: str = ""
) -> bytes:
    query = {"lang": language} if language else {}
    response = Client().get(reverse(f"aggregator:{name}", args=[survey.slug]), query)
    assert response.status_code == status
    assert not response.cookies
    assert response["Vary"] == "Accept-Encoding"
    return response.content


def visit(survey: Survey) -> str:
    return " ".join(read(survey).decode().split())


def rows_of(survey: Survey) -> list[dict[str, str]]:
    content = read(survey, name="public_results_csv").decode()
    return list(csv.DictReader(io.StringIO(content)))


def read_all(survey: Survey) -> list[bytes]:
    return [read(survey, name=name) for name in NAMES]


def set_clock(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)
