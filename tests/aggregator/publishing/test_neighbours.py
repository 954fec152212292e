"""Two surveys that differ by one person, followed from the intake to the figures that readers see.

No step is skipped: reports are sent, sealed and counted, a release is charged to the ledger, and
what a worker would draw once is drawn many times. The events are fixed beforehand. OpenDP cannot be
seeded. By chance, all tests together fail less than once in a million runs
(tests/support/sampling/audits.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from aggregator.models import Release
from aggregator.releases.drawing import _Draw
from aggregator.releases.figures import QuestionFigures, TableFigures, read_figures
from aggregator.releases.ledger import reserve_release
from aggregator.releases.readers import reader_epsilons
from surveys.authoring.services import add_question
from surveys.manifest.manifest import NOT_DRAWN, Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_survey, open_survey
from tests.support.sampling.audits import measure_loss
from tests.support.waves import count_all, make_released_wave, send_many

pytestmark = pytest.mark.django_db(transaction=True)

RUNS = 20_000
CROWD = [b"\0\1\0", b"\1\1\0"] * 20
PERSON = b"\1\0\1"
Bools = NDArray[np.bool_]


def reserve(
    wave: Wave, *names: str, kind: ReleaseKind = ReleaseKind.TABLE, hundredths: int = 100
) -> Release:
    questions = names or tuple(one.name for one in wave.description.questions)
    request = ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=hundredths)
    return reserve_release(wave=wave, request=request)


def field(survey: Survey, rows: Sequence[bytes]) -> Wave:
    wave = open_survey(survey=survey)
    send_many(wave, list(rows))
    count_all(wave)
    return wave


def draw_cells(release: Release, *, runs: int = RUNS) -> NDArray[np.int64]:
    """Draw a table many times as a worker would, and return one row for each draw."""
    draw = _Draw(release)
    cells = [
        [cell for counts in draw.draw()["cells"].values() for cell in counts] for _ in range(runs)
    ]
    return np.array(cells)


def cells_of(wave: Wave, row: bytes) -> list[int]:
    """Return the positions of a report's cells in a table of all questions."""
    places, start = [], 0
    for symbol, code in zip(wave.description.symbols, row, strict=True):
        if code != NOT_DRAWN:
            places.append(start + code)
        start += symbol.k
    return places


def true_cells(wave: Wave, crowd: Sequence[bytes]) -> list[int]:
    """Count how often each code was sent, before any noise."""
    return [
        sum(row[place] == code for row in crowd)
        for place, symbol in enumerate(wave.description.symbols)
        for code in range(symbol.k)
    ]


def measure_person(
    fewer: Wave, more: Wave, crowd: Sequence[bytes], row: bytes, *, runs: int = RUNS
) -> float:
    """Measure what a table of all questions reveals about whether a person took part.

    The event is that each of the person's cells is above its count without the person.
    """
    own = cells_of(fewer, row)
    known = np.array(true_cells(fewer, crowd))[own]
    with_person, without = (
        np.asarray((draw_cells(reserve(wave), runs=runs)[:, own] > known).all(axis=1))
        for wave in (more, fewer)
    )
    return measure_loss(with_person, without)


