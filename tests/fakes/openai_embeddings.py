"""A small server with `/v1/embeddings` and `/v1/models`, over any embedder, that can misbehave."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class FakeEmbeddingServer:
    """`spoil` changes the list of rows before it is sent. Texts over `longest` characters get a 400."""

    embed: Callable[[list[str]], Any]
    model: str = "all-minilm"
    longest: int | None = None
    status: int = 200
    delay_seconds: float = 0.0
    spoil: Callable[[list[dict[str, Any]]], Any] | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def serving(self, port: int = 0) -> Iterator["FakeEmbeddingServer"]:
        server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/v1/models":
                    return self._send(200, {"object": "list", "data": [{"id": fake.model, "object": "model"}]})
                return self._send(404, {"error": {"message": "no such route"}})

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fake.requests.append(asked)
                fake.keys.append(self.headers.get("Authorization"))
                time.sleep(fake.delay_seconds)
                if self.path != "/v1/embeddings":
                    return self._send(404, {"error": {"message": "no such route"}})
                if fake.status != 200:
                    return self._send(fake.status, {"error": {"message": "out of order"}})
                texts = asked["input"]
                if any(not text for text in texts):
                    return self._send(400, {"error": {"message": "input cannot be empty"}})
                if fake.longest is not None and max(map(len, texts)) > fake.longest:
                    return self._send(400, {"error": {"message": "input is too long"}})
                rows = [
                    {"object": "embedding", "index": index, "embedding": [float(x) for x in vector]}
                    for index, vector in enumerate(fake.embed(texts))
                ]
                data = fake.spoil(rows) if fake.spoil else rows
                usage = {"prompt_tokens": 1, "total_tokens": 1}
                return self._send(200, {"object": "list", "data": data, "model": fake.model, "usage": usage})

            def _send(self, status: int, answer: Any) -> None:
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
