"""Writes randomize.json: the codes that both randomizers must draw, computed a third time.

`python -m tests.vectors.make_randomize` regenerates the file. The rule is written out here with
branches and shares no line with privacy/ or randomize.js, so that a fault in either one is noticed.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("randomize.json")
SCALE = 2**32
TWO_COINS = 3 * 2**30
SEED = 20240229


def expect(*, k: int, threshold: int, symbol: int, draws: list[int]) -> dict[str, Any]:
    """Follow the rule for one symbol and a list of 32-bit draws, and count the draws it uses."""
    others = [other for other in range(k) if other != symbol]
    first, rest = draws[0], draws[1:]
    usable = SCALE - SCALE % len(others)
    used = 1
    for second in rest:
        used += 1
        if second < usable:
            break
    result = symbol if first < threshold else others[second % len(others)]
    return {
        "k": k,
        "threshold": threshold,
        "symbol": symbol,
        "draws": draws,
        "result": result,
        "used": used,
    }


def cases() -> list[dict[str, Any]]:
    generator = random.Random(SEED)
    made = []
    for k, threshold in (
        (2, TWO_COINS),
        (2, 2**31 + 1),
        (2, SCALE - 1),
        (3, SCALE * 3 // 5),
        (5, SCALE * 3 // 7),
        (17, SCALE // 17 + 1),
        (64, SCALE * 3 // 66),
    ):
        usable = SCALE - SCALE % (k - 1)
        firsts = (0, threshold - 1, threshold, SCALE - 1)
        seconds = [[0], [usable - 1]]
        if usable < SCALE:  # draws at or above the limit are thrown away
            seconds += [[usable, k - 2], [SCALE - 1, usable, 1]]
        symbols = range(k) if k <= 5 else (0, 1, k // 2, k - 2, k - 1)
        for symbol in symbols:
            for first in firsts:
                for second in seconds:
                    draws = [first, *second]
                    made.append(expect(k=k, threshold=threshold, symbol=symbol, draws=draws))
            for _ in range(4):
                draws = [generator.getrandbits(32) for _ in range(6)]
                made.append(expect(k=k, threshold=threshold, symbol=symbol, draws=draws))
    return made


if __name__ == "__main__":
    PATH.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases()) + "\n]\n")
