"""A TCP relay that cuts connections at random."""

import asyncio
import random
import socket
import struct
import threading


class CuttingRelay:
    """From a port of its own to `port`. `share`: of the pieces of answers that
    come through, how many cut their connection instead, with RST."""

    def __init__(self, port):
        self.share = 0.0
        self.cuts = 0
        self._target = port
        self._random = random.Random(port)
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,),
                                        daemon=True)
        self._thread.start()
        started.wait()

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, started):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self._loop.run_forever()

    async def _accept(self, reader, writer):
        try:
            there_reader, there_writer = await asyncio.open_connection(
                "127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        both = (writer, there_writer)
        await asyncio.gather(self._copy(reader, there_writer, both, False),
                             self._copy(there_reader, writer, both, True))

    async def _copy(self, reader, writer, both, answers):
        try:
            while data := await reader.read(65536):
                if answers and self._random.random() < self.share:
                    self.cuts += 1
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        for each in both:
            endpoint = each.get_extra_info("socket")
            if endpoint.fileno() >= 0:
                endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                    struct.pack("ii", 1, 0))
            each.transport.abort()
