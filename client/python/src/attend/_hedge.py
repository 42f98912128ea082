"""Sends a call once more if its answer takes long: the first answer counts."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Any, Callable

import grpc

from attend._cancellation import answer_of
from attend._retry import LOG


class Hedge:
    """Of one client. `after`: seconds until a call is sent once more; None:
    never. An overload is not made worse by it: ten calls may be hedged at once,
    then one for two that were answered in time."""

    def __init__(self, after: float | None) -> None:
        self.after = after
        self._lock = threading.Lock()
        self._left = 10.0

    def first_answer(self, send: Callable[[bool], Any]) -> Any:
        """`send` starts a call and returns a grpc.Future; it is told whether
        that is the second one."""
        calls = [send(False)]
        try:
            try:
                answer = answer_of(calls[0], self.after)
                self._answered()
                return answer
            except grpc.FutureTimeoutError:
                if not self._take():
                    return answer_of(calls[0])
            calls.append(send(True))
            ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
            for each in calls:
                each.add_done_callback(ended.put)
            winner = ended.get()
            if winner.code() != grpc.StatusCode.OK:
                winner = ended.get()
            return answer_of(winner)
        finally:
            for each in calls:
                each.cancel()

    async def first_answer_async(self, send: Callable[[bool], Any]) -> Any:
        """The same, if `send` returns an awaitable."""
        calls = {asyncio.ensure_future(_answer(send(False)))}
        try:
            ended, _ = await asyncio.wait(calls, timeout=self.after)
            if any(each.exception() is None for each in ended):
                self._answered()
            elif not ended and self._take():
                calls.add(asyncio.ensure_future(_answer(send(True))))
            waiting = calls
            while True:
                ended, waiting = await asyncio.wait(
                    waiting, return_when=asyncio.FIRST_COMPLETED)
                good = [each for each in ended if each.exception() is None]
                if good or not waiting:
                    return (good or list(ended))[0].result()
        finally:
            for each in calls:
                each.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    def _take(self) -> bool:
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
        LOG.info("hedged after %.3f s", self.after)
        return True

    def _answered(self) -> None:
        with self._lock:
            self._left = min(10.0, self._left + 0.5)


async def _answer(call: Any) -> Any:
    try:
        return await call
    finally:
        call.cancel()  # does nothing to one that has ended
