"""Why arguments do not fit, in words for people and models, without echoing what was sent."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

SHOWN_ERRORS = 10
SHOWN_CHARACTERS = 300


def explained(errors: Sequence[Mapping[str, Any]], known: Collection[str] = ()) -> list[dict[str, str]]:
    """Pydantic's errors as fields and words; `known` are the names that would have been right."""
    lines = []
    for error in errors[:SHOWN_ERRORS]:
        field = _short(".".join(str(part) for part in error["loc"]))
        message = _short(str(error["msg"]).removeprefix("Value error, "))
        if error["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(error["loc"][-1])[:80], known, n=1)
            message = f"is not known here{f'; did you mean {near[0]}?' if near else ''}"
        elif not field and error["type"] in {"model_attributes_type", "model_type", "dict_type"}:
            message = "must be a JSON object, sent with Content-Type: application/json"
        lines.append({"field": field or "body", "message": message})
    return lines


def words_of(lines: Sequence[Mapping[str, str]]) -> str:
    return "; ".join(f"{line['field']}: {line['message']}" for line in lines)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
