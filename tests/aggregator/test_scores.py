"""A survey with scores shows the same digits as one with numbers, choices and yes/no questions."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.models import Comparison, RawReport
from aggregator.simulation.respondents import randomize_answers
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.models import Survey, Wave
from tests.support.breakdowns.waves import break_down
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.waves import count_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ITEMS = ["I slept badly", "I felt calm | reversed", "I could not work | ×2"]
BANDS = ["0–4 Low", "5–8 Middle", "9–12 High"]
SCORES: list[dict[str, Any]] = [
    {"output": "total", "refusal": True},
    {"output": "bands", "options": BANDS},
    {"output": "cut_off", "cut_off": 6},
]
PEOPLE = 200
# Results quote the label, and the report contains a sentence about scores.
SAID_OF_SCORES = (
    r"Only (your|which|whether)[^.<]* is scrambled and sent\. |"
    r"Each respondent’s device added up [^<]* was randomized and sent\.(</p>\s*<p[^>]*>| )?"
)
# The label explains in one place how both codes of a scale are sent. Both codes are in one block.
OF_ONE_SCALE = (
    r'Before they answered, people could read:.*?</ul>|,\d+(?=,"Randomized in the browser)'
)
Compared = tuple[tuple[Comparison.Kind, tuple[str, str]], ...]
COMPARED: Compared = (
    (Comparison.Kind.TABLE, ("q4", "q3.2")),
    (Comparison.Kind.TABLE, ("q2", "q4")),
)


def make_scales() -> Survey:
    survey = make_survey(questions=("Is it cold?",))
    for place, content in enumerate(SCORES):
        add_question(
            survey=survey,
            type="score",
            text=f"Scale {place}",
            name=f"scale_{place}x",
            scored_items=[f"{place} times {item}" for item in ITEMS],
            scored_options=["0 Never", "1 Sometimes", "3 Always"],
            flips=10,
            **content,
        )
    _add_group(survey)
    return survey


def make_carriers(texts: list[str]) -> Survey:
    """Make a survey that asks directly for what scores send, under the names that results use."""
    survey = make_survey(questions=("Is it cold?",))
    carriers: list[dict[str, Any]] = [
        {"type": "number", "minimum": 0, "maximum": 12, "refusal": True},
        {"type": "choice", "options": BANDS},
        {"type": "yes_no"},
    ]
    for place, (text, content) in enumerate(zip(texts, carriers, strict=True)):
        add_question(survey=survey, text=text, name=f"scale_{place}x", flips=10, **content)
    _add_group(survey)
    return survey


def make_scale_of_two_codes() -> Survey:
    survey = make_survey(questions=("Is it cold?",))
    add_question(survey=survey, type="information", text="A page without a question.")
    content: dict[str, Any] = {
        "scored_items": ITEMS,
        "scored_options": ["0 Never", "1 Sometimes", "3 Always"],
        "flips": 10,
    }
    scale = add_question(
        survey=survey, type="score", text="Scale", name="scale_x", **content | SCORES[0]
    )
    second: dict[str, Any] = {"type": "second", "same_fact": scale.pk, "flips": 10} | SCORES[1]
    add_question(survey=survey, text="Bands", name="bands_x", **second)
    _add_group(survey)
    return survey


def make_carriers_of_one_fact(texts: list[str]) -> Survey:
    survey = make_survey(questions=("Is it cold?",))
    add_question(survey=survey, type="information", text="A page without a question.")
    usual: dict[str, Any] = {"flips": 10, "refusal": True}
    number: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 12} | usual
    first = add_question(survey=survey, text=texts[0], name="scale_x", **number)
    choice: dict[str, Any] = {"type": "choice", "options": BANDS, "same_fact": first.pk} | usual
    add_question(survey=survey, text=texts[1], name="bands_x", **choice)
    _add_group(survey)
    return survey


def _add_group(survey: Survey) -> None:
    add_question(survey=survey, text="Where?", type="declared", options=["North", "South"])


def fill(wave: Wave) -> None:
    """Let the same people send reports, with the same random draws and ids."""
    choices: dict[str, list[int | None]] = {
        "number": [None, *range(13)],
        "choice": [0, 1, 2],
        "yes_no": [0, 1],
        "declared": [0, 1],
    }
    rng = random.Random(41)
    manifest = wave.description
    reports = []
    for _ in range(PEOPLE):
        answers = {
            one.name: rng.choice(choices[one.type]) for one in manifest.questions if one.is_answered
        }
        symbols = randomize_answers(manifest, answers, random_uint32=lambda: rng.getrandbits(32))
        reports.append(RawReport(id=rng.randbytes(32), wave=wave, symbols=symbols))
    RawReport.objects.bulk_create(reports)
    count_all(wave)


def list_pages(wave: Wave, *, group: str, compared: Compared) -> dict[str, str]:
    """Read every page and file about the results, and remove what identifies the survey."""
    slug, client = wave.survey.slug, sign_in(wave.survey.owner)
    names = (
        "results",
        "estimates_csv",
        "reports_csv",
        "codebook_csv",
        "breakdowns",
        "report",
        "data",
    )
    urls = {name: reverse(f"aggregator:{name}", args=[slug]) for name in names}
    urls["breakdown"] = reverse("aggregator:breakdown", args=[slug, group])
    urls["breakdown_csv"] = reverse("aggregator:breakdown_csv", args=[slug, group])
    urls["api"] = reverse("aggregator:api_results", args=[slug])
    for kind, names_of_pair in compared:
        urls[f"{kind} of {names_of_pair}"] = reverse(
            "aggregator:comparison", args=[slug, compute(ask(wave, kind, *names_of_pair)).pk]
        )
    break_down(wave, group)
    return {name: _read(client, url, wave) for name, url in urls.items()}


def _read(client: Client, url: str, wave: Wave) -> str:
    response = client.get(url)
    assert response.status_code == 200, url
    content = b"".join(response) if response.streaming else response.content
    text = content.decode().replace(wave.survey.slug, "SLUG")
    text = text.replace(wave.manifest_hash_hex, "HASH")
    if any(one.same_fact for one in wave.description.questions):
        text = re.sub(OF_ONE_SCALE, "", text, flags=re.DOTALL)
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
    text = re.sub(r'/compare/\d+/|comparison-\d+|researcher\d+@|data-forget="\d+/', "ROW", text)
    return re.sub(SAID_OF_SCORES, "", text).replace("Your number is", "Your total is")


@pytest.mark.parametrize(
    ("make", "make_plain", "group", "compared", "told"),
    [
        (make_scales, make_carriers, "q5", COMPARED, "0 times I felt calm | reversed; 0 times"),
        (
            make_scale_of_two_codes,
            make_carriers_of_one_fact,
            "q4",
            ((Comparison.Kind.TABLE, ("q1", "q3.2")),),
            "From the same answers as scale_x,",
        ),
    ],
)
def test_the_same_reports_make_the_same_pages_and_files(
    make: Callable[[], Survey],
    make_plain: Callable[[list[str]], Survey],
    group: str,
    compared: Compared,
    told: str,
) -> None:
    scales = make()
    described = build_manifest(survey=scales, wave_number=1).questions
    carriers = make_plain([one.full_text for one in described if one.score])
    first, second = (open_survey(survey=survey) for survey in (scales, carriers))
    for wave in (first, second):
        fill(wave)
    found, expected = (list_pages(wave, group=group, compared=compared) for wave in (first, second))
    codebook, plain = (
        list(csv.reader(io.StringIO(pages.pop("codebook_csv"), newline="")))
        for pages in (found, expected)
    )
    said = {row.pop() for row in codebook}
    assert "scale" in said
    assert any(told in one for one in said)
    assert codebook == plain
    assert "0–4 Low" in {cell for row in codebook for cell in row}
    for name, page in found.items():
        assert page == expected[name], name
