"""How another program starts this Hearthmind."""

import os
import sys
from pathlib import Path


def executable() -> list[str]:
    """The absolute command line that starts `hearthmind`, whatever PATH says."""
    script = Path(sys.executable).with_name("hearthmind")
    return [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", "hearthmind.cli"]


def chosen_environment() -> dict[str, str]:
    """The `HEARTHMIND_` settings of this shell, which another program would not inherit."""
    from hearthmind.settings import PREFIX

    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIX)}
