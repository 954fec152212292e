"""A known vulnerability fails the check, but a database that does not answer is only reported."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from scripts.documentation.vulnerabilities import audit

KNOWN = {
    "id": "GHSA-1",
    "summary": "A hole",
    "affected": [
        {
            "package": {"name": "holey", "ecosystem": "PyPI"},
            "ranges": [
                {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]},
            ],
            "versions": ["1.0"],
        }
    ],
}


class Database(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = [KNOWN] if asked["package"]["name"] == "holey" else []
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"vulns": known}).encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def database() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Database) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def write_list(folder: Path, *names: str) -> Path:
    path = folder / "requirements.txt"
    path.write_text("".join(f"{name}==1.0 --hash=sha256:{'0' * 64}\n" for name in names))
    return path


def test_only_a_known_vulnerability_fails(
    tmp_path: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("--vulnerability-service", "osv", "--osv-url")
    whole, holey = write_list(tmp_path, "whole"), tmp_path / "both"
    assert audit(whole, options=(*ask, database)) == 0
    assert capsys.readouterr().out == ""
    holey.write_text(write_list(tmp_path, "whole", "holey").read_text())
    assert audit(holey, options=(*ask, database)) == 1
    assert capsys.readouterr().out == "holey 1.0: GHSA-1, fixed in 1.1\n"
    assert audit(holey, options=(*ask, "http://127.0.0.1:9/")) == 0
    assert "cannot be reached" in capsys.readouterr().out
    assert audit(holey, options=("--no-such-option",)) == 1
