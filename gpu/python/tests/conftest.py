"""Skips, with the reason, where there is no package, no device, or not what a test needs."""

import pytest

try:
    import torch
    import santa_gpu
    MISSING = None
except ImportError as error:
    MISSING = str(error)
    collect_ignore_glob = ["test_*.py"]


def pytest_terminal_summary(terminalreporter):
    if MISSING is not None:
        terminalreporter.write_line(f"SKIPPED all tests: {MISSING}")


def pytest_sessionfinish(session, exitstatus):
    """No test collected is exit code 5; without the package that is a skip, as CTest knows it: 77."""
    if MISSING is not None and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = 77


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
