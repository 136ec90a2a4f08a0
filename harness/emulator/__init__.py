# SPDX-License-Identifier: Apache-2.0
"""The emulated Pico: a board that runs the same ELF, the same flash algorithm and the same port.

Nobody imports this package; the rest of the bench reaches it from outside, as it reaches a board:

* pyOCD finds the probe `emu:NAME` (entry point group `pyocd.probe`; `probe.py`);
* pyserial finds the port `emu://NAME` (package `urlhandler`; registered by importing `backend`);
* entry point `emu` of group `ripbench.backend` is the module `backend`:

    kind                "emulated", the label of every number that comes from here
    kind_of(name)       "hypothetical" for a board whose chip does not exist
    configure(entry)    make a board of boards.yaml known: name, chip, xip_miss_cycles, sram_bytes
    clock(name)         its Clock: now() in emulated seconds, sleep(seconds) lets them pass
    timings(name)       the timing models of its core, None where its timing is published
    witness(name)       its Witness: what the core really did to SRAM (`witness.py`); other backends
                        need not have one
    status(name)        where the board is, if not simply in this process
    serve, served, power   boards as processes of their own (`ripbench emu`)

`pico1-emu`, `pico1-emu-xl`, `pico1-emu-half` and `pico2-emu` exist without being configured. The
unique id of an emulated board is the first 8 bytes of SHA-256 of its name.

Inside: `core/` (C: instructions, bus, peripherals) with `build.py` and `machine.py`; `board.py`
joins a machine, `usbhost.py` (with `usb_pipes`, `usb_descriptors`, `cdc`, `usbbus`) and their
common time; `witness.py` (with `witness_records`) tells what the core did to SRAM; `registry.py`
knows the boards of the process; `debuglink.py`, `swd.py`, `debugport.py`, `apspace.py`,
`memap.py`, `debugbus.py` and `heldcore.py` are the debug side. Time passes only inside a call that
waits, as documented in `debugbus`, `urlhandler.protocol_emu` and `clock`.

A board can also be another process: `serve.py` (with `session`, `transfers`, `servedboard`,
`flashfile`, `ptyport`) is that process, `remote.py`, `remotelink.py` and `remoteserial.py` (with
`windows`) are its clients, `channel.py` and `wireerrors.py` what they say to each other, `runtime.py`
where they meet.
"""
