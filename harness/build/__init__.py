# SPDX-License-Identifier: Apache-2.0
"""Runner firmware: compiled once for a chip, cached by content."""

from harness.build.command import compiler_version
from harness.build.image import RunnerImage
from harness.build.runner import build_runner

__all__ = ["RunnerImage", "build_runner", "compiler_version"]
