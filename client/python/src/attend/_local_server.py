"""A server for this process alone, which ends with it."""

from __future__ import annotations

import collections
import os
import re
import shutil
import subprocess
import threading
import time
from typing import IO, Callable, Sequence

# Of its own accord, before it is given up; one that ran for so many seconds
# has done well.
MAX_ENDS, LONG = 3, 600.0
OWN = ("--host=127.0.0.1", "--http-host=127.0.0.1", "--http-port=0",
       "--log-format=logfmt", "--log-level=info")
READY = 1800.0  # seconds: a large model on a slow disk takes some
LAST = 1.0  # seconds, for the last lines of a process that has ended
# The kernel ends the server when this process ends, however it does.
TIED = ("setpriv", "--pdeathsig", "TERM", "--")


class LocalServer:
    """Starts attend-server, and starts it again at the same port when it ends.
    After the third end in a row there is a `failure`, and a thread calls
    `on_failure`, if it is set."""

    def __init__(self, command: Sequence[str], limit: float = READY) -> None:
        """Waits until the server is ready. Raises RuntimeError with its last
        lines if it ends before, or after `limit` seconds; OSError if there is
        no such program."""
        for program in (command[0], TIED[0]):
            if shutil.which(program) is None:
                raise FileNotFoundError(f"there is no program '{program}'")
        self._command = [*TIED, *command, *OWN]
        self.on_failure: Callable[[], None] | None = None
        self._lines: collections.deque[str] = collections.deque(maxlen=20)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None  # guarded by _lock
        self._closed = False  # guarded by _lock
        self._known = threading.Event()  # the port, or that there is none
        self._port = 0
        self.failure: str | None = None
        # The signal comes when the thread ends that started the process.
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="attend-server")
        self._thread.start()
        if not self._known.wait(limit):
            self._end(subprocess.Popen.kill)
            raise RuntimeError(f"{command[0]} is not ready after {limit:g} s:\n"
                               + "".join(self._lines))
        if not self._port:
            self._thread.join()
            raise RuntimeError(self.failure or "the server was closed")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def close(self) -> None:
        """Ends the server and waits until it has ended."""
        self._end(subprocess.Popen.terminate)

    def _end(self, how: Callable[[subprocess.Popen[str]], None]) -> None:
        with self._lock:
            self._closed = True
            if self._process is not None:
                how(self._process)
        self._thread.join()

    def _run(self) -> None:
        try:
            self.failure = self._run_until_failure()
        except OSError as error:
            self.failure = str(error)
        self._known.set()
        if self.failure is not None and self.on_failure is not None:
            self.on_failure()

    def _run_until_failure(self) -> str | None:
        """None: it was closed."""
        ends = 0
        while True:
            began = time.monotonic()
            code = self._run_once()
            if code is None:
                return None
            ends = 1 if time.monotonic() - began > LONG else ends + 1
            if not self._port or ends >= MAX_ENDS:
                return (f"{self._command[len(TIED)]} ended with status {code}"
                        f"{f', {ends} times' if self._port else ''}:\n"
                        + "".join(self._lines))

    def _run_once(self) -> int | None:
        """The status with which it ended; None: it was closed."""
        with self._lock:
            if self._closed:
                return None
            process = self._process = subprocess.Popen(
                [*self._command, f"--port={self._port}"], text=True,
                errors="replace", stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                env={"ATTEND_ACCESS_LOG": "off", **os.environ})
        reader = threading.Thread(target=self._read, args=[process.stderr],
                                  daemon=True)
        reader.start()
        code = process.wait()
        # What the process has started may go on, and keep the pipe open.
        reader.join(LAST)
        with self._lock:
            self._process = None
            return None if self._closed else code

    def _read(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                self._lines.append(line)
                ready = re.search(r"event=ready .*\bgrpc_port=(\d+)", line)
                if ready:
                    self._port = int(ready[1])
                    self._known.set()
