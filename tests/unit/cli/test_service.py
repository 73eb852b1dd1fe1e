import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hearthmind.cli import service


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def systemctl(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    ran: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        ran.append(command[2:])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(service.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(service.subprocess, "run", run)
    return ran


def test_install_writes_unit_and_private_settings_and_starts(
    run: Any, config: Path, systemctl: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTHMIND_VAULT", '/home/a b/"notes"')
    assert run("service", "install").code == 0
    unit = (config / "systemd/user/hearthmind.service").read_text()
    settings = config / "hearthmind/service.env"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    assert 'HEARTHMIND_VAULT="/home/a b/\\"notes\\""' in settings.read_text()
    assert f"EnvironmentFile=-{settings}" in unit
    [start] = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    assert start.startswith("ExecStart=/")
    assert start.endswith(" serve")
    assert "Restart=on-failure" in unit
    assert systemctl[1:] == [["daemon-reload"], ["enable", "hearthmind.service"], ["restart", "hearthmind.service"]]


def test_install_without_systemd_says_what_to_run(run: Any, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.shutil, "which", lambda _: None)
    ran = run("service", "install")
    assert ran.code == 0
    assert "systemctl --user enable hearthmind.service" in ran.err
    assert (config / "systemd/user/hearthmind.service").exists()


def test_print_writes_nothing(run: Any, config: Path) -> None:
    ran = run("service", "install", "--print")
    assert "ExecStart=" in ran.out
    assert "HEARTHMIND_DATA=" in ran.out
    assert not config.exists()


def test_uninstall_removes_both_files(run: Any, config: Path, systemctl: list[list[str]]) -> None:
    run("service", "install")
    assert run("service", "uninstall").code == 0
    assert not [path for path in config.rglob("*") if path.is_file()]
    assert ["disable", "--now", "hearthmind.service"] in systemctl


def test_other_systems_are_told(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.sys, "platform", "darwin")
    ran = run("service", "install")
    assert ran.code == 1
    assert "systemd on Linux only" in ran.err
