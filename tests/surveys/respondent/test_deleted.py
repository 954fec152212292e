"""What respondents find at the addresses of a deleted survey."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.translation import gettext, override

from surveys.models import DeletedWave

pytestmark = pytest.mark.django_db
TITLE = "This survey was deleted"
ERASED = "All codes were deleted with it, except in older copies."
DIGEST = bytes(range(32))
PAGES = (
    "/s/deleted",
    "/s/deleted/fr",
    "/s/deleted/check",
    "/s/deleted/page.html",
    "/s/deleted/coins",
    "/s/deleted/paper",
    "/s/deleted/send",
    "/s/deleted/coins/sent",
    "/s/deleted/send/sent",
    f"/m/{DIGEST.hex()}.json",
    f"/m/{DIGEST.hex()}/fr.json",
)


@pytest.fixture(autouse=True)
def deleted() -> None:
    DeletedWave.objects.create(manifest_hash=DIGEST, slug="deleted")


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("language", ["en", "es", "fr", "de", "ar", "zh-hans"])
def test_every_address_says_so_kindly_in_the_readers_language(path: str, language: str) -> None:
    response = Client().get(path, headers={"accept-language": language})
    assert response.status_code == 410
    language = "fr" if "/fr" in path else language
    with override(language):
        title, erased = gettext(TITLE), gettext(ERASED)
    page = response.content.decode()
    assert f"<h1>{title}</h1>" in page
    assert erased in page
    assert f'<html lang="{language.replace("hans", "Hans")}"' in page
    assert (language == "en") == (title == TITLE)
    assert "<script" not in page
    assert not response.cookies


@pytest.mark.parametrize("path", ["/s/deleted/coins", "/s/deleted/send"])
def test_forms_that_were_open_are_answered_too(path: str) -> None:
    response = Client().post(path, {"manifest": "x", "report": "y"})
    assert response.status_code == 410
    assert TITLE in response.content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_other_addresses_are_still_not_found(path: str) -> None:
    DeletedWave.objects.all().delete()
    assert Client().get(path).status_code == 404
