# SPDX-License-Identifier: Apache-2.0
"""Runner firmware: compiled once for a chip, cached by content."""

from harness.build.image import RunnerImage
from harness.build.runner import build_runner, compiler_version

__all__ = ["RunnerImage", "build_runner", "compiler_version"]
