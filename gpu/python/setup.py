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
CACHE_TYPES = ("kBf16", "kFp16", "kFp8E4M3", "kInt8")


def head_dimensions():
    text = os.environ.get("SANTA_HEAD_DIMENSIONS", ",".join(map(str, ALL_DIMENSIONS)))
    words = text.split(",")
    if not all(word.isdecimal() and int(word) in ALL_DIMENSIONS for word in words):
        sys.exit(f"SANTA_HEAD_DIMENSIONS: got '{text}'; allowed: some of "
                 f"{', '.join(map(str, ALL_DIMENSIONS))} with commas")
    return sorted(set(map(int, words)))


def kernel_source(source, macro, value):
    """`source` with a macro defined, as a file of its own: an object is named by its source."""
    folder = HERE / "build" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"#define {macro} {value}\n#include \"{source}\"\n"
    file = folder / f"{source.removesuffix('.cu')}_{value}.cu"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return file


def kernel_sources(built):
    """As gpu/CMakeLists.txt builds them: one object a head dimension, of the tile schemes one a type."""
    files = [kernel_source("decode_kernels.cu" if dimension in built else "missing_kernels.cu",
                           "SANTA_HEAD_DIMENSION", dimension) for dimension in ALL_DIMENSIONS]
    return files + [kernel_source("tile_kernels.cu", "SANTA_CACHE_TYPE", kind)
                    for kind in CACHE_TYPES]


if not torch.cuda.is_available():
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0;9.0+PTX")
dimensions = head_dimensions()
host_sources = sorted(source for source in (GPU / "src").glob("*.cu")
                      if not source.name.endswith("_kernels.cu"))
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
