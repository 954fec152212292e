"""Key drivers as releases: planned in a draft, counted at the close however few came, and shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from aggregator.batches.sealing import find_waves_to_seal, seal_next_batch
from aggregator.models import Discard, RawReport, Release
from aggregator.publishing.rows import list_figures
from aggregator.releases import drawing
from aggregator.releases.agreeing import find_agreeing
from aggregator.releases.figures import KeyDriverFigures, read_figures
from aggregator.releases.ledger import (
    find_final_counts,
    reserve_planned,
    reserve_release,
)
from aggregator.releases.noise import Sampler, prepare_sampler
from aggregator.releases.queries import RuleCounts
from aggregator.releases.readers import reader_epsilons
from aggregator.releases.sentences import list_lines
from aggregator.study_report.sections.releases import write_releases
from aggregator.upkeep.verification.run import Verification
from privacy.central.key_driver import list_rules
from privacy.central.reader import reader_epsilon
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import copy_survey, plan_release
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.manifest.serialization import parse_manifest
from surveys.models import Survey, Wave, today
from surveys.releasing.choice import NotReleasable, check_beside, check_request, list_candidates
from surveys.releasing.noise import Mechanism, ReleasePlan, plan_table_of_choice
from surveys.releasing.noise import plan_release as plan_noise
from surveys.releasing.words import name_request
from surveys.respondent.label.publication import describe_publication
from tests.aggregator.routed import ask as ask_question
from tests.aggregator.routed import yes
from tests.support.deleting import delete_question
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.manifests import make_manifest
from tests.support.reading import text_of
from tests.support.releases.planned import draw_all
from tests.support.releases.public import read, rows_of, visit
from tests.support.releases.stored import finish, plan
from tests.support.sampling.audits import measure_loss
from tests.support.sampling.integer_sampler import IntegerSampler
from tests.support.waves import count_all, send_many

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]
KEY_DRIVER = ReleaseKind.KEY_DRIVER
THREE = ["First?", "Second?", "Third?"]
ROWS = [b"\0\1\0", b"\1\0\0", b"\1\0\1", b"\1\1\0", b"\0\1\1"]


def ask(*questions: str, epsilon: int = 50) -> ReleaseRequest:
    return ReleaseRequest(kind=KEY_DRIVER, questions=questions, epsilon_hundredths=epsilon)


PLAN = ask("q2", "q1", "q3")


def make_draft(*planned: ReleaseRequest, **settings: Any) -> Survey:
    settings = {"questions": THREE, **settings}
    return make_survey(publication=Publication.PROTECTED, planned=planned, **settings)


def field(rows: list[bytes], *planned: ReleaseRequest, **settings: Any) -> Wave:
    wave = open_survey(survey=make_draft(*planned, **settings))
    send_many(wave, rows)
    count_all(wave)
    return wave


# Which key drivers may be requested


def test_a_key_driver_is_about_questions_to_which_everyone_says_yes_or_no() -> None:
    manifest = replace(
        make_manifest(
            ask_question("q1", Kind.YES_NO),
            ask_question("q2", Kind.YES_NO, refusal=True),
            ask_question("q3", Kind.YES_NO),
            ask_question("q4", Kind.YES_NO, rule=yes("q1")),
            ask_question("q5", Kind.DECLARED, 2),
            ask_question("q6", Kind.CHOICE, 2),
            ask_question("q7", Kind.SEVERAL, 2),
            ask_question("q8", Kind.YES_NO),
        ),
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=100,
        release_delta_nanos=0,
    )
    names = [one.name for one in list_candidates(manifest, KEY_DRIVER)]
    assert names == ["q1", "q3", "q8"]
    assert list_candidates(replace(manifest, drawn=2), KEY_DRIVER) == ()
    checked = check_request(ask("q3", "q8", "q1"), manifest)
    assert checked.questions == ("q3", "q1", "q8")
    assert name_request(manifest, checked) == "Key driver of Q3 among Q1 and Q8"
    for refused, why in (
        (ask("q3", "q1"), "at least two other"),
        (ask("q3", "q3", "q1", "q8"), "each question only once"),
        (ask("q3", "q1", "q2"), "cannot be about question 2"),
        (ask("q5", "q1", "q3"), "cannot be about question 5"),
        (ask("q9", "q1", "q3"), "no question q9"),
        (ask(), "at least one"),
        (ask("q3", "q1", "q8", epsilon=101), "1.00 at most"),
        (replace(ask("q3", "q1", "q8"), group="q5"), "group"),
    ):
        with pytest.raises(NotReleasable, match=why):
            check_request(refused, manifest)


def test_each_question_is_the_outcome_of_one_key_driver() -> None:
    with pytest.raises(NotReleasable, match="draw again"):
        check_beside(PLAN, [ask("q2", "q3", "q4")])
    check_beside(PLAN, [ask("q1", "q2", "q3")])
    table = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q2",), epsilon_hundredths=1)
    check_beside(PLAN, [table])


def test_the_manifest_freezes_the_outcome_first_and_a_copy_keeps_it() -> None:
    survey = make_draft(PLAN)
    wave = open_survey(survey=survey)
    assert wave.description.planned_releases == (PLAN,)
    assert parse_manifest(bytes(wave.manifest)) == wave.description
    copied = build_manifest(survey=copy_survey(survey=survey), wave_number=1)
    assert copied.planned_releases == (PLAN,)


@pytest.mark.parametrize(
    ("deleted", "left"), [("Second?", ()), ("Third?", (ask("q2", "q1", "q3"),))]
)
def test_a_deleted_outcome_takes_its_key_driver_along(
    deleted: str, left: tuple[ReleaseRequest, ...]
) -> None:
    survey = make_draft(ask("q2", "q1", "q3", "q4"), questions=[*THREE, "Fourth?"])
    delete_question(question=survey.questions.get(text=deleted))
    survey.refresh_from_db()
    assert build_manifest(survey=survey, wave_number=1).planned_releases == left


def test_without_two_predictors_the_survey_cannot_open() -> None:
    survey = make_draft(PLAN)
    delete_question(question=survey.questions.get(text="First?"))
    survey.refresh_from_db()
    with pytest.raises(Exception, match="cannot be released"):
        open_survey(survey=survey)


def test_the_label_says_what_is_kept_of_too_few() -> None:
    label = describe_publication(open_survey(survey=make_draft(PLAN)).description)
    assert "how often each code came is kept. How often two codes were equal is kept, too." in label
    table = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=1)
    other = describe_publication(open_survey(survey=make_draft(table)).description)
    assert "two codes were equal" not in other


# Counts


def expect(rows: list[bytes]) -> tuple[list[int], dict[tuple[str, str], int]]:
    """From the rows sent, count each cell of q2 by q1, and how often the codes of a pair agree."""
    cells = [sum((row[1], row[0]) == cell for row in rows) for cell in np.ndindex(2, 2)]
    agreeing = {
        ("q1", "q2"): sum(row[0] == row[1] for row in rows),
        ("q2", "q3"): sum(row[1] == row[2] for row in rows),
    }
    return cells, agreeing


@pytest.mark.parametrize("reports", [0, 1, 9, 10, 95])
def test_pairs_are_counted_however_many_came(reports: int) -> None:
    source = Random(reports)
    rows = [source.choice(ROWS) for _ in range(reports)]
    wave = field(rows, PLAN)
    cells, agreeing = expect(rows)
    counted = find_final_counts(wave)
    assert counted is not None
    found = find_agreeing(wave, PLAN, through_batch=counted.through_batch)
    assert found == agreeing
    kept = Discard.objects.filter(wave=wave).first()
    assert (kept is not None) == (reports < 10)
    if kept is not None:
        assert (kept.size, kept.agreeing) == (reports, list(agreeing.values()))
    counts = RuleCounts.of(counted.counts, wave.description, PLAN.questions, found)
    rules = list_rules(2)
    assert counts.list_cells(rules[0]) == counts.list_cells(rules[1]) == cells
    assert counts.list_cells(rules[4]) == [cells[0] + cells[1], cells[2] + cells[3]]
    assert counts.score()[0] == 1000 * agreeing["q1", "q2"]
    assert not RawReport.objects.exists()
    assert not find_waves_to_seal().exists()


def test_all_batches_are_counted_and_none_that_is_newer() -> None:
    wave = open_survey(survey=make_draft(PLAN))
    send_many(wave, ROWS * 6)
    assert seal_next_batch(wave_id=wave.pk)
    first = wave.batches.get().size
    send_many(wave, ROWS * 6)
    count_all(wave)
    assert wave.batches.count() > 1
    assert find_agreeing(wave, PLAN, through_batch=wave.batches.count()) == expect(ROWS * 12)[1]
    of_one = find_agreeing(wave, PLAN, through_batch=1)
    assert of_one is not None
    assert max(of_one.values()) <= first


def test_one_report_more_adds_one_to_one_cell_and_at_most_1000_to_a_score() -> None:
    def count(rows: list[bytes]) -> RuleCounts:
        counts = [
            [sum(row[place] == code for row in rows) for code in (0, 1)] for place in (0, 1, 2)
        ]
        return RuleCounts.of(counts, MANIFEST, PLAN.questions, expect(rows)[1])

    before = count(ROWS * 3)
    for codes in np.ndindex(2, 2, 2):
        after = count([*ROWS * 3, bytes(codes)])
        moves = [b - a for a, b in zip(before.score(), after.score(), strict=True)]
        assert (min(moves), max(moves)) == (0, 1000)
        for rule in list_rules(2):
            cells = zip(before.list_cells(rule), after.list_cells(rule), strict=True)
            assert sorted(b - a for a, b in cells)[-2:] == [0, 1]


def test_no_pair_is_kept_where_no_key_driver_is_planned() -> None:
    table = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=10)
    wave = field(ROWS, table)
    kept = Discard.objects.get()
    assert (kept.counts, kept.agreeing) == ([[2, 3], [2, 3], [3, 2]], None)
    with pytest.raises(NotReleasable, match="must be planned"):
        reserve_release(wave=wave, request=PLAN)


# Drawing


def test_both_draws_spend_half_and_opendp_says_so() -> None:
    manifest = open_survey(survey=make_draft(PLAN)).description
    made = plan_noise(PLAN, manifest, delta_nanos_left=0)
    assert made.epsilon_each == Fraction(1, 4)
    assert (str(made.scale), made.sensitivity) == ("4000", 1000)
    table = plan_table_of_choice(made)
    assert (str(table.scale), table.sensitivity) == ("4", 1)
    assert table.mechanism == Mechanism.LAPLACE
    assert prepare_sampler(made).library
    assert len(prepare_sampler(table).draw([0, 0, 0, 0])) == 4
    odd = plan_noise(ask("q2", "q1", "q3", epsilon=1), manifest, delta_nanos_left=0)
    assert 2 * odd.epsilon_each == Fraction(1, 100)


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> None:
    settings.RELEASES = tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("reports", [0, 3, 40])
def test_a_worker_draws_it_whatever_came(reports: int) -> None:
    wave = field((ROWS * 8)[:reports], PLAN)
    (release,) = draw_all(wave)
    assert (release.state, release.planned, release.epsilon_hundredths) == ("drawn", True, 50)
    assert release.result is not None
    rule = list_rules(2)[release.result["rule"]]
    assert len(release.result["cells"]) == (2 if rule.predictor is None else 4)
    assert list(Verification().run(Wave.objects.filter(pk=wave.pk))) == []
    for wrong in ({"rule": 6, "cells": [1, 2]}, {"rule": 0, "cells": [1, 2]}, {"rule": 0}):
        Release.objects.update(result=wrong)
        (found,) = Verification().run(Wave.objects.filter(pk=wave.pk))
        assert "form of its request" in found.finding


@pytest.mark.parametrize("reports", [1, 9, 10, 30, 90])
@pytest.mark.usefixtures("folder")
def test_the_same_is_public_however_many_came(
    reports: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws here ignore counts, so the pages must equal those of a survey that nobody answered."""

    def prepare(plan: ReleasePlan) -> Sampler:
        is_choice = plan.mechanism == Mechanism.PERMUTE_AND_FLIP
        return Sampler(
            draw=lambda counts: 0 if is_choice else [500, 300, 200, 500][: len(counts)],
            library="OpenDP 0.16.0",
        )

    monkeypatch.setattr(drawing, "prepare_sampler", prepare)
    pages = []
    for number, slug in ((0, "abcdefghijkm"), (reports, "bcdefghijkmn")):
        wave = field((ROWS * 18)[:number], PLAN, slug=slug, title="Same")
        before = visit(wave.survey)
        assert "Key driver of Q2 among Q1 and Q3" in before
        draw_all(wave)
        assert visit(wave.survey) == before
        tomorrow = timezone.now() + timedelta(days=1)
        with monkeypatch.context() as patch:
            patch.setattr("django.utils.timezone.now", lambda now=tomorrow: now)
            pages.append(
                [
                    read(wave.survey, name=name)
                    .replace(slug.encode(), b"SLUG")
                    .replace(wave.manifest_hash_hex.encode(), b"HASH")
                    for name in ("public_results", "public_results_csv")
                ]
            )
        assert b"Best predicted by the same answer to Q1" in pages[-1][0]
    assert pages[0] == pages[1]


