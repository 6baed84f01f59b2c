"""What PyTorch's own profiler adds to an operation, to set beside bench_spans: processor time of this thread for an addition of four numbers, alone and
recorded with sizes and FLOPs, and for an event when recording stops. Run by hand with a Python that has PyTorch, such as build/peer-venv's (peer.py)."""
import time
import warnings

warnings.filterwarnings('ignore')
import torch
from torch.profiler import ProfilerActivity, profile

ADDITIONS, ROUNDS = 30000, 5
torch.set_num_threads(1)
four = torch.ones(4)


def addition():
    begin = time.thread_time()
    for _ in range(ADDITIONS):
        four + four
    return (time.thread_time() - begin) / ADDITIONS * 1e9


def median(values):
    return sorted(values)[len(values) // 2]


if __name__ == '__main__':
    addition()
    alone, recorded, ending = [], [], []
    for _ in range(ROUNDS):
        alone.append(addition())
        recording = profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True)
        recording.__enter__()
        recorded.append(addition())
        begin = time.thread_time()
        recording.__exit__(None, None, None)
        ending.append((time.thread_time() - begin) / ADDITIONS * 1e9)
    print(f'alone {median(alone):.0f} ns, recorded {median(recorded):.0f} ns, and {median(ending):.0f} ns an event when it stops')
