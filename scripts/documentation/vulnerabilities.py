"""Queries a public database for known vulnerabilities in pinned packages. `scripts/check` runs it.

It fails only if it finds any. If it cannot reach the database, it only says so, because a check
that needs the network must not stop people who work offline.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.stack.stack import ROOT

# This requirements file includes the packages of all others.
LIST = ROOT / "requirements-dev.txt"
USAGE_ERROR = 2


def audit(packages: Path = LIST, *, options: Sequence[str] = ()) -> int:
    """Print known vulnerabilities; return 1 if there are any."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"),
            # The file contains every package with its hashes, so nothing is downloaded.
            *("--disable-pip", "--require-hashes", "--requirement", str(packages)),
            *options,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == USAGE_ERROR:
        print(done.stderr)
        return 1
    if not done.stdout:
        said = done.stderr.strip().splitlines()
        print("No package was checked: the database of vulnerabilities cannot be reached.")
        print("\n".join(said[-1:]))
        return 0
    packages_found = json.loads(done.stdout)["dependencies"]
    unanswered = [found["name"] for found in packages_found if "skip_reason" in found]
    if unanswered:
        print(
            f"{len(unanswered)} of {len(packages_found)} packages were not checked: the database "
            f"has no answer for {', '.join(unanswered[:3])}{' …' if len(unanswered) > 3 else ''}"
        )
    vulnerable = [found for found in packages_found if found.get("vulns")]
    for found in vulnerable:
        for known in found["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no version"
            print(f"{found['name']} {found['version']}: {known['id']}, fixed in {fixed}")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(audit())
