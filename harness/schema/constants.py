# SPDX-License-Identifier: Apache-2.0
"""Every number and enumeration that the firmware and the harness share."""

from __future__ import annotations

from enum import IntEnum

PROTOCOL_VERSION = 4
PACK_VERSION = 6

MAILBOX_ADDRESS = 0x2000_0000
MAILBOX_BYTES = 256
MAILBOX_MAGIC = 0x4250_4952  # "RIPB"
IMAGE_MAGIC = 0x4D49_4952  # "RIIM"
PACK_MAGIC = 0x4B50_4952  # "RIPK"
IMAGE_INFO_OFFSET = 0x1C0  # from the start of flash: behind the vectors of either chip

SECTION_ALIGNMENT = 4096  # of a pack's sections: one flash sector
SLICE_ALIGNMENT = 8  # of a case's slices: one XIP cache line
ARENA_LEAD = 1024  # guard bytes of the pool below the arena
GUARD_BYTES = 64  # between arena and scratch, and behind scratch
OPERANDS_MAX = 4  # inputs of one op; inputs, and outputs, of one case
STAGES_MAX = 12  # ops of a segment
SCRATCH_APART = 0xFFFF_FFFF  # scratch_offset of an op whose scratch is the case's, behind the arena
FRAME_MAX = 1200  # bytes of a frame before COBS: header + payload + CRC
DATA_MAX = 1024  # bytes of memory in one DATA frame
LOG_MAX = 200  # bytes of text in one LOG frame
PC_NOT_SAVED = 0xFFFF_FFFF  # pc of a fault whose frame the core could not stack


class Chip(IntEnum):
    """As in HELLO."""

    RP2040 = 2040
    RP2350 = 2350


class BootStage(IntEnum):
    """How far the firmware came, left in the mailbox for a probe to read."""

    NONE = 0
    MAIN = 1
    CLOCKS = 2
    USB = 3
    CONFIGURED = 4
    SERVING = 5
    FAULTED = 6


class FrameType(IntEnum):
    """First byte of a frame. Device to host below 0x40, host to device above."""

    HELLO = 0x01
    CASE = 0x02
    OP = 0x03
    RESULT = 0x04
    DATA = 0x05
    FAULT = 0x06
    LOG = 0x07
    REFUSED = 0x08
    ASK_HELLO = 0x41
    RUN = 0x42
    READ = 0x43


class Refusal(IntEnum):
    """Why the firmware will not run a case. `seen` and `expected` of REFUSED say the rest."""

    PACK_MAGIC = 1
    PACK_HEADER_CRC = 2
    ENTRY_CRC = 3
    CASE_INDEX = 4
    SLICE_CRC = 5
    ARENA_TOO_SMALL = 6
    BAD_RECORD = 7
    NO_KERNEL = 8
    READ_RANGE = 9
    IMAGE_CRC = 10
    RAM_CODE = 11
    BAD_REQUEST = 12


class OpKind(IntEnum):
    """The operators. table: any function of one value, 256 bytes of it. clamp: to the activation's
    range. upsample: nearest neighbour. move: a tensor to another place, the two may overlap. segment:
    several ops as one, row by row."""

    CONV = 1
    DEPTHWISE = 2
    ADD = 3
    MUL = 4
    AVERAGE_POOL = 5
    MAX_POOL = 6
    MEAN = 7
    FULLY_CONNECTED = 8
    UPSAMPLE = 9
    CONCAT = 10
    TABLE = 11
    CLAMP = 12
    SOFTMAX = 13
    PAD = 14
    MOVE = 15
    SEGMENT = 16


class Layout(IntEnum):
    DENSE = 0
    PADDED = 1


class TapOrder(IntEnum):
    """gather: the receptive field is copied before the first write of a pixel (sigma 0).
    direct: taps are read from the workspace for each output channel (sigma c_out)."""

    GATHER = 0
    DIRECT = 1


class Traversal(IntEnum):
    """The order of the output pixels. channel: all pixels of one channel, then the next one."""

    ROW = 0
    COLUMN = 1
    REVERSE = 2
    HERRINGBONE = 3
    CHANNEL = 4


class StoredBy(IntEnum):
    """How a tensor's pixels follow each other in memory. order: as a table of positions says. The rest
    are of tensors inside a segment, of which only some rows exist. ring: [rows][w][c]. planes:
    [c][rows][w], a row with the padding of the depthwise op that reads it. parked: in the ring of the
    tensor that it is made of."""

    ROW = 0
    COLUMN = 1
    ORDER = 2
    RING = 3
    PLANES = 4
    PARKED = 5


class Rounding(IntEnum):
    """Of requantisation. double: TFLite's reference (gemmlowp) rounding, twice; single: once, as
    XNNPACK; truncate: float multiply and truncation, as TinyEngine."""

    DOUBLE = 0
    SINGLE = 1
    TRUNCATE = 2


class Breach(IntEnum):
    """Bits: what a kernel has to leave as it found it, and did not. R4 to R11: registers that every
    function keeps. interrupts: PRIMASK, BASEPRI or FAULTMASK is another. cycle_counter: it was written
    or stopped, for it says another time than the timer."""

    R4 = 1 << 0
    R5 = 1 << 1
    R6 = 1 << 2
    R7 = 1 << 3
    R8 = 1 << 4
    R9 = 1 << 5
    R10 = 1 << 6
    R11 = 1 << 7
    INTERRUPTS = 1 << 8
    CYCLE_COUNTER = 1 << 9


ENUMS: tuple[type[IntEnum], ...] = (
    Chip,
    BootStage,
    FrameType,
    Refusal,
    OpKind,
    Layout,
    TapOrder,
    Traversal,
    StoredBy,
    Rounding,
    Breach,
)
