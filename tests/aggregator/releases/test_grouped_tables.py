"""Tables by groups: the effects of one report, what readers learn, and which groups are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, log, sqrt
from random import Random

import numpy as np
import pytest

from aggregator.batches.columns import Columns
from aggregator.batches.grouped_cells import Cells, count_batch, split_groups
from aggregator.batches.packing import count_codes, pack_reports
from aggregator.models import Release
from aggregator.releases.figures import TableFigures, describe_too_few, read_figures
from aggregator.releases.queries import table_cells
from aggregator.releases.readers import reader_epsilons
from privacy.central.composition import zcdp_epsilon
from privacy.central.reader import reader_epsilon
from scripts.stack.stack import ROOT
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.choice import NotReleasable, check_beside, check_request
from surveys.releasing.noise import plan_release
from tests.aggregator.routed import ask, yes
from tests.support.manifests import any_report, protect
from tests.support.releases.stored import as_gaussian, finish

EVERY_KIND = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.CHOICE, 3, refusal=True, rule=yes("q1")),
    ask("q3", Kind.SEVERAL, 3, refusal=True),
    ask("q4", Kind.DECLARED, 3, refusal=True),
    ask("q5", Kind.SCALE, 5, minimum=1, maximum=5),
    ask("q6", Kind.DECLARED, 2),
)
SUBSET = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.CHOICE, 3),
    ask("q3", Kind.SEVERAL, 3),
    ask("q4", Kind.DECLARED, 3),
    drawn=2,
)
MANIFESTS = [pytest.param(EVERY_KIND, id="all"), pytest.param(SUBSET, id="random-subset")]


def by_q4(*questions: str, epsilon: int = 100) -> ReleaseRequest:
    return ReleaseRequest(
        kind=ReleaseKind.TABLE, questions=questions, epsilon_hundredths=epsilon, group="q4"
    )


def count(manifest: Manifest, request: ReleaseRequest, reports: Sequence[bytes]) -> Cells:
    columns = Columns.of(manifest)
    packed = pack_reports(columns.write_columns(reports), ks=columns.ks)
    return count_batch(packed, size=len(reports), manifest=manifest, request=request)


def moves(before: Cells, after: Cells) -> list[list[int]]:
    """Return how much each cell of each symbol moves."""
    assert before.keys() == after.keys()
    return [[b - a for a, b in zip(before[name], after[name], strict=True)] for name in before]


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_one_report_moves_one_cell_of_each_symbol_and_another_group_two(
    manifest: Manifest,
) -> None:
    source = Random(20)
    place = [symbol.name for symbol in manifest.symbols].index("q4")
    for questions in (("q1", "q2", "q3"), ("q3",), ("q1",)):
        request = check_request(by_q4(*questions), manifest)
        plan = plan_release(request, manifest, delta_nanos_left=0)
        most = 0
        for _ in range(60):
            few = [any_report(manifest, source) for _ in range(source.choice((1, 5, 30)))]
            one = any_report(manifest, source)
            other = bytes([*one[:place], (one[place] + 1) % 3, *one[place + 1 :]])
            found = [count(manifest, request, reports) for reports in (few, [*few, one])]
            added = moves(*found)
            assert all(sorted(cells)[:-1] == [0] * (len(cells) - 1) for cells in added)
            assert {sum(cells) for cells in added} <= {0, 1}
            most = max(most, sum(map(sum, added)))
            replaced = moves(found[1], count(manifest, request, [*few, other]))
            changed = [cell for cells in replaced for cell in cells if cell]
            assert set(changed) <= {-1, 1}
            assert len(changed) == 2 * sum(map(sum, added))
        assert most == plan.sensitivity


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_groups_add_up_to_the_table_of_everyone(manifest: Manifest) -> None:
    source = Random(3)
    reports = [any_report(manifest, source) for _ in range(200)]
    columns = Columns.of(manifest)
    packed = pack_reports(columns.write_columns(reports), ks=columns.ks)
    counts = count_codes(packed, size=200, ks=columns.ks)
    everyone = table_cells(counts, manifest, ("q1", "q2", "q3"))
    k = next(one.k for one in manifest.questions if one.name == "q4")
    groups = list(split_groups(count(manifest, by_q4("q1", "q2", "q3"), reports), groups=k))
    assert len(groups) == k
    for name, cells in everyone.items():
        assert [sum(codes) for codes in zip(*(one[name] for one in groups), strict=True)] == cells


def release_of(request: ReleaseRequest, manifest: Manifest) -> Release:
    plan = plan_release(request, manifest, delta_nanos_left=0)
    return Release(
        kind=request.kind,
        request=request.to_json(),
        mechanism=plan.mechanism,
        scale=str(plan.scale),
        epsilon_hundredths=plan.epsilon_hundredths,
        delta_nanos=plan.delta_nanos,
        rho=plan.rho,
    )


TWO = protect(ask("q1", Kind.YES_NO), ask("q2", Kind.YES_NO), ask("q4", Kind.DECLARED, 2))


def test_readers_learn_twice_the_loss_about_the_group_and_no_more_about_answers() -> None:
    grouped, plain = by_q4("q1", "q2", epsilon=50), replace(by_q4("q1", "q2"), group="")
    plain = replace(plain, epsilon_hundredths=50)
    with_groups, without = (
        {line.question.name: line.reader for line in reader_epsilons(TWO, [release_of(one, TWO)])}
        for one in (grouped, plain)
    )
    assert without.keys() == {"q1", "q2"}
    assert with_groups.pop("q4") == pytest.approx(1.0)
    assert with_groups == without


@pytest.mark.parametrize("group", [0, 1])
def test_every_output_is_within_what_readers_are_said_to_learn(group: int) -> None:
    """At b = 4, find the largest ratios over all reports of one person, given one other report."""
    request = by_q4("q1", "q2", epsilon=50)
    release = release_of(request, TWO)
    b = float(Fraction(release.scale))
    said = {line.question.name: line.reader for line in reader_epsilons(TWO, [release])}
    reports = [bytes(codes) for codes in product(range(2), repeat=3)]  # q1, q2, q4
    cells = {one: count(TWO, request, [b"\0\0\0", one]) for one in reports}
    names = ("q1", "q2")

    def chance(output: tuple[int, ...], report: bytes) -> float:
        means = [cell for name in names for cell in cells[report][name]]
        return exp(-sum(abs(z - mean) for z, mean in zip(output, means, strict=True)) / b)

    # These are extreme outputs of every cell: farther out, the ratios stay the same.
    worst = dict.fromkeys(("q4", "q1"), 0.0)
    for output in product((-3, 3), repeat=8):
        by_group = [chance(output, bytes([0, 0, one])) for one in (group, 1 - group)]
        worst["q4"] = max(worst["q4"], log(by_group[0] / by_group[1]))
        by_code = [chance(output, bytes([one, 0, group])) for one in range(2)]
        by_answer = [0.75 * by_code[x] + 0.25 * by_code[1 - x] for x in range(2)]
        worst["q1"] = max(worst["q1"], log(by_answer[0] / by_answer[1]))
    assert worst == pytest.approx({name: said[name] for name in worst})


def test_gaussian_noise_moves_two_cells_of_every_symbol_if_the_group_changes() -> None:
    five = protect(
        *(ask(f"q{n}", Kind.YES_NO) for n in (1, 2, 3, 5, 6)), ask("q4", Kind.DECLARED, 2)
    )
    request = by_q4("q1", "q2", "q3", "q5", "q6", epsilon=100)
    release = as_gaussian(release_of(request, five), deviation=Fraction(40), symbols=5, nanos=1000)
    found = {line.question.name: line for line in reader_epsilons(five, [release])}
    # Two cells of each of five symbols change: the sum of squares is 10.
    expected = zcdp_epsilon(rho=10 / (2 * 40**2), delta=1e-6)
    assert found["q4"].reader == pytest.approx(expected)
    assert found["q4"].delta >= 1e-6
    assert found["q1"].reader < found["q4"].reader


def test_a_question_behind_a_rule_on_the_group_counts_in_both_ways() -> None:
    manifest = protect(ask("q4", Kind.DECLARED, 2), ask("q1", Kind.YES_NO, rule=yes("q4")))
    release = release_of(by_q4("q1", epsilon=50), manifest)
    found = {line.question.name: line.reader for line in reader_epsilons(manifest, [release])}
    # Both codes of a report change, so the loss is at most that of a replaced report, twice .5.
    assert found["q4"] == pytest.approx(1.0)
    one = next(each for each in manifest.questions if each.name == "q1")
    assert found["q1"] == pytest.approx(reader_epsilon(mechanism=one.mechanism, epsilon=1.0))


def read(manifest: Manifest, request: ReleaseRequest, cells: Cells) -> TableFigures:
    found = read_figures(finish(release_of(request, manifest), {"cells": cells}), manifest)
    assert isinstance(found, TableFigures)
    return found


def test_each_group_is_shown_only_with_enough_people() -> None:
    """b = 1 requires 10 people. With c = .25 and d = .5, 6 of 12 codes give a share of one half."""
    figures = read(TWO, by_q4("q1"), {"q1": [6, 6, 5, 4]})
    assert figures.people == 21
    first, second = figures.questions
    assert (first.group and first.group.text, first.people, first.is_enough) == ("0", 12, True)
    assert [row.estimate for row in first.rows] == [0.5]
    assert (second.people, second.rows) == (9, ())
    assert describe_too_few(second) == "Too few people in this group: it takes about 10."
    none = read(TWO, by_q4("q1"), {"q1": [1, 2, 0, -1]})
    assert describe_too_few(none) == "Too few people in every group: it takes about 10."


@pytest.mark.parametrize(("codes", "said"), [(5, ".2 %"), (8, ".9 %"), (16, "4 %"), (64, "19 %")])
def test_how_often_a_group_without_anyone_is_shown(codes: int, said: str) -> None:
    """With b = 10, noise alone reaches 100 as often as docs/methods/known-groups.md states."""
    generator, runs = np.random.default_rng(11), 200_000
    shape = 1 - exp(-1 / 10)
    total = np.zeros(runs)
    for _ in range(codes):
        total += generator.geometric(shape, runs) - generator.geometric(shape, runs)
    shown = float(np.mean(total >= 100))
    stated = float(said.removesuffix(" %")) / 100
    step = 0.001 if "." in said else 0.01  # the last digit
    assert abs(shown - stated) < step / 2 + 5 * sqrt(stated / runs)
    assert said in " ".join((ROOT / "docs/methods/known-groups.md").read_text("utf-8").split())


def test_each_group_has_its_mean_and_declining_is_a_group() -> None:
    cells = [0, 0, 0, 0, 90, 90, 0, 0, 0, 0, *[20] * 5, *[0] * 5]
    figures = read(EVERY_KIND, by_q4("q5"), {"q5": cells})
    assert [one.group and one.group.key for one in figures.questions] == ["0", "1", "2", "refused"]
    found = [one.mean and round(one.mean.share, 9) for one in figures.questions]
    assert found == [5, 1, 3, None]


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (replace(by_q4("q1"), group="q1"), "background question"),
        (replace(by_q4("q1"), group="q9"), "background question"),
        (by_q4("q1", "q4"), "cannot both be in the table and form its groups"),
        (replace(by_q4("q1"), kind=ReleaseKind.LEADER), "Only a table"),
    ],
)
def test_other_groups_are_refused(request_: ReleaseRequest, why: str) -> None:
    with pytest.raises(NotReleasable, match=why):
        check_request(request_, TWO)


def test_a_leader_needs_the_table_of_everyone() -> None:
    leader = ReleaseRequest(kind=ReleaseKind.LEADER, questions=("q1",), epsilon_hundredths=10)
    with pytest.raises(NotReleasable, match="for everyone together"):
        check_beside(leader, [by_q4("q1")])
    check_beside(leader, [by_q4("q1"), replace(by_q4("q1"), group="")])


def test_requests_without_groups_keep_their_digest() -> None:
    plain = replace(by_q4("q1"), group="")
    assert "group" not in plain.to_json()
    assert plain.digest == "e96b5a9b5df9003c2eb695e84c1de2080d396070604f6a233eeb62d3a5516e1b"
    assert by_q4("q1").digest != plain.digest
    assert ReleaseRequest.from_json(by_q4("q1").to_json()) == by_q4("q1")
