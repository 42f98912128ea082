"""Client of Attend, a server of transformer models on CPUs.

    import attend
    with attend.Client("localhost:50051") as client:
        print(client.translate("How are you?")[0].text)

attend.aio.Client has the same methods for asyncio.
"""

from attend import aio, errors, options, results
from attend._cancellation import Cancellation
from attend._client import Client
from attend._inputs import Input, Inputs, chat, pair, tokens
from attend._retry import Retry
from attend.errors import AttendError

__all__ = ["AttendError", "Cancellation", "Client", "Input", "Inputs", "Retry",
           "aio", "chat", "errors", "options", "pair", "results", "tokens"]
