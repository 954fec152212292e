"""The pages of a survey need as many queries for many reports and questions as for few."""

from __future__ import annotations

import pytest

from aggregator.results.snapshots import update_snapshot
from scripts.benchmarks.dashboard import count_queries
from scripts.benchmarks.grounds.mixed_survey import fill, open_mixed_survey
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.factories import make_user
from tests.support.fielding import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FEW, MANY = (10, 200), (30, 800)


def count(questions: int, reports: int, *, is_open: bool, page: str) -> int:
    owner = make_user()
    wave = open_mixed_survey(owner=owner, questions=questions)
    fill(wave, reports=reports, batch=50)
    if not is_open:
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    update_snapshot(wave_id=wave.pk)
    return count_queries(sign_in(owner), f"/surveys/{wave.survey.slug}/{page}")


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("page", ["results"])
def test_the_number_of_queries_depends_on_neither_reports_nor_questions(
    page: str, is_open: bool
) -> None:
    few, many = (count(*size, is_open=is_open, page=page) for size in (FEW, MANY))
    print(f"{page}: {few} and {many} queries")
    assert few == many <= 15
