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
    """nginx with one worker and a configuration of its own. Yields the URL's port."""
    with tempfile.TemporaryDirectory(prefix="bench-nginx-") as folder:
        port = free_port()
        config = pathlib.Path(folder, "nginx.conf")
        files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 16384)
        config.write_text(NGINX_CONFIG.format(folder=folder, port=port, files=files))
        argv = ["nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", config]
        with running(argv, port):
            yield port


@contextlib.contextmanager
def burn_server(program):
    """The reference service. Yields its port."""
    port = free_port()
    with running([program, "--port", port, "--iters-per-ms", 1000], port, stdout=subprocess.DEVNULL):
        yield port


def first_line_matching(argv, pattern):
    """The first match of `pattern` in what argv prints: for versions."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1) if found else "unknown"


def busy_cpus(seconds=1):
    """How many CPUs other work keeps busy right now, time taken by a virtual machine's host included."""
    def times():
        with open("/proc/stat", encoding="ascii") as stat:
            return [int(word) for word in stat.readline().split()[1:9]]
    before = times()
    time.sleep(seconds)
    spent = [after - earlier for earlier, after in zip(before, times())]
    idle = spent[3] + spent[4]
    return (sum(spent) - idle) / max(sum(spent), 1) * os.cpu_count()
