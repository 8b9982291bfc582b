"""Skips, with the reason, where there is no package, no device, or not what a test needs."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
santa_gpu = pytest.importorskip(
    "santa_gpu", reason="santa_gpu is not built: pip install --no-build-isolation ./gpu/python",
    exc_type=ImportError)


@pytest.fixture
def device():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    torch.cuda.set_device(0)
    return torch.device("cuda", 0)


@pytest.fixture
def other_device(device):
    if torch.cuda.device_count() < 2:
        pytest.skip(f"needs two CUDA devices, found {torch.cuda.device_count()}")
    return torch.device("cuda", 1)


@pytest.fixture
def dimension():
    """A head dimension that the package was built with; 128 if it is one of them."""
    built = santa_gpu.head_dimensions()
    return 128 if 128 in built else built[0]
