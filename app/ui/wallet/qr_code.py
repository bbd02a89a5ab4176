"""QR codes for addresses: up to 62 bytes, error correction M, versions 3 and 4. Source: ISO/IEC 18004.

A library for this would be one more to trust with what people pay to; this is a page of arithmetic, and it is compared
with codes that another program drew.
"""

from __future__ import annotations

from collections.abc import Callable

Grid = list[list[bool]]
# version -> data codewords, blocks, error codewords in each block, centre of the alignment pattern
_VERSIONS = {3: (44, 1, 26, 22), 4: (64, 2, 18, 26)}
_MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda x, y: (x + y) % 2 == 0,
    lambda x, y: y % 2 == 0,
    lambda x, y: x % 3 == 0,
    lambda x, y: (x + y) % 3 == 0,
    lambda x, y: (y // 2 + x // 3) % 2 == 0,
    lambda x, y: x * y % 2 + x * y % 3 == 0,
    lambda x, y: (x * y % 2 + x * y % 3) % 2 == 0,
    lambda x, y: ((x + y) % 2 + x * y % 3) % 2 == 0,
)
_BYTE_MODE, _PADDING = 0b0100, (0xEC, 0x11)
_LEVEL_M = 0b00


def qr_code(data: bytes) -> Grid:
    """Return rows of modules, True for dark. Raises `ValueError` for more than 62 bytes."""
    version = next((number for number, (room, *_) in _VERSIONS.items() if len(data) <= room - 2), None)
    if version is None:
        raise ValueError("too long for these codes")
    bits = _bits(_codewords(data, version))
    size = 17 + 4 * version
    grid, taken = _frame(size, _VERSIONS[version][3])
    _place(bits, grid, taken)
    return min((_masked(grid, taken, number) for number in range(len(_MASKS))), key=_penalty)


def _codewords(data: bytes, version: int) -> list[int]:
    room, blocks, errors, _ = _VERSIONS[version]
    bits = f"{_BYTE_MODE:04b}{len(data):08b}" + "".join(f"{byte:08b}" for byte in data)
    bits += "0" * min(4, 8 * room - len(bits))
    bits += "0" * (-len(bits) % 8)
    words = [int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)]
    words += [_PADDING[at % 2] for at in range(room - len(words))]
    each = room // blocks
    parts = [words[at * each : (at + 1) * each] for at in range(blocks)]
    checks = [_remainder(part, errors) for part in parts]
    return [word for group in (parts, checks) for column in zip(*group, strict=True) for word in column]


def _multiply(one: int, other: int) -> int:
    """In the field of 256 elements that the standard names."""
    product = 0
    while other:
        product ^= one if other & 1 else 0
        one = one << 1 ^ (0x11D if one & 0x80 else 0)
        other >>= 1
    return product


def _remainder(words: list[int], count: int) -> list[int]:
    generator, root = [1], 1
    for _ in range(count):
        higher = [*generator, 0]
        lower = [0, *(_multiply(each, root) for each in generator)]
        generator = [a ^ b for a, b in zip(higher, lower, strict=True)]
        root = _multiply(root, 2)
    rest = [*words, *([0] * count)]
    for at in range(len(words)):
        factor = rest[at]
        for place, coefficient in enumerate(generator):
            rest[at + place] ^= _multiply(coefficient, factor)
    return rest[len(words) :]


def _bits(words: list[int]) -> list[bool]:
    return [bool(word >> shift & 1) for word in words for shift in range(7, -1, -1)]


def _frame(size: int, alignment: int) -> tuple[Grid, Grid]:
    """The patterns that every code has, and which modules they take."""
    grid = [[False] * size for _ in range(size)]
    taken = [[False] * size for _ in range(size)]

    def put(x: int, y: int, dark: bool) -> None:
        if 0 <= x < size and 0 <= y < size:
            grid[y][x], taken[y][x] = dark, True

    for at in range(size):
        put(at, 6, at % 2 == 0)
        put(6, at, at % 2 == 0)
    for centre_x, centre_y in ((3, 3), (size - 4, 3), (3, size - 4)):
        for dx in range(-4, 5):
            for dy in range(-4, 5):
                put(centre_x + dx, centre_y + dy, max(abs(dx), abs(dy)) not in (2, 4))
    for dx in range(-2, 3):
        for dy in range(-2, 3):
            put(alignment + dx, alignment + dy, max(abs(dx), abs(dy)) != 1)
    for x, y in _format_places(size):
        put(x, y, False)
    put(8, size - 8, True)
    return grid, taken


def _format_places(size: int) -> list[tuple[int, int]]:
    """Where the fifteen bits of the format stand, twice, the lowest first."""
    first = [(8, y) for y in (0, 1, 2, 3, 4, 5, 7, 8)] + [(x, 8) for x in (7, 5, 4, 3, 2, 1, 0)]
    second = [(size - 1 - at, 8) for at in range(8)] + [(8, size - 7 + at) for at in range(7)]
    return [*first, *second]


def _place(bits: list[bool], grid: Grid, taken: Grid) -> None:
    size, following = len(grid), iter(bits)
    upwards = True
    for right in (*range(size - 1, 6, -2), *range(5, 0, -2)):
        for step in range(size):
            y = size - 1 - step if upwards else step
            for x in (right, right - 1):
                if not taken[y][x]:
                    grid[y][x] = next(following, False)
        upwards = not upwards


def _masked(grid: Grid, taken: Grid, number: int) -> Grid:
    size, flips = len(grid), _MASKS[number]
    masked = [[grid[y][x] ^ (not taken[y][x] and flips(x, y)) for x in range(size)] for y in range(size)]
    data = rest = _LEVEL_M << 3 | number
    for _ in range(10):
        rest = rest << 1 ^ (rest >> 9) * 0x537
    word = (data << 10 | rest) ^ 0x5412
    for place, (x, y) in enumerate(_format_places(size)):
        masked[y][x] = bool(word >> place % 15 & 1)
    return masked


def _penalty(grid: Grid) -> int:
    """How badly a camera reads it: long runs, blocks, patterns like the corners', one colour prevailing."""
    size = len(grid)
    columns = [[row[x] for row in grid] for x in range(size)]
    total = 0
    for line in (*grid, *columns):
        text = "".join("1" if dark else "0" for dark in line)
        run = 1
        for before, now in zip(text, text[1:] + " ", strict=True):
            if before == now:
                run += 1
                continue
            total += run - 2 if run >= 5 else 0
            run = 1
        total += 40 * sum(
            text.startswith(pattern, at) for pattern in ("10111010000", "00001011101") for at in range(size - 10)
        )
    for y in range(size - 1):
        for x in range(size - 1):
            total += 3 * (grid[y][x] == grid[y][x + 1] == grid[y + 1][x] == grid[y + 1][x + 1])
    dark = sum(map(sum, grid))
    return total + 10 * (abs(20 * dark - 10 * size * size) // (size * size))
