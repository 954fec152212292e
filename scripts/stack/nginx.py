"""A real nginx with deploy/nginx.conf, on free ports and with its own certificate."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.stack.stack import ROOT, free_port
from scripts.stack.stoppable import hold_signals

HOST = "murmur.example"  # as in deploy/nginx.conf
READY_SECONDS = 20.0
# Debian installs nginx in a folder where only root looks for programs.
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"


def missing_programs() -> list[str]:
    """Return the programs that must be installed before an Nginx can start."""
    return [name for name in ("nginx", "openssl") if shutil.which(name, path=_PATH) is None]


class Nginx:
    def __init__(self, *, folder: Path, web_ports: Sequence[int]) -> None:
        self.folder = folder
        self.port = free_port()
        self.certificate = folder / "fullchain.pem"
        # The standard output and error of nginx, which go to the journal in production.
        self.log = folder / "log"
        self.access_log = folder / "access.log"
        self._web_ports = web_ports
        self._process: subprocess.Popen[bytes] | None = None

    def write_files(self) -> Path:
        """Write everything that nginx reads, and return its configuration."""
        self.folder.mkdir(parents=True)
        self._draw_certificate()
        lines = [f"server 127.0.0.1:{port};\n" for port in self._web_ports]
        (self.folder / "upstream.conf").write_text("".join(lines))
        (configuration := self.folder / "nginx.conf").write_text(self._configuration())
        return configuration

    def start(self) -> None:
        configuration = self.write_files()
        with self.log.open("ab") as log, hold_signals():
            self._process = subprocess.Popen(
                [
                    *(str(shutil.which("nginx", path=_PATH)), "-e", "/dev/stderr"),
                    *("-p", str(self.folder), "-c", str(configuration)),
                    *("-g", "daemon off;"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._wait_until_ready()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=20)
            self._process = None

    def _draw_certificate(self) -> None:
        # The key is RSA, because TLS 1.2 has ciphers without forward secrecy only for RSA keys.
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
                *("-subj", f"/CN={HOST}", "-addext", "subjectAltName=IP:127.0.0.1"),
                *("-keyout", str(self.folder / "privkey.pem"), "-out", str(self.certificate)),
            ],
            check=True,
            capture_output=True,
        )

    def _configuration(self) -> str:
        """Return the file from deploy/ with only the ports and paths changed."""
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in kinds)
        changed = {
            r"^pid /run/": f"pid {self.folder}/",
            r"^http \{$": f"http {{\n{paths}",
            r"include /etc/murmur/": f"include {self.folder}/",
            # A machine that runs the tests may lack IPv6.
            r"listen \[::\]:80 .*$": "",
            r"listen \[::\]:443 .*$": "",
            r"/var/log/nginx/": f"{self.folder}/",
            r"listen 80 ": f"listen 127.0.0.1:{free_port()} ",
            r"listen 443 ": f"listen 127.0.0.1:{self.port} ",
            r"ssl_certificate /etc/murmur/tls/": f"ssl_certificate {self.folder}/",
            r"ssl_certificate_key /etc/murmur/tls/": f"ssl_certificate_key {self.folder}/",
        }
        content = (ROOT / "deploy" / "nginx.conf").read_text()
        for pattern, text in changed.items():
            content, times = re.subn(pattern, text, content, flags=re.MULTILINE)
            assert times == 1, pattern
        return content

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None, self.log.read_text()
                assert time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.05)
