"""A link means the note that it means in Obsidian."""

import os
import time
import unicodedata
from pathlib import Path

import pytest

from hearthmind.model import Link
from hearthmind.vault.links import Entry, LinkIndex, key_of, keys_of
from hearthmind.vault.markdown import links_in_properties, scan
from hearthmind.vault.note import parse_note

SHARED = Path(os.environ.get("HEARTHMIND_TEST_SHARED") or Path(__file__).resolve().parents[4] / "shared")


def index(*paths: str) -> LinkIndex:
    return LinkIndex(Entry(path, path) for path in paths)


def wiki(notes: LinkIndex, target: str, source: str = "Source.md") -> str | None:
    return notes.resolve(Link(target, 1), source)


def markdown(notes: LinkIndex, target: str, source: str = "Source.md") -> str | None:
    return notes.resolve(Link(target, 1, markdown=True), source)


def test_names_paths_case_and_unicode_form() -> None:
    notes = index("Folder/Näme.md", "a/b/Deep.md", "v1.2 Node.js.md", "Source.md")
    for written in ("Näme", "näme", "NÄME.md", unicodedata.normalize("NFD", "Näme"), "folder/näme", "/Folder/Näme"):
        assert wiki(notes, written) == "Folder/Näme.md"
    for written in ("Deep", "b/Deep", "a/b/deep.md", "/a/b/Deep"):
        assert wiki(notes, written) == "a/b/Deep.md"
    assert wiki(notes, "v1.2 node.js") == "v1.2 Node.js.md"
    for written in ("x/Deep", "eep", "/b/Deep", "/Deep", "nothing", "Näme/"):
        assert wiki(notes, written) in (None, "Folder/Näme.md" if written == "Näme/" else None)


def test_among_equal_names_the_root_path_then_the_folder_then_the_shortest() -> None:
    notes = index("x/Note.md", "a/b/Note.md", "c/Note.md", "a/b/c/Note.md")
    assert wiki(notes, "Note", "a/b/S.md") == "a/b/Note.md"
    assert wiki(notes, "Note", "a/S.md") == "a/b/Note.md"
    assert wiki(notes, "Note", "zz/S.md") == "c/Note.md"
    assert wiki(notes, "Note") == "c/Note.md"
    assert wiki(notes, "c/Note", "a/b/S.md") == "c/Note.md"
    notes.add(Entry("root", "Note.md"))
    assert wiki(notes, "Note", "a/b/S.md") == "root"
    assert wiki(notes, "./Note", "a/b/S.md") == "a/b/Note.md"
    assert wiki(notes, "../../Note", "a/b/S.md") == "root"
    assert wiki(notes, "./Missing", "a/b/S.md") is None


def test_markdown_links_are_seen_from_the_folder_of_their_note() -> None:
    notes = index("README.md", "git/README.md", "git/x.md", "ruby/y.md")
    assert markdown(notes, "README.md", "git/x.md") == "git/README.md"
    assert markdown(notes, "../ruby/y.md", "git/x.md") == "ruby/y.md"
    assert markdown(notes, "ruby/y.md", "git/x.md") == "ruby/y.md"
    assert markdown(notes, "y", "git/x.md") == "ruby/y.md"
    assert wiki(notes, "README", "git/x.md") == "README.md"


def test_own_heading_attachments_and_ways_out() -> None:
    notes = index("Source.md", "pic.png.md", "sub/a.md")
    assert notes.resolve(Link("", 1, heading="H"), "Source.md") == "Source.md"
    for target in (
        "pic.png",
        "Books.base",
        "plan.canvas",
        "doc.PDF",
        "../Source",
        "../../etc/passwd",
        "x/../../Source",
    ):
        assert wiki(notes, target) is None
    assert wiki(notes, "../a", "sub/s.md") is None
    assert wiki(notes, "..", "sub/s.md") is None


def test_aliases_come_after_names_and_former_paths_last() -> None:
    notes = LinkIndex([Entry("1", "One.md", aliases=("Uno", "CI/CD", "Two")), Entry("2", "Two.md")])
    assert wiki(notes, "uno") == "1"
    assert wiki(notes, "CI/CD") == "1"
    assert wiki(notes, "Two") == "2"
    notes.add(Entry("3", "new/Three.md", former_paths=("old/Drei.md", "Uno.md")))
    assert wiki(notes, "Drei") == "3"
    assert wiki(notes, "old/drei") == "3"
    assert wiki(notes, "./Drei", "old/s.md") == "3"
    assert wiki(notes, "Uno") == "1"


def test_the_index_follows_changes() -> None:
    notes = LinkIndex([Entry("1", "A.md", aliases=("X",)), Entry("2", "b/A.md")])
    notes.add(Entry("1", "c/B.md"))
    assert wiki(notes, "A") == "2"
    assert wiki(notes, "X") is None
    notes.remove("2")
    notes.remove("unknown")
    assert wiki(notes, "A") is None
    assert wiki(notes, "B") == "1"
    assert len(notes) == 1


def test_own_case_first_where_two_files_differ_in_case_only() -> None:
    notes = index("Note.md", "note.md")
    assert wiki(notes, "note") == "note.md"
    assert wiki(notes, "Note") == "Note.md"


