"""The start page for visitors: it links to the open demo, the methods and the source."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from accounts.models import User
from aggregator.simulation.demo import field_demo
from aggregator.simulation.demo_surveys import OPEN, REDBOOK
from surveys.lifecycle.services import close_wave
from surveys.models import Wave

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def start_page() -> str:
    response = Client().get("/")
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def owner() -> User:
    return User.objects.create_user(email="demo@example.org")


def test_the_formula_is_part_of_its_sentence() -> None:
    # The methods give each "formula" its own box.
    assert 'about <span class="inline-formula">2n′/n' in " ".join(start_page().split())


def test_only_people_who_are_signed_in_read_which_release_runs(
    owner: User, client: Client, settings: Settings
) -> None:
    settings.VERSION = "17.4.2"
    assert "17.4.2" not in start_page()
    client.force_login(owner)
    assert "Murmur 17.4.2" in client.get("/").content.decode()


def test_the_start_page_links_to_the_methods() -> None:
    assert f'href="{reverse("aggregator:methods")}"' in start_page()


def test_the_start_page_links_to_the_demo_that_anyone_may_answer(owner: User) -> None:
    assert 'href="/s/' not in start_page()
    wave = field_demo(OPEN, owner=owner)
    address = reverse("surveys:respond", args=[wave.survey.slug])
    assert f'href="{address}"' in start_page()
    assert Client().get(address).status_code == 200
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert 'href="/s/' not in start_page()


def test_the_start_page_does_not_link_to_a_demo_with_known_people(owner: User) -> None:
    field_demo(REDBOOK, owner=owner)
    assert 'href="/s/' not in start_page()


def test_the_start_page_links_to_the_source_if_a_setting_gives_it(settings: Settings) -> None:
    assert "source code" not in start_page()
    settings.SOURCE_URL = "https://code.example/murmur"
    assert 'href="https://code.example/murmur"' in start_page()
