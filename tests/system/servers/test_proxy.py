"""Murmur behind a real nginx with deploy/nginx.conf: nobody can lock out others.

Each visitor has a separate address: the whole network 127.0.0.0/8 is this machine.
"""

from __future__ import annotations

import math
import re
import secrets
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from scripts.stack.nginx import HOST, Nginx, missing_programs
from scripts.stack.prepared import prepare_with_account
from scripts.stack.stack import ROOT, Stack, free_port
from scripts.stack.world import OWNER

SIGN_IN, RESET = "/accounts/login/", "/accounts/password/reset/"
# More than the 30 sign-ins and 20 resets that a network may try in a minute.
MANY = 40
STRANGER, OWNERS, ELSEWHERE, GUESSERS = (f"127.0.0.{number}" for number in range(2, 6))


@dataclass
class Proxied:
    stack: Stack
    nginx: Nginx
    mails: Path
    password: str
    visitors: list[Visitor] = field(default_factory=list)

    def visit(self, address: str) -> Visitor:
        self.visitors.append(Visitor(self.nginx, address))
        return self.visitors[-1]

    def link_in_new_mail(self, ask: Callable[[], httpx.Response]) -> str:
        """Ask for a link and return its path; the mail may be sent later."""
        before = set(self.mails.iterdir())
        assert ask().status_code == 302
        deadline = time.monotonic() + 30
        while True:
            for mail in set(self.mails.iterdir()) - before:
                found = re.search(rf"https?://\S+?({RESET}key/\S+/)\s", mail.read_text())
                if found:
                    return found[1]
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def manage_in_another_terminal(self, *arguments: str) -> None:
        """Run a command without the addresses of Redis, as in a terminal beside scripts/run."""
        unknown = ("REDIS_URL", "LIMITER_URL")
        environment = {k: v for k, v in self.stack.environment.items() if k not in unknown}
        subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True
        )

    def logged(self) -> str:
        logs = [self.nginx.log, self.nginx.access_log, *sorted((self.stack.var / "log").iterdir())]
        return "".join(log.read_text() for log in logs)


class Visitor:
    """A browser at one address."""

    def __init__(self, nginx: Nginx, address: str) -> None:
        context = ssl.create_default_context(cafile=str(nginx.certificate))
        self.client = httpx.Client(
            base_url=f"https://127.0.0.1:{nginx.port}",
            transport=httpx.HTTPTransport(local_address=address, verify=context),
            headers={"Host": HOST},
            timeout=30,
        )

    def send(self, path: str, fields: dict[str, str], *, invented: str = "") -> httpx.Response:
        """Send one of our forms, with a forged X-Forwarded-For."""
        token = self.client.cookies.get("__Host-csrf") or self._token(path)
        headers = {"Referer": f"https://{HOST}{path}"}
        if invented:
            headers["X-Forwarded-For"] = invented
        return self.client.post(
            path, data={**fields, "csrfmiddlewaretoken": token}, headers=headers
        )

    def _token(self, path: str) -> str:
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.client.get(path).text)
        assert found is not None
        return found[1]

    def sign_in(self, email: str, password: str, *, invented: str = "") -> httpx.Response:
        return self.send(SIGN_IN, {"login": email, "password": password}, invented=invented)

    def ask_for_link(self, email: str, *, invented: str = "") -> httpx.Response:
        return self.send(RESET, {"email": email}, invented=invented)

    def choose_password(self, link: str) -> str:
        """Open a mailed link, set a new password and return it."""
        form = self.client.get(link, follow_redirects=True)
        assert "Choose a new password" in form.text
        password = secrets.token_urlsafe(15)
        fields = {"password1": password, "password2": password}
        assert self.send(form.url.path, fields).status_code == 302
        return password


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    if missing := missing_programs():
        pytest.skip(f"{' and '.join(missing)} must be installed, as Debian's packages do")
    folder = tmp_path_factory.mktemp("proxied")
    (mails := folder / "mails").mkdir()
    stack = Stack(
        var=folder / "var",
        port=free_port(),
        settings={
            "MURMUR_HTTPS": "true",
            "MURMUR_BEHIND_PROXY": "true",
            "ALLOWED_HOSTS": HOST,
            "MURMUR_PUBLIC_URL": f"https://{HOST}",
            "EMAIL_URL": f"filemail:///{mails}",
            "MURMUR_SWEEP_SECONDS": "1",
        },
    )
    nginx = Nginx(folder=folder / "nginx", web_ports=[stack.port])
    proxied = Proxied(stack, nginx, mails, password="")
    try:
        proxied.password = prepare_with_account(stack, OWNER)
        for name in stack.names:
            stack.start(name)
        nginx.start()
        wait_for_sign_in_page(proxied)
        yield proxied
    finally:
        for visitor in proxied.visitors:
            visitor.client.close()
        nginx.stop()
        stack.stop()


