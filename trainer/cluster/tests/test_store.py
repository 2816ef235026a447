"""Stores keep whole files by content; runs take in what parts hand in, each file once."""

import json
from pathlib import Path

import pytest

from fairyforge_cluster import runfolder
from fairyforge_cluster.errors import ClusterError
from fairyforge_cluster.hashing import digest_of_bytes
from fairyforge_cluster.store import Item, Receipt, Store


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A store without and one with renaming."""
    url = f"memory://{tmp_path.name}" if request.param == "memory" else (tmp_path / "store").as_uri()
    return Store(url)


def write(path: Path, text: str) -> Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def handed(folder: Path, name: str, text: str) -> tuple[Item, Path]:
    """A file as a part hands it in."""
    path = write(folder / name, text)
    return Item(name, digest_of_bytes(text.encode()), len(text)), path


def test_objects_come_back_as_they_were(store: Store, tmp_path: Path) -> None:
    item = store.add_file(write(tmp_path / "w.toml", "weights"))
    assert item == Item("w.toml", digest_of_bytes(b"weights"), 7)
    assert store.read(item.digest) == b"weights"
    target = tmp_path / "elsewhere" / "x"
    store.fetch(item.digest, target)
    assert target.read_bytes() == b"weights"
    assert [path.name for path in target.parent.iterdir()] == ["x"]


def test_damaged_objects_are_never_put_in_place(tmp_path: Path) -> None:
    store = Store((tmp_path / "store").as_uri())
    item = store.add_bytes(b"whole", "x")
    held = tmp_path / "store" / "objects" / item.digest[:2] / item.digest
    held.write_bytes(b"whol3")
    with pytest.raises(ClusterError, match="expected content of SHA-256"):
        store.fetch(item.digest, tmp_path / "target")
    assert not (tmp_path / "target").exists()
    assert not list(tmp_path.glob("target*"))


def test_an_object_cut_short_is_stored_again(tmp_path: Path) -> None:
    store = Store((tmp_path / "store").as_uri())
    item = store.add_bytes(b"whole", "x")
    (tmp_path / "store" / "objects" / item.digest[:2] / item.digest).write_bytes(b"wh")
    store.add_bytes(b"whole", "x")
    assert store.read(item.digest) == b"whole"


def test_what_parts_hand_in_is_taken_in_once(store: Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shard = "selfplay/001/games-00000000.parquet"
    files = [
        handed(tmp_path / "a", shard, "games"),
        handed(tmp_path / "a", shard.replace("games", "positions"), "positions"),
    ]
    store.hand_in("key", files, 1, 2)
    write(run / "selfplay/001/games-00000020.parquet", "was there")
    store.hand_in("key", [handed(tmp_path / "b", "selfplay/001/games-00000020.parquet", "again")], 2, 2)
    assert [receipt.part for receipt in store.receipts("key")] == [1, 2]
    assert runfolder.take_in(run, store, "key") == 2
    assert (run / shard).read_text() == "games"
    assert (run / shard.replace("games", "positions")).read_text() == "positions"
    assert (run / "selfplay/001/games-00000020.parquet").read_text() == "was there"
    assert runfolder.take_in(run, store, "key") == 0
    assert list(store.receipts("other")) == []


def test_a_shard_is_finished_by_its_last_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, run = Store("memory://order"), tmp_path / "run"
    names = ["s/games-00000000.parquet", "s/positions-00000000.parquet", "a.parts/1.jsonl"]
    store.hand_in("key", [handed(tmp_path / "a", name, name) for name in names], 1, 1)
    order: list[str] = []
    whole = store.fetch_result

    def noted(folder: str, receipt: Receipt, item: Item, target: Path) -> None:
        order.append(item.path)
        whole(folder, receipt, item, target)

    monkeypatch.setattr(store, "fetch_result", noted)
    runfolder.take_in(run, store, "key")
    assert order == ["a.parts/1.jsonl", "s/positions-00000000.parquet", "s/games-00000000.parquet"]


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "a/../../b", "cluster/store/x"])
def test_a_receipt_cannot_write_outside_the_run(tmp_path: Path, name: str) -> None:
    store = Store((tmp_path / "store").as_uri())
    store.hand_in("key", [handed(tmp_path / "a", "x", "x")], 1, 1)
    receipt = next((tmp_path / "store" / "receipts" / "key").glob("*.json"))
    fields = json.loads(receipt.read_text())
    fields["files"][0]["path"] = name
    receipt.write_text(json.dumps(fields))
    with pytest.raises(ClusterError, match="expected the name of a file in a run"):
        runfolder.take_in(tmp_path / "run", store, "key")


def test_receipts_of_other_formats_are_refused() -> None:
    whole = Receipt(1, 2, (Item("x", "d", 1),))
    assert Receipt.from_json(whole.to_json()) == whole
    for text in ('{"part": 1, "of": 2, "files": []}', '{"format": 2, "part": 1, "of": 2, "files": []}'):
        with pytest.raises(ClusterError, match="expected a receipt of format 1"):
            Receipt.from_json(text.encode())


def test_the_state_is_what_decides_and_not_what_is_played(tmp_path: Path) -> None:
    write(tmp_path / "plan.toml", "plan")
    key = runfolder.state_key(tmp_path)
    for name in (
        "run.lock",
        "events.jsonl",
        "selfplay/001/games-00000000.parquet",
        "journal.parts/0.jsonl",
        "cluster/x",
        "a.tmp",
        "part-1.tmp/a.toml",
    ):
        write(tmp_path / name, "x")
    assert runfolder.state_key(tmp_path) == key
    write(tmp_path / "weights/001.toml", "x")
    assert runfolder.state_key(tmp_path) != key


def test_parts_get_files_and_names_of_shards(tmp_path: Path) -> None:
    run, store = tmp_path / "run", Store("memory://state")
    shard = "selfplay/001/games-00000000.parquet"
    for name in (
        "plan.toml",
        shard,
        "training/001/network.net",
        "training/001/checkpoints/1.checkpoint",
        "report.md",
        "j.parts/1.jsonl",
    ):
        write(run / name, name)
    files, shards = runfolder.send_state(run, store, reads_games=False)
    assert [item.path for item in files] == ["j.parts/1.jsonl", "plan.toml", "training/001/network.net"]
    assert shards == (shard,)
    files, shards = runfolder.send_state(run, store, reads_games=True)
    assert shard in [item.path for item in files]
    assert shards == ()


def test_a_look_leaves_the_run_alone(tmp_path: Path) -> None:
    run, look = tmp_path / "run", tmp_path / "look"
    for name in (
        "plan.toml",
        "journal.jsonl",
        "run.lock",
        "selfplay/001/games-00000000.parquet",
        "cluster/store/x",
        "x.tmp",
    ):
        write(run / name, "as it was")
    runfolder.copy_for_a_look(run, look)
    assert runfolder.names(look) == ["journal.jsonl", "plan.toml", "selfplay/001/games-00000000.parquet"]
    (look / "journal.jsonl").write_text("changed")
    assert (run / "journal.jsonl").read_text() == "as it was"
