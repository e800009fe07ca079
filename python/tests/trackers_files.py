"""Reads the files that trackers write."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorboardX.crc32c import crc32c
from tensorboardX.proto.event_pb2 import Event
from wandb.proto.wandb_internal_pb2 import Record

#: The length of a block of a W&B file and of the header of a chunk.
_BLOCK, _CHUNK_HEADER = 32768, 7
#: The kinds of chunks: a whole record, or its first, middle or last part.
_WHOLE, _FIRST, _LAST = 1, 2, 4


def wandb_records(folder: Path) -> list[Any]:
    """Returns the records of an offline run of W&B. The process of W&B may write the last ones after
    `finish` has returned, so this function waits for the record of the exit."""
    (file,) = folder.glob("run-*.wandb")
    deadline = time.monotonic() + 60
    while True:
        records = list(_parsed_records(file.read_bytes()))
        if any(record.WhichOneof("record_type") == "exit" for record in records):
            return records
        assert time.monotonic() < deadline, "the file of W&B contains no record of the exit"
        time.sleep(0.1)


def _parsed_records(content: bytes) -> Iterator[Any]:
    """Yields the complete records of a file, which is a log in the format of LevelDB."""
    position, record = 7, b""
    while position + _CHUNK_HEADER <= len(content):
        if _BLOCK - position % _BLOCK < _CHUNK_HEADER:
            position += _BLOCK - position % _BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", content, position)
        part = content[position + _CHUNK_HEADER : position + _CHUNK_HEADER + length]
        if len(part) < length:
            return
        record = part if kind in (_WHOLE, _FIRST) else record + part
        position += _CHUNK_HEADER + length
        if kind in (_WHOLE, _LAST):
            yield Record.FromString(record)


def wandb_run(folder: Path) -> dict[str, Any]:
    """Returns the run, its configuration, history, summary, artifacts and exit code."""
    run: dict[str, Any] = {"config": {}, "history": [], "summary": {}, "artifacts": []}
    for record in wandb_records(folder):
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run["run"] = record.run
            run["config"].update({item.key: json.loads(item.value_json) for item in record.run.config.update})
        elif kind == "history":
            run["history"].append({_key(item): json.loads(item.value_json) for item in record.history.item})
        elif kind == "summary":
            run["summary"].update({_key(item): json.loads(item.value_json) for item in record.summary.update})
        elif kind == "artifact":
            run["artifacts"].append(record.artifact)
        elif kind == "exit":
            run["exit_code"] = record.exit.exit_code
    return run


def _key(item: Any) -> str:
    return item.key or ".".join(item.nested_key)


def tensorboard_values(folder: Path) -> list[tuple[str, int, Any]]:
    """Returns the tag, the step and the value of each summary of an event file, and checks its
    checksums."""
    (file,) = folder.glob("events.out.tfevents.*")
    content = file.read_bytes()
    values: list[tuple[str, int, Any]] = []
    position = 0
    while position < len(content):
        (length, length_crc) = struct.unpack_from("<QI", content, position)
        data = content[position + 12 : position + 12 + length]
        (data_crc,) = struct.unpack_from("<I", content, position + 12 + length)
        assert length_crc == _masked_crc(content[position : position + 8])
        assert data_crc == _masked_crc(data)
        event = Event.FromString(data)
        values.extend((value.tag, event.step, value) for value in event.summary.value)
        position += 16 + length
    return values


def _masked_crc(data: bytes) -> int:
    crc: int = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