def test_one_that_was_not_planned_is_refused() -> None:
    """An unplanned one cannot be drawn below K reports, so its draw would show that K came."""
    wave = field(ROWS * 8)
    with pytest.raises(NotReleasable, match="must be planned before the survey opens"):
        reserve_release(wave=wave, request=PLAN)
    address = reverse("aggregator:release_new", args=[wave.survey.slug, "key_driver"])
    assert sign_in(wave.survey.owner).get(address).status_code == 404


# Figures

MANIFEST = replace(
    make_manifest(*(ask_question(f"q{number}", Kind.YES_NO) for number in (1, 2, 3))),
    publication=Publication.PROTECTED,
    release_epsilon_hundredths=100,
    release_delta_nanos=0,
)


def show(rule: int, *cells: int) -> KeyDriverFigures:
    release = plan(MANIFEST, *PLAN.questions, kind=KEY_DRIVER, epsilon=50)
    figures = read_figures(finish(release, {"rule": rule, "cells": list(cells)}), MANIFEST)
    assert isinstance(figures, KeyDriverFigures)
    return figures


def test_a_rule_is_shown_beside_the_better_constant() -> None:
    """The codes agree in λ = .58 of reports, so the true answers of .82 of people agree.

    Of the codes of q2, .4 are Yes, so .3 of people say Yes and .7 say No.
    """
    found = show(0, 390, 210, 210, 190)
    assert (found.is_enough, found.people, found.is_clear) == (True, 1000, False)
    rule, constant = found.rows
    assert (rule.key, rule.text, rule.count) == ("q1_same", "Q1: same answer", 580)
    assert rule.estimate == pytest.approx(0.82)
    assert constant.key == "always_no"
    assert constant.estimate == pytest.approx(0.7)
    assert rule.low < rule.share < rule.high
    assert rule.level == pytest.approx(1 - 0.05 / 3)
    shown = list_figures(found).questions[0]
    assert (shown.chosen, shown.chosen_as) == ("q1?", "Best predicted by the same answer to Q1:")
    assert "may be due to chance" in shown.limits
    sure = list_figures(show(0, 4000, 1000, 1000, 3000)).questions[0]
    assert "may be due to chance" not in sure.limits
    opposite = show(1, 200, 410, 210, 180)
    assert (opposite.rows[0].key, opposite.says_same) == ("q1_opposite", False)


