"""Files are read while they are sent."""

from __future__ import annotations

import io

from search.downloads import BLOCK, FileAnswer
from tests import own_loop


class Counted(io.BytesIO):
    """A file that notes how much is asked of it at once."""

    asked: list[int]

    def read(self, size: int | None = -1, /) -> bytes:
        self.asked.append(-1 if size is None else size)
        return super().read(size)


def test_a_large_file_is_sent_in_blocks_by_an_asynchronous_server() -> None:
    content = bytes(range(256)) * (2 * BLOCK // 256) + b"end"
    file = Counted(content)
    file.asked = []

    async def sent() -> list[bytes]:
        return [block async for block in FileAnswer(file, as_attachment=True, filename="a.bin")]

    blocks = own_loop.run(sent())
    assert [len(block) for block in blocks] == [BLOCK, BLOCK, 3]
    assert b"".join(blocks) == content
    assert set(file.asked) == {BLOCK}


def test_a_synchronous_caller_gets_the_same_with_its_length() -> None:
    answer = FileAnswer(io.BytesIO(b"x" * 10), as_attachment=True, filename="a.bin")
    assert answer["Content-Length"] == "10"
    assert b"".join(answer) == b"x" * 10  # type: ignore[arg-type]
