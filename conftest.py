# SPDX-License-Identifier: Apache-2.0
"""Loads the plugin in a checkout that is not installed; an installed one brings it by entry point."""

pytest_plugins = ["harness.plugin"]
