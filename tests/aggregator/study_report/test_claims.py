"""The report of a survey with a sealed half, before and after the test of its claims."""

from __future__ import annotations

import pytest

from aggregator.comparisons.claims import Claim, add_claim, list_stored, list_tested
from aggregator.comparisons.jobs import find_comparisons_to_run, run_comparison
from aggregator.models import SealedHalf
from aggregator.results.display import find_view
from aggregator.study_report.sections.claims import (
    BEING_TESTED,
    CLAIMS,
    NOT_DIVIDED,
    STILL_SEALED,
    TOGETHER,
)
from aggregator.study_report.sections.head import COUNTING, HALF, list_marks
from aggregator.study_report.writing import write_report
from surveys.models import Wave
from tests.aggregator.study_report.report_text import text_of_section
from tests.support.fielding import process
from tests.support.halves import divide, make_divided_wave, open_sealed_half
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db


def said(wave: Wave) -> str:
    return text_of_section(write_report(find_view(wave.survey)), CLAIMS)


def test_it_follows_the_half_from_the_opening_to_the_verdicts() -> None:
    wave = make_wave(sealed_half=True)
    assert NOT_DIVIDED in said(wave)
    divide(wave)
    claims = [Claim(names=("q1", name), is_higher=True) for name in ("q2", "q3")]
    for claim in claims:
        add_claim(wave=wave, claim=claim)
    assert STILL_SEALED in said(wave)
    assert list_marks(find_view(wave.survey)) == (HALF,)
    assert "frequent" not in said(wave)  # claims are not stated as findings
    open_sealed_half(wave, *claims)
    assert list_marks(find_view(wave.survey)) == (COUNTING,)
    process(wave)
    assert said(wave).count(BEING_TESTED) == 2
    while (found := find_comparisons_to_run().first()) is not None:
        run_comparison(comparison_id=found.pk)
    text = said(wave)
    assert BEING_TESTED not in text
    assert text.count("onfirmed. ") == 2  # Confirmed, or Not confirmed
    assert TOGETHER in text
    # Which claims have a p-value depends on the halves, which are drawn by chance.
    tested = list_tested(SealedHalf.objects.get(), wave.description)
    assert text.count("p\N{NO-BREAK SPACE}") == sum(bool(one.p_value) for one in tested)


def test_a_half_without_claims_and_one_that_could_not_be_made_say_so() -> None:
    wave = make_divided_wave()
    open_sealed_half(wave)
    assert "No claim had been written down." in said(wave)
    few = divide(make_wave(sealed_half=True), people=60)
    half = SealedHalf.objects.get(wave=few)
    assert half.problem
    assert list_stored(half) == []
    assert half.problem in said(few)
