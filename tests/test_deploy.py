"""deploy/ runs the tested processes, and exposes and logs nothing that is not needed.

The tests start servers whose binaries are installed, and only read the files of the others.
"""

from __future__ import annotations

import re
import shlex
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
import uvicorn
import yaml
from django.urls import reverse

from aggregator import problems
from aggregator.intake.wire import MAX_BODY_BYTES
from aggregator.upkeep.checks.postgresql import RECOMMENDED_POSTGRESQL
from aggregator.upkeep.checks.redis_servers import judge_version
from config.asgi import DJANGO_THREADS
from scripts.stack.nginx import Nginx, missing_programs
from scripts.stack.postgres import Postgres, running_postgres
from scripts.stack.stack import ROOT, Stack, free_port, valkey_binary

DEPLOY = ROOT / "deploy"
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
NGINX = re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text())
SYSTEMD = DEPLOY / "systemd"
UNITS = [*sorted(SYSTEMD.glob("murmur-*@.service")), SYSTEMD / "murmur-beat.service"]
# These options, such as the address and the shutdown timeout, differ between containers and units.
OF_THE_PLACE = ("--host", "--port", "--timeout-graceful-shutdown", "--hostname", "--pidfile")


def postgresql_conf() -> dict[str, str]:
    lines = (DEPLOY / "postgresql.conf").read_text().splitlines()
    given = [line for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in (line.partition(" = ") for line in given)}


