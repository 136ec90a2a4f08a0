# SPDX-License-Identifier: Apache-2.0
"""Descriptors as the host reads them, good and malformed."""

from __future__ import annotations

import pytest

from harness.emulator.usb_descriptors import (
    DescriptorError,
    configuration_length,
    find_cdc,
    parse_device,
    parse_string,
)
from tests.emulator.usb_device import CONFIGURATION, DEVICE


def changed(raw: bytes, at: int, value: int) -> bytes:
    return raw[:at] + bytes([value]) + raw[at + 1 :]


def test_device_descriptor() -> None:
    device = parse_device(DEVICE)
    assert (device.vendor, device.product, device.max_packet0) == (0x2E8A, 0x000A, 64)
    assert (device.manufacturer_index, device.product_index, device.serial_index) == (1, 2, 3)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (DEVICE[:17], "not a device descriptor"),
        (changed(DEVICE, 1, 2), "not a device descriptor"),
        (changed(DEVICE, 7, 63), "bMaxPacketSize0 is 63"),
    ],
)
def test_bad_device_descriptor(raw: bytes, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        parse_device(raw)


def test_cdc_function_wherever_its_endpoints_are() -> None:
    assert configuration_length(CONFIGURATION[:9]) == len(CONFIGURATION) == 67
    function = find_cdc(CONFIGURATION)
    assert function.configuration == 1
    assert (function.control_interface, function.data_interface) == (2, 4)
    assert (function.bulk_out.address, function.bulk_in.address) == (0x03, 0x85)
    assert function.notification is not None and function.notification.max_packet == 8


def test_notification_endpoint_is_optional() -> None:
    without = changed(CONFIGURATION[:37] + CONFIGURATION[44:], 2, 60)
    assert find_cdc(without).notification is None


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (CONFIGURATION[:-7], "of 60 bytes says it has 67"),
        (changed(CONFIGURATION, 9, 0), "descriptor at byte 9 has length 0"),
        (changed(CONFIGURATION, 60, 200), "descriptor at byte 60 has length 200"),
        (changed(CONFIGURATION, 14, 3), "no CDC-ACM interface"),
        (changed(CONFIGURATION, 34, 0x07), "no union descriptor"),
        (changed(CONFIGURATION, 36, 3), "interface 3 is no CDC data interface"),
        (changed(CONFIGURATION, 49, 0x08), "interface 4 is no CDC data interface"),
        (changed(CONFIGURATION, 56, 3), "lacks a bulk IN or a bulk OUT endpoint"),
        (changed(CONFIGURATION, 62, 0x05), "lacks a bulk IN or a bulk OUT endpoint"),
    ],
)
def test_bad_configuration(raw: bytes, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        find_cdc(raw)


def test_strings() -> None:
    assert parse_string(bytes.fromhex("08 03 52 00 69 00 50 00")) == "RiP"
    for bad in ("08 03 52 00", "04 01 52 00", "03 03 52", ""):
        with pytest.raises(DescriptorError, match="not a string descriptor"):
            parse_string(bytes.fromhex(bad))
