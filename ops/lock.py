"""Write the requirement locks (`make lock`), or check that they are those of pyproject.toml (`make check`).

A lock pins by hash and names no index, so it installs from any mirror. Standard library only: the check runs
before anything is installed.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINED = ["-c", "requirements.lock", "-c", "requirements-build.lock"]
LOCKS = {
    "requirements.lock": ["pyproject.toml"],
    "requirements-build.lock": ["--group", "build", "-c", "requirements.lock"],
    "requirements-dev.lock": ["pyproject.toml", "--group", "dev", *CONSTRAINED],
}
HEADER = "# Written by `make lock` from pyproject.toml "


def digest() -> str:
    """A fingerprint of everything in pyproject.toml that the locks depend on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [
        project["project"]["requires-python"],
        project["project"]["dependencies"],
        project["dependency-groups"],
        LOCKS,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def write(upgrade: bool) -> None:
    """Pins that still fit are kept, unless `upgrade`."""
    environment = {name: value for name, value in os.environ.items() if not re.match(r"(PIP|UV)_.*(FIND_LINKS)", name)}
    for name, sources in LOCKS.items():
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
        command += ["--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url"]
        command += ["--no-emit-find-links", *(["--upgrade"] if upgrade else []), *sources, "-o", name]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        path = ROOT / name
        path.write_text(f"{HEADER}{digest()}\n" + path.read_text(encoding="utf-8"), encoding="utf-8")


def check() -> list[str]:
    """What is wrong with the locks, in words."""
    wrong = []
    for name in LOCKS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if not text.startswith(f"{HEADER}{digest()}\n"):
            wrong.append(f"{name} is not that of pyproject.toml; run `make lock`")
        for line in text.splitlines():
            if not re.fullmatch(r"#.*|[a-zA-Z0-9._-]+==\S+( ; .*)? \\| {4}--hash=sha256:[0-9a-f]{64}( \\)?", line):
                wrong.append(f"{name} holds more than pins and hashes: {line}")
    return wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        found = check()
        sys.exit("\n".join(found) if found else 0)
    write(upgrade=sys.argv[1:] == ["upgrade"])
