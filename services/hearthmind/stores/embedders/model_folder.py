"""A folder with the files that fastembed wants, put together from files that lie elsewhere."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def gather(models: Path, name: str, files: Mapping[str, Path], settings: Mapping[str, Any]) -> Path:
    """The folder `<models>/<name>-<digest>`: `files` by link (copied where links fail), `settings` as JSON.

    Complete or absent, whatever happens meanwhile; several processes may ask at once. The digest covers
    what the files are, so a changed source gives another folder. Raises OSError.
    """
    folder = models / f"{name}-{_digest(files, settings)}"
    wanted = [*files, *settings]
    if all((folder / each).is_file() for each in wanted):
        return folder
    models.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=models))
    try:
        for target, source in files.items():
            _place(source.resolve(strict=True), made / target)
        for target, content in settings.items():
            (made / target).write_text(json.dumps(content), encoding="utf-8")
        made.chmod(0o755)
        _publish(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.symlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def _publish(made: Path, folder: Path) -> None:
    """Renames `made` to `folder`; a folder that another process just made is as good, a damaged one goes."""
    for _ in range(3):
        try:
            made.rename(folder)
            return
        except OSError:
            if all((folder / each.relative_to(made)).exists() for each in made.rglob("*")):
                return
            damaged = Path(tempfile.mkdtemp(prefix=".damaged-", dir=folder.parent))
            try:
                folder.rename(damaged / "folder")
            except FileNotFoundError:
                pass
            finally:
                shutil.rmtree(damaged, ignore_errors=True)
    made.rename(folder)


def _digest(files: Mapping[str, Path], settings: Mapping[str, Any]) -> str:
    seen: list[Any] = [dict(settings)]
    for target, source in sorted(files.items()):
        state = source.stat()
        seen.append([target, os.fspath(source), state.st_size, state.st_mtime_ns])
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:12]


def usual_settings(max_tokens: int, pad_token: str = "[PAD]") -> dict[str, Any]:
    """The JSON files that fastembed reads beside tokenizer.json; a tokenizer.json that has padding wins."""
    return {
        "config.json": {},
        "tokenizer_config.json": {"model_max_length": max_tokens, "pad_token": pad_token},
        "special_tokens_map.json": {},
    }
