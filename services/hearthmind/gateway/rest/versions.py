"""Versions of memories as entity tags (RFC 9110 §8.8.3, §13.1)."""

import re

TAG = re.compile(r'\s*(?:W/)?(?:"([^"]*)"|([^",\s]+))\s*(?:,|$)')


def etag(version: str) -> str:
    return f'"{version}"'


def tags_in(header: str | None) -> list[str]:
    """The versions that an If-Match or If-None-Match header names. Weak tags count as strong ones: proxies that
    compress weaken ours on the way, and the version names the note's bytes, not the answer's."""
    return [quoted or bare for quoted, bare in TAG.findall(header or "")]


def matches(header: str | None, version: str) -> bool:
    found = tags_in(header)
    return "*" in found or version in found