@pytest.mark.parametrize("target", ["Name", "folder/NAME.md", "./x/Name", "../Name", "/Name", " Name "])
def test_a_dangling_link_is_found_by_the_key_of_a_new_note(target: str) -> None:
    assert key_of(Link(target, 1)) in keys_of("some/where/Name.md")
    assert key_of(Link(target, 1)) in keys_of("x.md", aliases=["A", "name"])
    assert key_of(Link("CI/CD", 1)) in keys_of("x.md", aliases=["CI/CD"])
    assert key_of(Link("", 1, heading="h")) == ""


def test_ten_thousand_notes_are_quick() -> None:
    started = time.perf_counter()
    notes = LinkIndex(Entry(str(n), f"f{n % 100}/g{n % 7}/Note {n // 2}.md", (f"alias {n}",)) for n in range(10_000))
    for n in range(10_000):
        notes.add(Entry(f"r{n}", f"r{n}/README.md"))
    for n in range(10_000):
        assert wiki(notes, f"Note {n // 2}", f"f{n % 100}/g{n % 7}/s.md") == str(n)
        assert wiki(notes, "README", f"r{n}/s.md") == f"r{n}"
        assert wiki(notes, "README", "f1/s.md") == "r0"
    for n in range(10_000):
        notes.remove(f"r{n}")
    assert time.perf_counter() - started < 10


def vault(name: str) -> Path:
    folder = SHARED / "data" / "vaults" / name
    if not folder.is_dir():
        pytest.skip(f"NO SHARED DATA: {folder} is missing; set HEARTHMIND_TEST_SHARED to run this test")
    return folder


def resolved(folder: Path) -> dict[str, list[tuple[str, str | None]]]:
    paths = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.md"))}
    notes = LinkIndex(Entry(path, path) for path in paths)
    found = {}
    for path, file in paths.items():
        note = parse_note(file.read_bytes())
        links = [*links_in_properties(note.properties), *scan(note.body, note.body_line).links]
        found[path] = [(link.target, notes.resolve(link, path)) for link in links]
    return found


def test_the_hard_cases_of_obsidian_export() -> None:
    found = resolved(vault("obsidian-export"))
    main = "main-samples/"
    pure, front = f"{main}pure-markdown-examples.md", f"{main}note-with-frontmatter.md"
    assert [target for _, target in found[f"{main}obsidian-wikilinks.md"]] == [
        pure, pure, pure, pure, pure, f"{main}Uppercased-note.md", f"{main}_underscored-note.md",
    ]  # fmt: skip
    assert found[f"{main}embeds.md"] == [
        ("note-with-frontmatter", front), ("note-with-frontmatter", front), ("non-existing note", None),
        ("white.png", None), ("bulb.svg", None), ("note.pdf", None), ("white.png", None),
    ]  # fmt: skip
    assert [target for _, target in found[f"{main}issue-188-wikilinks-need-trimming.md"]] == [f"{main}foo.md"] * 12
    assert found[f"{main}wikilinks-with-formatting-symbols.md"] == [("foo", f"{main}foo.md")]
    assert [target for _, target in found[f"{main}section-ref-a.md"]] == [f"{main}section-ref-a.md"] * 2
    assert [target for _, target in found[f"{main}section-ref-b.md"]] == [f"{main}section-ref-a.md"] * 2
    assert found[f"{main}partial-embed-at-EOF.md"] == []
    assert found[f"{main}math.md"] == []
    assert found[pure] == [("link-location.md", None)]
    assert [target for _, target in found[f"{main}subdir/note-in-subdir.md"]] == [pure]
    assert [target for _, target in found["non-ascii/Embed.md"]] == ["non-ascii/Nöte with 'quotes'.md"] * 2
    same = "same-filename-different-directories/"
    assert [target for _, target in found[f"{same}Note.md"]] == [
        f"{same}dir1/Note.md", f"{same}dir1/Note.md", f"{same}dir2/Note.md", f"{same}dir2/Note.md",
    ]  # fmt: skip
    assert resolved(vault("obsidian-export") / "start-at")["subdir/Note B.md"] == [
        ("Note A", "Note A.md"), ("Note C", "subdir/Note C.md"),
    ]  # fmt: skip
    assert [target for _, target in found["infinite-recursion/Note C.md"]] == ["infinite-recursion/Note A.md"]


def test_a_real_vault_with_links_in_front_matter_and_bases() -> None:
    found = resolved(vault("kepano"))
    assert ("Meetings", "Categories/Meetings.md") in found["Notes/2023-09-12 Meeting with Steph.md"]
    assert ("Out of Control", "References/Out of Control.md") in found["Notes/2023-09-12 Meeting with Steph.md"]
    assert ("Japan", None) in found["Notes/2023 Japan Trip.md"]
    assert found["Categories/Events.md"] == [("Events.base", None)]
    assert found["Notes/Product usage analysis.md"] == [
        ("Buy wisely", "Clippings/Buy wisely.md"), ("Products.base", None),
    ]  # fmt: skip
    assert ("evergreen", "Categories/Evergreen.md") in found[
        "Notes/Evergreen notes turn ideas into objects that you can manipulate.md"
    ]
    for links in found.values():
        assert all(path is None for target, path in links if target.endswith(".base"))
