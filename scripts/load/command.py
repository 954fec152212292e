"""Sends reports to running web processes, at full speed or at random moments.

In a closed loop, every connection sends its next report once the last one has been answered. In an
open loop (--rate), reports arrive at random moments whatever the server does. Latency counts from
the moment when a report was due, so a slow server cannot hide its delays by slowing the sender.
Prints one JSON object. Nothing is sent twice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
from pathlib import Path
from typing import cast

import uvloop

from scripts.load.plan import Plan, Tally, split
from scripts.load.run import Load

# The reply of a server that does nothing else, with which this program itself is measured.
NOTHING = b"HTTP/1.1 201 Created\r\ncontent-length: 21\r\n\r\n" + b'{"status":"recorded"}'


def run_share(plan: Plan) -> Tally:
    """Run the plan in this process, and measure only the CPU time of sending."""
    before = _cpu_seconds()
    tally = uvloop.run(Load(plan).run())
    tally.cpu_seconds = _cpu_seconds() - before
    return tally


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run(plan: Plan, *, processes: int = 1) -> Tally:
    if processes == 1:
        return run_share(plan)
    total = Tally()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for tally in pool.map(run_share, split(plan, processes), chunksize=1):
            total.add(tally)
    return total


class _Nothing(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if data.endswith(b"}"):
            self._transport.write(NOTHING)


async def answer_with_nothing(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Nothing, "127.0.0.1", port)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="*", help="base addresses, such as http://127.0.0.1:8000")
    parser.add_argument("--path", default=Plan.path)
    parser.add_argument("--connections", type=int, default=Plan.connections)
    parser.add_argument("--seconds", type=float, default=Plan.seconds)
    parser.add_argument("--warm-up", type=float, default=Plan.warm_up, help="not measured")
    parser.add_argument("--rate", type=float, help="reports/s at random moments (open loop)")
    parser.add_argument("--manifest", default="", help="hash as in reports, 43 characters")
    parser.add_argument("--questions", type=int, default=Plan.questions)
    parser.add_argument("--bodies", type=Path, help="file with one body per line, sent once each")
    parser.add_argument("--addresses", type=int, default=Plan.addresses, help="X-Forwarded-For")
    parser.add_argument("--timeout", type=float, default=Plan.timeout)
    parser.add_argument("--seed", type=int, default=Plan.seed)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--acknowledged", type=Path, help="write one acknowledged id per line")
    parser.add_argument(
        "--answer", type=int, metavar="PORT", help="only answer, without doing anything"
    )
    given = vars(parser.parse_args())
    port, processes, file = given.pop("answer"), given.pop("processes"), given.pop("acknowledged")
    if port is not None:
        uvloop.run(answer_with_nothing(port))
    given["urls"] = tuple(given["urls"])
    given["bodies"] = tuple(given["bodies"].read_bytes().split()) if given["bodies"] else ()
    plan = Plan(**given)
    try:
        tally = run(plan, processes=processes)
    except OSError as error:
        raise SystemExit(f"No server answers at {' or '.join(plan.urls)}: {error}") from None
    if file is not None:
        file.write_bytes(b"".join(name + b"\n" for name in tally.acknowledged))
    print(json.dumps(tally.describe(seconds=plan.seconds - plan.warm_up)))


if __name__ == "__main__":
    main()