def wait_for_sign_in_page(proxied: Proxied) -> None:
    client = proxied.visit(ELSEWHERE).client
    deadline = time.monotonic() + 60
    while client.get(SIGN_IN).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_nobody_can_shut_sign_in_or_resets_for_others(proxied: Proxied) -> None:
    stranger = proxied.visit(STRANGER)
    # Forged addresses make no difference, nor does a new address for each form. With no passwords
    # to check, even a slow machine receives all forms within the counted minute.
    invented = [OWNERS if number % 2 else f"203.0.113.{number}" for number in range(MANY)]
    signed_in = [
        stranger.sign_in(f"nobody{number}@example.org", "", invented=address).status_code
        for number, address in enumerate(invented)
    ]
    assert (signed_in[0], signed_in[-1]) == (200, 429)
    asked = [
        stranger.ask_for_link(f"nobody{number}@example.org", invented=address).status_code
        for number, address in enumerate(invented)
    ]
    assert (asked[0], asked[-1]) == (302, 429)

    owner = proxied.visit(OWNERS)
    assert owner.sign_in(OWNER, proxied.password).status_code == 302
    owner = proxied.visit(ELSEWHERE)
    link = proxied.link_in_new_mail(lambda: owner.ask_for_link(OWNER))
    proxied.password = owner.choose_password(link)
    assert owner.sign_in(OWNER, proxied.password).status_code == 302


def test_guesses_pause_one_network_until_the_operator_ends_the_pause(proxied: Proxied) -> None:
    stranger = proxied.visit(GUESSERS)
    statuses = [stranger.sign_in(OWNER, "a guess").status_code for _ in range(8)]
    assert statuses == [200] * 5 + [429] * 3
    assert proxied.visit(ELSEWHERE).sign_in(OWNER, proxied.password).status_code == 302
    assert stranger.sign_in(OWNER, proxied.password).status_code == 429
    proxied.manage_in_another_terminal("unlock_sign_in", "--email", OWNER)
    assert stranger.sign_in(OWNER, proxied.password).status_code == 302


@pytest.mark.long
def test_of_200_guesses_from_one_ipv6_network_six_are_looked_at(proxied: Proxied) -> None:
    before = audited(proxied, "sign-in-failed")
    # nginx is tested on IPv4 only, so this goes to the web process as nginx would send it.
    statuses = [guess(proxied, address=f"2001:db8:1:2::{number:x}") for number in range(200)]
    assert statuses == [200] * 5 + [429] * 195
    assert audited(proxied, "sign-in-failed") - before == 6
    assert proxied.visit(ELSEWHERE).sign_in(OWNER, proxied.password).status_code == 302


@pytest.mark.long
def test_guesses_from_many_networks_slow_down_and_the_owner_signs_in(proxied: Proxied) -> None:
    proxied.manage_in_another_terminal("unlock_sign_in", "--email", OWNER)
    owner = proxied.visit(ELSEWHERE)
    assert owner.sign_in(OWNER, proxied.password).status_code == 302
    before, began = audited(proxied, "sign-in-failed"), time.monotonic()
    statuses = [guess(proxied, address=f"2001:db8:2:{number:x}::1") for number in range(200)]
    seconds = time.monotonic() - began
    looked_at = audited(proxied, "sign-in-failed") - before
    assert looked_at == statuses.count(200)
    # Twenty guesses are checked at once, and then one after each pause of 1, 2, 4 … seconds.
    assert 20 < looked_at <= 22 + math.log2(1 + seconds)
    # The owner's browser is known, and the mailed link makes another browser known.
    owner.send("/accounts/logout/", {})
    assert owner.sign_in(OWNER, proxied.password).status_code == 302
    another = proxied.visit(OWNERS)
    link = proxied.link_in_new_mail(lambda: another.ask_for_link(OWNER))
    proxied.password = another.choose_password(link)
    for number in range(200, 250):
        guess(proxied, address=f"2001:db8:2:{number:x}::1")
    assert another.sign_in(OWNER, proxied.password).status_code == 302
    proxied.manage_in_another_terminal("unlock_sign_in", "--email", OWNER)


