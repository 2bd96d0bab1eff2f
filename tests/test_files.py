"""Files that are whole or absent."""

import errno
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from mmcc.errors import OutputError
from mmcc.files import (
    cache_folder,
    is_draft,
    remove_drafts,
    replace_bytes,
    replace_text,
    replacing,
    sync_folder,
    writing,
)


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "config.yaml"
    replace_text(path, "old\n")
    with pytest.raises(KeyError), replacing(path) as draft:
        draft.write_text("half")
        assert path.read_text() == "old\n" and is_draft(draft) and not is_draft(path)
        raise KeyError
    assert path.read_text() == "old\n" and list(tmp_path.iterdir()) == [path]
    replace_bytes(path, b"\xffnew")
    assert path.read_bytes() == b"\xffnew"


def test_writers_that_share_a_file_do_not_share_a_draft(tmp_path):
    path = tmp_path / "answer.npz"
    with replacing(path, shared=True) as draft, replacing(path) as other:
        assert draft != other and str(os.getpid()) in draft.name
        draft.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"  # the one that ends last


def test_drafts_that_killed_processes_left_are_removed(tmp_path):
    (tmp_path / "inner").mkdir()
    left = [tmp_path / ".tmp-a", tmp_path / "inner" / ".tmp-b.npy.12-34"]
    kept = tmp_path / "inner" / "b.npy"
    for path in (*left, kept):
        path.touch()
    remove_drafts(tmp_path)
    assert kept.exists() and not any(path.exists() for path in left)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"file/inner: cannot be written: Not a directory"):
        replace_text(tmp_path / "file" / "inner", "text")
    with pytest.raises(OutputError, match="disk: cannot be written: full"), writing(tmp_path / "disk"):
        raise OSError(28, "full")


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MMCC_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "mmcc"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "mmcc"
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


@pytest.mark.parametrize("shared", [False, True])
def test_a_link_in_the_place_of_a_draft_is_not_followed(tmp_path, shared):
    precious = tmp_path / "precious.txt"
    precious.write_text("years of work")
    path = tmp_path / "manifest.json"
    with replacing(path, shared=shared) as draft:
        name = draft.name
    path.unlink()
    (tmp_path / name).symlink_to(precious)
    with replacing(path, shared=shared) as draft:
        assert not draft.is_symlink()
        draft.write_text("new")
    assert (path.read_text(), precious.read_text()) == ("new", "years of work") and not path.is_symlink()


def test_a_link_in_the_place_of_the_file_is_replaced_not_followed(tmp_path):
    (tmp_path / "precious.txt").write_text("years of work")
    (tmp_path / "config.yaml").symlink_to(tmp_path / "precious.txt")
    replace_text(tmp_path / "config.yaml", "new")
    assert (tmp_path / "precious.txt").read_text() == "years of work"
    assert (tmp_path / "config.yaml").read_text() == "new" and not (tmp_path / "config.yaml").is_symlink()


def test_drafts_may_be_folders(tmp_path):
    (tmp_path / "checkpoints" / ".tmp-00000001").mkdir(parents=True)
    (tmp_path / "checkpoints" / ".tmp-00000001" / "model").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "checkpoints" / ".tmp-link").symlink_to(tmp_path / "elsewhere")
    remove_drafts(tmp_path)
    assert list((tmp_path / "checkpoints").iterdir()) == [] and (tmp_path / "elsewhere").is_dir()


def test_a_file_is_on_the_disk_before_its_name_and_its_name_before_the_end(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(
        "os.fsync", lambda opened: (synced.append(str(Path(f"/proc/self/fd/{opened}").readlink())), fsync(opened))
    )
    replace_text(tmp_path / "config.yaml", "new")
    assert synced == [str(tmp_path / ".tmp-config.yaml"), str(tmp_path)]


@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
def test_a_file_system_that_cannot_sync_folders_is_used_all_the_same(tmp_path, monkeypatch, number, fails):
    def refuse(opened):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError) if fails else nullcontext():
        sync_folder(tmp_path)
