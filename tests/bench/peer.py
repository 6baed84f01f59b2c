"""The peer of the comparisons with PyTorch: its virtual environment, the common start (weights and tokens), and one run of each side.

The peer is torch_ladder.py under a Python of its own, build/peer-venv, made when missing. Both sides start from the same weights and draw the same
batches from one file of tokens, so their losses must agree before any time is compared.
"""
import array
import contextlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import measure

# How PyTorch's user gets the C library to keep large blocks and to use huge pages: torch_ladder.py's head says why.
TUNED = 'glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184'
ALLOCATORS = {'system': {'GLIBC_TUNABLES': ''}, 'tuned': {'GLIBC_TUNABLES': TUNED}}
WARMUP = 3  # steps that neither side counts
LADDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'torch_ladder.py')
REQUIREMENTS = os.path.join(measure.ROOT, 'packaging/requirements.txt')
SETS = {'base', 'driver'}  # Python's torch loads its CUDA libraries even where there is no GPU


def add_arguments(parser):
    parser.add_argument('--layers', type=int, default=6)
    parser.add_argument('--heads', type=int, default=6)
    parser.add_argument('--embd', type=int, default=384)
    parser.add_argument('--ctx', type=int, default=256)
    parser.add_argument('--batch', type=int, default=8)
    parser.add_argument('--vocab', type=int, default=50257)
    parser.add_argument('--steps', type=int, default=8, help='timed steps of each run')
    parser.add_argument('--pairs', type=int, default=5)
    parser.add_argument('--threads', type=int, default=measure.cores())
    parser.add_argument('--cli', help='the stepscope-cli to measure; default: that of the release build')
    parser.add_argument('--python', help='an interpreter with PyTorch for the peer; default: one of its own in build/peer-venv, made when missing')
    parser.set_defaults(device='cpu')


def python():
    folder = os.path.join(measure.ROOT, 'build/peer-venv')
    interpreter, marker = os.path.join(folder, 'bin/python'), os.path.join(folder, 'complete')
    if not os.path.exists(marker):
        print(f'making {folder} with the pinned PyTorch: a download of about 3 GB', file=sys.stderr)
        subprocess.run([sys.executable, '-m', 'venv', '--clear', folder], check=True)
        with open(REQUIREMENTS) as pinned, tempfile.NamedTemporaryFile('w', suffix='.txt') as wanted:
            chosen = False
            for line in pinned:
                chosen = line.split()[2] in SETS if line.startswith('# set: ') else chosen
                wanted.write(line if chosen else '')
            wanted.flush()
            subprocess.run([interpreter, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes', '-r', wanted.name],
                           check=True)
        open(marker, 'w').close()
    return interpreter


class Contest:
    """Both sides over one shape. Each run is a process of its own and returns (median ms a step, losses, peak MB): what the process had resident on a
    CPU, what tensors took of a GPU. The batch may change between runs."""

    def __init__(self, arguments, folder):
        self.a, self.cli, self.python = arguments, measure.program(arguments.cli, 'cli/stepscope-cli'), arguments.python
        self.init, self.tokens = os.path.join(folder, 'init.safetensors'), os.path.join(folder, 'tokens.bin')

    def prepare(self):
        self.python = self.python or python()
        draw = random.Random(1)
        with open(self.tokens, 'wb') as file:
            array.array('H', [draw.randrange(self.a.vocab) for _ in range(max(200_000, 20 * self.a.ctx))]).tofile(file)
        subprocess.run([self.python, LADDER, *self._shape('--'), '--save-init', self.init], check=True)
        return self

    def _shape(self, prefix):
        return [word for key in ('layers', 'heads', 'embd', 'ctx', 'batch', 'vocab') for word in (prefix + key, str(getattr(self.a, key)))]

    def our_words(self, switches, steps=None, threads=None, database=None):
        a = self.a
        settings = {'device': a.device, 'layers': a.layers, 'heads': a.heads, 'width': a.embd, 'context': a.ctx, 'batch-size': a.batch, 'vocabulary': a.vocab,
                    'optimizer': 'fused', 'grad-clip': 1, 'schedule': 'constant', 'lr': 0.0006, 'min-lr': 0, 'weight-decay': 0.1, 'beta1': 0.9,
                    'beta2': 0.95, 'epsilon': 1e-8, 'grad-accumulation': 1, 'vocab-padding': 'none', 'matmul-precision': 'highest', 'zero-grad': 'set-to-none', 'validation-fraction': 0,
                    'validation-every': 0, 'seed': 1, **switches}
        return ['--preset', 'tiny-cpu', '--steps', str(WARMUP + (steps or a.steps)), '--data', self.tokens, '--init', self.init, '--threads',
                str(threads or a.threads), *(['--db', database] if database else ['--no-record']),
                *(word for key, value in settings.items() for word in ('--set', f'{key}={value}'))]

    def ours(self, switches, steps=None, environment=None, threads=None, database=None, timeout=None):
        summary = measure.train(self.cli, self.our_words(switches, steps, threads, database), environment, timeout)
        peak = summary['peak_memory_bytes' if self.a.device == 'cpu' else 'peak_allocated_bytes']
        return summary['ms_per_step_median'], [step['loss'] for step in summary['log']], peak / 2**20

    def peer_command(self, rungs, steps=None):
        return [self.python, LADDER, *self._shape('--'), '--steps', str(steps or self.a.steps), '--warmup', str(WARMUP), '--threads', str(self.a.threads),
                '--device', self.a.device.partition(':')[0], '--tokens', self.tokens, '--init', self.init, '--rungs', rungs, '--only']

    def sliced(self, name, folder, switches=None, rungs=None, environment=None):
        """A side that goes on until it is ended, for measure.take_turns: ours with `switches`, else the peer's `rungs`. Its log lies in `folder`."""
        log, without_end = os.path.join(folder, name), 10**6
        command = self.peer_command(rungs, without_end) if rungs else [*self.cli, 'train', *self.our_words(switches, without_end)]
        return lambda: measure.Sliced(name, [*command, '--step-log', log], lambda: [step['t_ns'] for step in measure.step_log(log)] if os.path.exists(log) else [],
                                      {**os.environ, **(environment or {})})

    def peer(self, rungs, allocator, steps=None, timeout=None):
        run = subprocess.run(self.peer_command(rungs, steps), stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **ALLOCATORS[allocator]},
                             timeout=timeout)
        line = json.loads(run.stdout)
        return line['ms_per_step'], line['losses'], line['peak_rss_mb' if self.a.device == 'cpu' else 'peak_device_mb']