def guess(proxied: Proxied, *, address: str) -> int:
    """Send a wrong password to the web process, as nginx would for a client at this address."""
    token = "a" * 32
    reply = httpx.post(
        f"{proxied.stack.url}{SIGN_IN}",
        data={"login": OWNER, "password": "a guess", "csrfmiddlewaretoken": token},
        headers={
            "Host": HOST,
            "Referer": f"https://{HOST}{SIGN_IN}",
            "Cookie": f"__Host-csrf={token}",
            "X-Forwarded-For": address,
            "X-Forwarded-Proto": "https",
        },
        timeout=30,
        trust_env=False,
    )
    return reply.status_code


def audited(proxied: Proxied, event: str) -> int:
    log = (proxied.stack.var / "log" / "web.log").read_text()
    return sum(f" murmur.audit {event} account=1" in line for line in log.splitlines())


@pytest.mark.parametrize("cipher", ["AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384"])
def test_tls_without_forward_secrecy_is_refused(proxied: Proxied, cipher: str) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shake_hands(proxied, cipher=cipher)


@pytest.mark.parametrize("cipher", ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305"])
def test_tls_with_forward_secrecy_is_offered(proxied: Proxied, cipher: str) -> None:
    assert shake_hands(proxied, cipher=cipher) == ("TLSv1.2", cipher)
    version, _ = shake_hands(proxied)
    assert version == "TLSv1.3"


def shake_hands(proxied: Proxied, *, cipher: str = "") -> tuple[str | None, str]:
    """Return the negotiated version and cipher; choosing a cipher implies TLS 1.2."""
    context = ssl.create_default_context(cafile=str(proxied.nginx.certificate))
    if cipher:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(f"{cipher}:@SECLEVEL=0")
    address = ("127.0.0.1", proxied.nginx.port)
    with (
        socket.create_connection(address, timeout=10) as connection,
        context.wrap_socket(connection, server_hostname="127.0.0.1") as encrypted,
    ):
        agreed = encrypted.cipher()
        assert agreed is not None
        return encrypted.version(), agreed[0]


def test_no_log_contains_a_link_that_resets_a_password(proxied: Proxied) -> None:
    visitor = proxied.visit(ELSEWHERE)
    link = proxied.link_in_new_mail(lambda: visitor.ask_for_link(OWNER))
    key = link.removeprefix(f"{RESET}key/").strip("/")
    for path in (link, link.replace("key", "%6bey", 1)):
        assert "Choose a new password" in visitor.client.get(path, follow_redirects=True).text
    # Django logs the addresses of requests that it refuses and of those that fail.
    assert visitor.client.get(link.replace("/reset/", "/reset//")).status_code == 404
    assert visitor.client.put(link).status_code == 403  # without a token
    visitor.client.get(SIGN_IN + "?after")
    deadline = time.monotonic() + 10
    while f"GET {SIGN_IN} 200" not in proxied.nginx.access_log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert f"PUT {RESET}key/" not in proxied.nginx.access_log.read_text()
    assert key not in proxied.logged()
    assert key.rpartition("-")[2] not in proxied.logged()


def test_reports_over_plain_http_past_the_proxy_are_refused(proxied: Proxied) -> None:
    headers = {"Host": HOST, "Content-Type": "application/json"}
    own_page = {**headers, "Origin": f"https://{HOST}"}
    with httpx.Client(base_url=proxied.stack.url, trust_env=False, timeout=30) as past:
        reply = past.post("/api/reports", content=b"{}", headers=own_page)
        assert (reply.status_code, reply.json()["type"]) == (403, "/problems/plain-http")
        assert past.get("/healthz", headers=headers).status_code == 200
    through = proxied.visit(ELSEWHERE).client
    reply = through.post("/api/reports", content=b"{}", headers=own_page)
    assert (reply.status_code, reply.json()["type"]) == (422, "/problems/malformed-report")
    unsafe = {**headers, "Origin": f"http://{HOST}"}
    reply = through.post("/api/reports", content=b"{}", headers=unsafe)
    assert (reply.status_code, reply.json()["type"]) == (403, "/problems/cross-site")
