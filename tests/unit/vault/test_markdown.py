"""Headings, tags, links and block ids as Obsidian reads them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthmind.model import Link, RelationType
from hearthmind.vault.markdown import links_in_properties, scan


def targets(body: str) -> list[str]:
    return [link.target for link in scan(body).links]


def tags(body: str) -> list[str]:
    return [tag.name for tag in scan(body).tags]


@pytest.mark.parametrize(
    ("written", "link"),
    [
        ("[[Name]]", Link("Name", 1)),
        ("[[ Folder/Name # Heading | text]]", Link("Folder/Name", 1, heading="Heading")),
        ("[[#Own heading]]", Link("", 1, heading="Own heading")),
        ("[[Name#^block]]", Link("Name", 1, block="block")),
        ("[[#^b-1]]", Link("", 1, block="b-1")),
        ("[[Name#H1#H2|x [1] y]]", Link("Name", 1, heading="H1#H2")),
        ("![[Name]]", Link("Name", 1, embed=True)),
        ("![[pic.png|100]]", Link("pic.png", 1, embed=True)),
        ("[t](path/to%20note.md#h)", Link("path/to note.md", 1, heading="h", markdown=True)),
        ("[t](<path with spaces.md>)", Link("path with spaces.md", 1, markdown=True)),
        ('[t](./a(b).md "title")', Link("./a(b).md", 1, markdown=True)),
        ("[t](#own%20h)", Link("", 1, heading="own h", markdown=True)),
        ("[a [b] c](x.md)", Link("x.md", 1, markdown=True)),
        ("![alt](white.png)", Link("white.png", 1, embed=True, markdown=True)),
        ("[t](caf%C3%A9.md)", Link("café.md", 1, markdown=True)),
        ("| [[a\\|b]] | x |", Link("a", 1)),
        ("> - [[Quoted]]", Link("Quoted", 1)),
        ("> [!note] See [[Callout]]", Link("Callout", 1)),
        ("[[a [[b]]", Link("b", 1)),
        ("[[[c]]]", Link("c", 1)),
        ("([[d]])", Link("d", 1)),
        ("# Heading with [[e]]", Link("e", 1)),
        ("[[v1.2 notes.md]]", Link("v1.2 notes.md", 1)),
        ("$5 for [[f]], $6 for g", Link("f", 1)),
        ("**[[g]]**", Link("g", 1)),
        ("{{date}} [[h]]", Link("h", 1)),
    ],
)
def test_links(written: str, link: Link) -> None:
    assert scan(written).links == (link,)


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`",
        "`` ` [[a]] ` ``",
        "```\n[[a]]\n```",
        "~~~~ md\n```\n[[a]]\n~~~\n~~~~",
        "- x\n  ```\n  [[a]]\n  ```",
        "- ```\n  [[a]]\n  ```",
        "> ```\n> [[a]]\n> ```",
        "1. ~~~\n   [[a]]",
        "```\n[[a]] never closed",
        "text\n\n    [[a]]\n",
        "\t[[a]]",
        "%% [[a]] %%",
        "%%\n\n[[a]]\n\n%%",
        "<!-- [[a]] -->",
        "<!--\n\n[[a]] -->",
        "$$\n[[a]]\n\n$$",
        "$x_{[[a]]}$",
        "\\[[a]]",
        "[[]]",
        "[[|x]]",
        "[[a\nb]]",
        "[[unclosed",
        "![[Not valid.]",
        "[t](https://x.org/a.md)",
        "[t](mailto:a@b.c)",
        "[t](obsidian://open?vault=x)",
        "[t](//host/x)",
        "[t]()",
        "[^1]",
        "[^1]: note",
        "- [ ] task",
        "- [x] done",
        "[t] (x.md)",
        "`a\n[[a]] b`",
        "t](x.md)",
        "[x\n\ny](z.md)",
        "[[https://x.org]]",
    ],
)
def test_what_is_no_link(text: str) -> None:
    assert scan(text).links == ()


@pytest.mark.parametrize(
    "text",
    [
        "` [[a]]",
        "one ` tick\n\n[[a]] two ` ticks",
        "- one ` tick\n- [[a]] ` tick",
        "\\`[[a]]`",
        "100%% sure [[a]]",
        "a <!-- never closed [[a]]",
        "```\ncode\n```\n[[a]]",
        "> ```\n> code\n\n[[a]]",
        "- ```\n  code\n\n[[a]]",
        "~~~\n```\n~~~\n[[a]]",
        "```` x\n```\n````\n[[a]]",
        "- item\n\n    [[a]]",
        "text\n    [[a]]",
        "``` inline ``` [[a]]",
        "%%c%% [[a]]",
        "$$x$$ [[a]]",
        "$x$ [[a]]",
        "price $ [[a]] $",
        "`%%` [[a]] `%%`",
        "<!-- ` --> [[a]] `",
        "    \n[[a]]",
        "[x] [[a]](y)",
        "[^1]: see\n\n    [[a]]",
    ],
)
def test_links_beside_code_and_comments_are_links(text: str) -> None:
    assert "a" in targets(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#tag", ["tag"]),
        ("a #b/c-d_e, #f.", ["b/c-d_e", "f"]),
        ("#Größe #标签 #नमस्ते #café", ["Größe", "标签", "नमस्ते", "café"]),
        ("#1984 #y1984 #2024-01", ["y1984", "2024-01"]),
        ("(#x) **#y**", ["x", "y"]),
        ("- #item\n> #quote", ["item", "quote"]),
        ("# Heading #in", ["in"]),
        ("#a/", ["a"]),
        ("#🌲tree", ["🌲tree"]),
        ("#tag，后", ["tag"]),
        ("| #cell |", ["cell"]),
        ("C# a#b https://x.org/#frag https://x.org/ #ok", ["ok"]),
        ("[t](x.md#h) [[n#h]]", []),
        ("\\#no", []),
        ("## Two", []),
        ("##x", []),
        ("`#code` $#math$ %%#c%% <!-- #h -->", []),
        ("```\n#x\n```", []),
        ("(https://x.org/(#a))", []),
        ('<a href="#x">&#123;', []),
        ("#", []),
        ("#-", []),
        ("#!x", []),
    ],
)
def test_tags(text: str, names: list[str]) -> None:
    assert tags(text) == names


def test_headings_blocks_and_lines() -> None:
    body = (
        "# One ##\n\ntext ^b1\n\nTwo\n---\n#### `Three` #\n```\n# no\n```\n> # no\n#no\n\n---\n"
        "- a ^b-2  \n^alone\nx^no\n##\n"
    )
    found = scan(body, first_line=10)
    assert [(h.level, h.text, h.line) for h in found.headings] == [
        (1, "One", 10),
        (2, "Two", 14),
        (4, "`Three`", 16),
        (2, "", 27),
    ]
    assert [(b.id, b.line) for b in found.blocks] == [("b1", 12), ("b-2", 24), ("alone", 25)]


def test_lines_of_links_and_tags_are_lines_of_the_file() -> None:
    found = scan("[[a]]\n\n`x\ny` [b](c.md) #t\n[[d]]", first_line=5)
    assert [(link.target, link.line) for link in found.links] == [("a", 5), ("c.md", 8), ("d", 9)]
    assert found.tags[0].line == 8


def test_an_image_in_a_link_gives_both() -> None:
    links = scan("[![i](a.png)](n.md)").links
    assert [(link.target, link.embed) for link in links] == [("n.md", False), ("a.png", True)]


def test_links_in_properties() -> None:
    links = links_in_properties(
        {
            "supports": ["[[A]]", "[[B#H|b]]"],
            "up": "see [[C]] and [[D]]",
            "bare": [["E"]],
            "deep": {"x": [{"y": "[[F]]"}]},
            "n": 3,
            "part_of": "[[G]]",
        }
    )
    assert [(link.target, link.relation, link.typed) for link in links] == [
        ("A", RelationType.SUPPORTS, True),
        ("B", RelationType.SUPPORTS, True),
        ("C", RelationType.RELATES_TO, False),
        ("D", RelationType.RELATES_TO, False),
        ("E", RelationType.RELATES_TO, False),
        ("F", RelationType.RELATES_TO, False),
        ("G", RelationType.PART_OF, True),
    ]
    assert links[1].heading == "H"


LARGE = 300_000


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[[",
        "[[a",
        "[[a]",
        "![[",
        "]",
        "](",
        "[a](",
        "[a](b",
        "[a](<b",
        "`",
        "` `` ",
        "`a``b",
        "``` ",
        "$",
        "$a ",
        "$$ ",
        "%% ",
        "<!--",
        "#",
        "#a",
        " #",
        "\\",
        "\\[[",
        "a",
        " ",
        "\t",
        "> ",
        "- ",
        "1. ",
        "\n",
        "\n- `",
        "\n> ```",
        "\n```\n",
        "\n~~~",
        "\n    x\n",
        "^a ",
        "*",
        "_a",
        "://",
        "a://",
        "(",
        "\n---",
        "|",
        "=\n",
    ],
)
def test_time_is_linear(unit: str) -> None:
    body = unit * (LARGE // len(unit))
    started = time.perf_counter()
    scan(body)
    assert time.perf_counter() - started < 3


def test_five_megabytes_of_brackets_and_ticks() -> None:
    for unit in ("[[[[[[", "` `` "):
        started = time.perf_counter()
        scan(unit * (5_000_000 // len(unit)))
        assert time.perf_counter() - started < 15


@given(st.text(alphabet="`~[]()!#|^$%<>-*\\ \n\tab1:/.", max_size=80))
def test_scanning_never_fails_and_lines_fit(body: str) -> None:
    found = scan(body, first_line=3)
    last = 3 + body.count("\n")
    lines = [link.line for link in found.links] + [tag.line for tag in found.tags]
    lines += [heading.line for heading in found.headings] + [block.line for block in found.blocks]
    assert all(3 <= line <= last for line in lines)
    ends = [0]
    for span in found.spans:
        assert ends[-1] <= span.start <= span.inner[0] <= span.inner[1] <= span.end <= len(body)
        ends.append(span.end)
