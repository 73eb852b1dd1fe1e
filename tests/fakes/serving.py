"""The app behind a real uvicorn on a free loopback port, in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from hearthmind.gateway import serve


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Yields the address, without a trailing slash."""
    begun = threading.Event()
    server: Any = serve._Server(
        uvicorn.Config(app, http="h11", ws="none", lifespan="on", access_log=False, log_config=None), begun.set
    )
    listening = serve.listening_socket("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    assert begun.wait(20)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()
