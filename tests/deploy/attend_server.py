"""The server binary, as the tests in this folder use it."""

import contextlib
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["ATTEND_SERVER_BINARY"]


def help_text(environment=None):
    """What --help prints, with these variables set, all others unset."""
    result = subprocess.run([BINARY, "--help"], env=environment or {},
                            capture_output=True, text=True)
    if result.returncode != 0:
        raise ValueError(result.stderr.strip())
    return result.stdout


def version():
    result = subprocess.run([BINARY, "--version"], capture_output=True,
                            check=True, text=True)
    return result.stdout.split()[1]


def variables():
    """Names of the variables that set an option."""
    return set(re.findall(r"\bATTEND_\w+", help_text()))


def flags():
    """Names of the flags, with their dashes."""
    return set(re.findall(r"^  (--[\w-]+)", help_text(), re.MULTILINE))


def seconds(duration):
    """"500ms", "30s", "10m" or "1h" as a number of seconds."""
    number, unit = re.fullmatch(r"([\d.]+)(ms|s|m|h)", duration).groups()
    return float(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]


def make_certificate(folder):
    """The files of a certificate for 127.0.0.1, and of its key."""
    cert, key = f"{folder}/crt", f"{folder}/key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=a",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-out", cert,
                    "-keyout", key], check=True, capture_output=True)
    return cert, key


@contextlib.contextmanager
def ready(command, **more):
    """What runs a server on free ports, until it is ready; gives its HTTP port
    and its gRPC port."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                          **more) as server:
        try:
            log = []
            for line in server.stderr:
                log.append(line)
                if "event=ready" in line:
                    break
            else:
                raise RuntimeError("no server:\n" + "".join(log))
            yield tuple(int(re.search(rf"{name}_port=(\d+)", log[-1]).group(1))
                        for name in ("http", "grpc"))
        finally:
            server.terminate()


FREE_PORTS = ("--host=127.0.0.1", "--port=0", "--http-host=127.0.0.1",
              "--http-port=0", "--kv-cache-bytes=16MiB", "--threads=1")


def running(*flags):
    """A server with the bundled model on free ports; gives its HTTP port and
    its gRPC port."""
    return ready([BINARY, f"--model={ROOT}/models/en-de", *FREE_PORTS, *flags])
