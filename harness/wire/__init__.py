# SPDX-License-Identifier: Apache-2.0
"""Frames to messages and back. No I/O here."""

from harness.wire.codec import Decoder, Frame, encode
from harness.wire.link import Link

__all__ = ["Decoder", "Frame", "Link", "encode"]
