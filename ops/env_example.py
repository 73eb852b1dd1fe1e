"""Write .env.example from the settings, or check that it equals them.

Run: python ops/env_example.py [check]
"""

import sys
from pathlib import Path

from pydantic_core import PydanticUndefined

from hearthmind.settings import PREFIX, Settings

FILE = Path(__file__).parents[1] / ".env.example"
HEAD = "# Settings of Hearthmind. Nothing needs to be set; made by `python ops/env_example.py`, do not edit.\n"


def rendered() -> str:
    """One reason per setting, then the setting with its default, commented out."""
    parts = [HEAD]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, PydanticUndefined) else field.default
        if isinstance(default, tuple):
            default = ",".join(default)
        parts.append(f"\n# {field.description}\n#{PREFIX}{name.upper()}={default}\n")
    return "".join(parts)


def main() -> int:
    if sys.argv[1:] == ["check"]:
        if not FILE.is_file() or FILE.read_text(encoding="utf-8") != rendered():
            print(".env.example differs from the settings; run: python ops/env_example.py", file=sys.stderr)
            return 1
        return 0
    FILE.write_text(rendered(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
