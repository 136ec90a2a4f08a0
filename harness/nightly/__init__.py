# SPDX-License-Identifier: Apache-2.0
"""A night: every suite on every board, kept, judged and summed up; and one that broke off goes on.

Its parts are imported one by one: `done` is a part of the pytest plugin, which has to load fast.
"""
