"""The templates: their questions, opening them within all limits, and the pages that show them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from accounts.models import User
from surveys.authoring.drafts import build_manifest
from surveys.authoring.launch_checks import find_launch_problems, list_warnings
from surveys.authoring.services import launch_survey
from surveys.definition.creating import create_draft
from surveys.definition.exporting import export_definition
from surveys.definition.templates import offered
from surveys.definition.templates.offered import Template, list_templates
from surveys.manifest.strength import PRACTICALLY_CERTAIN_FROM, STRONG
from surveys.models import Survey
from surveys.respondent.label.odds import word_of
from surveys.respondent.label.readable import hides_every_answer
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
MOST_WORDS = 20
NOBODY = "Respondents are not told who asks. Name your organization in the settings."
HELP = (
    "People can leave quickly, which suggests that the questions could endanger or upset them, but "
    "no page says where to find help. In the settings, name a place that helps."
)
every_template = pytest.mark.parametrize("template", list_templates(), ids=lambda one: one.name)


@every_template
def test_each_opens_for_a_thousand_people_without_acknowledging_a_limit(
    owner: User, template: Template
) -> None:
    survey = create_draft(template.definition, owner=owner)
    survey.people_expected = 1000
    survey.save()
    manifest = build_manifest(survey=survey, wave_number=1)
    assert find_launch_problems(survey=survey, now=timezone.now()) == []
    warnings = list_warnings(survey=survey, manifest=manifest)
    assert list(map(strip_tags, warnings)) == [NOBODY, HELP]
    wave = launch_survey(survey=survey, acknowledged=())
    assert (wave.description.acknowledged, wave.description.people_expected) == ((), 1000)


@every_template
def test_each_protects_every_answer_strongly_and_lets_people_decline(
    owner: User, template: Template
) -> None:
    survey = create_draft(template.definition, owner=owner)
    manifest = build_manifest(survey=survey, wave_number=1)
    assert {word_of(manifest, one) for one in manifest.questions} == {STRONG}
    assert manifest.epsilon < PRACTICALLY_CERTAIN_FROM
    assert hides_every_answer(manifest)
    assert survey.may_decline
    assert all(question.refusal for question in survey.questions.all())


@every_template
def test_each_file_is_written_as_an_export_writes_it(owner: User, template: Template) -> None:
    survey = create_draft(template.definition, owner=owner)
    stored = Path(offered.__file__).with_name(f"{template.name}.json").read_bytes()
    assert export_definition(survey) == stored


def test_each_card_has_few_words_and_leads_to_what_it_asks(author: Client) -> None:
    page = author.get(reverse("surveys:create"))
    for template in list_templates():
        assert len(f"{template.title} {template.about}".split()) <= MOST_WORDS
        address = reverse("surveys:template", args=[template.name])
        assert f'href="{address}">{template.title}</a>' in page.text
        shown = words_of(author.get(address))
        for question in template.definition["questions"]:
            assert question["text"] in shown
            assert question.get("follow_up", "") in shown
    assert not Survey.objects.exists()


def test_pressing_twice_makes_one_draft(author: Client, owner: User) -> None:
    address = reverse("surveys:template", args=["pay"])
    found = re.search(r'name="stamp" value="(\w+)"', author.get(address).text)
    assert found is not None
    first, second = (author.post(address, {"stamp": found[1]}) for _ in range(2))
    survey = Survey.objects.get()
    assert first["Location"] == reverse("surveys:edit", args=[survey.slug])
    assert (survey.owner, survey.title) == (owner, "Pay and fairness")
    assert second.status_code == 422
    assert "If you pressed the button twice, the draft is among your surveys" in words_of(second)


def test_a_template_that_the_server_no_longer_offers_is_not_found(author: Client) -> None:
    assert author.post(reverse("surveys:template", args=["weather"])).status_code == 404
