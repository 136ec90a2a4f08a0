# SPDX-License-Identifier: Apache-2.0
"""ripbench: a hardware-in-the-loop bench for Right In-Place convolution.

The rooms, in the order in which they may import each other (docs/design.md says what each is for):
geometry errors results schema strictyaml < bounds liveness < network kernels < plan reference < case <
wire build < boards < measure < judge < history < paper < report < plugin cli. `emulator` stands apart.
"""

__version__ = "0.1.0"
