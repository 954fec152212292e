"""Every command of the section "Installing in an hour" works in a bare Debian, as it is written.

The commands come out of docs/operations.md. Debian is a folder that debootstrap fills from Debian's
mirror; it has no systemd, so a program stands in for systemctl (debian/systemctl). Up to the line
that installs Python's packages, commands have the network; the rest run without any but their own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.stack.disks import small_disk
from scripts.stack.stack import ROOT

OPERATIONS = ROOT / "docs" / "operations.md"
STANDS_IN = Path(__file__).with_name("debian") / "systemctl"
# Debian's packages must not start servers: the commands do.
NO_STARTS = "#!/bin/sh\nexit 101\n"
# Debian's own package of certificates writes over its usual place.
CERTIFICATES = "/certificates.pem"


def read_commands() -> str:
    section = OPERATIONS.read_text().partition("\n## 2. ")[2].partition("\n## 3. ")[0]
    [commands] = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return str(commands)


def test_the_commands_begin_with_packages_and_name_files_that_exist() -> None:
    commands = read_commands()
    first = next(line for line in commands.splitlines() if line and "=" not in line.split()[0])
    assert first == "apt-get update"
    named = re.findall(r"(?<![\w/])(deploy/[\w./$-]*|requirements\.txt)", commands)
    assert len(named) > 8
    for path in named:
        assert list(ROOT.glob(path.replace("$name", "*"))), path
    syntax = subprocess.run(["sh", "-n"], input=commands.encode(), check=False)
    assert syntax.returncode == 0
    # A page that is read in an hour.
    assert sum(bool(line.strip()) for line in commands.splitlines()) <= 50


@contextmanager
def bare_debian(suite: str, root: Path) -> Iterator[None]:
    """Fill a root folder with Debian, in memory: on a disk, installing packages takes minutes."""
    kept = ROOT / "var" / "debian" / f"{suite}.tar"  # made by an earlier test
    root.mkdir()
    with small_disk(root, megabytes=4000) as disk:
        if disk is None:
            pytest.skip("this user may not mount a disk")
        root.chmod(0o755)
        if kept.exists():
            subprocess.run(
                ["tar", "--extract", "--file", str(kept), "--directory", str(root)], check=True
            )
        else:
            command = ["debootstrap", "--variant=minbase", suite, str(root)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"debootstrap cannot make {suite}: {done.stdout.splitlines()[-1:]}")
            kept.parent.mkdir(parents=True, exist_ok=True)
            partial = kept.with_suffix(".partial")
            packing = ["tar", "--create", "--file", str(partial), "--directory", str(root), "."]
            subprocess.run(packing, check=True)
            partial.rename(kept)
        yield


def furnish(root: Path) -> None:
    """Add what a machine has: names, certificates, the source with its tag, systemctl."""
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    if certificates := os.environ.get("PIP_CERT"):  # of a mirror of packages
        shutil.copy(certificates, root / CERTIFICATES.removeprefix("/"))
    for name, content in (("usr/sbin/policy-rc.d", NO_STARTS), ("usr/local/bin/systemctl", "")):
        (root / name).write_text(content or STANDS_IN.read_text())
        (root / name).chmod(0o755)
    source = root / "source"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", "--bare", f"file://{ROOT}", source], check=True
    )
    release = re.findall(r"^release=(\S+)$", read_commands(), re.MULTILINE)[0]
    subprocess.run(["git", "tag", "--force", f"v{release}"], cwd=source, check=True)


def run(root: Path, commands: str, *, isolated: bool) -> None:
    """Run commands as root in the folder; everything that they started ends with them."""
    network = ["--net"] if isolated else []
    setup = (
        # Core dumps are off, as in Debian.
        f"ulimit -c 0; {'ip link set lo up; ' if isolated else ''}mount --rbind /dev {root}/dev; "
        f"mount -t proc proc {root}/proc; exec chroot {root} bash -eux /commands"
    )
    (root / "commands").write_text(commands)
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", *network, "sh", "-ec", setup],
        env={
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "DEBIAN_FRONTEND": "noninteractive",
            "LC_ALL": "C.UTF-8",
            **(
                {"PIP_CERT": CERTIFICATES}
                if (root / CERTIFICATES.removeprefix("/")).exists()
                else {}
            ),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    logs = "".join(
        f"--- {path.name}\n{path.read_text()[-2000:]}" for path in root.glob("var/log/unit-*")
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{logs}"


@pytest.mark.long
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_the_commands_install_murmur_on_a_bare_debian(suite: str, tmp_path: Path) -> None:
    missing = [name for name in ("debootstrap", "unshare", "ip") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and {', '.join(missing) or 'nothing else'}")
    commands = re.sub(r"^source=\S+", "source=file:///source", read_commands(), flags=re.MULTILINE)
    before, line, after = re.split(r"^(.*pip install .*\n)", commands, flags=re.MULTILINE)
    names = "\n".join(re.findall(r"^(?:\w+=|umask )\S+", before, re.MULTILINE))
    root = tmp_path / "root"
    with bare_debian(suite, root):
        furnish(root)
        run(root, before + line, isolated=False)
        run(root, f"{names}\ncd /opt/murmur\n{after}", isolated=True)
        assert list((root / "var/backups/murmur").glob("murmur-*.dump"))
