"""service install, uninstall, status: a systemd user service."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from hearthmind.cli.executable import chosen_environment, executable
from hearthmind.cli.joined import settings_with_warnings
from hearthmind.cli.shown import note
from hearthmind.errors import HearthmindError

app = typer.Typer(help="Run Hearthmind as a systemd user service.", no_args_is_help=True)
UNIT = "hearthmind.service"


@app.command()
def install(
    only_print: Annotated[bool, typer.Option("--print", help="Print the files; write and start nothing.")] = False,
) -> None:
    """Write the unit, with the HEARTHMIND_ settings of this shell, and start it."""
    settings_with_warnings()
    environment = "".join(f"{name}={_quoted(value)}\n" for name, value in chosen_environment().items())
    if only_print:
        print(f"# {_unit_path()}\n{unit_text()}\n# {_environment_path()} (mode 0600)\n{environment}", end="")
        return
    _refuse_elsewhere()
    _write(_environment_path(), environment, 0o600)
    _write(_unit_path(), unit_text(), 0o644)
    print(f"Wrote {_unit_path()} and {_environment_path()}")
    # restart, not start: a second install brings changed settings into a running service
    _systemctl(["daemon-reload"], ["enable", UNIT], ["restart", UNIT])
    print("To keep it running while you are logged out: loginctl enable-linger")


@app.command()
def uninstall() -> None:
    """Stop the service and remove its files. Notes and data stay."""
    settings_with_warnings()
    _refuse_elsewhere()
    if _unit_path().exists():
        _systemctl(["disable", "--now", UNIT])
    for path in (_unit_path(), _environment_path()):
        path.unlink(missing_ok=True)
    _systemctl(["daemon-reload"])
    print("The service is removed; notes and data stay where they are.")


@app.command()
def status() -> None:
    """Show whether the service runs."""
    settings_with_warnings()
    _refuse_elsewhere()
    if not _unit_path().exists():
        raise HearthmindError("The service is not installed; `hearthmind service install` does it.")
    if not _systemd_answers():
        raise HearthmindError("The service is installed, but no systemd user manager answers here.")
    shown = subprocess.run(["systemctl", "--user", "--no-pager", "status", UNIT], check=False)
    raise typer.Exit(min(shown.returncode, 1))


def unit_text() -> str:
    command = " ".join(_quoted(part).replace("%", "%%").replace("$", "$$") for part in [*executable(), "serve"])
    return f"""[Unit]
Description=Hearthmind, a memory for LLM clients
After=network-online.target

[Service]
ExecStart={command}
EnvironmentFile=-{str(_environment_path()).replace("%", "%%")}
Restart=on-failure
RestartSec=2
TimeoutStopSec=60
UMask=0077

[Install]
WantedBy=default.target
"""


def _quoted(value: str) -> str:
    """As systemd reads words in unit and environment files."""
    if value and all(letter.isalnum() or letter in "/._-:,@+" for letter in value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _config() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()


def _unit_path() -> Path:
    return _config() / "systemd" / "user" / UNIT


def _environment_path() -> Path:
    return _config() / "hearthmind" / "service.env"


def _write(path: Path, text: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


def _refuse_elsewhere() -> None:
    if not sys.platform.startswith("linux"):
        raise HearthmindError(
            "`hearthmind service` knows systemd on Linux only. Here, let the system start: "
            + " ".join([*executable(), "serve"])
        )


def _systemd_answers() -> bool:
    if shutil.which("systemctl") is None:
        return False
    asked = subprocess.run(["systemctl", "--user", "show-environment"], capture_output=True, check=False)
    return asked.returncode == 0


def _systemctl(*commands: list[str]) -> None:
    """Run the commands, or print them where no systemd user manager answers."""
    if not _systemd_answers():
        note("No systemd user manager answers here; when one does:")
        note("\n".join(f"  systemctl --user {' '.join(command)}" for command in commands))
        return
    for command in commands:
        done = subprocess.run(["systemctl", "--user", *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise HearthmindError(f"systemctl --user {' '.join(command)} failed: {done.stderr.strip()}")
