"""Peer: the linear layers that bench_dynamic measures, by PyTorch's quantize_dynamic (a scale for each output channel), one thread. Run by hand under the peer's Python.

torch_dynamic.py prints a line of JSON a layer: the fastest of many runs in float32 and of each engine, in seconds. FBGEMM multiplies by VNNI, oneDNN by AMX where
the processor has it.
"""
import json
import time
import warnings

warnings.filterwarnings('ignore')  # of modules that move, and of NumPy, which nothing here needs
import torch
from torch.ao import quantization

SECONDS = 0.3


def fastest(layer, x):
    best, begin = float('inf'), time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        before = time.perf_counter()
        layer(x)
        best = min(best, time.perf_counter() - before)
    return best


torch.set_num_threads(1)
with torch.inference_mode():
    for rows in (1, 8, 128):
        for inputs, outputs in ((768, 3072), (3072, 768)):
            layer, x = torch.nn.Sequential(torch.nn.Linear(inputs, outputs)).eval(), torch.randn(rows, inputs)
            told = {'rows': rows, 'in': inputs, 'out': outputs, 'f32': fastest(layer, x)}
            for engine in ('fbgemm', 'onednn'):
                torch.backends.quantized.engine = engine
                rounded = quantization.quantize_dynamic(layer, {torch.nn.Linear: quantization.per_channel_dynamic_qconfig})
                told[engine] = fastest(rounded, x)
            print(json.dumps(told), flush=True)
