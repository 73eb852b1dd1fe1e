"""adopt: take over a vault as it is, or say before what that would mean."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hearthmind.cli.joined import Json, ask_in, build, joined, settings_with_warnings
from hearthmind.cli.shown import give
from hearthmind.errors import HearthmindError, NameTaken

if TYPE_CHECKING:
    from hearthmind.house.contract import SpaceView
    from hearthmind.settings import Settings
    from hearthmind.vault.preview import Preview, Sample

HOME = "home"


def adopt(
    path: Annotated[Path, typer.Argument(help="The vault's folder.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be read, ignored, created.")] = False,
    space: Annotated[str, typer.Option("--space", help="As the space of this name.")] = HOME,
    as_json: Json = False,
) -> None:
    """Adopt an existing vault: index it, change none of its notes."""
    root = path.expanduser().absolute()
    if not root.is_dir():
        raise HearthmindError(f"{root} is not a folder")
    if dry_run:
        _preview(root, as_json)
        return
    settings = settings_with_warnings()
    added = _as_home(settings, root) if space == HOME else _as_space(settings, space, root)
    give(added, as_json, _adopted)


def _as_home(settings: "Settings", root: Path) -> "SpaceView":
    """The home space's vault is decided when it first opens, by HEARTHMIND_VAULT."""
    from hearthmind import bootstrap
    from hearthmind.house.contract import SpacesRequest
    from hearthmind.house.operations import SPACES

    store = bootstrap.open_store(settings)
    try:
        known = any(record.name == HOME for record in store.spaces())
    finally:
        store.close()
    with joined(settings if known else settings.model_copy(update={"vault": root})) as house:
        [home] = [one for one in ask_in(house, SPACES, SpacesRequest()).items if one.name == HOME]
    if Path(home.vault) != root:
        raise NameTaken(
            f"The space home has its vault already: {home.vault}. Adopt this one as a space of its own: "
            f"hearthmind adopt --space NAME {root}"
        )
    return home


def _as_space(settings: "Settings", name: str, root: Path) -> "SpaceView":
    from hearthmind.house.contract import NewSpaceRequest
    from hearthmind.house.operations import ADD_SPACE

    request = build(NewSpaceRequest, name=name, vault=str(root))
    with joined(settings) as house:
        return ask_in(house, ADD_SPACE, request)


def _adopted(space: "SpaceView") -> None:
    print(f"The space {space.name} reads {space.vault}; none of its notes is changed.")
    if space.name == HOME:
        print(f"Keep it so wherever Hearthmind starts: HEARTHMIND_VAULT={space.vault}")
    print("`hearthmind serve` indexes it; `hearthmind status` shows how far it is.")


def _preview(root: Path, as_json: bool) -> None:
    from dataclasses import asdict
    from datetime import datetime

    from hearthmind.vault.preview import preview

    settings = settings_with_warnings()
    found = preview(root, datetime.now(settings.zone).date(), settings.folder)
    if as_json:
        print(json.dumps(asdict(found), default=str, ensure_ascii=False))
    else:
        _show_preview(root, found)


def _show_preview(root: Path, found: "Preview") -> None:
    print(f"{root} would be {found.kind}. Nothing has been written.\n")
    print(f"Read: {found.notes.count} notes, {found.note_bytes / 1000:,.0f} KB{_examples(found.notes)}")
    print(f"Left alone, not notes: {found.others.count} files{_examples(found.others)}")
    for reason, sample in found.ignored.items():
        print(f"Ignored, {reason}: {sample.count}{_examples(sample)}")
    for problem in found.problems:
        print(f"Problem: {problem.path or root}: {problem.message}")
    print("Created:", *(f"  {path}" for path in found.created), sep="\n")


def _examples(sample: "Sample") -> str:
    if not sample.examples:
        return ""
    return f"  ({', '.join(sample.examples)}{', …' if sample.count > len(sample.examples) else ''})"
