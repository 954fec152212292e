"""The commands of docs/operations.md work in a bare Debian exactly as they are written.

Debian is a folder that debootstrap fills from a mirror of Debian. It has no systemd, so a program
stands in for systemctl (debian/systemctl). Lines that fetch packages can use the network; all other
lines run in an isolated network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname
from textwrap import dedent

import pytest

from scripts.stack.disks import small_disk
from scripts.stack.stack import ROOT

OPERATIONS = ROOT / "docs" / "operations.md"
HERE = Path(__file__).with_name("debian")
# Debian's packages must not start servers; the commands start them.
NO_STARTS = "#!/bin/sh\nexit 101\n"
# This stands in for Docker's client and runs each command as the user postgres.
DOCKER = """#!/bin/sh -e
[ "$1 $2 $3" = "compose exec -T" ]
shift 4
exec runuser -u postgres -- "$@"
"""
# Debian's package of certificates overwrites the usual file, so this file is elsewhere.
CERTIFICATES = "/certificates.pem"
FETCHES = re.compile(r"^(.*pip install .*\n)", re.MULTILINE)


def read_blocks(section: int) -> list[str]:
    """Return the blocks of commands in a section."""
    text = OPERATIONS.read_text().partition(f"\n## {section}. ")[2].partition("\n## ")[0]
    found = re.findall(r"^( *)```sh\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [dedent(block) for _, block in found]


def test_the_commands_begin_with_packages_and_name_files_that_exist() -> None:
    commands = read_blocks(2)[0]
    first = next(line for line in commands.splitlines() if line and "=" not in line.split()[0])
    assert first == "apt-get update"
    named = re.findall(r"(?<![\w/])(deploy/[\w./$-]*|requirements\.txt)", commands)
    assert len(named) > 8
    for path in named:
        assert list(ROOT.glob(path.replace("$name", "*"))), path
    syntax = subprocess.run(["sh", "-n"], input=commands.encode(), check=False)
    assert syntax.returncode == 0
    # The commands must fit on about a page, so they may have at most 43 lines.
    assert sum(bool(line.strip()) for line in commands.splitlines()) <= 43


@contextmanager
def bare_debian(suite: str, root: Path) -> Iterator[None]:
    """Install Debian at this root in memory; on a disk, installing the packages takes minutes."""
    kept = ROOT / "var" / "debian" / f"{suite}.tar"  # made by an earlier test
    root.mkdir()
    with small_disk(root, megabytes=6000) as disk:
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
    """Add what a real machine has: host names, certificates, the repository, and systemctl."""
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    names = f"127.0.0.1 localhost {gethostname()} murmur.example\n127.0.0.2 db.internal\n"
    (hosts := root / "etc" / "hosts").write_text(names)
    hosts.chmod(0o644)  # servers read it, and this process has the umask of Murmur
    if certificates := os.environ.get("PIP_CERT"):  # certificates of a package mirror
        shutil.copy(certificates, root / CERTIFICATES.removeprefix("/"))
    for name, content in (
        ("usr/sbin/policy-rc.d", NO_STARTS),
        ("usr/local/bin/docker", DOCKER),
        ("usr/local/bin/systemctl", (HERE / "systemctl").read_text()),
    ):
        (root / name).write_text(content)
        (root / name).chmod(0o755)
    shutil.copy(HERE / "reports.py", root)
    make_releases(root / "srv" / "murmur")


def make_releases(source: Path) -> None:
    """Make a repository whose branch `newer` has one more migration than `main`."""
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, "clone", "-q", "--depth=1", f"file://{ROOT}", source], check=True)
    subprocess.run([*git, "checkout", "-q", "-B", "main"], cwd=source, check=True)
    subprocess.run([*git, "checkout", "-q", "-b", "newer"], cwd=source, check=True)
    migrations = source / "aggregator" / "migrations"
    last = max(path.stem for path in migrations.glob("0*.py"))
    (migrations / "9999_newer.py").write_text(
        "from django.db import migrations\n\n\n"
        "class Migration(migrations.Migration):\n"
        f'    dependencies = [("aggregator", "{last}")]\n'
        '    operations = [migrations.RunSQL("CREATE TABLE newer ()", "DROP TABLE newer")]\n'
    )
    subprocess.run([*git, "add", "."], cwd=source, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "A newer release"], cwd=source, check=True)
    subprocess.run([*git, "checkout", "-q", "main"], cwd=source, check=True)


def run(root: Path, commands: str, *, isolated: bool) -> str:
    """Run commands as root in a chroot; processes that are still running at the end are killed."""
    network = ["--net"] if isolated else []
    setup = (
        # Core dumps are off, as in Debian.
        f"ulimit -c 0; {'ip link set lo up; ' if isolated else ''}mount --rbind /dev {root}/dev; "
        f"mount -t proc proc {root}/proc; exec chroot {root} bash -eux /commands"
    )
    (root / "commands").write_text(commands)
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "DEBIAN_FRONTEND": "noninteractive",
    }
    if (root / CERTIFICATES.removeprefix("/")).exists():
        environment["PIP_CERT"] = CERTIFICATES
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", *network, "sh", "-ec", setup],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        umask=0o022,  # the umask of Debian
    )
    logs = "".join(
        f"--- {path.name}\n{path.read_text()[-2000:]}" for path in root.glob("var/log/unit-*")
    )
    assert done.returncode == 0, f"{done.stdout[-9000:]}\n{logs}"
    return done.stdout


def read_block(number: str, *settings: str) -> str:
    """Return a block of commands with its reader's settings, without lines that fetch packages."""
    section, place = map(int, number.split("."))
    commands = FETCHES.split(read_blocks(section)[place - 1])[-1]
    if settings == ("shared",):
        return share(commands)
    for setting in settings:
        pattern = rf"(?<!\S){setting.partition('=')[0]}=\S+"
        assert re.search(pattern, commands), setting
        commands = re.sub(pattern, setting, commands, count=1)
    return commands