def unit(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def options(words: list[str]) -> dict[str, str]:
    """Return the options of a command by name, written as --name=value or as --name value."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-"):
            name, _, value = word.partition("=")
            found[name] = value
        elif name:
            found[name] = word
    found.pop("-m", None)
    if "-A" in found:
        found["--app"] = found.pop("-A")
    return {key: value for key, value in found.items() if key not in OF_THE_PLACE}


@pytest.mark.parametrize(
    ("name", "service", "file"),
    [
        ("web", "web-1", "murmur-web@.service"),
        ("web", "web-2", "murmur-web@.service"),
        ("worker", "worker-1", "murmur-worker@.service"),
        ("worker", "worker-2", "murmur-worker@.service"),
        ("leisure", "leisure-1", "murmur-leisure@.service"),
        ("beat", "beat", "murmur-beat.service"),
    ],
)
def test_containers_and_units_run_what_is_tested(
    name: str, service: str, file: str, tmp_path: Path
) -> None:
    tested = options(Stack(var=tmp_path, port=1)._command(name))
    assert tested
    assert options(COMPOSE["services"][service]["command"]) == tested
    assert options(shlex.split(unit(DEPLOY / "systemd" / file)["ExecStart"])) == tested


def test_only_the_proxy_can_be_reached() -> None:
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert not any("network_mode" in service for service in services.values())


def test_all_processes_are_restarted_and_only_live_ones_get_requests() -> None:
    for name, service in COMPOSE["services"].items():
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped"), name
        asked = name not in ("worker-1", "worker-2", "leisure-1", "beat", "migrate")
        assert ("healthcheck" in service) == asked, name


def test_containers_run_a_redis_without_known_vulnerabilities() -> None:
    for name in ("broker", "limiter"):
        program, _, version = COMPOSE["services"][name]["image"].partition(":")
        assert program == "redis"
        assert judge_version(name, "Redis", version) == []
        assert version.count(".") == 2


def test_web_processes_are_where_the_proxy_looks() -> None:
    servers = re.findall(r"^server (\S+):8000", read("upstream.compose.conf"), re.MULTILINE)
    web = [service for name, service in COMPOSE["services"].items() if name.startswith("web-")]
    assert servers == [service["networks"]["inside"]["ipv4_address"] for service in web]
    assert all("--port=8000" in service["command"] for service in web)


def read(name: str) -> str:
    return (DEPLOY / name).read_text()


def test_the_image_contains_everything_that_runs() -> None:
    copied = re.findall(r"^COPY (\S+) ", read("Dockerfile"), re.MULTILINE)
    assert {"config", "privacy", "accounts", "surveys", "aggregator", "templates"} < set(copied)
    assert {"manage.py", "requirements.txt", "docs/methods", "docs/glossary.md"} < set(copied)
    assert all((ROOT / path).exists() for path in copied)
    assert "--require-hashes" in read("Dockerfile")
    assert "compileall" in read("Dockerfile").split("COPY docs/figures")[1]
    assert read("Dockerfile").rstrip().endswith("USER murmur")


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    ports = (free_port(), free_port())
    folder = tmp_path / "secrets"
    subprocess.run(
        [
            *(DEPLOY / "make-secrets", folder, "db.example:5432"),
            *(f"127.0.0.1:{port}" for port in ports),
        ],
        check=True,
        capture_output=True,
    )
    return folder


def test_every_secret_is_generated_once_and_unreadable_to_others(secrets: Path) -> None:
    assert {f"./secrets/{path.name}" for path in secrets.iterdir()} == {
        secret["file"] for secret in COMPOSE["secrets"].values()
    }
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    password = (secrets / "postgres_password").read_text()
    assert re.fullmatch(r"[A-Za-z0-9]{40}", password)
    url = (secrets / "database_url").read_text()
    assert url == f"postgresql://murmur:{password}@db.example:5432/murmur"
    before = {path: path.read_text() for path in secrets.iterdir()}
    again = subprocess.run([DEPLOY / "make-secrets", secrets], capture_output=True, check=False)
    assert again.returncode != 0
    assert {path: path.read_text() for path in secrets.iterdir()} == before


def test_secrets_come_from_files_that_the_settings_name() -> None:
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", read("env.example"), re.MULTILINE))
    inside = COMPOSE["services"]["web-1"]["environment"]
    known = (ROOT / "config" / "settings.py").read_text()
    documented = (ROOT / "docs" / "development.md").read_text()
    for name in {*example, *inside}:
        plain = name.removesuffix("_FILE")
        assert f'"{plain}"' in known, name
        assert f"`{plain}`" in documented, name
    for name in ("SECRET_KEY", "MFA_KEY", "DATABASE_URL", "REDIS_URL", "LIMITER_URL", "EMAIL_URL"):
        assert name not in example
        assert example[f"{name}_FILE"].startswith("/etc/murmur/secrets/")
        assert inside[f"{name}_FILE"].startswith("/run/secrets/")


@pytest.mark.redis
@pytest.mark.parametrize(
    ("name", "policy"), [("broker", "noeviction"), ("limiter", "volatile-ttl")]
)
def test_redis_accepts_its_file_and_its_only_user_and_writes_nothing_to_disk(
    name: str, policy: str, secrets: Path, tmp_path: Path
) -> None:
    url = (secrets / f"{name}_url").read_text()
    port = url.rpartition(":")[2].partition("/")[0]
    folder = tmp_path / "files"
    folder.mkdir()
    changed = {
        r"^bind .*$": "bind 127.0.0.1",
        r"^port .*$": f"port {port}",
        r"^dir .*$": f"dir {folder}",
        r"^aclfile .*$": f"aclfile {secrets}/{name}.acl",
    }
    content = read(f"redis-{name}.conf")
    for pattern, line in changed.items():
        content, times = re.subn(pattern, line, content, flags=re.MULTILINE)
        assert times == 1, pattern
    (tmp_path / "redis.conf").write_text(content)
    server = subprocess.Popen([valkey_binary(), tmp_path / "redis.conf"], stdout=subprocess.DEVNULL)
    try:
        with redis.Redis.from_url(url, retry=patient()) as client:
            client.set("key", "value", ex=60)
            client.llen("queue")
            client.delete("queue")
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": policy}
            for forbidden in ("FLUSHALL", "SAVE", "CONFIG SET appendonly yes", "SHUTDOWN"):
                with pytest.raises(redis.exceptions.NoPermissionError):
                    client.execute_command(*forbidden.split())
        stranger = redis.Redis(port=int(port))
        with pytest.raises(redis.exceptions.AuthenticationError), stranger:
            stranger.get("key")
    finally:
        server.terminate()
        server.wait(timeout=20)
    assert not any(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def patient() -> redis.retry.Retry:
    return redis.retry.Retry(redis.backoff.ConstantBackoff(0.1), 100)


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[Postgres]:
    with running_postgres(settings=postgresql_conf()) as postgres:
        yield postgres


def test_postgresql_is_configured_as_the_privacy_check_requires(postgres_server: Postgres) -> None:
    conf = postgresql_conf()
    assert {name: conf.get(name) for name in RECOMMENDED_POSTGRESQL} == RECOMMENDED_POSTGRESQL
    with psycopg.connect(postgres_server.url("postgres")) as connection:
        for name, value in RECOMMENDED_POSTGRESQL.items():
            row = connection.execute("SELECT setting FROM pg_settings WHERE name = %s", [name])
            assert row.fetchone() == (value,), name


def test_the_new_role_may_do_what_purging_needs_and_no_more(
    postgres_server: Postgres, secrets: Path
) -> None:
    password = (secrets / "postgres_password").read_text()
    with psycopg.connect(postgres_server.url("postgres"), autocommit=True) as connection:
        # The tests' superuser has the name that the script gives to the new role.
        connection.execute("CREATE ROLE operator SUPERUSER LOGIN PASSWORD 'operator'")
    with psycopg.connect(
        f"postgresql://operator:operator@127.0.0.1:{postgres_server.port}/postgres", autocommit=True
    ) as connection:
        connection.execute("ALTER ROLE murmur RENAME TO former")
        try:
            make_role(postgres_server, secrets / "postgres_password")
            assert_rights(f"postgresql://murmur:{password}@127.0.0.1:{postgres_server.port}/murmur")
        finally:
            connection.execute("DROP DATABASE IF EXISTS murmur")
            connection.execute("DROP ROLE IF EXISTS murmur")
            connection.execute("ALTER ROLE former RENAME TO murmur")
            connection.execute(f"ALTER ROLE murmur PASSWORD '{postgres_server.password}'".encode())
    assert password.encode() not in (postgres_server.folder / "log").read_bytes()


def make_role(server: Postgres, secret: Path) -> None:
    """Run the script with the file as its input, so that the script need not open it by name."""
    with secret.open() as opened:
        done = subprocess.run(
            [DEPLOY / "postgresql-init.sh", "-"],
            stdin=opened,
            env={
                "PATH": f"{Path(server.program('psql')).parent}:/usr/bin:/bin",
                "PGHOST": "127.0.0.1",
                "PGPORT": str(server.port),
                "PGUSER": "operator",
                "PGPASSWORD": "operator",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")


def assert_rights(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE mine (id int)")
        connection.execute("CHECKPOINT")
        connection.execute("SELECT pg_switch_wal()")
        assert connection.execute("SELECT count(*) > 0 FROM pg_ls_waldir()").fetchone() == (True,)
        row = connection.execute(
            "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, "
            "pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') "
            "FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        assert row == (False, False, False, False, True)


def test_connections_are_counted_as_the_code_opens_them() -> None:
    # Each process needs connections for the threads of Django and the single writer of the intake.
    assert f"{DJANGO_THREADS} + 1 = {DJANGO_THREADS + 1} connections" in OPERATIONS
    limit = int(postgresql_conf()["max_connections"])
    web = sum(name.startswith("web-") for name in COMPOSE["services"])
    workers = sum(name.startswith(("worker-", "leisure-")) for name in COMPOSE["services"])
    assert web * (DJANGO_THREADS + 1) + workers + 10 < limit


def test_commands_for_docker_name_services_that_can_run_them() -> None:
    asked = re.findall(r"docker compose exec (?:-T )?(\w[\w-]*) (\w+)", OPERATIONS)
    assert {service for service, _ in asked} == {"web-1", "postgres"}
    stopped = re.findall(r"docker compose stop ([^`]+)`", OPERATIONS)[0].split()
    assert {*stopped} == {*COMPOSE["services"]} - {"migrate", "postgres", "broker", "limiter"}
    for service, program in asked:
        image = COMPOSE["services"][service]["image"].partition(":")[0]
        assert program in {"murmur": ("python",), "postgres": ("pg_dump",)}[image]


def test_the_proxy_stores_no_addresses() -> None:
    levels = re.findall(r"error_log \S+ (\w+);", NGINX)
    # The first level is for nginx itself; the others are for the requests to its two servers.
    assert levels == ["alert", "emerg", "emerg"]
    logs = re.findall(r"access_log ([^;]+);", NGINX)
    assert logs == ["off", "off", "off", "off", "off", "/var/log/nginx/access.log murmur"]
    for server in NGINX.split("server {")[1:]:
        settings = server.partition("location")[0]
        assert "error_log" in settings
        assert "access_log off;" in settings
    [log_format] = re.findall(r"log_format murmur ([^;]+);", NGINX)
    assert set(re.findall(r"\$\w+", log_format)) == {
        *("$time_iso8601", "$request_method", "$uri", "$status", "$request_time")
    }
    # The only location that has a log is not used by respondents.
    [logged] = [block for block in locations() if "access_log /" in locations()[block]]
    assert logged == "/"
    [pages] = [block for block in locations() if block.startswith("~ ")]
    for path in ("/s/abc", "/m/abc.json", "/r/1/page.js", "/static/a.css"):
        assert re.search(pages.removeprefix("~ "), path)


def locations() -> dict[str, str]:
    without_json = re.sub(r"'\{.*\}'", "''", NGINX)
    found = re.findall(r"location ([^{]+)\{([^{}]*)\}", without_json)
    return {name.strip(): body for name, body in found}


def test_mailed_links_differ_from_other_pages_only_in_the_log() -> None:
    page, *links = (
        re.sub(r"access_log [^;]+;", "", locations()[path]).split()
        for path in (
            "/",
            reverse("account_reset_password") + "key/",
            reverse("account_address") + "key/",
            reverse("surveys:invitation", args=["x"]).removesuffix("x"),
        )
    )
    assert links == [page] * 3


@pytest.mark.skipif(bool(missing_programs()), reason="nginx or openssl is not installed")
def test_the_proxy_starts_with_sockets_as_its_output_as_under_systemd(tmp_path: Path) -> None:
    configuration = Nginx(folder=tmp_path / "nginx", web_ports=[free_port()]).write_files()
    # Under systemd, standard error is a socket to the journal, which cannot be opened by its path.
    ours, theirs = socket.socketpair()
    with ours, theirs:
        done = subprocess.run(
            ["/usr/sbin/nginx", "-t", "-e", "stderr", "-c", str(configuration)],
            stdout=theirs.fileno(),
            stderr=theirs.fileno(),
            check=False,
        )
        assert done.returncode == 0, ours.recv(65536).decode()


def test_only_the_proxy_may_state_the_client_address() -> None:
    headers = dict(re.findall(r"proxy_set_header (\S+) ([^;]+);", NGINX))
    assert headers["X-Forwarded-For"] == "$remote_addr"
    assert headers["X-Forwarded-Proto"] == "$scheme"
    assert headers["Forwarded"] == headers["X-Real-IP"] == '""'
    # A location that sets its own headers would inherit none of these headers.
    assert not any("proxy_set_header" in body for body in locations().values())


def test_the_proxy_passes_reports_but_nothing_slow_or_large() -> None:
    body = locations()["= /api/reports"]
    [size] = re.findall(r"client_max_body_size (\d+)k;", body)
    assert MAX_BODY_BYTES < int(size) * 1024 <= 4 * MAX_BODY_BYTES
    assert "non_idempotent" in body
    for name in ("client_header_timeout", "client_body_timeout", "send_timeout"):
        assert max(map(int, re.findall(rf"{name} (\d+)s;", NGINX))) <= 10
    [refusal] = re.findall(r"return 503 '(.*)';", NGINX)
    expected = problems.problem_body(problems.UNAVAILABLE, "Send the same bytes again later.")
    assert refusal.encode() == expected


def test_the_proxy_gives_up_idle_connections_before_the_web_processes_do() -> None:
    [upstream] = re.findall(r"upstream murmur \{([^}]*)\}", NGINX)
    [seconds] = re.findall(r"keepalive_timeout (\d+)s;", upstream)
    # Web processes run without --timeout-keep-alive, so uvicorn's default applies.
    assert int(seconds) < uvicorn.Config("").timeout_keep_alive
    web = COMPOSE["services"]["web-1"]["command"]
    assert not any("keep-alive" in word for word in web)


def test_units_restart_and_stop_gracefully() -> None:
    assert len(UNITS) == 4
    for path in UNITS:
        found = unit(path)
        assert found["Restart"] == "always"
        assert found["StartLimitIntervalSec"] == "0"  # the program never gives up
        assert (found["User"], found["NoNewPrivileges"]) == ("murmur", "yes")
        assert found["LimitCORE"] == "0"
        words = shlex.split(found["ExecStart"])
        if "--timeout-graceful-shutdown" in words:
            own = int(words[words.index("--timeout-graceful-shutdown") + 1])
            assert int(found["TimeoutStopSec"]) > own
        # A long job must leave memory for the workers that seal.
        assert ("MemoryMax" in found) == path.name.startswith("murmur-leisure")
        if path.name.startswith("murmur-web"):
            assert words[words.index("--host") + 1] == "127.0.0.1"


def test_all_workers_of_the_machine_count_releases_in_one_folder_that_outlives_them() -> None:
    services = COMPOSE["services"]
    folders = {
        name: service["environment"]["MURMUR_RELEASES"]
        for name, service in services.items()
        if "MURMUR_RELEASES" in service.get("environment", {})
    }
    # Web processes, beat and migrate draw no releases.
    workers = {name for name, service in services.items() if "worker" in service.get("command", [])}
    assert set(folders) == workers == {"worker-1", "worker-2", "leisure-1"}
    for name in workers:
        (volume,) = services[name]["volumes"]
        source, _, target = volume.partition(":")
        assert source in COMPOSE["volumes"]
        assert target == folders[name]
    # An empty volume takes its owner from the image.
    assert f"mkdir -p {folders['worker-1']}" in read("Dockerfile")
    states = unit(SYSTEMD / "murmur-worker@.service")["StateDirectory"].split()
    assert "murmur/releases" in states
    assert "\nMURMUR_RELEASES=/var/lib/murmur/releases\n" in read("env.example")
