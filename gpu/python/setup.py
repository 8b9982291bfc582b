"""Builds the operator against the installed PyTorch: pip install --no-build-isolation ./gpu/python

  SANTA_HEAD_DIMENSIONS  head dimensions to build, such as 64,128 (all: 64,96,128,192,256). One takes
                         minutes on one core; they compile side by side.
  TORCH_CUDA_ARCH_LIST   architectures, such as 9.0; without it those of this machine's devices, and
                         8.0;9.0+PTX where there is none.
"""

import os
import pathlib
import sys

from setuptools import setup

try:
    import torch
    from torch.utils.cpp_extension import BuildExtension, CUDAExtension
except ImportError as error:
    sys.exit("santa_gpu is built against the installed PyTorch, which was not found here "
             f"({error}): pip install --no-build-isolation ./gpu/python")

HERE = pathlib.Path(__file__).resolve().parent
GPU = HERE.parent
ALL_DIMENSIONS = (64, 96, 128, 192, 256)


def head_dimensions():
    text = os.environ.get("SANTA_HEAD_DIMENSIONS", ",".join(map(str, ALL_DIMENSIONS)))
    words = text.split(",")
    if not all(word.isdecimal() and int(word) in ALL_DIMENSIONS for word in words):
        sys.exit(f"SANTA_HEAD_DIMENSIONS: got '{text}'; allowed: some of "
                 f"{', '.join(map(str, ALL_DIMENSIONS))} with commas")
    return sorted(set(map(int, words)))


def kernel_sources(built):
    """One file a head dimension, since an object is named by its source."""
    folder = HERE / "build" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for dimension in ALL_DIMENSIONS:
        source = "decode_kernels.cu" if dimension in built else "missing_kernels.cu"
        text = f"#define SANTA_HEAD_DIMENSION {dimension}\n#include \"{source}\"\n"
        file = folder / f"{source.removesuffix('.cu')}_{dimension}.cu"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
        files.append(file)
    return files


if not torch.cuda.is_available():
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0;9.0+PTX")
dimensions = head_dimensions()
host_sources = sorted(set((GPU / "src").glob("*.cu")) - {GPU / "src" / "decode_kernels.cu"})
sources = [HERE / "csrc" / "operator.cpp", *host_sources, *kernel_sources(dimensions)]
built_macro = f"-DSANTA_BUILT_HEAD_DIMENSIONS={','.join(map(str, dimensions))}"
# PyTorch switches CUDA's operators of 16-bit types off; the kernels use them.
own_operators = [f"-U__CUDA_NO_{name}__" for name in (
    "HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS")]

setup(
    ext_modules=[CUDAExtension(
        name="santa_gpu._operator",
        sources=[os.path.relpath(source, HERE) for source in sources],
        include_dirs=[str(GPU / folder) for folder in ("include", "kernels", "src")]
        + [str(HERE / "csrc")],
        extra_compile_args={"cxx": ["-O2", built_macro], "nvcc": ["-O3", *own_operators]},
        py_limited_api=True,
    )],
    cmdclass={"build_ext": BuildExtension},
    # The library is loaded by torch.ops.load_library, and knows nothing of Python.
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
