"""A client that keeps connections open and sends requests one after the other on each.

Called with ADDRESS FILE REQUESTS CONNECTIONS. The file has a body a line. Written to
standard output: milliseconds of the median and of the 99th percentile, answers a second, how many had no status 200.
"""

import asyncio
import itertools
import json
import sys
import time
import urllib.parse


def figures(seconds, taken, failed):
    """Return what is said of the answers' times [seconds]."""
    ordered = sorted(seconds)
    return {
        "middle": 1e3 * ordered[len(ordered) // 2],
        "late": 1e3 * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
        "rate": len(ordered) / taken,
        "failed": failed,
        "answers": len(ordered),
    }


async def _asking(where, bodies, turns, seconds):
    """Send requests as long as there are turns; return how many of them failed."""
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    failed = 0
    for turn in turns:
        body = bodies[turn % len(bodies)]
        began = time.perf_counter()
        writer.write(
            f"POST {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(size)
        seconds.append(time.perf_counter() - began)
        failed += head.split(b" ", 2)[1] != b"200"
    writer.close()
    return failed


async def drive(address, bodies, requests, connections):
    """Send so many requests; return what is said of the answers."""
    where, turns, seconds = urllib.parse.urlsplit(address), itertools.islice(itertools.count(), requests), []
    began = time.perf_counter()
    failed = await asyncio.gather(*(_asking(where, bodies, turns, seconds) for _ in range(connections)))
    return figures(seconds, time.perf_counter() - began, sum(failed))


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        lines = file.read().splitlines()
    print(json.dumps(asyncio.run(drive(sys.argv[1], lines, int(sys.argv[3]), int(sys.argv[4])))))
