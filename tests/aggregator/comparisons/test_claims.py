"""Claims are recorded before the sealed half is opened, and are tested once, on that half only."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from django.db.models import Sum
from django.urls import reverse

from aggregator.batches.columns import Columns
from aggregator.batches.combinations import count_combinations
from aggregator.batches.halves import HalfIsOpen, find_half
from aggregator.comparisons import jobs
from aggregator.comparisons.analysis import analyse_table
from aggregator.comparisons.claims import (
    Claim,
    ClaimsChanged,
    JudgedClaim,
    Verdict,
    add_claim,
    ask_to_open,
    describe_claim,
    is_confirmed_by,
    list_tested,
    remove_claim,
    stamp_claims,
)
from aggregator.comparisons.counting import cross_tabulate_indicators
from aggregator.comparisons.empty_groups import NOBODY
from aggregator.comparisons.jobs import find_comparisons_to_run, run_comparison
from aggregator.comparisons.result import TwoQuestionsResult
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.stored import read_result, write_result
from aggregator.models import Batch, Comparison, SealedHalf
from aggregator.results.groups import halves
from aggregator.results.groups.halves import MOST_CLAIMS, can_tell_groups
from aggregator.results.snapshots import METHOD_VERSION, update_snapshot
from surveys.comparing.choice import NotComparable
from surveys.comparing.indicators import find_indicators, list_names
from surveys.leases import MAX_ATTEMPTS
from surveys.models import HistoryRow, Verb, Wave
from tests.support.fielding import process, sign_in
from tests.support.halves import (
    end,
    list_differences,
    make_divided_wave,
    make_wave_with_wards,
    open_sealed_half,
    open_wave_with_wards,
)
from tests.support.roles import losing_the_role
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db
HIGHER = Claim(names=("q1", "q2"), is_higher=True)


def make_related_wave(*, people: int = 1200) -> Wave:
    """Make a divided wave in which all true answers to the first two questions agree."""
    wave = make_wave(sealed_half=True)
    generator = random.Random(20261127)
    rows = []
    for _ in range(people):
        answer, other = generator.random() < 0.5, generator.random() < 0.5
        truth = (answer, answer, other)
        rows.append(bytes(said != (generator.random() < 0.25) for said in truth))
    return end(wave, rows=rows)


def run_tests(wave: Wave) -> list[JudgedClaim]:
    while (found := find_comparisons_to_run().first()) is not None:
        run_comparison(comparison_id=found.pk)
    half = find_half(wave)
    assert half is not None
    return list_tested(half, wave.description)


@pytest.mark.usefixtures("static_files")
def test_claims_are_confirmed_on_the_sealed_half_alone_all_at_one_level() -> None:
    wave = make_related_wave()
    chosen = [HIGHER, Claim(names=("q1", "q3"), is_higher=True)]
    for claim in chosen:
        add_claim(wave=wave, claim=claim)
    held = list(Batch.every.filter(wave=wave, is_held=True))
    open_sealed_half(wave, *chosen)
    process(wave)
    found = run_tests(wave)
    assert [one.verdict for one in found] == ["Confirmed", "Not confirmed"]
    page = reverse("aggregator:sealed_half", args=[wave.survey.slug])
    assert "Not confirmed" in sign_in(wave.survey.owner).get(page).text
    assert HistoryRow.objects.filter(slug=wave.survey.slug, verb=Verb.SAW).count() == 1
    [row, _] = Comparison.objects.filter(kind=Comparison.Kind.CLAIM).order_by("pk")
    result = read_result(row.kind, row.result, indicators=list_names(wave.description))
    assert isinstance(result, TwoQuestionsResult)
    columns = Columns.of(wave.description)
    counted = sum(
        cross_tabulate_indicators(
            bytes(batch.packed),
            size=batch.size,
            columns=columns,
            indicators=find_indicators(wave.description, ["q1", "q2"]),
        )
        for batch in held
    )
    assert result.n == sum(batch.size for batch in held)
    assert [list(each) for each in result.counts] == counted.tolist()  # type: ignore[union-attr]
    assert result.difference.level == pytest.approx(0.975)
    assert list_differences() == []  # verification counts the same batches
    # If damage is repaired as verification says, the verdict stays the same.
    stored = Comparison.objects.filter(pk=row.pk)
    stored.update(result={**row.result, "n": 1})
    [difference] = list_differences()
    assert "set state to 'waiting' and result to NULL" in difference
    stored.update(state=Comparison.State.WAITING, result=None)
    assert [one.finding for one in run_tests(wave)] == [one.finding for one in found]


@pytest.mark.usefixtures("static_files")
def test_claims_about_declared_groups_go_from_the_form_to_verdicts() -> None:
    wave = make_wave_with_wards()
    half, owner = find_half(wave), sign_in(wave.survey.owner)
    assert half is not None
    assert half.has_groups
    page = reverse("aggregator:sealed_half", args=[wave.survey.slug])
    asked = {"action": "add", "outcome": "q1", "group": "q3.0", "direction": "higher"}
    for refused in ("0", "100", "1.5", "<b>"):
        assert owner.post(page, {**asked, "than": refused}).status_code == 422
    empty = owner.post(page, {"action": "add"})
    assert empty.text.count("Choose an answer.") == 4  # in the list of errors, and at each field
    assert "Choose a direction." in empty.text
    for added in (
        {**asked, "than": "40"},
        {**asked, "than": ""},
        {**asked, "group": "q3.1", "than": "50"},
        {**asked, "group": "q2", "than": "5"},
    ):
        assert owner.post(page, added).status_code == 302
        assert owner.post(page, added).status_code == 422  # sent from another window, or sent twice
    nobody = owner.post(page, {**asked, "group": "q3.2"})
    assert (nobody.status_code, NOBODY.format(label="Q3 (East)") in nobody.text) == (422, True)
    chosen = [Claim.from_json(one) for one in SealedHalf.objects.get().claims]
    removed = chosen.pop()
    owner.post(page, {"action": "remove", "claim": stamp_claims([removed])})
    shown = owner.get(page).text
    assert "The share of Yes to Q1 is above 40" in shown
    assert "Yes to Q1 is more frequent for North than for everyone else." in shown
    # Groups can be compared on the open half too, but only in a table.
    compare = reverse("aggregator:compare", args=[wave.survey.slug])
    posted = {"kind": "table", "outcome": "q1", "group": "q3.0"}
    panel = owner.post(compare, posted)
    assert panel.status_code == 302
    posted = {"kind": "regression", "outcome": "q1", "predictor_1": "q3.0"}
    assert owner.post(compare, posted).status_code == 422
    run_tests(wave)
    # An earlier version allowed these claims. No one is in East.
    chosen += [
        Claim(names=("q1", "q3.2"), is_higher=True),
        Claim(names=("q3.2", "q1"), is_higher=False, than=5),
    ]
    SealedHalf.objects.update(claims=[one.to_json() for one in chosen])
    open_sealed_half(wave, *chosen)
    rows = Comparison.objects.filter(kind=Comparison.Kind.CLAIM)
    assert rows.count() == 4  # a claim on a share and one on a difference use the same table
    found = run_tests(wave)  # before results count all reports
    csv = reverse("aggregator:comparison_csv", args=[wave.survey.slug, rows.earliest("pk").pk])
    assert owner.get(csv).status_code == 200
    process(wave)
    verdicts = ["Confirmed", "Confirmed", "Not confirmed", "Not tested", "Confirmed"]
    assert [one.verdict for one in found] == verdicts
    assert found[3].problem == "No one in the sealed half is in “East” (Q3)."
    assert "Being tested" not in owner.get(page).text
    assert found[0].finding.startswith("North: ")
    assert (found[0].p_value, bool(found[1].p_value)) == ("", True)
    assert list_tested(SealedHalf.objects.get(), wave.description) == found
    table = Comparison.objects.get(kind=Comparison.Kind.TABLE)
    assert find_standing(table).result is not None
    sizes, levels = [], []
    for row in (rows.get(names=["q1", "q3.0"]), table):
        result = read_result(row.kind, row.result, indicators=list_names(wave.description))
        assert isinstance(result, TwoQuestionsResult)
        sizes.append(result.n)
        levels.append(result.share_first.level)
    assert sizes == [wave.batches.aggregate(n=Sum("size"))["n"] - sizes[1], sizes[1]]
    assert levels == pytest.approx([0.99, 0.95])  # the table is tested for two of five claims
    assert list_differences() == []


def test_where_everybody_is_in_the_group_a_share_is_tested_and_no_difference() -> None:
    wave = open_wave_with_wards()
    claims = [Claim(names=("q1", "q3.0"), is_higher=True, than=than) for than in (40, None)]
    indicators = find_indicators(wave.description, claims[0].names)
    result = analyse_table(indicators=indicators, counts=np.array([[100, 0, 0], [200, 0, 0]]))
    Comparison.objects.create(
        wave=wave,
        kind=Comparison.Kind.CLAIM,
        names=list(claims[0].names),
        through_batch=1,
        method_version=METHOD_VERSION,
        state=Comparison.State.DONE,
        result=write_result(result),
    )
    half = SealedHalf(wave=wave, claims=[one.to_json() for one in claims])
    share, difference = list_tested(half, wave.description)
    assert (share.verdict, share.problem) == (Verdict.CONFIRMED, "")
    assert (difference.verdict, difference.finding) == (Verdict.NOT_TESTED, "")
    assert difference.problem == "No one in the sealed half gave a different answer to Q3."


@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize(
    ("counts", "said"),
    [([[9, 6], [6, 9]], "Too few people"), ([[40, 60], [0, 0]], "Nothing can be tested")],
)
def test_a_claim_that_shows_no_figure_shows_no_p(counts: list[list[int]], said: str) -> None:
    wave = make_divided_wave()
    add_claim(wave=wave, claim=HIGHER)
    open_sealed_half(wave, HIGHER)
    indicators = find_indicators(wave.description, HIGHER.names)
    result = write_result(analyse_table(indicators=indicators, counts=np.array(counts)))
    Comparison.objects.update(state=Comparison.State.DONE, result=result)
    [found] = list_tested(SealedHalf.objects.get(), wave.description)
    assert (found.p_value, said in found.finding + found.problem) == ("", True)
    owner = sign_in(wave.survey.owner)
    page = owner.get(reverse("aggregator:sealed_half", args=[wave.survey.slug])).text
    assert "p\N{NO-BREAK SPACE}" not in page
    pk = Comparison.objects.get().pk
    csv = owner.get(reverse("aggregator:comparison_csv", args=[wave.survey.slug, pk])).text
    assert ("p_value" in csv, "difference" in csv) == (False, True)


def test_groups_need_enough_people_in_both_halves() -> None:
    wave = make_divided_wave()
    smallest = min(
        count_combinations(
            wave, wave.description, batches=Batch.every.filter(wave=wave, is_held=is_held)
        ).people.min()
        for is_held in (False, True)
    )
    assert (can_tell_groups(wave), wave.crowd < smallest) == (True, True)
    for equations, can in ((smallest // 10, True), (smallest // 10 + 1, False)):
        with (
            mock.patch.object(halves, "count_equations", return_value=equations),
            mock.patch.object(halves, "EQUATIONS_OF_A_CLAIM", 0),
        ):
            assert can_tell_groups(wave) is can


def test_a_share_and_a_difference_are_two_claims() -> None:
    share = replace(HIGHER, than=30)
    assert share.is_about_the_same(replace(share, than=40, is_higher=False))
    turned = Claim(names=("q2", "q1"), is_higher=True)
    assert HIGHER.is_about_the_same(turned)
    for other in (HIGHER, turned, replace(turned, than=30)):
        assert not share.is_about_the_same(other)
    assert Claim.from_json({"names": ["q1", "q2"], "is_higher": True}) == HIGHER


def test_the_direction_decides() -> None:
    wave = make_related_wave()
    lower = replace(HIGHER, is_higher=False)
    add_claim(wave=wave, claim=lower)
    open_sealed_half(wave, lower)
    [found] = run_tests(wave)
    assert (found.verdict, found.p_value[:3]) == ("Not confirmed", "p\N{NO-BREAK SPACE}<")


def test_there_is_no_second_test() -> None:
    wave = make_divided_wave()
    add_claim(wave=wave, claim=HIGHER)
    open_sealed_half(wave, HIGHER)
    before = [one.verdict for one in run_tests(wave)]
    later = Claim(names=("q1", "q3"), is_higher=True)
    acts: tuple[Callable[[], None], ...] = (
        lambda: ask_to_open(wave=wave, seen=stamp_claims([HIGHER])),
        lambda: add_claim(wave=wave, claim=later),
        lambda: remove_claim(wave=wave, claim=HIGHER),
    )
    for act in acts:
        with pytest.raises(HalfIsOpen):
            act()
    update_snapshot(wave_id=wave.pk)
    assert [one.verdict for one in run_tests(wave)] == before
    assert Comparison.objects.count() == 1


def test_a_claim_is_written_down_once_and_at_most_ten_are() -> None:
    wave = make_divided_wave(questions=12)
    add_claim(wave=wave, claim=HIGHER)
    for claim in (HIGHER, Claim(names=("q2", "q1"), is_higher=False)):
        with pytest.raises(NotComparable, match="already"):
            add_claim(wave=wave, claim=claim)
    for place in range(3, MOST_CLAIMS + 2):
        add_claim(wave=wave, claim=Claim(names=("q1", f"q{place}"), is_higher=True))
    with pytest.raises(NotComparable, match="at most"):
        add_claim(wave=wave, claim=Claim(names=("q2", "q3"), is_higher=True))
    remove_claim(wave=wave, claim=HIGHER)
    remove_claim(wave=wave, claim=HIGHER)
    half = find_half(wave)
    assert half is not None
    assert len(half.claims) == MOST_CLAIMS - 1


def test_the_half_opens_only_with_the_claims_that_the_author_saw() -> None:
    wave = make_divided_wave()
    add_claim(wave=wave, claim=HIGHER)
    for others in ([], [replace(HIGHER, is_higher=False)]):
        with pytest.raises(ClaimsChanged):
            ask_to_open(wave=wave, seen=stamp_claims(others))
    page = reverse("aggregator:sealed_half", args=[wave.survey.slug])
    sent = {"action": "open", "seen": stamp_claims([HIGHER]), "knows": "on"}
    client = sign_in(wave.survey.owner)
    with losing_the_role(wave.survey):
        assert client.post(page, sent).status_code == 404
    half = find_half(wave)
    assert half is not None
    assert half.is_sealed


def test_a_worker_of_a_later_version_still_tests_the_claim() -> None:
    wave = make_divided_wave()
    add_claim(wave=wave, claim=HIGHER)
    open_sealed_half(wave, HIGHER)
    with mock.patch.object(jobs, "METHOD_VERSION", METHOD_VERSION + 1):
        [found] = run_tests(wave)
    assert found.verdict is not Verdict.WAITING


def test_what_could_not_be_tested_says_so_and_is_tried_again() -> None:
    wave = make_divided_wave()
    add_claim(wave=wave, claim=HIGHER)
    open_sealed_half(wave, HIGHER)
    rows = Comparison.objects.filter(kind=Comparison.Kind.CLAIM)
    rows.update(state=Comparison.State.FAILED, problem="It did not converge.", attempts=1)
    [found] = run_tests(wave)
    assert (found.verdict, found.problem) == ("Not tested", "It did not converge.")
    rows.update(attempts=MAX_ATTEMPTS + 1)  # the failure was the fault of the worker
    run_tests(wave)
    [found] = run_tests(wave)
    assert found.problem == ""


def test_codes_that_no_answers_explain_confirm_nothing() -> None:
    wave = make_related_wave()
    add_claim(wave=wave, claim=HIGHER)
    open_sealed_half(wave, HIGHER)
    run_tests(wave)
    row = Comparison.objects.get()
    result = read_result(row.kind, row.result, indicators=list_names(wave.description))
    assert isinstance(result, TwoQuestionsResult)
    assert is_confirmed_by(result, HIGHER)
    contradiction = replace(result.contradiction, after_fixed_end=True)
    assert not is_confirmed_by(replace(result, contradiction=contradiction), HIGHER)


def test_a_claim_is_a_sentence() -> None:
    manifest = make_wave().description
    assert describe_claim(manifest, HIGHER) == (
        "Yes to Q1 is more frequent for Yes to Q2 than for No to Q2."
    )
    assert "less frequent" in describe_claim(manifest, replace(HIGHER, is_higher=False))
    assert MOST_CLAIMS == 10
