# SPDX-License-Identifier: Apache-2.0
"""Verdicts as pages: what all pages share, the report of one run, and the paper beside ours.

The pages of a history are in harness.report.site. Nothing here is imported before a page is wanted.
"""

from harness.report.html.page import Assets, render

__all__ = ["Assets", "render"]
