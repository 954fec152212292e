"""Recipes by which a worker makes the kinds of files, such as charts and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aggregator.results.display import Results


class NotRenderable(Exception):
    """No such file can be made from these results; the message is for the researcher."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A kind of file: its names, its inputs, and how it is made.

    `find_inputs` returns a string that changes whenever the same results would give a different
    file, or None if there is no file of that name. `render` runs only in a worker. Both may raise
    NotRenderable.
    """

    find_inputs: Callable[[Results, str], str | None]
    render: Callable[[Results, str], bytes]