# By chance, the rule that is named is no better than the constant, or is itself a constant.
@pytest.mark.parametrize(
    ("rule", "cells"), [(0, (400, 300, 200, 100)), (5, (700, 300)), (4, (700, 300))]
)
def test_none_is_shown_where_no_rule_beats_the_constant(rule: int, cells: tuple[int, ...]) -> None:
    found = show(rule, *cells)
    assert found.predictor is None
    assert [row.key for row in found.rows] == ["always_no"]
    shown = list_figures(found).questions[0]
    assert "Chance named no answer that predicts this one better than “Always No”." in shown.note
    assert not shown.chosen


def test_too_few_by_the_noisy_number_show_nothing() -> None:
    """The least number of people is 10 b √2, where b = 4."""
    assert not show(0, 14, 14, 14, 14).is_enough
    assert show(0, 15, 14, 14, 14).is_enough
    assert (show(0, -9, 3, 3, 2).people_needed, show(0, -9, 3, 3, 2).people) == (57, 0)
    note = list_figures(show(0, 1, 1, 1, 1)).questions[0].note
    assert note == "Too few people for this key driver: it takes about 57."


@pytest.mark.parametrize(("people", "truth"), [(60, 0.5), (400, 0.05), (1000, 0.9)])
def test_intervals_cover_the_truth_whichever_rule_is_named(people: int, truth: float) -> None:
    """Whichever rule is named, the level of all intervals together is at least .95; here, b = 4."""
    generator, sampler, runs = np.random.default_rng(people), IntegerSampler(Random(3)), 1_500
    own = np.array([[0.75, 0.25], [0.25, 0.75]])
    shown = np.kron(own, own) @ (np.array([truth, 1 - truth, 1 - truth, truth]) / 2)
    missed = seen = 0
    for cells in generator.multinomial(people, shown, size=runs).tolist():
        noisy = [cell + sampler.discrete_laplace(Fraction(4)) for cell in cells]
        found = show(0 if truth >= 0.5 else 1, *noisy)
        if found.predictor is not None:
            seen += 1
            right = truth if found.says_same else 1 - truth
            missed += not found.rows[0].low <= right <= found.rows[0].high
    print(f"{people=} {truth=} {seen=} {missed=}")
    assert seen > 0.2 * runs
    assert missed < 0.07 * seen


