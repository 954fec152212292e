"""The text of each act in a survey's history, and history.csv. Acts have days, never times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from aggregator.exports.csv_format import Cell, write_row
from surveys.history.recording import OWNER, PERSON
from surveys.models import HistoryChanges, HistoryRow, Kind, Verb

CHUNK = 500
# Changes with these names contain account numbers.
PEOPLE = frozenset({PERSON, OWNER})
# The names shown as the actors of acts without an account.
NOBODY: Mapping[str, str] = {Verb.ENDED: "its end", Verb.EXPIRED: "its date"}
_VERBS: Mapping[str, str] = dict(Verb.choices)
_KINDS: Mapping[str, str] = dict(Kind.choices)
A_COMMAND = "a command on the server"


@dataclass(frozen=True, kw_only=True)
class Act:
    """A row of the history with the changes and accounts that it refers to, if they still exist."""

    row: HistoryRow
    who: str
    changes: list[list[Any]]
    accounts: Mapping[int, User]

    @property
    def what(self) -> str:
        """Name the act as pages do, such as “changed: questions”."""
        verb = _VERBS.get(self.row.verb, self.row.verb)
        return f"{verb}: {_KINDS.get(self.row.kind, self.row.kind)}"

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """List the changes as strings; missing values are empty strings."""
        return [
            (name.replace("_", " "), self._write(name, before), self._write(name, after))
            for name, before, after in self.changes
        ]

    def _write(self, name: str, value: Any) -> str:
        if name in PEOPLE and value is not None:
            return name_account(value, self.accounts)
        return write_value(value)


COLUMNS: Mapping[str, Callable[[Act], Cell]] = {
    "survey": lambda act: act.row.slug,
    "day": lambda act: act.row.day.isoformat(),
    "number": lambda act: act.row.number,
    "account": lambda act: act.row.account,
    "who": lambda act: act.who,
    "verb": lambda act: act.row.verb,
    "object": lambda act: act.row.kind,
    "changes": lambda act: json.dumps(act.changes, ensure_ascii=False) if act.changes else None,
}


def write_value(value: Any) -> str:
    """Write a value that was changed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "\n".join(map(write_value, value)) if isinstance(value, list) else str(value)


def find_rows(slug: str, *, verb: str = "") -> QuerySet[HistoryRow]:
    """Find the rows of a survey, newest day first.

    Rows are sorted by day before number, because an end by date or cap is recorded on a later day.
    """
    rows = HistoryRow.objects.filter(slug=slug).order_by("-day", "-number")
    return rows.filter(verb=verb) if verb else rows


def read_acts(slug: str, rows: Sequence[HistoryRow], *, with_changes: bool) -> list[Act]:
    """Add names and changes to rows of the history, with two queries."""
    numbers = [row.number for row in rows] if with_changes else []
    found = HistoryChanges.objects.filter(slug=slug, number__in=numbers)
    changes = {one.number: one.changes for one in found}
    listed = [change for each in changes.values() for change in each if change[0] in PEOPLE]
    named = {value for _, before, after in listed for value in (before, after)}
    accounts = User.objects.in_bulk(({row.account for row in rows} | named) - {None})
    return [
        Act(
            row=row,
            who=_name(row, accounts),
            changes=changes.get(row.number, []),
            accounts=accounts,
        )
        for row in rows
    ]


def _name(row: HistoryRow, accounts: Mapping[int, User]) -> str:
    if row.account is None:
        return NOBODY.get(row.verb, A_COMMAND)
    return name_account(row.account, accounts)


def name_account(number: int, accounts: Mapping[int, User]) -> str:
    """Name the account with this number, or say that it was deleted."""
    account = accounts.get(number)
    if account is None:
        return f"account {number}, deleted"
    # Another account could have the same name.
    return f"{account.name} ({account.email})" if account.name else account.email


def stream_history(slug: str, *, verb: str = "", with_changes: bool) -> Iterator[bytes]:
    """Write one line for each act, newest first."""
    yield write_row(COLUMNS)
    found = find_rows(slug, verb=verb).iterator(chunk_size=CHUNK)
    while rows := list(islice(found, CHUNK)):
        acts = read_acts(slug, rows, with_changes=with_changes)
        yield b"".join(write_row(read(act) for read in COLUMNS.values()) for act in acts)