def share(commands: str) -> str:
    """Change commands as the document says for a machine whose PostgreSQL and nginx are shared."""
    database, proxy = read_blocks(2)[2:]
    for lines, theirs in (
        (r"cp deploy/postgresql\.conf .*\n.*\n.*postgresql-init\.sh .*\n", database),
        (r"sed .* >/etc/nginx/nginx\.conf\nsystemctl restart nginx\n", proxy),
    ):
        [found] = re.findall(lines, commands)
        commands = commands.replace(found, theirs)
    return commands


def read_scenario() -> str:
    lines = (HERE / "scenario").read_text().splitlines()
    return "\n".join(read_block(*line.split()[1:]) if line[:2] == "@ " else line for line in lines)


@pytest.mark.long
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_the_commands_work_on_a_bare_debian(suite: str, tmp_path: Path) -> None:
    missing = [name for name in ("debootstrap", "unshare", "ip") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and {', '.join(missing) or 'nothing else'}")
    before, fetch, _ = FETCHES.split(read_blocks(2)[0])
    names = "\n".join(re.findall(r"^(?:host=|umask )\S+", before, re.MULTILINE))
    upgrade, fetch_again, _ = FETCHES.split(read_blocks(7)[0])
    certbot = read_blocks(12)[0].splitlines()[0]
    root = tmp_path / "root"
    with bare_debian(suite, root):
        furnish(root)
        run(root, before + fetch, isolated=False)
        newer = "git -C /srv/murmur merge --ff-only newer"
        run(root, f"{newer}\n{upgrade}{fetch_again}{certbot}\n", isolated=False)
        said = run(root, f"{names}\ncd /opt/murmur\n{read_scenario()}", isolated=True)
        assert len(re.findall(r"\d+ reports are lost\. Accepted\.", said)) == 2
