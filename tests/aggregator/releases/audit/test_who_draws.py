"""Only aggregator/releases/noise.py draws for a release, and only workers call it."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from scripts.stack.stack import ROOT
from tests.support.imports import imports_of

PRODUCT = ("config", "privacy", "accounts", "surveys", "aggregator")
# Modules that may use numpy's or Python's generator, because no published figure depends on them.
GENERATORS = {
    "aggregator/results/groups/overlaps.py": "orders of a search, from a fixed seed",
    "aggregator/simulation/attacks.py": "attackers on invented people",
    "aggregator/simulation/demo.py": "invented respondents",
    "aggregator/simulation/demo_surveys.py": "invented respondents",
    "aggregator/simulation/rehearsal.py": "invented respondents",
    "aggregator/simulation/sending.py": "invented respondents",
    "privacy/associations/profiles.py": "starting points of a search, from a fixed seed",
    "privacy/associations/segments.py": "made-up tables, from a fixed seed",
    "privacy/central/attacks.py": "attackers on invented people",
}
DRAWS = "aggregator/releases/noise.py"
ROOM = "aggregator.releases"
ROOMS = ("aggregator/releases", "aggregator/publishing", "privacy/central")
WORKERS = ("aggregator/tasks.py", "aggregator/upkeep/")
# Code that draws noise or shows figures may use `secrets` only to generate names.
NAMES = {"secrets.token_hex"}
GENERATOR = ("random.", "np.random", "numpy.random")
SYSTEM = ("secrets", "os.urandom", "uuid")


@cache
def modules() -> dict[str, str]:
    """Return the source of every module of the product, keyed by path."""
    files = [path for package in PRODUCT for path in (ROOT / package).rglob("*.py")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in files}


@cache
def dotted_names(source: str) -> set[str]:
    return {
        ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)
    }


def uses_generator(source: str) -> bool:
    """Return whether a module imports Python's generator or names one of numpy's or scipy's."""
    names = dotted_names(source) | imports_of(source)
    return any(name == "random" or name.startswith(GENERATOR) for name in names) or any(
        name.endswith(".rvs") for name in names
    )


def secrets_of(source: str) -> set[str]:
    imported = imports_of(source) - {"secrets"}
    return {name for name in dotted_names(source) | imported if name.startswith(SYSTEM)}


def test_only_the_module_that_draws_imports_opendp_and_only_inside_functions() -> None:
    importing = {
        name
        for name, source in modules().items()
        if any(one.split(".")[0] == "opendp" for one in imports_of(source))
    }
    assert importing == {DRAWS}
    at_start = [
        ast.unparse(node)
        for node in ast.parse(modules()[DRAWS]).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert len(at_start) > 5
    assert not any("opendp" in line for line in at_start)


def test_only_workers_reach_what_draws() -> None:
    """Pages and the API only reserve releases and read them."""
    used = {
        name: {one for one in imports_of(source) if one.startswith(f"{ROOM}.")}
        for name, source in modules().items()
    }
    drawing, draw = f"{ROOM}.drawing", f"{ROOM}.drawing.draw_release"
    assert {name for name in used if f"{ROOM}.noise" in used[name]} == {
        "aggregator/releases/alerts.py",
        "aggregator/releases/drawing.py",
    }
    look = f"{ROOM}.alerts.look_at_alert"
    assert {name for name in used if {draw, look} & used[name]} == {"aggregator/tasks.py"}
    assert {name for name in used if drawing in used[name] and not name.startswith(WORKERS)} == {
        "aggregator/releases/alerts.py"
    }


def test_every_other_generator_is_known_and_gives_nothing_that_is_published() -> None:
    assert {name for name, source in modules().items() if uses_generator(source)} == set(GENERATORS)


def test_what_publishes_takes_only_names_from_the_system_s_generator() -> None:
    used = {
        one
        for name, source in modules().items()
        if name.startswith(ROOMS)
        for one in secrets_of(source)
    }
    assert used == NAMES


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import Random",
        "def f():\n    from random import gauss",
        "import numpy as np\nnp.random.default_rng()",
        "from numpy.random import default_rng",
        "import numpy.random",
        "from numpy import random",
        "from scipy.stats import laplace\nlaplace.rvs(scale=2)",
    ],
)
def test_every_spelling_of_a_generator_is_seen(source: str) -> None:
    assert uses_generator(source)
    assert not uses_generator("import numpy as np\nnp.log(self.random)")


@pytest.mark.parametrize(
    "source",
    ["import secrets\nsecrets.randbelow(2)", "from secrets import randbelow", "os.urandom(8)"],
)
def test_every_spelling_of_the_system_s_generator_is_seen(source: str) -> None:
    assert secrets_of(source) - NAMES