def test_readers_learn_what_the_whole_loss_allows() -> None:
    """In both draws, replacing a code means one report fewer and one report more."""
    release = plan(MANIFEST, *PLAN.questions, kind=KEY_DRIVER, epsilon=50)
    lines = reader_epsilons(MANIFEST, [release])
    assert [line.question.name for line in lines] == ["q1", "q2", "q3"]
    expected = reader_epsilon(mechanism=MANIFEST.questions[0].mechanism, epsilon=1.0)
    assert {round(line.reader, 9) for line in lines} == {round(expected, 9)}
    said = {line.name: line.text for line in list_lines(release, MANIFEST, spent_hundredths=50)}
    assert "exponential noise of scale 4; then discrete Laplace noise of the same" in said[
        "Mechanism"
    ]  # fmt: skip


# Pages and files


@pytest.mark.usefixtures("folder")
def test_the_whole_way_through_a_worker_and_pages() -> None:
    source = Random(5)
    truths = [source.random() < 0.4 for _ in range(3_000)]
    rows = [
        bytes(answer ^ (source.random() < 0.25) for answer in (one, one, source.random() < 0.5))
        for one in truths
    ]
    wave = field(rows, PLAN)
    (release,) = draw_all(wave)
    Release.objects.update(public_from=today())
    address = reverse("aggregator:release", args=[wave.survey.slug, release.pk])
    for page in (text_of(sign_in(wave.survey.owner).get(address)), visit(wave.survey)):
        assert "Best predicted by the same answer to Q1:" in page
        assert "Always No" in page
    rule, constant = rows_of(wave.survey)
    assert (rule["question"], rule["answer"]) == ("second_a", "first_a_same")
    assert constant["answer"] == "always_no"
    assert float(rule["interval_level"]) == pytest.approx(1 - 0.05 / 3, abs=1e-6)
    assert (rule["scale"], rule["bound_people"] > "0") == ("4", True)
    section = write_releases(wave)
    assert "Key driver of Q2 among Q1 and Q3" in repr(section)


