# SPDX-License-Identifier: Apache-2.0
"""The pages of a history: an overview, and a page for each case."""

from harness.report.site.build import Built, History, SiteOptions, build
from harness.report.site.commits import check_template
from harness.report.site.thin import Change

__all__ = ["Built", "Change", "History", "SiteOptions", "build", "check_template"]
