"""A stand-in for the model hub: answers what huggingface_hub asks, with files of ours."""

import hashlib
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
E5 = "Xenova/multilingual-e5-small"
E5_MODEL = "onnx/model_quantized.onnx"


@dataclass
class StandInHub:
    """`repositories` maps a repository to its files. `stall_after` bytes of a file over 1 MB it falls silent,
    like a line that broke. `asked` holds every request, in order."""

    repositories: Mapping[str, Mapping[str, bytes]]
    stall_after: int | None = None
    asked: list[str] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def serving(self) -> Iterator["StandInHub"]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer(body=False)

            def do_GET(self) -> None:
                self._answer(body=True)

            def _answer(self, body: bool) -> None:
                path = unquote(urlsplit(self.path).path).strip("/")
                hub.asked.append(f"{self.command} /{path}")
                if path.startswith("api/models/"):
                    self._about(path.removeprefix("api/models/"), body)
                elif "/resolve/" in path:
                    self._file(*path.split("/resolve/", 1), body=body)
                else:
                    self._send(404, b"{}", body)

            def _about(self, path: str, body: bool) -> None:
                repository = "/".join(path.split("/")[:2])
                files = hub.repositories.get(repository)
                if files is None:
                    return self._send(404, b"{}", body, {"X-Error-Code": "RepoNotFound"})
                if "/tree/" in path:
                    answer: Any = [
                        {"type": "file", "path": name, "size": len(data), "oid": _etag(data)}
                        for name, data in files.items()
                    ]
                else:
                    answer = {
                        "_id": "1",
                        "id": repository,
                        "modelId": repository,
                        "sha": COMMIT,
                        "private": False,
                        "tags": [],
                        "siblings": [
                            {"rfilename": name, "size": len(data), "blobId": _etag(data)}
                            for name, data in files.items()
                        ],
                    }
                return self._send(200, json.dumps(answer).encode(), body)

            def _file(self, repository: str, rest: str, *, body: bool) -> None:
                name = rest.split("/", 1)[1]
                data = hub.repositories.get(repository, {}).get(name)
                if data is None:
                    return self._send(404, b"", body, {"X-Error-Code": "EntryNotFound"})
                headers = {"ETag": f'"{_etag(data)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
                stall = hub.stall_after if len(data) > 1_000_000 else None
                return self._send(200, data, body, headers, stall)

            def _send(
                self,
                status: int,
                data: bytes,
                body: bool,
                headers: Mapping[str, str] | None = None,
                stall: int | None = None,
            ) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json" if data[:1] in b"{[" else "text/plain")
                self.send_header("Content-Length", str(len(data)))
                for key, value in (headers or {}).items():
                    self.send_header(key, value)
                self.end_headers()
                if body and stall is not None:
                    self.wfile.write(data[:stall])
                    self.wfile.flush()
                    time.sleep(120)
                elif body:
                    self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def e5_from(folder: Path) -> dict[str, dict[str, bytes]]:
    """The model in `folder` under the name and paths of multilingual-e5-small."""
    names = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
    files = {name: (folder / name).read_bytes() for name in names}
    return {E5: {**files, E5_MODEL: (folder / "model.onnx").read_bytes(), "README.md": b"# not asked for"}}


@contextmanager
def silent_hub() -> Iterator[str]:
    """Accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()
