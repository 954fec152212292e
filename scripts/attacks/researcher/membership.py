"""Guesses the members of a group that the file of rows does not mark.

The file has everyone's codes, and a breakdown counts the codes of each group. Every count is
therefore a linear equation: 0 <= x <= 1 for each row, and the sum of x over the rows that show a
code is how often the group shows it. As many equations as people reveal all members. With ten
people for each equation, there are only a tenth of the equations needed.

Two programs guess. The linear program takes any solution and finds all members if there are enough
equations. Least squares takes the solution nearest to the known share, which is the best guess if
there are too few. E independent equations place x in a space of E dimensions. Each x thus moves
h = E/n of the way from the share to its true value, with a standard deviation of sqrt(h(1 - h)). In
two groups of n/2, a guess is right with probability Phi(sqrt(h/(1 - h))): 59 % at h = 1/20.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from scripts.attacks.researcher.account import Account
from scripts.attacks.researcher.ground import Design, close, open_survey, send
from scripts.attacks.researcher.isolation import SEED

Matrix = NDArray[np.float64]
Members = NDArray[np.bool_]
QUESTIONS, CONTROL_QUESTIONS, CONTROL_PEOPLE = 12, 20, 400
PEOPLE_FOR_EQUATION = 10
ONE_IN = 1e6


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """How often each program is right about membership of the group."""

    attack: str
    people: int
    equations: int  # about the members of one survey; 0 if nothing is shown
    known: float  # right if everyone is guessed to be in the larger part
    by_program: float
    by_squares: float


def guess_by_program(counted: Matrix, totals: Matrix) -> Members:
    """Guess the members; `counted` has a row for each equation, with 1 for each person counted."""
    found = linprog(
        np.zeros(counted.shape[1]), A_eq=counted, b_eq=totals, bounds=(0, 1), method="highs"
    )
    guessed: Members = found.x > 0.5
    return guessed


def guess_by_squares(counted: Matrix, totals: Matrix) -> Members:
    share = totals[-1] / counted.shape[1]
    moved, *_ = np.linalg.lstsq(counted, totals - share * counted.sum(axis=1), rcond=None)
    order = np.argsort(-moved, kind="stable")
    guessed = np.zeros(counted.shape[1], dtype=np.bool_)
    guessed[order[: int(totals[-1])]] = True
    return guessed


def find_bound(people: int, *, told: float = 0.0) -> float:
    """Return the share of right guesses about halves that one attack in a million exceeds.

    `told` is h, the number of equations per row. Hoeffding's bound limits the effect of chance.
    """
    right = NormalDist().cdf(sqrt(told / (1 - told)))
    return right + sqrt(log(ONE_IN) / (2 * people))


def _guess(attack: str, runs: Sequence[tuple[Matrix, Matrix, Members]]) -> Guesses:
    """Run both programs on several surveys, each given as equations, totals and truth."""
    pairs = [
        ((guess_by_program(*known) == truth).mean(), (guess_by_squares(*known) == truth).mean())
        for *known, truth in runs
    ]
    program, squares = np.mean(pairs, axis=0)
    shares = [max(truth.mean(), 1 - truth.mean()) for *_, truth in runs]
    return Guesses(
        attack=attack,
        people=sum(len(truth) for *_, truth in runs),
        equations=len(runs[0][0]) - 1,  # the last equation is the group's size, as in Table 1
        known=float(np.mean(shares)),
        by_program=float(program),
        by_squares=float(squares),
    )


def guess_from_all_pairs() -> Guesses:
    """Guess from figures that no page shows: counts of all pairs of questions in a group."""
    generator = np.random.default_rng(SEED)
    codes = generator.integers(0, 2, size=(CONTROL_QUESTIONS, CONTROL_PEOPLE))
    pairs = [codes[one] * codes[other] for one, other in combinations(range(len(codes)), 2)]
    counted = np.array([*codes, *pairs, np.ones(CONTROL_PEOPLE)], dtype=float)
    members = generator.permutation(CONTROL_PEOPLE) < CONTROL_PEOPLE // 2
    return _guess("control: all pairs of 20 questions", [(counted, counted @ members, members)])


def guess_from_pages(*, surveys: int, smaller: int = 0) -> Guesses:
    """Guess from pages and files: one equation for every ten people.

    The owner leaves the declared question out of the file. `smaller` is the number of people that
    one group lacks; if it lacks any, both groups are hidden.
    """
    runs = [_read_survey(number, smaller=smaller) for number in range(surveys)]
    lack = f", {smaller} fewer" if smaller else ""
    return _guess(f"two groups of {PEOPLE_FOR_EQUATION} people an equation{lack}", runs)


def _read_survey(number: int, *, smaller: int) -> tuple[Matrix, Matrix, Members]:
    generator, account = random.Random(SEED + number), Account()
    design = Design(
        minimum_batch=10, display_minimum=10, questions=QUESTIONS, flips=30, groups=(2,)
    )
    half = PEOPLE_FOR_EQUATION * QUESTIONS
    # All codes differ, so that each row belongs to one person.
    codes = [
        bytes(code >> place & 1 for place in range(QUESTIONS))
        for code in generator.sample(range(2**QUESTIONS), 2 * half)
    ]
    group = dict(zip(codes, [0] * (half - smaller) + [1] * (half + smaller), strict=True))
    wave = open_survey(account.user, design)
    send(wave, [bytes([own]) + one for one, own in group.items()])
    close(wave)
    account.choose(wave, left_out={"q1"})
    rows = [bytes(map(int, row)) for row in account.look(wave).rows]
    members = np.array([group[row] == 0 for row in rows])
    counted, totals = [], []
    for (shown, question), (_, yes) in account.break_down(wave, "q1").items():
        if shown == "1":
            counted.append([row[int(question[1:]) - 2] for row in rows])
            totals.append(yes)
    size = int(members.sum())  # as Table 1 shows it
    return (
        np.array([*counted, [1] * len(rows)], dtype=float),
        np.array([*totals, size], dtype=float),
        members,
    )