@contextlib.contextmanager
def contest(arguments):
    with tempfile.TemporaryDirectory(prefix='stepscope-bench-') as folder:
        yield Contest(arguments, folder).prepare()


def processor():
    """The processor's name, and what tells apart those that share one."""
    known = {}
    with open('/proc/cpuinfo') as info:
        for line in info:
            key, _, value = line.partition(':')
            if not line.strip():
                break
            known[key.strip()] = value.strip()
    return f"{known.get('model name', 'unknown')} (family {known.get('cpu family', '?')}, model {known.get('model', '?')})"


def layers_of(a):
    """(tokens, width in, width out) of every linear layer of the model, the head included."""
    tokens, width = a.batch * a.ctx, a.embd
    block = [(tokens, width, 3 * width), (tokens, width, width), (tokens, width, 4 * width), (tokens, 4 * width, width)]
    return a.layers * block + [(tokens, width, a.vocab)]


def linear_operations(layer):
    """Floating-point operations of a linear layer, forwards and both gradients."""
    return 3 * 2 * layer[0] * layer[1] * layer[2]


def step_operations(a):
    """Those of a step's products: linear layers, and causal attention (two products forwards, four backwards, half of each)."""
    attention = a.layers * 6 * a.batch * a.ctx * (a.ctx + 1) * a.embd
    return sum(linear_operations(layer) for layer in layers_of(a)) + attention


def product_rate(a, lines, element):
    """GFLOP/s of all linear layers of the model one after the other, from the measured seconds of each kind (bench_products)."""
    seconds = {(line['rows'], line['in'], line['out']): sum(line[element]) for line in lines}
    layers = layers_of(a)
    return sum(linear_operations(layer) for layer in layers) / sum(seconds[layer] for layer in layers) / 1e9


def largest_difference(mine, theirs):
    """Infinite where a loss is no number: max() alone would pass over it."""
    return max(abs(x - y) if math.isfinite(x - y) else math.inf for x, y in zip(mine, theirs, strict=True))


def all_reach(results, bar):
    """By the lower ends of the intervals: a median above the bar may still be luck."""
    return all(result['low'] >= bar for result in results)
