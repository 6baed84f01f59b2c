"""Peer: the matrix products of a training step by PyTorch (oneDNN), alone. Called by against_pytorch, under the peer's Python.

torch_products.py THREADS ROWS IN OUT [ROWS IN OUT ...] prints what bench_products prints: a line of JSON a linear layer, the seconds of its three
products (forward, input gradient, weight gradient) in bf16 and float32, the fastest of some runs each.
"""
import json
import sys
import time
import warnings

warnings.filterwarnings('ignore', 'Failed to initialize NumPy')  # nothing here needs it
import torch

REPEATS = 7


def fastest(function):
    best = float('inf')
    for _ in range(REPEATS):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def seconds(rows, inputs, outputs, dtype):
    x, w, dy = (torch.ones(shape, dtype=dtype) for shape in ((rows, inputs), (outputs, inputs), (rows, outputs)))
    y, dx, dw = torch.empty_like(dy), torch.empty_like(x), torch.empty_like(w)
    return [fastest(lambda: torch.mm(x, w.t(), out=y)), fastest(lambda: torch.mm(dy, w, out=dx)), fastest(lambda: torch.mm(dy.t(), x, out=dw))]


numbers = [int(word) for word in sys.argv[1:]]
torch.set_num_threads(numbers[0])
with torch.no_grad():
    for rows, inputs, outputs in zip(*(numbers[1 + n::3] for n in range(3)), strict=True):
        print(json.dumps({'rows': rows, 'in': inputs, 'out': outputs, 'bf16': seconds(rows, inputs, outputs, torch.bfloat16),
                          'f32': seconds(rows, inputs, outputs, torch.float32)}), flush=True)
