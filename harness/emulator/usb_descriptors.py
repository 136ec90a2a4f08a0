# SPDX-License-Identifier: Apache-2.0
"""USB descriptors as a host reads them: USB 2.0 section 9.6, CDC 1.2 section 5.

Only what is needed to find the one CDC-ACM function of a device. Nothing is assumed: interface and
endpoint numbers come from the bytes, and what is malformed raises `DescriptorError`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

DEVICE, CONFIGURATION, STRING, INTERFACE, ENDPOINT, CS_INTERFACE = 1, 2, 3, 4, 5, 0x24
CLASS_CDC, CLASS_CDC_DATA, SUBCLASS_ACM, CDC_UNION = 0x02, 0x0A, 0x02, 0x06
BULK, INTERRUPT = 2, 3
DEVICE_BYTES, CONFIGURATION_BYTES = 18, 9
MAX_PACKET0 = (8, 16, 32, 64)


class DescriptorError(ValueError):
    """The device described itself in a way that no host can use."""


@dataclass(frozen=True)
class DeviceDescriptor:
    vendor: int
    product: int
    max_packet0: int
    manufacturer_index: int
    product_index: int
    serial_index: int


@dataclass(frozen=True)
class Endpoint:
    """address: with bit 7 set for IN. kind: BULK or INTERRUPT. max_packet: bytes."""

    address: int
    kind: int
    max_packet: int

    @property
    def number(self) -> int:
        return self.address & 0x0F

    @property
    def is_in(self) -> bool:
        return bool(self.address & 0x80)


@dataclass(frozen=True)
class CdcFunction:
    """The interfaces and endpoints of one CDC-ACM function; `notification` may be missing."""

    configuration: int
    control_interface: int
    data_interface: int
    bulk_in: Endpoint
    bulk_out: Endpoint
    notification: Endpoint | None


@dataclass(frozen=True)
class _Interface:
    number: int
    alternate: int
    class_code: int
    subclass: int
    endpoints: tuple[Endpoint, ...]
    functional: tuple[bytes, ...]


def parse_device(raw: bytes) -> DeviceDescriptor:
    if len(raw) < DEVICE_BYTES or raw[0] != DEVICE_BYTES or raw[1] != DEVICE:
        raise DescriptorError(f"not a device descriptor: {raw.hex(' ')}")
    if raw[7] not in MAX_PACKET0:
        raise DescriptorError(f"bMaxPacketSize0 is {raw[7]}, not 8, 16, 32 or 64")
    vendor, product = struct.unpack_from("<HH", raw, 8)
    return DeviceDescriptor(vendor, product, raw[7], raw[14], raw[15], raw[16])


def configuration_length(raw: bytes) -> int:
    """wTotalLength, from the first nine bytes."""
    if len(raw) < CONFIGURATION_BYTES or raw[1] != CONFIGURATION:
        raise DescriptorError(f"not a configuration descriptor: {raw.hex(' ')}")
    return int.from_bytes(raw[2:4], "little")


def parse_string(raw: bytes) -> str:
    if len(raw) < 2 or raw[0] != len(raw) or raw[1] != STRING or len(raw) % 2:
        raise DescriptorError(f"not a string descriptor: {raw.hex(' ')}")
    return raw[2:].decode("utf-16-le", "replace")


def find_cdc(raw: bytes) -> CdcFunction:
    """The first CDC-ACM function of a full configuration descriptor."""
    if len(raw) != configuration_length(raw):
        raise DescriptorError(
            f"configuration descriptor of {len(raw)} bytes says it has {configuration_length(raw)}"
        )
    interfaces = _interfaces(raw)
    control = next(
        (i for i in interfaces if (i.class_code, i.subclass) == (CLASS_CDC, SUBCLASS_ACM)), None
    )
    if control is None:
        raise DescriptorError("the configuration has no CDC-ACM interface")
    data_number = _data_interface_number(control)
    data = next((i for i in interfaces if i.number == data_number and len(i.endpoints) >= 2), None)
    if data is None or data.class_code != CLASS_CDC_DATA:
        raise DescriptorError(f"interface {data_number} is no CDC data interface with endpoints")
    bulk = [endpoint for endpoint in data.endpoints if endpoint.kind == BULK]
    bulk_in = next((endpoint for endpoint in bulk if endpoint.is_in), None)
    bulk_out = next((endpoint for endpoint in bulk if not endpoint.is_in), None)
    if bulk_in is None or bulk_out is None:
        raise DescriptorError(f"interface {data_number} lacks a bulk IN or a bulk OUT endpoint")
    notification = next((e for e in control.endpoints if e.kind == INTERRUPT and e.is_in), None)
    return CdcFunction(raw[5], control.number, data.number, bulk_in, bulk_out, notification)


def _data_interface_number(control: _Interface) -> int:
    for block in control.functional:
        if len(block) >= 5 and block[2] == CDC_UNION:
            return block[4]
    raise DescriptorError("the CDC interface has no union descriptor that names its data interface")


def _interfaces(raw: bytes) -> list[_Interface]:
    found: list[_Interface] = []
    head: bytes | None = None
    endpoints: list[Endpoint] = []
    functional: list[bytes] = []

    def close() -> None:
        if head is not None:
            found.append(
                _Interface(head[2], head[3], head[5], head[6], tuple(endpoints), tuple(functional))
            )

    for block in _blocks(raw):
        if block[1] == INTERFACE and len(block) >= 9:
            close()
            head, endpoints, functional = block, [], []
        elif block[1] == ENDPOINT and len(block) >= 7:
            max_packet = int.from_bytes(block[4:6], "little") & 0x7FF
            endpoints.append(Endpoint(block[2], block[3] & 3, max_packet))
        elif block[1] == CS_INTERFACE and len(block) >= 3:
            functional.append(block)
    close()
    return found


def _blocks(raw: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(raw):
        length = raw[at]
        if length < 2 or at + length > len(raw):
            raise DescriptorError(f"descriptor at byte {at} has length {length}")
        yield raw[at : at + length]
        at += length
