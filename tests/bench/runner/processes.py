"""Child processes: run one to its end with its CPU time, or keep a server for a while."""

import contextlib
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time


class BenchError(Exception):
    """A contender or a server did not do what it was asked to."""


def run(argv, echo=False):
    """Runs argv. Returns its standard output and its CPU time, user + system, in microseconds.

    echo: what it writes to standard error is passed on."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read().decode(errors="replace")
        said = err.read().decode(errors="replace").strip()
        if said and echo:
            print(said, file=sys.stderr)
        if child.returncode != 0:
            raise BenchError(f"{' '.join(map(str, argv))} ended with {child.returncode}: {said or text}")
    return text, (usage.ru_utime + usage.ru_stime) * 1e6


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, server, timeout_s=10):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise BenchError(f"{server.args[0]} ended at once with {server.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise BenchError(f"{server.args[0]} does not listen on port {port} after {timeout_s} s")


@contextlib.contextmanager
def running(argv, port, **options):
    """A server that is listening; it ends with the block, and with this process however that ends."""
    server = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *map(str, argv)],
                              stdin=subprocess.DEVNULL, **options)
    try:
        wait_for(port, server)
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


NGINX_CONFIG = """
daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections {files}; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ default_type text/plain; return 200 "ok\\n"; }}
  }}
}}
"""


@contextlib.contextmanager
def nginx():
    """nginx with one worker and a configuration of its own. Yields its port and process."""
    with tempfile.TemporaryDirectory(prefix="bench-nginx-") as folder:
        port = free_port()
        config = pathlib.Path(folder, "nginx.conf")
        files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 16384)
        config.write_text(NGINX_CONFIG.format(folder=folder, port=port, files=files))
        argv = ["nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", config]
        with running(argv, port) as server:
            yield port, server.pid


@contextlib.contextmanager
def burn_server(program):
    """The reference service. Yields its port and process."""
    port = free_port()
    with running([program, "--port", port, "--iters-per-ms", 1000], port, stdout=subprocess.DEVNULL) as server:
        yield port, server.pid


def first_line_matching(argv, pattern):
    """The first match of `pattern` in what argv prints: for versions."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1) if found else "unknown"



class OtherWork:
    """How many CPUs something else kept busy during a block, time taken by the host included.

    with OtherWork(server) as other: ...; other.own_s = CPU seconds of the client; other.cpus()
    """

    def __init__(self, server):
        self._server = server
        self.own_s = 0

    def __enter__(self):
        self._start = self._now()
        return self

    def __exit__(self, *_):
        self._end = self._now()

    def _now(self):
        with open("/proc/stat", encoding="ascii") as stat:
            ticks = [int(word) for word in stat.readline().split()[1:9]]
        busy = sum(ticks) - ticks[3] - ticks[4]  # all but idle and waiting for a disk
        return time.monotonic(), busy / TICKS_PER_S, _family_cpu_s(self._server)

    def cpus(self):
        wall, busy, server = (end - start for start, end in zip(self._start, self._end))
        return max(0.0, busy - server - self.own_s) / wall


def wait_until_quiet(limit_cpus, patience_s):
    """Returns once less than `limit_cpus` were busy for a second, or when the patience is over."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        with OtherWork(os.getpid()) as other:
            time.sleep(1)
        if other.cpus() < limit_cpus:
            return


TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def _family_cpu_s(pid):
    """CPU seconds of a process and its children so far."""
    total = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name may hold blanks; state, parent, ... follow it.
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if pid in (int(path.parent.name), int(fields[1])):
                total += int(fields[11]) + int(fields[12])
    return total / TICKS_PER_S
