"""The very module that respondents load, in real Chromium: vectors, many draws, mutants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route
from scipy.stats import chi2

from privacy.mechanisms import RandomizedResponse
from tests.vectors.make_randomize import PATH

SOURCE = Path("surveys/client/randomize.js").read_text()
VECTORS: list[dict[str, Any]] = json.loads(PATH.read_text())
# A page of its own to import into; every request to it is answered by the test.
ORIGIN = "https://randomizer.example/"
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
Load = Callable[[str], Page]


@pytest.fixture
def load(chromium: Browser) -> Iterator[Load]:
    """Open a blank page beside which /randomize.js has the given source."""
    context = chromium.new_context()

    def open_page(source: str) -> Page:
        def answer(route: Route) -> None:
            if route.request.url.endswith("/randomize.js"):
                route.fulfill(body=source, content_type="text/javascript")
            else:
                route.fulfill(body="<!DOCTYPE html><title>-</title>", content_type="text/html")

        page = context.new_page()
        page.route("**/*", answer)
        page.goto(ORIGIN)
        return page

    yield open_page
    context.close()


def p_value(page: Page, *, k: int, symbol: int, n: int) -> float:
    """How likely counts this far from the channel are, drawn by the production source."""
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=25)
    arguments = {"k": k, "threshold": mechanism.threshold, "symbol": symbol, "n": n}
    observed = np.array(page.evaluate(COUNT, arguments))
    expected = n * mechanism.channel()[:, symbol]
    p = float(chi2.sf(((observed - expected) ** 2 / expected).sum(), df=k - 1))
    print(f"n={n} k={k} observed={observed} expected={expected} p={p:.3g}")
    return p


def test_every_vector_agrees(load: Load) -> None:
    assert load(SOURCE).evaluate(COMPARE, VECTORS) == 0


@pytest.mark.parametrize(("k", "symbol"), [(2, 1), (5, 0)])
def test_a_million_draws_follow_the_channel(load: Load, k: int, symbol: int) -> None:
    assert p_value(load(SOURCE), k=k, symbol=symbol, n=1_000_000) > 1e-6


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
        # the second number drawn only where it is needed
        ("let v = randomUint32();", "let v = u < threshold ? 0 : randomUint32();"),
        # signed 32-bit arithmetic
        ("u < threshold", "(u | 0) < (threshold | 0)"),
        # the truth
        ("const kept = Number(u < threshold);", "const kept = 1;"),
    ],
)
def test_a_mutant_does_not_pass_the_vectors(load: Load, original: str, mutant: str) -> None:
    assert SOURCE.count(original) == 1
    assert load(SOURCE.replace(original, mutant)).evaluate(COMPARE, VECTORS) > 0


@pytest.mark.parametrize(
    "source",
    [
        "Math.floor(Math.random() * 2 ** 31)",  # never above the half
        "crypto.getRandomValues(new Uint16Array(1))[0] * 65536 * 0.99",
    ],
)
def test_a_biased_source_does_not_pass_the_count(load: Load, source: str) -> None:
    original = "crypto.getRandomValues(new Uint32Array(1))[0]"
    assert SOURCE.count(original) == 1
    page = load(SOURCE.replace(original, source))
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
def test_a_channel_that_cannot_be_is_refused(load: Load, channel: dict[str, Any]) -> None:
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


def test_the_module_needs_nothing_but_numbers() -> None:
    lines = (line.strip() for line in SOURCE.splitlines())
    code = "\n".join(line for line in lines if not line.startswith(("*", "/")))
    for word in ("document", "window", "fetch", "Math.random", "localStorage", "import "):
        assert word not in code
    assert code.count("crypto.") == 1
