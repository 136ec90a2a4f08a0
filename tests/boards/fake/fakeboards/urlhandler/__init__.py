# SPDX-License-Identifier: Apache-2.0
"""pyserial URL handlers: `serial.protocol_handler_packages` names this package."""
