#!/usr/bin/env python3
"""Two servers and the endpoint picker of an InferencePool, with the settings of
deploy/helm/picker.yaml, by hand.

    picker.py --server build/release/server/attend-server --picker EPP

EPP is a Go program (`go build ./cmd/epp` in a checkout of
github.com/llm-d/llm-d-router, here of August 2026), which finds the servers in a
file, without a cluster. One server is kept busy; the picker has to know the
figures of both.
"""

import argparse
import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
VALUES = ROOT / "deploy/helm/picker.yaml"
CALLS = 9  # one runs, the others wait


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def started(*command):
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def get(port, path):
    url = f"http://127.0.0.1:{port}{path}"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def wait_until(condition):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if condition():
                return
        time.sleep(0.1)
    sys.exit("no: " + condition.__name__)


def series(page):
    return dict(line.rsplit(" ", 1) for line in page.splitlines()
                if line and line[0] != "#")


def settings(folder, ports):
    """The picker's settings, and where the servers are."""
    router = yaml.safe_load(VALUES.read_text())["router"]["epp"]
    found = yaml.safe_load(
        router["pluginsCustomConfig"][router["pluginsConfigFile"]])
    servers = folder / "servers.yaml"
    servers.write_text(json.dumps({"endpoints": [
        {"name": f"attend-{i}", "address": "127.0.0.1", "port": str(port)}
        for i, port in enumerate(ports)]}))
    found["plugins"].append({"name": "files", "type": "file-discovery",
                             "parameters": {"path": str(servers)}})
    found["dataLayer"] = {"discovery": {"pluginRef": "files"}}
    path = folder / "picker.yaml"
    path.write_text(json.dumps(found))
    return path


def keep_busy(port, stop):
    body = json.dumps({"prompt": "This sentence is translated. " * 40,
                       "max_tokens": 400, "ignore_eos": True}).encode()
    while not stop.is_set():
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/completions", body,
            {"Content-Type": "application/json"})
        urllib.request.urlopen(request).read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--picker", required=True)
    options = parser.parse_args()
    ports = [free_port(), free_port()]
    picker = free_port()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as all_:
        for port in ports:
            all_.enter_context(started(
                options.server, f"--model={ROOT}/models/en-de",
                "--host=127.0.0.1", "--port=0", "--http-host=127.0.0.1",
                f"--http-port={port}", "--max-running=1",
                "--kv-cache-bytes=16MiB"))
        path = settings(pathlib.Path(folder), ports)
        all_.enter_context(started(
            options.picker, "--config-file", str(path), "--pool-name=attend",
            f"--metrics-port={picker}", f"--grpc-port={free_port()}",
            f"--grpc-health-port={free_port()}"))

        def figure(name):
            return float(series(get(picker, "/metrics")).get(name, 0))

        def both_servers_are_known():
            return figure('llm_d_epp_ready_endpoints{name="attend"}') == 2

        def queue(server):
            return figure("llm_d_epp_per_endpoint_queue_size{model_server_"
                          f'endpoint="attend-{server}",name="attend"}}')

        def the_queue_of_the_busy_one_is_known():
            return queue(0) == CALLS - 1 and queue(1) == 0

        def what_runs_and_its_memory_is_known():
            return (figure('llm_d_epp_average_running_requests{name="attend"}')
                    == 0.5 and figure('llm_d_epp_average_kv_cache_utilization'
                                      '{name="attend"}') > 0)

        for port in ports:
            wait_until(lambda port=port: get(port, "/readyz"))
        wait_until(both_servers_are_known)
        stop = threading.Event()
        calls = [threading.Thread(target=keep_busy, args=(ports[0], stop))
                 for _ in range(CALLS)]
        for call in calls:
            call.start()
        try:
            wait_until(the_queue_of_the_busy_one_is_known)
            wait_until(what_runs_and_its_memory_is_known)
        finally:
            stop.set()
            for call in calls:
                call.join()
    print("the picker knows queues, what runs and its memory")


if __name__ == "__main__":
    main()
