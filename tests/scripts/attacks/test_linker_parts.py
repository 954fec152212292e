"""The linker's parts on made-up files: traces are found, and files without scores yield nothing."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable

import numpy as np
import pytest

from scripts.attacks.linker.crowd import CANARIES, TEXTS
from scripts.attacks.linker.linker import (
    ENCODINGS,
    CanaryFinder,
    Finder,
    Hit,
    IdFinder,
    assign_ids,
    spell,
)
from scripts.attacks.linker.scores import score

NOISE = random.Random(3).randbytes(50_000)
TEXT = TEXTS["agent"]
RUNS = 200


def around(needle: bytes, *, at: int = 20_000) -> bytes:
    return NOISE[:at] + needle + NOISE[at:]


@pytest.mark.parametrize("spelling", spell(TEXT))
def test_a_canary_is_found_in_every_spelling(spelling: str) -> None:
    hits = list(CanaryFinder(CANARIES).find("file", around(spell(TEXT)[spelling])))
    assert Hit(canary="agent", spelling=spelling, file="file") in hits
    assert {hit.canary for hit in hits} == {"agent"}


@pytest.mark.parametrize("shift", range(3))
def test_a_canary_is_found_inside_a_longer_text_in_base64(shift: int) -> None:
    content = base64.b64encode(
        b"x" * shift + json.dumps({"agent": TEXT}, ensure_ascii=False).encode() + b"more"
    )
    assert any(hit.canary == "agent" for hit in CanaryFinder(CANARIES).find("file", content))


def test_a_canary_is_found_in_a_spelling_of_a_spelling() -> None:
    content = base64.b64encode(json.dumps({"agent": TEXT}).encode())
    hits = list(CanaryFinder(CANARIES).find("file", content))
    assert [(hit.canary, hit.spelling) for hit in hits] == [("Kanarie-7", "in part")]


def test_an_address_is_found_in_the_form_of_the_network() -> None:
    packed = bytes.fromhex("20075ca1ab1e7ace") + bytes(8)
    hits = list(CanaryFinder(CANARIES).find("file", around(packed)))
    assert [hit.canary for hit in hits] == ["packed address"]


def test_noise_holds_no_canary() -> None:
    assert list(CanaryFinder(CANARIES).find("file", NOISE)) == []


WRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "bytes": bytes,
    "digits": lambda codes: "".join(map(str, codes)).encode(),
    "digits, every second": lambda codes: codes.hex()[1:].encode() + b",",
    "digits, every third": lambda codes: json.dumps(list(codes)).encode(),
    "letters": lambda codes: codes.translate(bytes.maketrans(b"\0\1", b"AB")),
    "letters, every second": lambda codes: (
        codes.translate(bytes.maketrans(b"\0\1", b"AB")).decode().encode("utf-16-le")
    ),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("at", [0, 1, 20_001, len(NOISE)])
def test_a_report_is_found_at_its_place(encoding: str, at: int) -> None:
    generator = random.Random(at)
    reports = [bytes(generator.getrandbits(1) for _ in range(60)) for _ in range(50)]
    needle = WRITTEN[encoding](reports[7])
    base, stride = ENCODINGS[encoding]
    found = Finder(reports).find(around(needle, at=at), base=base, stride=stride)
    assert list(found) == [reports[7]]
    assert at <= found[reports[7]] <= at + 1
    assert Finder(reports).find(NOISE, base=base, stride=stride) == {}


def test_ids_are_found_at_their_places() -> None:
    ids = [random.Random(1000 + number).randbytes(32) for number in range(1000)]
    content = NOISE + ids[5] + NOISE + ids[3] + ids[5]
    found = IdFinder(ids).find(content)
    assert found == {ids[5]: len(NOISE), ids[3]: 2 * len(NOISE) + 32}


def test_the_ids_of_a_batch_are_inferred_from_the_sizes() -> None:
    generator = random.Random(8)
    ids = [generator.randbytes(32) for _ in range(100)]
    # With K = 10, 35 reports arrive, then 20 more, and the wave closes after the last 45.
    waiting = sorted(ids[:35])
    first, waiting = waiting[:25], waiting[25:]
    waiting = sorted([*waiting, *ids[35:55]])
    second, waiting = waiting[:20], waiting[20:]
    third = sorted([*waiting, *ids[55:]])
    spent = [{"id": name} for name in ids]
    assert assign_ids(spent, [25, 20, 55], 10) == [first, second, third]


def test_p_values_of_blind_guesses_are_uniform() -> None:
    generator = np.random.default_rng(5)
    chances = []
    for _ in range(RUNS):
        truths = [generator.permutation(60).astype(float) for _ in range(8)]
        guesses = [generator.integers(0, 40, 60).astype(float) for _ in range(8)]  # with ties
        guesses[0][:50] = np.nan
        chances.append(score(guesses, truths).p)
    below = sum(p <= 0.1 for p in chances)
    print(f"n={RUNS} at p=.1: {below} below")
    # Binomial(200, .1) exceeds 45 less than once in a million times. Doubling p lowers that chance.
    assert 5 <= below <= 45


@pytest.mark.parametrize("signs", [(1, 1, 1, 1, 1, 1), (1, -1, 1, -1, 1, -1)])
def test_a_weak_hint_in_every_batch_is_caught(signs: tuple[int, ...]) -> None:
    generator = np.random.default_rng(6)
    truths = [generator.permutation(100).astype(float) for _ in signs]
    guesses = [
        sign * truth + generator.normal(0, 40, 100)
        for sign, truth in zip(signs, truths, strict=True)
    ]
    found = score(guesses, truths)
    print(f"ρ={found.correlation:+.3f} p={found.p:.2g}")
    assert found.p < 1e-6


def test_a_guess_without_an_order_scores_nothing() -> None:
    truths = [np.arange(50.0)]
    assert score([np.zeros(50)], truths).p == 1
    assert score([np.full(50, np.nan)], truths).placed == 0
