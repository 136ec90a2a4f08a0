# SPDX-License-Identifier: Apache-2.0
"""Kernel folders from a checkout of somebody else's library."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.kernels.adapt import ADAPTERS, adapt, closure
from harness.kernels.load import load_kernels

STAND_IN = Path(__file__).parents[1] / "device" / "firmware" / "stand_in"
CMSIS_NN = ADAPTERS["cmsis-nn"]


def _checkout(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STAND_IN, tmp_path / "checkout"))


def test_the_folder(tmp_path: Path) -> None:
    """What is called is there, directly or not, and nothing else of the sources."""
    checkout = _checkout(tmp_path)
    (checkout / "Source" / "not_called.c").write_text("int not_called(void)\n{\n    return 1;\n}\n")
    made = tmp_path / "made"
    found = adapt(CMSIS_NN, checkout, made)
    assert (found.version, found.files) == ("V.0.1", 7)
    assert sorted(path.name for path in (made / "library").rglob("*.c")) == [
        "arm_avgpool_s8.c",
        "arm_convolve_1x1_s8_fast.c",
        "arm_convolve_wrapper_s8.c",
        "arm_depthwise_conv_wrapper_s8.c",
        "arm_elementwise_add_s8.c",
        "arm_fully_connected_per_channel_s8.c",
        "arm_stand_in_requantize.c",
    ]
    assert (made / "library" / "LICENSE").is_file()
    assert sorted(path.name for path in (made / "include").iterdir()) == [
        *("arm_nnfunctions.h", "math.h", "stdio.h", "stdlib.h", "string.h"),
    ]
    kernels = {kernel.name: kernel for kernel in load_kernels(made, usual_set="made")}
    assert kernels["cmsis_nn_conv"].sources == ("conv.c",)
    assert kernels["cmsis_nn_conv"].library == (
        "library/Source/Support/arm_stand_in_requantize.c",
        "library/Source/arm_convolve_1x1_s8_fast.c",
        "library/Source/arm_convolve_wrapper_s8.c",
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_a_file_calls() -> None:
    sources = {
        "a.c": "int first(int x)\n{\n    return second(x) + third(x);\n}\n",
        "b/b.c": "static int\nsecond (int x) {\n    if (fourth(x)) {\n        return 1;\n    }\n}\n",
        "c.c": "int third(int x);\nint other(int x) { return x; }\n",
        "d.c": "bool fourth(int x)\n{\n    return first(x);\n}\n",
    }
    assert closure("a.c", sources) == ("a.c", "b/b.c", "d.c")
    assert closure("b.c", sources) == ("a.c", "b/b.c", "d.c")
    assert closure("c.c", sources) == ("c.c",)
    assert closure("e.c", sources) == ()


def test_a_checkout_that_lacks_something(tmp_path: Path) -> None:
    """Its name is told, and nothing is made."""
    checkout = _checkout(tmp_path)
    (checkout / "Source" / "arm_avgpool_s8.c").unlink()
    (checkout / "Source" / "arm_elementwise_add_s8.c").unlink()
    with pytest.raises(ConfigError) as caught:
        adapt(CMSIS_NN, checkout, tmp_path / "made")
    assert caught.value.evidence == {
        "missing": "arm_avgpool_s8.c arm_elementwise_add_s8.c",
        "version": "V.0.1",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["checkout"]
    with pytest.raises(ConfigError, match="is no checkout of cmsis-nn"):
        adapt(CMSIS_NN, checkout / "Source", tmp_path / "made")
    with pytest.raises(ConfigError, match="git submodule update --init"):
        adapt(ADAPTERS["tinyengine"], checkout, tmp_path / "made")
    with pytest.raises(ConfigError, match="is there"):
        adapt(CMSIS_NN, checkout, checkout)


def test_links_do_not_lead_out_of_a_checkout(tmp_path: Path) -> None:
    checkout = _checkout(tmp_path)
    for name in ("Source/arm_avgpool_s8.c", "Include/secret.h"):
        outside = tmp_path / Path(name).name
        outside.write_text("int secret;\n")
        (checkout / name).unlink(missing_ok=True)
        (checkout / name).symlink_to(outside)
    with pytest.raises(ConfigError) as caught:
        adapt(CMSIS_NN, checkout, tmp_path / "made")
    assert caught.value.evidence["missing"] == "arm_avgpool_s8.c"
    (checkout / "Source/arm_avgpool_s8.c").unlink()
    shutil.copy(STAND_IN / "Source" / "arm_avgpool_s8.c", checkout / "Source")
    adapt(CMSIS_NN, checkout, tmp_path / "made")
    assert not (tmp_path / "made" / "include" / "secret.h").exists()


def test_the_adapters_that_ship() -> None:
    """Each is a kernel folder but for the library: every file that it names is somebody else's."""
    for adapter in ADAPTERS.values():
        with pytest.raises(
            ConfigError, match=r"is no source|is not a file of this folder"
        ) as caught:
            load_kernels(adapter.path, usual_set="any")
        assert "conv" in str(caught.value)
