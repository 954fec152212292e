"""Check that a wave's releases cost no more than its cap, and that their noise fits their price.

The record of a sealed half's test in the folder of draws is also checked. The figures themselves
cannot be checked, because nobody knows their noise.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from aggregator.comparisons.opening import TESTED_BEFORE, name_test
from aggregator.models import Release, ReleaseLedger, SealedHalf
from aggregator.releases.counters import UNKNOWN_DRAWS, DamagedFile, find_file, read_keys
from aggregator.releases.folder import describe_wrong_folder
from aggregator.releases.ledger import list_keys, read_plan
from aggregator.upkeep.verification.differences import Difference, name_wave
from privacy.central.key_driver import list_rules
from surveys.manifest.manifest import Manifest
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from surveys.releasing.choice import NotReleasable, check_request
from surveys.releasing.noise import list_symbols, plan_release
from surveys.releasing.words import find_group

REMEDY = (
    "Find out who else writes to this database. An older copy does not help: with it, everything "
    "that the survey may publish counts as spent."
)


def check_releases(wave: Wave, manifest: Manifest) -> Iterator[Difference]:
    counted = _read_file(wave)
    if wave.sealed_half:
        yield from _check_test(wave, counted)
        return
    # Read the rows after the file and before the ledger, because a release is charged first, then
    # stored as a row, then written to the file.
    releases = list(wave.releases.order_by("pk"))
    ledger = ReleaseLedger.objects.filter(wave=wave).first()
    findings = [*_check_ledger(ledger, releases, manifest), *_check_planned(releases, manifest)]
    if ledger is None or not ledger.suspended:
        findings += _check_file(wave, counted, releases)
    for finding in findings:
        yield Difference(
            kind="ledger",
            where=f"{name_wave(wave)}, ledger of releases",
            number=wave.pk,
            finding=finding,
            remedy=REMEDY,
        )
    for release in releases:
        findings = list(_check_release(release, manifest))
        if findings:
            yield Difference(
                kind="release",
                where=f"{name_wave(wave)}, release {release.pk}",
                number=release.pk,
                finding="; ".join(findings),
                remedy=f"It is row {release.pk} of aggregator_release. {REMEDY}",
            )


def _check_planned(releases: list[Release], manifest: Manifest) -> Iterator[str]:
    made = sorted(one.request_hash for one in releases if one.planned)
    planned = manifest.planned_releases or ()
    # While the wave is open, its only planned releases are of kinds that come before the close.
    early = sorted(one.digest for one in planned if one.kind.comes_while_open)
    if made and made not in (early, sorted(one.digest for one in planned)):
        yield "its planned releases are not those of the manifest"


def _check_ledger(
    ledger: ReleaseLedger | None, releases: list[Release], manifest: Manifest
) -> Iterator[str]:
    if ledger is None:
        if releases:
            yield "there are releases and no ledger"
        return
    caps = (manifest.release_epsilon_hundredths or 0, manifest.release_delta_nanos or 0)
    if (ledger.cap_hundredths, ledger.delta_cap_nanos) != caps:
        yield "its cap is not the one in the manifest"
    if ledger.spent_hundredths < sum(release.epsilon_hundredths for release in releases):
        yield "its releases cost more than is charged"
    if ledger.delta_spent_nanos < sum(release.delta_nanos for release in releases):
        yield "its releases cost a larger δ than is charged"
    within = (
        ledger.spent_hundredths <= ledger.cap_hundredths
        and ledger.delta_spent_nanos <= ledger.delta_cap_nanos
    )
    if not within:
        yield "more is charged than its cap"
    if ledger.suspended and ledger.spent_hundredths < ledger.cap_hundredths:
        yield "it is suspended, and not all of its cap counts as spent"


def _read_file(wave: Wave) -> frozenset[str] | None:
    """Read the keys of drawn releases, or return None if this machine has no readable file."""
    if settings.RELEASES is None:
        return None
    path = find_file(settings.RELEASES, bytes(wave.manifest_hash))
    try:
        if describe_wrong_folder(settings.RELEASES):
            return None
        return read_keys(path) if path.exists() else None
    except OSError:
        return None
    except DamagedFile:
        return frozenset()


def _check_test(wave: Wave, recorded: frozenset[str] | None) -> Iterator[Difference]:
    """Check that the record of the sealed half's test, if there is one, names the stored claims.

    Older versions kept no record. If a worker has refused the claims, their owner already knows
    why.
    """
    half = SealedHalf.objects.filter(wave=wave).first()
    tested = (recorded or frozenset()) - {UNKNOWN_DRAWS}
    knows = half is not None and half.is_sealed and half.obstacle == TESTED_BEFORE
    if tested and not knows and (half is None or name_test(half) not in tested):
        yield Difference(
            kind="half",
            where=f"{name_wave(wave)}, sealed half",
            number=wave.pk,
            finding="claims that this database does not have were tested on it before",
            remedy="A backup was restored. Tell the owner that only the first verdicts were found "
            "on reports that no one had seen.",
        )


def _check_file(
    wave: Wave, counted: frozenset[str] | None, releases: list[Release]
) -> Iterator[str]:
    if counted is None:
        return
    known, drawn = list_keys(releases)
    if not counted <= known | {UNKNOWN_DRAWS}:
        yield (
            "releases were drawn that this database does not know, so with the next release, all "
            "of its cap counts as spent"
        )
    if not drawn <= (_read_file(wave) or frozenset()):
        yield "the file that counts draws does not know all releases that were drawn"


def _check_release(release: Release, manifest: Manifest) -> Iterator[str]:
    if release.kind == ReleaseKind.TYPICAL:
        return  # made by an earlier version, whose score is gone
    try:
        request = check_request(ReleaseRequest.from_json(release.request), manifest)
        plan = plan_release(request, manifest, delta_nanos_left=release.delta_nanos)
        charged = read_plan(release, request, manifest)
    except (NotReleasable, ValueError, KeyError, TypeError, ZeroDivisionError):
        yield "its request does not fit the manifest"
        return
    if release.request_hash != request.digest or release.kind != request.kind:
        yield "its request is not the one that was made (SHA-256)"
    if plan != charged:
        yield "its noise is not the one that its price pays for"
    if release.state == Release.State.DRAWN and not _fits(release.result, request, manifest):
        yield "its figure does not have the form of its request"


def _fits(result: object, request: ReleaseRequest, manifest: Manifest) -> bool:
    if not isinstance(result, dict):
        return False
    if request.kind == ReleaseKind.ALERT:
        return result.keys() == {"alert"} and type(result["alert"]) is bool
    if request.kind == ReleaseKind.KEY_DRIVER:
        return _fits_rule(result, predictors=len(request.questions) - 1)
    if request.kind != ReleaseKind.TABLE:
        (question,) = (one for one in manifest.questions if one.name in request.questions)
        return result.keys() == {"code"} and any(
            result["code"] == option.code for option in question.options
        )
    cells = result.get("cells")
    group = find_group(manifest, request)
    expected = {
        symbol.name: symbol.k * (group.k if group else 1)
        for symbol in list_symbols(manifest, request.questions)
    }
    if result.keys() != {"cells"} or not isinstance(cells, dict) or cells.keys() != expected.keys():
        return False
    return all(
        isinstance(counts, list)
        and len(counts) == expected[name]
        and all(type(count) is int for count in counts)
        for name, counts in cells.items()
    )


def _fits_rule(result: dict[str, object], *, predictors: int) -> bool:
    rule, cells = result.get("rule"), result.get("cells")
    if result.keys() != {"rule", "cells"} or type(rule) is not int or not isinstance(cells, list):
        return False
    rules = list_rules(predictors)
    if not 0 <= rule < len(rules):
        return False
    expected = 2 if rules[rule].predictor is None else 4
    return len(cells) == expected and all(type(cell) is int for cell in cells)