@pytest.mark.parametrize(
    ("runs", "least"), [(RUNS * 2 // 5, 0.3), pytest.param(RUNS, 0.6, marks=pytest.mark.long)]
)
def test_one_person_more_loses_no_more_than_the_release_was_charged_for(
    runs: int, least: float
) -> None:
    fewer, more = (make_released_wave(rows=rows) for rows in (CROWD, [*CROWD, PERSON]))
    assert least < measure_person(fewer, more, CROWD, PERSON, runs=runs) <= 1


@pytest.mark.long
def test_three_people_more_are_noticed_by_the_same_audit() -> None:
    fewer, more = (make_released_wave(rows=rows) for rows in (CROWD, [*CROWD, *[PERSON] * 3]))
    assert 1 < measure_person(fewer, more, CROWD, PERSON) <= 3


@pytest.mark.long
def test_one_person_more_whose_subset_is_the_largest_loses_no_more_than_was_charged() -> None:
    """Each person is asked two of three blocks; the block with “select several” has three codes."""
    crowd = [b"\0\1\0\1\xff", b"\xff\0\1\1\0", b"\1\xff\xff\xff\1"] * 15
    person = b"\1\1\1\1\xff"

    def make(rows: Sequence[bytes]) -> Wave:
        survey = make_survey(questions=["First?"], drawn=2, publication=Publication.PROTECTED)
        add_question(
            survey=survey, type=Question.Type.SEVERAL, text="Which?", options=["A", "B", "C"]
        )
        add_question(survey=survey, text="Last?")
        return field(survey, rows)

    fewer, more = make(crowd), make([*crowd, person])
    assert reserve(fewer).scale == "4"  # the largest subset has 4 codes, and ε = 1
    assert 0.4 < measure_person(fewer, more, crowd, person) <= 1


def test_whether_there_are_enough_people_is_decided_on_noisy_ones() -> None:
    """If the exact number decided, 20 people would always be enough, and 19 never."""
    crowd = [bytes([number % 2]) for number in range(20)]
    fewer, more = (make_released_wave(rows=rows, questions=1) for rows in (crowd[1:], crowd))
    events = [
        _read_many(wave, lambda question: question.is_enough and question.people_needed == 20)
        for wave in (more, fewer)
    ]
    assert all(0 < event.mean() < 1 for event in events)
    assert measure_loss(*events) <= 0.5


def _read_many(wave: Wave, event: Callable[[QuestionFigures], bool], *, runs: int = 3000) -> Bools:
    """Draw a release many times, and read its figures as the public page does."""
    release, manifest = reserve(wave, hundredths=50), wave.description
    draw, found = _Draw(release), []
    for _ in range(runs):
        release.result = draw.draw()
        figures = read_figures(release, manifest)
        assert isinstance(figures, TableFigures)
        found.append(event(figures.questions[0]))
    return np.array(found)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "counts", "code", "least"),
    [(ReleaseKind.LEADER, (12, 12, 2), 1, 0.7), (ReleaseKind.MEDIAN, (6, 0, 6), 1, 0.05)],
)
def test_one_person_more_loses_no_more_in_a_choice(
    kind: ReleaseKind, counts: tuple[int, ...], code: int, least: float
) -> None:
    """The additional person sends code 0, so code 1 is chosen less often."""
    crowd = [bytes([place]) * count for place, count in enumerate(counts)]
    rows = [bytes([place]) for place in b"".join(crowd)]

    def make(rows: Sequence[bytes]) -> Wave:
        survey = make_survey(
            questions=(), publication=Publication.PROTECTED, release_epsilon_hundredths=200
        )
        add_question(survey=survey, type=Question.Type.SCALE, text="How?", minimum=1, maximum=3)
        return field(survey, rows)

    events = []
    for wave in (make(rows), make([*rows, b"\0"])):
        reserve(wave)  # the table on which a choice is based
        draw = _Draw(reserve(wave, kind=kind))
        events.append(np.array([draw.draw()["code"] == code for _ in range(RUNS)]))
    assert least < measure_loss(*events) <= 1


@pytest.mark.long
def test_readers_learn_no_more_about_an_answer_than_the_release_says() -> None:
    """Compare one person's two possible answers; each run scrambles the answer and draws noise."""
    waves = [make_released_wave(rows=[*CROWD, row], questions=3) for row in (b"\1\0\1", b"\0\0\1")]
    releases = [reserve(wave, "q1") for wave in waves]
    manifest = waves[0].description
    (line,) = reader_epsilons(manifest, [releases[0]])
    symbol = manifest.symbols[0]
    # The counts of codes 0 and 1 without the person. The event is that code 1 is above its count
    # and code 0 is not.
    known = np.array(true_cells(waves[0], CROWD)[:2])
    of_code = {}
    for code, release in ((1, releases[0]), (0, releases[1])):
        noisy = draw_cells(release) - known
        of_code[code] = (noisy[:, 1] >= 1) & (noisy[:, 0] <= 0)
    generator = np.random.default_rng(20261123)
    events = []
    for answer in (1, 0):
        is_true = generator.random(RUNS) < symbol.mechanism.keep_probability
        codes = np.where(is_true, answer, 1 - answer)
        events.append(np.where(codes == 1, of_code[1], of_code[0]))
    measured = measure_loss(*events)
    assert 0.7 * line.reader < measured <= line.reader < line.server
