"""A submission that came as a zip: what is wanted is taken out within limits, and nothing else happens."""

import os
import zipfile

import pytest

from autograder.grading import archives
from autograder.grading.archives import unpacked


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "submitted"
    made.mkdir()
    return made


def archive(folder, members, name="work.zip"):
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as made:
        for member, content in members:
            made.writestr(member, content)
    return folder / name


def taken(folder, tmp_path):
    target, notes = unpacked(folder, tmp_path / "out")
    return {p.name: p.read_bytes() for p in target.iterdir() if p.suffix != ".zip"}, notes


def test_notebooks_and_the_time_are_taken_under_their_bare_names(folder, tmp_path):
    archive(folder, [
        ("s19/01.ipynb", "one"), ("s19/deep/02.ipynb", "two"), ("timestamp.txt", "2025-01-01"), ("s19/notes.txt", "x"),
        ("__MACOSX/s19/._01.ipynb", "x"), ("s19/.ipynb_checkpoints/03.ipynb", "x"), ("s19\\\\04.ipynb", "four"),
        ("s19/autograder/kernel.py", "x"), ("s19/solutions/", ""),
    ])  # fmt: skip
    assert taken(folder, tmp_path) == (
        {"01.ipynb": b"one", "02.ipynb": b"two", "timestamp.txt": b"2025-01-01", "04.ipynb": b"four"}, []
    )  # fmt: skip


def test_nothing_is_written_elsewhere(folder, tmp_path):
    archive(folder, [("../../up.ipynb", "x"), ("/etc/root.ipynb", "y"), ("..", "z"), ("a/../b.ipynb", "w")])
    files, _ = taken(folder, tmp_path)
    assert set(files) == {"root.ipynb"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "submitted"]


def test_a_link_in_an_archive_is_a_plain_file(folder, tmp_path):
    link = zipfile.ZipInfo("01.ipynb")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    archive(folder, [(link, "/etc/passwd")])
    files, _ = taken(folder, tmp_path)
    assert files == {"01.ipynb": b"/etc/passwd"} and not (tmp_path / "out" / "01.ipynb").is_symlink()


def test_a_bomb_costs_no_more_than_is_allowed(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILE", 1000)
    monkeypatch.setattr(archives, "MAX_TOTAL", 100_000)
    archive(folder, [("01.ipynb", b"0" * 10**7), *((f"{n:03}.ipynb", b"0" * 999) for n in range(2, 200))])
    files, notes = taken(folder, tmp_path)
    assert "01.ipynb in work.zip is too large and was left out" in notes
    assert 0 < sum(map(len, files.values())) <= 100_000


def test_too_many_members_and_too_large_a_file_are_not_unpacked(folder, tmp_path, monkeypatch):
    archive(folder, [(f"{n}.ipynb", "x") for n in range(archives.MAX_MEMBERS + 1)])
    files, (note,) = taken(folder, tmp_path)
    assert files == {} and "holds 1,001 files" in note
    monkeypatch.setattr(archives, "MAX_TOTAL", 100)
    files, (note,) = taken(folder, tmp_path)
    assert files == {} and "100 are allowed" in note


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04" + b"\x00" * 100, b"hello" * 100])
def test_what_is_no_zip_gets_a_reason(folder, tmp_path, content):
    (folder / "work.zip").write_bytes(content)
    files, (note,) = taken(folder, tmp_path)
    assert files == {} and "is not a zip that can be read; make it again with: autograder submit" in note


def test_a_zip_cut_off_or_encrypted_gets_a_reason(folder, tmp_path):
    path = archive(folder, [("01.ipynb", os.urandom(5000))])
    whole = path.read_bytes()
    path.write_bytes(whole[:2000] + b"\x00" * 500 + whole[2500:])
    assert "not a zip that can be read" in taken(folder, tmp_path)[1][0]
    flagged = bytearray(whole)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        flagged[flagged.index(mark) + offset] |= 1  # says that a password is wanted
    path.write_bytes(bytes(flagged))
    assert "not a zip that can be read" in taken(folder, tmp_path)[1][0]


def test_the_newest_of_several_counts_and_loose_notebooks_before_any(folder, tmp_path):
    os.utime(archive(folder, [("01.ipynb", "old")], "b.zip"), (1, 1))
    archive(folder, [("01.ipynb", "new")], "a.zip")
    assert taken(folder, tmp_path) == ({"01.ipynb": b"new"}, ["b.zip was ignored: a.zip is newer"])
    (folder / "02.ipynb").write_text("loose")
    target, notes = unpacked(folder, tmp_path / "out")
    assert target == folder and notes == [f"{name} was ignored: notebooks lie beside it" for name in ("b.zip", "a.zip")]


def test_the_outer_of_two_of_a_name_is_taken(folder, tmp_path):
    archive(folder, [("old/deep/01.ipynb", "deep"), ("01.ipynb", "outer")])
    files, notes = taken(folder, tmp_path)
    assert files == {"01.ipynb": b"outer"} and "comes twice" in notes[0]


def test_a_link_to_a_zip_and_a_pipe_are_not_opened(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "link.zip").symlink_to(archive(elsewhere, [("01.ipynb", "x")]))
    os.mkfifo(folder / "pipe.zip")
    assert unpacked(folder, tmp_path / "out") == (folder, [])


def test_what_was_unpacked_before_does_not_stay(folder, tmp_path):
    archive(folder, [("01.ipynb", "x")])
    taken(folder, tmp_path)
    archive(folder, [("02.ipynb", "y")])
    assert taken(folder, tmp_path) == ({"02.ipynb": b"y"}, [])
