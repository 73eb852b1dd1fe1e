import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hearthmind.vault.names import cut, fold, safe_name, unique_name

ANY = st.text(st.characters(), max_size=120)
NASTY = st.lists(
    st.sampled_from([*'/\\:*?"<>|#^[]%.~ -aA1é', "\u0301", "\u200d", "\u202e", "👩", "🏽", "CON", ".md", "\x00", "\n"]),
    max_size=60,
).map("".join)
DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)", re.IGNORECASE)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Use modular config for CI", "Use modular config for CI"),
        ("Meeting: plan", "Meeting - plan"),
        ("Stand-up 10:30", "Stand-up 10-30"),
        ("/etc/hosts", "etc-hosts"),
        ("Why not?", "Why not"),
        ('Say "hi" twice', "Say 'hi' twice"),
        ("List<int>", "List‹int›"),
        ("C# tips", "C♯ tips"),
        ("# Heading", "Heading"),
        ("x^2", "xˆ2"),
        ("see [[Other|that]]", "see ((Other-that))"),
        ("**bold**", "bold"),
        ("%%hidden%%", "%hidden%"),
        ("  .hidden. ", "hidden"),
        ("CON", "CON_"),
        ("nul.txt", "nul_.txt"),
        ("com1 .x", "com1_.x"),
        ("...", "Untitled"),
        ("", "Untitled"),
        ("///", "Untitled"),
        ("\u202eevil\u202c", "evil"),
        ("e\u0301te\u0301", "été"),
        ("שלום עולם", "שלום עולם"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("a\tb\n c", "a b c"),
        ("README.md", "README md"),
        ("~syncthing~x", "x"),
        ("note.sync-conflict-20240101-101010-ABC", "note sync-conflict-20240101-101010-ABC"),
        ("👩🏽‍🚀 mission", "👩🏽‍🚀 mission"),
        ("-5 degrees", "-5 degrees"),
    ],
)
def test_a_title_becomes_a_readable_name(title: str, name: str) -> None:
    assert safe_name(title) == name


@settings(max_examples=400)
@given(ANY | NASTY, st.sampled_from([20, 40, 180]))
@example("con." + "a" * 300, 180)
@example("a" + "\u0301" * 300, 20)
def test_any_string_gives_a_name_that_every_system_takes(title: str, limit: int) -> None:
    name = safe_name(title, limit)
    assert name
    assert len(name.encode()) <= limit
    assert not set(name) & set('/\\:*?"<>|#^[]')
    assert all(unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in name)
    assert not set(name) & {
        chr(code) for code in [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x61C]
    }
    assert name == name.strip(". ")
    assert "  " not in name
    assert "%%" not in name
    assert not DEVICES.fullmatch(name.split(".")[0].rstrip(" "))
    assert unicodedata.is_normalized("NFC", name)
    assert len(unicodedata.normalize("NFD", name).encode("utf-16-le")) // 2 <= 255
    assert not name.lower().endswith(".md")
    assert safe_name(name, limit) == name


@settings(max_examples=400)
@given(ANY | NASTY)
def test_the_key_is_the_same_for_every_form_of_a_name(name: str) -> None:
    key = fold(name)
    assert fold(key) == key
    for form in ("NFC", "NFD", "NFKC"):
        assert fold(unicodedata.normalize(form, name)) == key
    assert fold(name.lower()) == key
    assert fold(name.upper()) == key
    assert fold(name + ". ") == key


def test_names_that_look_the_same_have_the_same_key() -> None:
    assert fold("Straße") == fold("STRASSE")
    assert fold("ﬁle") == fold("file")
    assert fold("na\u00efve") == fold("nai\u0308ve")
    assert fold("a\u200db") == fold("ab")
    assert fold("alpha") != fold("alpha 2")


def test_a_taken_name_gets_a_number_that_fits() -> None:
    taken = {"Plan", "Plan 2"}
    assert unique_name("Plan", taken.__contains__) == "Plan 3"
    assert unique_name("Free", taken.__contains__) == "Free"
    long = "ü" * 90
    numbered = unique_name(long, {long}.__contains__)
    assert numbered.endswith("ü 2")
    assert len(numbered.encode()) <= 180


def test_thousands_of_the_same_name_are_numbered_with_few_questions() -> None:
    taken = {"Untitled", *(f"Untitled {n}" for n in range(2, 5000))}
    asked: list[str] = []
    name = unique_name("Untitled", lambda one: bool(asked.append(one)) or one in taken)
    assert name not in taken
    assert len(asked) < 100


@pytest.mark.parametrize("cluster", ["👩🏽‍🚀", "🇩🇪", "e\u0323\u0302", "👍🏿", "한"])
def test_a_cut_never_splits_a_visible_character(cluster: str) -> None:
    text = cluster * 40
    for limit in range(len(cluster.encode()), 120):
        kept = cut(text, limit)
        assert kept == cluster * (len(kept) // len(cluster))


def test_a_long_title_is_cut_at_a_word() -> None:
    assert safe_name("word " * 60, 52) == ("word " * 10).strip()
