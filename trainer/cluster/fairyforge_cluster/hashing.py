"""SHA-256 of files, the one checksum here as in the program."""

import hashlib
from pathlib import Path

DIGEST_LENGTH = 64


def digest_of_bytes(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
