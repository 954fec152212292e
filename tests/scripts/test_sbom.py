"""scripts/sbom lists exactly the packages that Murmur installs, with the hashes that pip checks."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from scripts.stack.stack import ROOT


def read_pins() -> dict[str, tuple[str, set[str]]]:
    """Return version and hashes of each pinned package, by its name."""
    pins: dict[str, tuple[str, set[str]]] = {}
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if pinned := re.match(r"([\w.-]+)==(\S+)", line):
            name, version = pinned.groups()
            pins[name] = (version, set())
        elif found := re.search(r"--hash=sha256:(\w{64})", line):
            pins[name][1].add(found[1])
    return pins


@pytest.mark.slow
def test_the_list_has_every_pinned_package_with_its_version_and_hashes_and_no_other() -> None:
    done = subprocess.run([ROOT / "scripts" / "sbom"], capture_output=True, check=True, text=True)
    listed = json.loads(done.stdout)
    assert listed["bomFormat"] == "CycloneDX"
    assert listed["metadata"]["component"]["name"] == "murmur"
    pins = read_pins()
    assert len(pins) > 50
    assert {part["name"]: part["version"] for part in listed["components"]} == {
        name: version for name, (version, _) in pins.items()
    }
    for part in listed["components"]:
        assert part["purl"] == f"pkg:pypi/{part['name']}@{part['version']}"
        (distribution,) = part["externalReferences"]
        assert {each["alg"] for each in distribution["hashes"]} == {"SHA-256"}
        assert {each["content"] for each in distribution["hashes"]} == pins[part["name"]][1]
    assert str(ROOT) not in done.stdout
