"""The contenders: each sends a pattern to a port and tells what it cost, as a dict of numbers.

Every dict has `requests` (answered) and `process_us`, the CPU time of the whole process over the requests.
Our own programs add `cpu_us`, that of the sending and reading threads alone, and the times of the writes.
"""

import json
import re

from . import processes


class Pattern:
    """`size` requests every `interval_us`, on at least `connections` connections."""

    def __init__(self, size, interval_us, connections=64):
        self.size = size
        self.interval_us = interval_us
        self.connections = connections

    @property
    def per_second(self):
        return self.size * 1e6 / self.interval_us

    def __str__(self):
        if self.interval_us >= 1e6:
            return f"{self.size} every {self.interval_us / 1e6:g} s"
        return f"{self.size} every {self.interval_us / 1e3:g} ms"


def _ours(program):
    def client(bench, port, path, pattern, seconds):
        argv = [bench.programs / program, "--port", port, "--path", path, "--size", pattern.size,
                "--interval-us", pattern.interval_us, "--duration-s", seconds,
                "--connections", pattern.connections]
        text, cpu_us = processes.run(argv, echo=True)
        figures = json.loads(text)
        if figures["answered"] != figures["planned"]:
            bench.say(f"{program}: {figures['answered']} of {figures['planned']} requests were answered")
        figures["requests"] = max(figures["answered"], 1)
        figures["process_us"] = cpu_us / figures["requests"]
        return figures
    return client


def _peer(argv_of, count_pattern):
    def client(_bench, port, path, pattern, seconds):
        url = f"http://127.0.0.1:{port}{path}"
        text, cpu_us = processes.run(argv_of(url, pattern, seconds))
        found = re.search(count_pattern, text)
        if not found or int(found.group(1)) == 0:
            raise processes.BenchError(f"no requests were answered:\n{text}")
        requests = int(found.group(1))
        return {"requests": requests, "process_us": cpu_us / requests, "per_second": requests / seconds}
    return client


def _h2load(url, pattern, seconds):
    rate = pattern.per_second / pattern.connections
    return ["h2load", "--h1", "-t", 1, "-c", pattern.connections, "-n", round(pattern.per_second * seconds),
            f"--rps={rate:.6f}", url]


def _hey(url, pattern, seconds):
    rate = pattern.per_second / pattern.connections
    return ["hey", "-z", f"{seconds}s", "-c", pattern.connections, "-q", f"{rate:.6f}", url]


def _wrk(url, pattern, seconds):
    return ["wrk", "-t", 1, "-c", pattern.connections, "-d", f"{seconds}s", url]


def _ab(url, pattern, seconds):
    return ["ab", "-q", "-k", "-c", pattern.connections, "-t", seconds, "-n", 10_000_000, url]


CLIENTS = {
    "engine": _ours("engine_client"),
    "floor": _ours("floor"),
    "thread per request": _ours("thread_per_request"),
    "h2load": _peer(_h2load, r"(\d+) succeeded"),
    "hey": _peer(_hey, r"\[200\]\s+(\d+) responses"),
    "wrk (closed loop)": _peer(_wrk, r"(\d+) requests in"),
    "ab (closed loop)": _peer(_ab, r"Complete requests:\s+(\d+)"),
}


def versions():
    """What the peers are, word for word from themselves; hey does not tell, so the package does."""
    ask = processes.first_line_matching
    return {
        "nginx": ask(["nginx", "-v"], r"nginx/(\S+)"),
        "h2load": ask(["h2load", "--version"], r"nghttp2/(\S+)"),
        "wrk": ask(["wrk", "-v"], r"wrk (\S+)"),
        "hey": ask(["dpkg-query", "-W", "hey"], r"hey\s+(\S+)"),
        "ab": ask(["ab", "-V"], r"Version (\S+)"),
    }
