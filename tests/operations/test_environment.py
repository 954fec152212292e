"""Settings that are contradictory, empty or lost stop a process with a message of one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.environment import DATABASE, EMAIL, REDIS, Environment
from scripts.stack.stack import ROOT

SECRET = "pa55word"
KEY = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA="


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        ("flag", "jein", "true or false, not 'jein'"),
        ("whole", "2.5", "a whole number, not '2.5'"),
        ("number", "2,5", "a number such as 2.5, not '2,5'"),
        ("number", "nan", "a number such as 2.5, not 'nan'"),
        ("log_level", "loud", "DEBUG, INFO, WARNING, ERROR or CRITICAL, not 'loud'"),
        *(
            ("database", url, DATABASE)
            for url in (
                f"postgre://murmur:{SECRET}@db/murmur",
                f"postgresql://murmur:{SECRET}@db",
                f"postgresql://murmur:{SECRET}@db:port/murmur",
            )
        ),
        *(("redis", url, REDIS) for url in ("localhost:6379", f"redis://m:{SECRET}@db:port/0")),
        *(("email", url, EMAIL) for url in ("mail.example.org", "smtp+tls://")),
    ],
)
def test_garbage_is_refused_with_the_name_and_what_is_expected(
    read: str, value: str, expected: str
) -> None:
    with pytest.raises(SystemExit) as refused:
        getattr(Environment({"NAME": value}), read)("NAME", "")
    assert "Murmur does not start: NAME must " in str(refused.value)
    assert expected in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_secret_is_the_only_line_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    env = Environment({"NAME_FILE": str(file)})
    file.write_text(f"{SECRET}\n")  # as an editor may end a line
    assert env.text("NAME", "") == SECRET
    for content in (f"{SECRET}\n{SECRET}\n", ""):
        file.write_text(content)
        with pytest.raises(SystemExit, match=r"one line and no more") as refused:
            env.text("NAME", "")
        assert SECRET not in str(refused.value)
    file.unlink()
    with pytest.raises(SystemExit, match=f"NAME_FILE names {file}.*No such file"):
        env.text("NAME", "")


def test_a_name_and_its_file_contradict_each_other(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(SECRET)
    with pytest.raises(SystemExit, match="NAME and NAME_FILE are both set"):
        Environment({"NAME": "x", "NAME_FILE": str(file)}).text("NAME", "")
    assert Environment({"NAME": "", "NAME_FILE": str(file)}).text("NAME", "") == SECRET


def test_a_key_is_32_bytes_and_is_never_quoted(tmp_path: Path) -> None:
    file = tmp_path / "mfa_key"
    file.write_text(f"{KEY}\n")
    assert Environment({"NAME_FILE": str(file)}).key("NAME") == KEY
    assert Environment({"NAME": f"{KEY}, {KEY}"}).old_keys("NAME") == [KEY, KEY]
    assert Environment({}).key("NAME") == ""
    for bad in (SECRET, KEY[:-4], "not base64!", f"{KEY} {KEY}"):
        with pytest.raises(SystemExit, match="NAME must be 32 random bytes in base64") as refused:
            Environment({"NAME": bad}).key("NAME")
        assert bad not in str(refused.value)


@pytest.mark.parametrize("missing", ["DATABASE_URL", "SECRET_KEY", "MFA_KEY"])
@pytest.mark.parametrize("program", ["manage.py check", "-m celery -A config beat"])
def test_behind_a_proxy_nothing_is_made_up(missing: str, program: str, tmp_path: Path) -> None:
    given = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/x.sqlite3",
        "SECRET_KEY": SECRET,
        "MFA_KEY": KEY,
    }
    del given[missing]
    settings = {"MURMUR_BEHIND_PROXY": "true", "MURMUR_VAR": str(tmp_path), **given}
    done = subprocess.run(
        [sys.executable, *program.split()],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert f"neither {missing} nor {missing}_FILE is set" in line
    assert list(tmp_path.iterdir()) == []
