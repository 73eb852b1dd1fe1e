"""The built wheel, alone in a bare environment, serves."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import httpx
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    # Without isolation: what builds it is pinned in requirements-build.lock like everything else.
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(out)]
    subprocess.run([*build, str(ROOT)], check=True)
    [built] = out.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    package = ROOT / "services" / "hearthmind"
    files = {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= set(zipfile.ZipFile(wheel).namelist())
    assert "hearthmind/py.typed" in files


def test_the_wheel_alone_serves(wheel: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    venv.create(bare, with_pip=True)
    pip = [str(bare / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True, cwd=tmp_path)
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, cwd=tmp_path)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HEARTHMIND_", "PYTHON"))}
    environment = kept | {"HEARTHMIND_DATA": str(tmp_path / "data"), "HEARTHMIND_EMBEDDER": "packaged"}
    serving = subprocess.Popen(
        [str(bare / "bin" / "hearthmind"), "serve", "--port", "0", "--json"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stdout
        greeting = json.loads(serving.stdout.readline())
        assert httpx.get(f"{greeting['url']}/healthz", timeout=10).status_code == 200
        remembered = httpx.post(
            f"{greeting['url']}/api/v1/memories", json={"content": "Bees dance to show the way."}, timeout=60
        )
        assert remembered.is_success, remembered.text
    finally:
        serving.terminate()
        serving.wait(30)
