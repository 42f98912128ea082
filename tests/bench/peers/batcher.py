"""What a careful Python server does with calls: a queue, a window, batches."""

import asyncio
import concurrent.futures
import dataclasses


@dataclasses.dataclass
class Waiting:
    """A call's input; a subclass may hold more."""
    source: list  # ids or tokens
    result: asyncio.Future = None

    def sort(self):
        """Only those of one sort share a batch."""
        return None


class Batcher:
    """Joins what waits into batches, one for each free worker: at most
    `max_batch` of one sort, and no later than `window` seconds after the first.
    compute(batch) runs on a thread of a pool and returns results in order."""

    def __init__(self, compute, workers, max_batch, window):
        self.compute, self.max_batch, self.window = compute, max_batch, window
        self.queue = asyncio.Queue()
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)
        self.free = asyncio.Semaphore(workers)
        self.kept = None  # of another sort, first of the next batch

    async def run(self):
        loop = asyncio.get_running_loop()
        while True:
            await self.free.acquire()
            batch = await self.collect()
            work = loop.run_in_executor(self.pool, self.compute, batch)
            asyncio.ensure_future(self.answer(work, batch))

    async def collect(self):
        loop = asyncio.get_running_loop()
        batch = [self.kept or await self.queue.get()]
        self.kept = None
        end = loop.time() + self.window
        while len(batch) < self.max_batch:
            try:
                waiting = self.queue.get_nowait()
            except asyncio.QueueEmpty:
                try:
                    waiting = await asyncio.wait_for(self.queue.get(),
                                                     end - loop.time())
                except asyncio.TimeoutError:
                    break
            if waiting.sort() != batch[0].sort():
                self.kept = waiting
                break
            batch.append(waiting)
        return batch

    async def answer(self, work, batch):
        try:
            for waiting, result in zip(batch, await work):
                waiting.result.set_result(result)
        except Exception as error:  # of the library: the calls fail, we go on
            for waiting in batch:
                if not waiting.result.done():
                    waiting.result.set_exception(error)
        finally:
            self.free.release()

    async def submit(self, waiting):
        waiting.result = asyncio.get_running_loop().create_future()
        self.queue.put_nowait(waiting)
        return await waiting.result
