"""Closed and open loops of HTTP calls, by a client that costs little: requests
are written before, and of an answer only the status and the length are read."""

import asyncio
import itertools
import json
import random
import statistics
import time


def post(path, body):
    """A request as bytes."""
    text = json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(text)}\r\n\r\n").encode() + text


class Connection(asyncio.Protocol):
    """One call at a time."""

    def __init__(self):
        self.transport, self.answer = None, None
        self.data, self.wanted, self.status = bytearray(), None, None

    def connection_made(self, transport):
        self.transport = transport

    def connection_lost(self, exc):
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(exc or ConnectionResetError())

    def call(self, request):
        """A future of the answer's status and body."""
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self.answer

    def data_received(self, data):
        self.data += data
        if self.wanted is None:
            self._read_head()
        if self.wanted is not None and len(self.data) >= self.wanted:
            answer = self.status, bytes(self.data)
            self.data.clear()
            self.wanted = None
            self.answer.set_result(answer)

    def _read_head(self):
        end = self.data.find(b"\r\n\r\n")
        if end < 0:
            return
        status, *lines = bytes(self.data[:end]).lower().split(b"\r\n")
        headers = dict(line.split(b": ", 1) for line in lines)
        self.status = int(status.split()[1])
        self.wanted = int(headers[b"content-length"])
        del self.data[:end + 4]


async def _connect(port):
    _, connection = await asyncio.get_running_loop().create_connection(
        Connection, "127.0.0.1", port)
    return connection


async def _body(connection, request):
    status, body = await connection.call(request)
    if status != 200:
        raise RuntimeError(f"{status}: {body.decode()}")
    return body


async def _answers(port, requests):
    connection = await _connect(port)
    bodies = [await _body(connection, request) for request in requests]
    connection.transport.close()
    return bodies


def answers(port, requests):
    """Their bodies, one call after the other."""
    return asyncio.run(_answers(port, requests))


def percentile(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def _report(times):
    return {"calls": len(times), "p50": statistics.median(times),
            "p99": percentile(times, 0.99)}


async def _closed(port, requests, in_flight, seconds, warm_up):
    pending = itertools.cycle(requests)
    begin = time.perf_counter() + warm_up
    end = begin + seconds
    times = []

    async def client():
        connection = await _connect(port)
        while (sent := time.perf_counter()) < end:
            await _body(connection, next(pending))
            now = time.perf_counter()
            if begin <= now < end:
                times.append(now - sent)
        connection.transport.close()

    await asyncio.gather(*(client() for _ in range(in_flight)))
    return _report(times) | {"rate": len(times) / seconds}


def closed(port, requests, in_flight, seconds, warm_up=1):
    """Calls always in flight: how many end in a second, and their times."""
    return asyncio.run(_closed(port, requests, in_flight, seconds, warm_up))


async def _open(port, requests, rate, seconds, seed):
    draw, pending = random.Random(seed), itertools.cycle(requests)
    idle, calls, times, refused = [], set(), [], 0
    due = time.perf_counter()
    end = due + seconds

    async def call(request, due):
        nonlocal refused
        connection = idle.pop() if idle else await _connect(port)
        status, _ = await connection.call(request)
        refused += status != 200
        times.append(time.perf_counter() - due)
        idle.append(connection)

    while (due := due + draw.expovariate(rate)) < end:
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        task = asyncio.create_task(call(next(pending), due))
        calls.add(task)
        task.add_done_callback(calls.discard)
    await asyncio.gather(*calls)
    for connection in idle:
        connection.transport.close()
    return _report(times) | {"rate": rate, "refused": refused}


def open_loop(port, requests, rate, seconds, seed=7):
    """Calls that arrive as a Poisson process, and how many are refused. Times count
    from when a call was due."""
    return asyncio.run(_open(port, requests, rate, seconds, seed))
