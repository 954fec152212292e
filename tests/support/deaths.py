"""Simulates a process that dies at a statement or commit; uncommitted changes are rolled back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

from django.db import connections

connection: Any = connections["default"]


class Killed(BaseException):
    """The process has died: nothing may catch this."""


Moment = int | str | None  # the n-th statement, around the commit, or not at all


@contextmanager
def failing_at(statement: int, error: BaseException, *, times: int = 10**6) -> Iterator[None]:
    """Raise at the n-th statement after BEGIN; if n is negative, after the statement was executed.

    A statement outside any transaction also counts, because its effect would stay.
    """
    executed, raised = 0, 0

    def strike(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal executed, raised
        executed = 0 if sql.startswith("BEGIN") else executed + 1
        hit = executed == abs(statement) and raised < times
        raised += hit
        if hit and statement > 0:
            raise error
        result = execute(sql, params, many, context)
        if hit:
            raise error
        return result

    with connection.execute_wrapper(strike):
        yield


@contextmanager
def watching_commits(*, kill: str = "") -> Iterator[list[str]]:
    """Note every commit; die before or after the first one if `kill` says so."""
    commits: list[str] = []
    commit = connection._commit

    def note() -> None:
        if kill == "before the commit":
            connection.connection.rollback()
            raise Killed
        commit()
        commits.append("committed")
        if kill == "after the commit":
            raise Killed

    with mock.patch.object(connection, "_commit", note):
        yield commits


@contextmanager
def killed(moment: Moment) -> Iterator[list[str]]:
    """Simulate a process that dies at a statement, or before or after the commit.

    Afterwards, the yielded list shows whether changes were committed.
    """
    ended: list[str] = []
    kill = moment if isinstance(moment, str) else ""
    striking = failing_at(moment, Killed()) if isinstance(moment, int) else nullcontext()
    with watching_commits(kill=kill) as commits:
        try:
            with striking:
                yield ended
        except Killed:
            ended.append("committed" if commits else "undone")
    if ended:
        connection.close()  # a dead process loses what it held
