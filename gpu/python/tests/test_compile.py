"""Fake kernels, opcheck, torch.compile and CUDA graphs."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import santa_gpu
from problem import make_problem


def out_arguments(problem):
    output = torch.empty_like(problem.query)
    sums = torch.empty(problem.query.shape[:2], dtype=torch.float32, device=problem.query.device)
    workspace = santa_gpu.make_workspace(*problem.inputs()[:3], samples=problem.samples)
    return {"output": output, "log_sum_exp": sums, "workspace": workspace}


def test_fake_kernel_knows_shapes():
    with FakeTensorMode():
        query = torch.empty(3, 32, 128, dtype=torch.float16)
        cache = torch.empty(3, 500, 8, 128, dtype=torch.float16)
        lengths, number = torch.empty(3, dtype=torch.int32), torch.empty((), dtype=torch.int64)
        output, sums = santa_gpu.decode(query, cache, cache, lengths, number, number, samples=64)
    assert (output.shape, output.dtype, output.stride()) == ((3, 32, 128), torch.float16,
                                                              (4096, 128, 1))
    assert (sums.shape, sums.dtype) == ((3, 32), torch.float32)


def test_schemas_mark_what_is_written():
    written = {argument.name for argument in torch.ops.santa.decode_out.default._schema.arguments
               if argument.is_write}
    assert written == {"output", "log_sum_exp", "workspace"}
    assert not torch.ops.santa.decode.default._schema.is_mutable


def test_opcheck(device, dimension):
    problem = make_problem(device, (300, 20), dimension=dimension)
    torch.library.opcheck(torch.ops.santa.decode.default, problem.inputs(), {"samples": 64})
    torch.library.opcheck(torch.ops.santa.decode.default, problem.inputs(),
                          {"samples": 64, "maximum_length": 300, "scale": 0.25})
    torch.library.opcheck(torch.ops.santa.decode_out.default, problem.inputs(),
                          {"samples": problem.samples, **out_arguments(problem)})


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(device, dimension, dynamic):
    def attend(query, keys, values, lengths, seed, offset):
        output, sums = santa_gpu.decode(2 * query, keys, values, lengths, seed, offset, samples=64)
        return output + 1, sums

    compiled = torch.compile(attend, fullgraph=True, dynamic=dynamic)
    for length in (300, 301, 640) if dynamic else (300,):
        problem = make_problem(device, (length, 20), dimension=dimension)
        for got, expected in zip(compiled(*problem.inputs()), attend(*problem.inputs())):
            assert torch.equal(got, expected)


def test_compiled_out_variant(device, dimension):
    problem = make_problem(device, (300, 20), dimension=dimension)
    outputs = out_arguments(problem)

    @torch.compile(fullgraph=True)
    def attend(query):
        santa_gpu.decode_out(2 * query, *problem.inputs()[1:], samples=problem.samples, **outputs)
        return outputs["output"] + 1

    expected = santa_gpu.decode(2 * problem.query, *problem.inputs()[1:],
                                samples=problem.samples)[0]
    for _ in range(3):
        assert torch.equal(attend(problem.query), expected + 1)
    assert torch.equal(outputs["output"], expected)


def test_graph_serves_other_lengths_and_offsets(device, dimension):
    problem = make_problem(device, (900, 30), dimension=dimension, capacity=1000)
    outputs = out_arguments(problem)
    santa_gpu.decode_out(*problem.inputs(), samples=problem.samples, **outputs)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        santa_gpu.decode_out(*problem.inputs(), samples=problem.samples, **outputs)
        problem.offset.add_(1)
    problem.offset.zero_()
    seen = []
    for lengths in ([900, 30], [1000, 0], [17, 400]):
        problem.lengths.copy_(torch.tensor(lengths, dtype=torch.int32))
        expected = santa_gpu.decode(*problem.inputs(), samples=problem.samples)
        graph.replay()
        assert torch.equal(outputs["output"], expected[0])
        assert torch.equal(outputs["log_sum_exp"], expected[1])
        seen.append(problem.offset.item())
    assert seen == [1, 2, 3]


def test_functional_in_a_graph(device, dimension):
    problem = make_problem(device, dimension=dimension)
    expected = santa_gpu.decode(*problem.inputs(), samples=problem.samples)[0]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = santa_gpu.decode(*problem.inputs(), samples=problem.samples)[0]
    for _ in range(2):
        output.zero_()
        graph.replay()
        assert torch.equal(output, expected)
