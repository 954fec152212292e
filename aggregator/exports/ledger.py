"""ledger.csv: every release of a wave, its cost, and the total cost of all releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aggregator.exports.csv_format import Cell, write_row
from aggregator.models import Release
from aggregator.releases.ledger import Account
from aggregator.releases.sentences import find_own_scale
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest

# Each column's name, and how to find its value in a release of a survey with this manifest.
ROW_COLUMNS: Mapping[str, Callable[[Release, Manifest], Cell]] = {
    "release": lambda release, _: release.pk,
    "kind": lambda release, _: release.kind,
    "questions": lambda release, manifest: " ".join(
        map(manifest.name_in_files, release.request["questions"])
    ),
    "group": lambda release, manifest: (
        manifest.name_in_files(group) if (group := release.request.get("group")) else group
    ),
    "planned": lambda release, _: release.planned,
    "epsilon": lambda release, _: release.epsilon_hundredths / HUNDREDTHS,
    "delta": lambda release, _: release.delta_nanos / NANOS,
    "rho": lambda release, _: release.rho,
    "mechanism": lambda release, _: release.mechanism,
    "scale": lambda release, _: str(find_own_scale(release)),  # an exact fraction
    "state": lambda release, _: release.state,
    "reserved_on": lambda release, _: release.reserved_on.isoformat(),
    "public_from": lambda release, _: release.public_from.isoformat(),
    "library": lambda release, _: release.library,
}
# These columns have the same values in every row.
WAVE_COLUMNS: Mapping[str, Callable[[Account], Cell]] = {
    "cap": lambda account: account.cap / HUNDREDTHS,
    "spent": lambda account: account.spent / HUNDREDTHS,
    "delta_cap": lambda account: account.delta_cap / NANOS,
    "delta_spent": lambda account: account.delta_spent / NANOS,
    "suspended": lambda account: account.suspended,
    "basic_sum": lambda account: account.sums.basic if account.sums else None,
    "advanced_sum": lambda account: account.sums.advanced if account.sums else None,
    "zcdp_sum": lambda account: account.sums.zcdp if account.sums else None,
    "exact_sum": lambda account: account.sums.exact if account.sums else None,
    "delta_of_sums": lambda account: account.sums.delta if account.sums else None,
}


def write_ledger(account: Account, manifest: Manifest) -> bytes:
    """Write one row per release; columns about the wave have the same values in every row."""
    of_wave = [read(account) for read in WAVE_COLUMNS.values()]
    rows = [write_row([*ROW_COLUMNS, *WAVE_COLUMNS])]
    rows += (
        write_row([*(read(release, manifest) for read in ROW_COLUMNS.values()), *of_wave])
        for release in account.releases
    )
    return b"".join(rows)
