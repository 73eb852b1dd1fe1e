"""What the README says is so: its commands run as they stand there, its settings exist, its table is filled."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hearthmind.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line.split("  #")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("hearthmind ")
]


def run(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    environ |= {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "HEARTHMIND_EMBEDDER": "packaged"}
    words = [word.replace("~", str(home), 1) if word.startswith("~") else word for word in shlex.split(command)]
    return subprocess.run(
        [sys.executable, "-m", "hearthmind.cli", *words[1:]], env=environ, capture_output=True, text=True, timeout=120
    )


def test_the_readme_names_commands_to_run() -> None:
    assert len(COMMANDS) >= 5


def test_every_command_of_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    notes = tmp_path / "Notes"
    notes.mkdir()
    (notes / "Mine.md").write_text("My own words.\n")
    for command in COMMANDS:
        done = run(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        if command.startswith("hearthmind recall"):
            assert "Boiler" in done.stdout
    assert sorted(path.name for path in notes.iterdir()) == ["Mine.md"]


@pytest.mark.parametrize("name", sorted(set(re.findall(rf"`({PREFIX}[A-Z_]+)`", README))))
def test_every_setting_of_the_readme_exists(name: str) -> None:
    assert name.removeprefix(PREFIX).lower() in Settings.model_fields


def test_commands_named_in_the_text_exist(tmp_path: Path) -> None:
    for name in sorted(set(re.findall(r"`hearthmind ([a-z-]+)", README))):
        assert run(f"hearthmind {name} --help", tmp_path).returncode == 0, name


def test_the_figures_are_filled_in() -> None:
    table = README.partition("<!-- figures:begin -->")[2].partition("<!-- figures:end -->")[0]
    assert table.count("\n|") >= 8
