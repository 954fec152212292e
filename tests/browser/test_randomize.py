"""The module that respondents load, in real Chromium: vectors, many draws, mutants."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from scipy.stats import binomtest, chi2

from privacy.mechanism.drawing import SCALE, draw_blocks, draw_report, round_to_bit
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.respondent.javascript import split_tokens, strip_comments
from tests.support.browser.modules import loading, read_module
from tests.vectors.make_randomize import PATH

SOURCE = read_module("randomize.js")
VECTORS: list[dict[str, Any]] = json.loads(PATH.read_text())
COMPARE = """async (cases) => {
    const { randomizeSymbol } = await import("/randomize.js");
    return cases.filter(({ k, threshold, symbol, draws, result, used }) => {
      let taken = 0;
      try {
        const drawn = randomizeSymbol(symbol, { k, threshold }, () => {
          if (taken === draws.length) throw new Error("more draws than the rule takes");
          return draws[taken++];
        });
        return drawn !== result || taken !== used;
      } catch {
        return true;
      }
    }).length;
}"""
COUNT = """async ({ k, threshold, symbol, n }) => {
    const { randomizeSymbol, cryptoUint32 } = await import("/randomize.js");
    const counts = new Array(k).fill(0);
    for (let i = 0; i < n; i += 1) {
      counts[randomizeSymbol(symbol, { k, threshold }, cryptoUint32)] += 1;
    }
    return counts;
}"""
# Counts every result over all draws below the limit; `scale` replaces 2^32.
ENUMERATE = """async ({ k, scale, thresholds }) => {
    const { randomizeSymbol } = await import("/randomize.js");
    const limit = Math.floor(scale / (k - 1)) * (k - 1);
    const found = [];
    for (const threshold of thresholds) {
      for (let symbol = 0; symbol < k; symbol += 1) {
        const counts = new Array(k).fill(0);
        for (let u = 0; u < scale; u += 1) {
          for (let v = 0; v < limit; v += 1) {
            const words = [u, v];
            counts[randomizeSymbol(symbol, { k, threshold }, () => words.shift())] += 1;
          }
        }
        found.push(counts);
      }
    }
    return found;
}"""
TABLE = """async ({ k, scale, threshold }) => {
    const { randomizeSymbol } = await import("/randomize.js");
    const limit = Math.floor(scale / (k - 1)) * (k - 1);
    const found = [];
    for (let symbol = 0; symbol < k; symbol += 1) {
      for (let u = 0; u < scale; u += 1) {
        for (let v = 0; v < limit; v += 1) {
          const words = [u, v];
          found.push(randomizeSymbol(symbol, { k, threshold }, () => words.shift()));
        }
      }
    }
    return found;
}"""
# The browser's own generator, used for many numbers at once, so that ten million are quick.
DRAW_AHEAD = """() => {
    const original = Crypto.prototype.getRandomValues;
    const ahead = new Uint32Array(16384);
    let left = 0;
    Crypto.prototype.getRandomValues = function (array) {
      for (let i = 0; i < array.length; i += 1) {
        if (left === 0) {
          original.call(this, ahead);
          left = ahead.length;
        }
        left -= 1;
        array[i] = ahead[left];
      }
      return array;
    };
}"""
Load = Callable[[str], Page]


@pytest.fixture
def load(chromium: Browser) -> Iterator[Load]:
    """Open a blank page that can import /randomize.js with the given source."""
    with loading(chromium) as open_page:
        yield lambda source: open_page({"randomize.js": source})


def swap(original: str, mutant: str) -> str:
    """Return the production source with one piece of code replaced."""
    old, new = (strip_comments(split_tokens(code)).strip() for code in (original, mutant))
    assert SOURCE.count(old) == 1
    return SOURCE.replace(old, new)


def p_value(page: Page, *, k: int, symbol: int, n: int) -> float:
    """Return the chance of counts at least this far from those that the channel predicts."""
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=25)
    arguments = {"k": k, "threshold": mechanism.threshold, "symbol": symbol, "n": n}
    observed = np.array(page.evaluate(COUNT, arguments))
    expected = n * mechanism.channel()[:, symbol]
    p = float(chi2.sf(((observed - expected) ** 2 / expected).sum(), df=k - 1))
    print(f"n={n} k={k} observed={observed} expected={expected} p={p:.3g}")
    return p


def test_every_vector_agrees(load: Load) -> None:
    assert load(SOURCE).evaluate(COMPARE, VECTORS) == 0


@pytest.mark.parametrize(("k", "symbol"), [(2, 1), pytest.param(5, 0, marks=pytest.mark.long)])
def test_ten_million_draws_follow_the_channel(load: Load, k: int, symbol: int) -> None:
    """Codes are as frequent as their probabilities say; one run in a million fails by chance."""
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=25)
    page, n = load(SOURCE), 10_000_000
    page.evaluate(DRAW_AHEAD)
    observed = np.zeros(k, dtype=np.int64)
    arguments = {"k": k, "threshold": mechanism.threshold, "symbol": symbol, "n": n // 10}
    for _ in range(10):
        observed += np.array(page.evaluate(COUNT, arguments))
    chances = mechanism.channel()[:, symbol]
    values = [binomtest(int(o), n, c).pvalue for o, c in zip(observed, chances, strict=True)]
    print(f"n={n} k={k} observed={observed} expected={n * chances} p={min(values):.3g}")
    assert min(values) > 1e-6 / k


SMALL_K = [2, 3, 5]
OTHER_K = [pytest.param(k, marks=pytest.mark.long) for k in (4, *range(6, 17))]


@pytest.mark.parametrize("k", [*SMALL_K, *OTHER_K])
def test_every_pair_of_small_draws_gives_what_python_gives(load: Load, k: int) -> None:
    """This tests all u and v for denominators of 16 to 64, with every threshold and symbol."""
    found = {}
    for scale in (16, 32, 64) if k <= 5 else (32,):
        page = load(swap("const SCALE = 2 ** 32;", f"const SCALE = {scale};"))
        thresholds = list(range(scale // k + 1, scale))
        found = page.evaluate(ENUMERATE, {"k": k, "scale": scale, "thresholds": thresholds})
        others = k - 1
        limit = scale // others * others
        assert len(found) == len(thresholds) * k
        for counts, (threshold, symbol) in zip(found, product(thresholds, range(k)), strict=True):
            kept, each = threshold * limit, (scale - threshold) * limit // others
            assert counts == [kept if code == symbol else each for code in range(k)]
        # Python's table of single draws, at one threshold.
        table = [
            draw_report(
                symbol,
                symbols=k,
                threshold=thresholds[0],
                scale=scale,
                random_word=iter((u, v)).__next__,
            )
            for symbol in range(k)
            for u in range(scale)
            for v in range(limit)
        ]
        arguments = {"k": k, "scale": scale, "threshold": thresholds[0]}
        assert page.evaluate(TABLE, arguments) == table


def test_rounding_agrees_with_python_at_every_limit(load: Load) -> None:
    rng = random.Random(3)
    cases = []
    for _ in range(2000):
        minimum = rng.randint(-(10**6), 10**6)
        maximum = minimum + rng.randint(1, rng.choice([1, 10, 2**20 - 1]))
        value = rng.choice([minimum, maximum, rng.randint(minimum, maximum)])
        limit = SCALE * (value - minimum) // (maximum - minimum)
        for word in {0, SCALE - 1, max(0, limit - 1), min(SCALE - 1, limit)}:
            once = iter([word]).__next__
            bit = round_to_bit(value, minimum=minimum, maximum=maximum, random_uint32=once)
            cases.append([value, minimum, maximum, word, bit])
    assert {case[-1] for case in cases} == {0, 1}
    wrong = load(SOURCE).evaluate(
        """async (cases) => {
          const { roundToBit } = await import("/randomize.js");
          return cases.filter(([value, minimum, maximum, word, bit]) => {
            let drawn = 0;
            const next = () => { drawn += 1; return word; };
            return roundToBit(value, { minimum, maximum }, next) !== bit || drawn !== 1;
          }).length;
        }""",
        cases,
    )
    assert wrong == 0


def test_drawn_blocks_agree_with_python(load: Load) -> None:
    rng = random.Random(4)
    cases = []
    for _ in range(500):
        blocks = rng.randint(1, 30)
        drawn = rng.randint(1, blocks)
        words: list[int] = []

        def draw(words: list[int] = words) -> int:
            # Sometimes a number would favour a block, so it is drawn again.
            words.append(rng.choice([rng.getrandbits(32), SCALE - 1]))
            return words[-1]

        given = draw_blocks(blocks, drawn=drawn, random_uint32=draw)
        cases.append([blocks, drawn, words, list(given)])
    wrong = load(SOURCE).evaluate(
        """async (cases) => {
          const { drawBlocks } = await import("/randomize.js");
          return cases.filter(([blocks, drawn, words, given]) => {
            let used = 0;
            const found = drawBlocks(blocks, drawn, () => words[used++]);
            return `${found}` !== `${given}` || used !== words.length;
          }).length;
        }""",
        cases,
    )
    assert wrong == 0


def test_every_set_of_blocks_is_equally_likely(load: Load) -> None:
    n = 1_000_000
    page = load(SOURCE)
    page.evaluate(DRAW_AHEAD)
    counts = page.evaluate(
        """async (n) => {
          const { cryptoUint32, drawBlocks } = await import("/randomize.js");
          const counts = {};
          for (let i = 0; i < n; i += 1) {
            const set = drawBlocks(5, 2, cryptoUint32).join("");
            counts[set] = (counts[set] ?? 0) + 1;
          }
          return counts;
        }""",
        n,
    )
    assert set(counts) == {f"{a}{b}" for a in range(5) for b in range(a + 1, 5)}
    values = [binomtest(count, n, 0.1).pvalue for count in counts.values()]
    print(f"n={n} observed={counts} p={min(values):.3g}")
    assert min(values) > 1e-7


@pytest.mark.parametrize(
    ("original", "mutant"),
    [
        # swapped branches
        ("kept * symbol + (1 - kept) * replacement", "(1 - kept) * symbol + kept * replacement"),
        # modulo bias
        ("while (v >= limit)", "while (false)"),
        # thresholds and limits off by one
        ("u < threshold", "u <= threshold"),
        ("v >= limit", "v > limit"),
        ("other >= symbol", "other > symbol"),
        # the true answer among its own replacements
        ("const replacement = other + Number(other >= symbol);", "const replacement = other;"),
        # the second number drawn only if it is needed
        (
            "const other = drawBelow(k - 1, randomUint32);",
            "const other = u < threshold ? 0 : drawBelow(k - 1, randomUint32);",
        ),
        # signed 32-bit arithmetic
        ("u < threshold", "(u | 0) < (threshold | 0)"),
        # the true code in every report
        ("const kept = Number(u < threshold);", "const kept = 1;"),
    ],
)
def test_a_mutant_does_not_pass_the_vectors(load: Load, original: str, mutant: str) -> None:
    assert load(swap(original, mutant)).evaluate(COMPARE, VECTORS) > 0


@pytest.mark.parametrize(
    "source",
    [
        "Math.floor(Math.random() * 2 ** 31)",  # never in the upper half
        "crypto.getRandomValues(new Uint16Array(1))[0] * 65536 * 0.99",
    ],
)
def test_a_biased_source_does_not_pass_the_count(load: Load, source: str) -> None:
    page = load(swap("crypto.getRandomValues(new Uint32Array(1))[0]", source))
    assert p_value(page, k=2, symbol=1, n=1_000_000) < 1e-6


@pytest.mark.parametrize(
    "channel",
    [
        {"k": 1, "threshold": 2**31},
        {"k": 65, "threshold": 2**31},
        {"k": 2, "threshold": 2**31},
        {"k": 2, "threshold": 2**32},
        {"k": 2, "threshold": 2**31 + 0.5},
        {"k": "2", "threshold": 3 * 2**30},
        {"k": 3, "threshold": 2**32 // 3},
    ],
)
def test_an_impossible_channel_is_refused(load: Load, channel: dict[str, Any]) -> None:
    refused = load(SOURCE).evaluate(
        """async (channel) => {
          const { randomizeSymbol } = await import("/randomize.js");
          let drawn = 0;
          try {
            randomizeSymbol(0, channel, () => { drawn += 1; return 0; });
            return false;
          } catch (error) {
            return error instanceof RangeError && drawn === 0;
          }
        }""",
        channel,
    )
    assert refused


def test_the_module_needs_only_numbers() -> None:
    lines = (line.strip() for line in SOURCE.splitlines())
    code = "\n".join(line for line in lines if not line.startswith(("*", "/")))
    for word in ("document", "window", "fetch", "Math.random", "localStorage", "import "):
        assert word not in code
    assert code.count("crypto.") == 1
