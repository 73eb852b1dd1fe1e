"""The arguments of a tool as a model sees them: the operation's request, without what confuses clients."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

HIDDEN = frozenset({"idempotency_key"})
"""For programs that retry; a model would only invent one."""
PLAIN: Mapping[str, dict[str, Any]] = {
    "importance": {"type": "integer", "minimum": 1, "maximum": 10},
    "source": {"type": "string"},
}
"""Arguments that also take other forms, shown in one: no `anyOf`."""


def tool_schema(request: type[BaseModel]) -> dict[str, Any]:
    """JSON schema with definitions inlined and optional arguments simply left out: several clients mishandle
    `$ref` and `anyOf` with null."""
    schema = request.model_json_schema()
    plain = _plain(schema, schema.get("$defs", {}))
    plain["properties"] = {name: value for name, value in plain["properties"].items() if name not in HIDDEN}
    return {key: plain[key] for key in ("type", "properties", "required", "additionalProperties") if key in plain}


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_plain(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        named = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        schema = {**named, **{key: value for key, value in schema.items() if key != "$ref"}}
    choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if "anyOf" in schema and len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return _plain({**choices[0], **rest}, definitions)
    plain = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _argument(name, each, definitions) for name, each in value.items()}
        elif key not in {"title", "$defs"} and not (key == "default" and value is None):
            plain[key] = _plain(value, definitions)
    return plain


def _argument(name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    if name in PLAIN:
        described = {key: schema[key] for key in ("description",) if key in schema}
        return {**PLAIN[name], **described}
    return _plain(schema, definitions)


def lenient(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """What models send instead of what the schema says: null for left out, JSON in a string for an array or an
    object, words separated by commas for an array of strings."""
    mended = {}
    for name, value in arguments.items():
        if value is None and name not in schema.get("required", ()):
            continue
        shape = schema["properties"].get(name, {})
        if isinstance(value, str) and shape.get("type") in {"array", "object"}:
            value = _from_text(value, shape)
        mended[name] = value
    return mended


def _from_text(text: str, shape: Mapping[str, Any]) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if shape["type"] == "array" and shape.get("items", {}).get("type") == "string":
            return [part.strip() for part in text.split(",") if part.strip()]
        return text
