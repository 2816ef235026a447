"""Files by their content, wherever fsspec can reach.

A store holds objects named by their SHA-256 (the program, networks, plans, lists of them) and, of runs without a shared folder, what parts have left: the
files of a part first, then its receipt, whose presence says that the part is over. Nothing is ever half there under its final name: where a rename is
possible files are written under another name and renamed; object stores show a file only when it is whole.
"""

import json
import posixpath
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import fsspec

from fairyforge_cluster.errors import ClusterError
from fairyforge_cluster.hashing import digest_of_bytes, digest_of_file

RECEIPT_FORMAT = 1
# A put is all or nothing in these; renaming would copy.
OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oci", "memory"})


@dataclass(frozen=True, order=True)
class Item:
    """A file by where it belongs and by what it holds."""

    path: str
    digest: str
    size: int


@dataclass(frozen=True)
class Receipt:
    """What one part has left, in the order in which it is to be taken in."""

    part: int
    of: int
    files: tuple[Item, ...]

    def to_json(self) -> bytes:
        """As it is stored."""
        return json.dumps({"format": RECEIPT_FORMAT, **asdict(self)}).encode()

    @staticmethod
    def from_json(data: bytes) -> "Receipt":
        """As it was stored, by this version or one that understands it."""
        fields = json.loads(data)
        if fields.get("format") != RECEIPT_FORMAT:
            raise ClusterError(f"expected a receipt of format {RECEIPT_FORMAT}, got {fields.get('format', 'none')!r}")
        return Receipt(fields["part"], fields["of"], tuple(Item(**item) for item in fields["files"]))


class Store:
    """A folder of objects and receipts at a URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        # Typed as Any: fsspec has no types of its own.
        filesystem: Any
        filesystem, root = fsspec.core.url_to_fs(url)
        self._filesystem = filesystem
        self._root = str(root).rstrip("/")
        protocol = filesystem.protocol
        names = {protocol} if isinstance(protocol, str) else set(protocol)
        self._puts_are_whole = bool(names & OBJECT_STORES)

    def add_file(self, path: Path) -> Item:
        """Stores a file unless an object of its content is there. The item's path is the file's name."""
        item = Item(path.name, digest_of_file(path), path.stat().st_size)
        target = self._object(item.digest)
        if not self._has(target, item.size):
            self._put(path, target)
        return item

    def add_bytes(self, data: bytes, name: str) -> Item:
        """Stores bytes unless they are there."""
        item = Item(name, digest_of_bytes(data), len(data))
        target = self._object(item.digest)
        if not self._has(target, item.size):
            self._pipe(data, target)
        return item

    def read(self, digest: str) -> bytes:
        """The content of an object, compared with its name."""
        data: bytes = self._filesystem.cat_file(self._object(digest))
        if digest_of_bytes(data) != digest:
            raise ClusterError(
                f"expected content of SHA-256 {digest} in {self._object(digest)}, got {digest_of_bytes(data)}"
            )
        return data

    def fetch(self, digest: str, target: Path) -> None:
        """Brings an object to `target`, by way of another name and only if it is what it should be."""
        self._get(self._object(digest), digest, target)

    def hand_in(self, folder: str, files: list[tuple[Item, Path]], part: int, of: int) -> None:
        """Stores what a part has left and, last, its receipt."""
        for item, path in files:
            self._put(path, self._result(folder, part, of, item.digest))
        receipt = Receipt(part, of, tuple(item for item, _ in files))
        self._pipe(receipt.to_json(), self._receipt(folder, part, of))

    def receipts(self, folder: str) -> Iterator[Receipt]:
        """The receipts of a step, in the order of their names."""
        place = self._join("receipts", folder)
        if not self._filesystem.exists(place):
            return
        self._filesystem.invalidate_cache(place)
        for name in sorted(self._filesystem.ls(place, detail=False)):
            if str(name).endswith(".json"):
                yield Receipt.from_json(self._filesystem.cat_file(name))

    def fetch_result(self, folder: str, receipt: Receipt, item: Item, target: Path) -> None:
        """Brings one file of a part to `target`."""
        self._get(self._result(folder, receipt.part, receipt.of, item.digest), item.digest, target)

    def settle(self, folder: str, receipt: Receipt) -> None:
        """Forgets a part whose files were taken in: the receipt first, so that none is without its files."""
        self._filesystem.rm_file(self._receipt(folder, receipt.part, receipt.of))
        results = posixpath.dirname(self._result(folder, receipt.part, receipt.of, "x"))
        if self._filesystem.exists(results):
            self._filesystem.rm(results, recursive=True)

    def _join(self, *names: str) -> str:
        return "/".join((self._root, *names))

    def _object(self, digest: str) -> str:
        return self._join("objects", digest[:2], digest)

    def _result(self, folder: str, part: int, of: int, digest: str) -> str:
        return self._join("results", folder, f"{part:06}-of-{of:06}", digest)

    def _receipt(self, folder: str, part: int, of: int) -> str:
        return self._join("receipts", folder, f"{part:06}-of-{of:06}.json")

    def _has(self, path: str, size: int) -> bool:
        return bool(self._filesystem.exists(path)) and self._filesystem.size(path) == size

    def _put(self, source: Path, target: str) -> None:
        self._whole(target, lambda place: self._filesystem.put_file(str(source), place))

    def _pipe(self, data: bytes, target: str) -> None:
        self._whole(target, lambda place: self._filesystem.pipe_file(place, data))

    def _whole(self, target: str, write: Any) -> None:
        self._filesystem.makedirs(posixpath.dirname(target), exist_ok=True)
        if self._puts_are_whole:
            write(target)
            return
        aside = f"{target}.{uuid.uuid4().hex}.tmp"
        write(aside)
        self._filesystem.mv(aside, target)

    def _get(self, source: str, digest: str, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(f"{target.name}.{uuid.uuid4().hex}.tmp")
        try:
            self._filesystem.get_file(source, str(aside))
            got = digest_of_file(aside)
            if got != digest:
                raise ClusterError(f"expected content of SHA-256 {digest} in {source}, got {got}")
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)