def test_an_author_plans_it_on_the_page() -> None:
    survey = make_draft(people_expected=2_099)
    client = sign_in(survey.owner)
    address = reverse("surveys:planned_releases", args=[survey.slug])
    form = {"kind": "key_driver", "questions": ["q1", "q2", "q3"], "epsilon": "0.50"}
    refused = client.post(address, form)
    assert refused.status_code == 422
    assert "needs a yes/no question to predict" in text_of(refused)
    response = client.post(address, {**form, "outcome": "q2"}, follow=True)
    words = text_of(response)
    assert "Key driver of Q2 among Q1 and Q3 is planned." in words
    assert "about 2,100 people to be right in 9 of 10 surveys. You expect fewer." in words
    assert build_manifest(survey=survey, wave_number=1).planned_releases == (PLAN,)
    plan_release(survey=survey, request=PLAN)  # another window
    assert survey.planned_releases.count() == 1


def test_closing_twice_notes_the_counts_once() -> None:
    wave = open_survey(survey=make_draft(PLAN))
    send_many(wave, ROWS)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    for _ in range(3):
        seal_next_batch(wave_id=wave.pk)
    assert Discard.objects.get().agreeing == list(expect(ROWS)[1].values())


@pytest.mark.long
@pytest.mark.usefixtures("folder")
def test_one_person_more_loses_no_more_from_the_intake_to_the_result() -> None:
    """The person's code for q2 agrees only with the code for q3. The event was fixed beforehand."""
    crowd = [b"\0\0\0", b"\1\1\1"] * 20
    events = []
    for rows in (crowd, [*crowd, b"\0\1\1"]):
        wave = field(rows, ask("q2", "q1", "q3", epsilon=100))
        reserve_planned(wave_id=wave.pk)
        draw = drawing._Draw(wave.releases.get())
        found = [draw.draw() for _ in range(20_000)]
        events.append(np.array([one["rule"] == 2 and one["cells"][3] > 20 for one in found]))
    assert 0.4 < measure_loss(events[1], events[0]) <= 1
