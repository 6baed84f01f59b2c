"""Parts `ladder`, `launches` and `compare` of packaging/gpu-check: GPT-2 small at context 1024, rung by rung, and against torch.compile.

The ladder is "precision-to-padding" with CUDA graphs as a rung more; a step that was captured says how many kernels it has. What really is launched is
counted by Nsight Compute (ncu), as the difference between two runs of which one is a step longer: kernels, and launches by the host, where a graph is
one and what stands around the graphs counts too. The comparison alternates ours with both modes of
torch.compile, from the same weights and batches, as tests/bench/against_pytorch does on the CPU. That both did the same work is told by losses: ours
must not be further from PyTorch's in float32 than twice what PyTorch's own bf16 is, or 2e-2. Both of those run without the rung `vocab`: PyTorch's padded
ids take part in its softmax, so that its loss is another, which ours leaves out of it.
What torch.compile has made is kept beside the tables, so that a later call does not pay for it again.
"""
import argparse
import csv
import os
import re
import statistics
import subprocess

import checking
import measure
import peer

STEPS, BATCH, CONTEXT = 23, 16, 1024  # the first three steps do not count
LADDER = [('float32', {'optimizer': 'foreach', 'attention': 'manual'}), ('TF32', {'matmul-precision': 'high'}), ('bf16', {'amp': 'bf16'}),
          ('fusion', {'fusion': 'kernels', 'fused-optimizer': 'off'}), ('flash attention', {'attention': 'sdpa-flash'}),
          ('attention that LibTorch chooses', {'attention': 'auto'}), ('vocabulary 50304', {'vocab-padding': '128'}),
          ('fused AdamW', {'optimizer': 'fused', 'fused-optimizer': 'auto'}), ('CUDA graphs', {'cuda-graph': 'on'})]
NO_NCU = 'ncu (Nsight Compute) is not installed'
METRIC = 'gpu__time_duration.sum'  # of a kernel and of a whole graph; most of launch__* are of kernels alone
NO_COUNTERS = 'ERR_NVGPUCTRPERM'

# LibTorch chooses the attention, as it does under torch.compile.
OURS = {'amp': 'bf16', 'fusion': 'kernels', 'cuda-graph': 'on', 'attention': 'auto', 'matmul-precision': 'high', 'vocab-padding': '128',
        'data-source': 'device'}
PEERS = {'default': 'tf32,bf16,compile,flash,vocab', 'reduce-overhead': 'tf32,bf16,compile:reduce-overhead,flash,vocab'}
REFERENCES = {'float32': 'fp32,flash', 'bf16': 'bf16,flash'}  # by what losses are judged; not timed
TOLERANCE = 2e-2
KEPT = 'inductor-cache'  # of the folder of the tables; TORCHINDUCTOR_CACHE_DIR names another place


def rungs():
    """(name, all switches up to here)."""
    switches = {}
    for name, more in LADDER:
        switches = {**switches, **more}
        yield name, switches


def rung_words(switches, steps, batch=BATCH):
    settings = {'device': checking.DEVICE, 'data': 'random', 'batch-size': batch, 'context': CONTEXT, 'grad-accumulation': 1, 'validation-every': 0, **switches}
    return ['--preset', 'gpt2-small', '--steps', str(steps), *checking.words(f'{key}={value}' for key, value in settings.items())]


def captured(log):
    """What a run's log says of its capture: (kernels and launches a step, or what is known instead; the sentence)."""
    said = next((line for line in log if line.startswith(('CUDA graphs: ', 'The step could not be captured'))), '')
    found = re.match(r'CUDA graphs: (\d+) kernels a step in (\d+) launches', said)
    return (f'{found[1]} in {found[2]} launches' if found else 'not measured'), said


def attention(log):
    return next((line.removeprefix('Attention that runs: ').rstrip('.') for line in log if line.startswith('Attention that runs: ')), '')


def run_ladder(setup, deadline):
    database = lambda n: os.path.join(setup.folder, f'ladder-{n}.db')

    def climb(n, switches, left):
        summary = setup.train(rung_words(switches, STEPS), database(n), left)
        log = measure.log_lines(database(n))
        kernels, said = captured(log)
        fell_back = switches.get('cuda-graph') == 'on' and kernels == 'not measured'
        return {'ms a step': round(summary['ms_per_step_median'], 2), 'tokens/s': round(summary['tokens_per_s']),
                'peak GB of tensors': round(summary['peak_allocated_bytes'] / 1e9, 2), 'attention': attention(log), 'kernels a step': kernels,
                'state': 'failed' if fell_back else 'measured', 'why': said if fell_back else ''}

    empty = {'ms a step': '', 'tokens/s': '', 'peak GB of tensors': '', 'attention': '', 'kernels a step': ''}
    return [checking.filled({'rung': name, **empty}, deadline, lambda left: climb(n, switches, left)) for n, (name, switches) in enumerate(rungs())]


def ncu(setup, switches, steps, graphs='node'):
    """graphs: 'node' lists the kernels inside graphs, 'graph' each graph as a whole."""
    return [checking.tool('ncu') or 'ncu', '--clock-control', 'none', '--csv', '--graph-profiling', graphs, '--metrics', METRIC, *setup.cli, 'train',
            *rung_words(switches, steps, batch=1), '--no-record']


def counts_of(switches):
    """What is counted of a rung: (name, how ncu sees graphs) of each figure, and the two lengths of a run: a step is captured after three eager ones."""
    if switches.get('cuda-graph') == 'on':
        return [('kernels a step', 'node'), ('host launches a step', 'graph')], (8, 9)
    return [('kernels a step', 'node')], (4, 5)


def kernels_of(text):
    """How many kernels an ncu report in CSV lists; before it stands what ncu and the program said."""
    lines = text.splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    return len({row['ID'] for row in csv.DictReader(lines[begin:])})


class NotMeasured(Exception):
    """ncu may not do what it is asked for."""


def listed(setup, switches, steps, graphs, left):
    """How many kernels, or graphs, ncu lists of a run."""
    run = subprocess.run(ncu(setup, switches, steps, graphs), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=left,
                         env={**os.environ, **setup.environment})
    refused = next((line for line in [*run.stdout.splitlines(), *run.stderr.splitlines()] if NO_COUNTERS in line), '')
    if refused:
        raise NotMeasured(f'not measured: {refused.removeprefix("==ERROR== ")}')
    if run.returncode != 0:
        raise measure.Failed('ncu', run.returncode, run.stderr.strip() or run.stdout.strip())
    return kernels_of(run.stdout)


def run_launches(setup, deadline):
    def count(switches):
        figures, lengths = counts_of(switches)
        row = {}
        for name, graphs in figures:
            shorter, longer = (listed(setup, switches, steps, graphs, deadline.left()) for steps in lengths)
            if shorter == 0 or longer <= shorter:
                return {'state': 'failed', 'why': f'ncu listed {shorter} in {lengths[0]} steps and {longer} in {lengths[1]}: those of a step cannot be told'}
            row[name] = longer - shorter
        # Without graphs the host launches each kernel.
        return {'host launches a step': row['kernels a step'], **row, 'state': 'measured', 'why': ''}

    refused = '' if checking.tool('ncu') else NO_NCU
    rows = []
    for name, switches in reversed(list(rungs())):  # the bars are those of the last
        row = {'rung': name, 'kernels a step': 'not measured', 'host launches a step': 'not measured'}
        try:
            rows.append({**row, 'state': 'not run', 'why': refused} if refused else checking.filled(row, deadline, lambda left: count(switches)))
        except NotMeasured as why:
            refused = str(why)
            rows.append({**row, 'state': 'not run', 'why': refused})
    return rows[::-1]


def contest(setup, folder):
    shape = argparse.Namespace(layers=12, heads=12, embd=768, ctx=CONTEXT, batch=1, vocab=50257, steps=20, threads=measure.cores(), device=checking.DEVICE,
                               cli=setup.cli[0], python=setup.python)
    return peer.Contest(shape, folder)


class Pairs:
    """The runs of one batch size: each side once a round, in turns."""

    def __init__(self, setup, both, batch):
        self._setup, self._contest, self._batch = setup, both, batch
        self._ms, self._memory, self._losses = ({side: [] for side in ('ours', *PEERS)} for _ in range(3))
        self._references = {}
        self.kernels = self.said = self.attention = ''

    def ours(self, turn, left):
        database = os.path.join(self._setup.folder, f'compare-{self._batch}-{turn}.db')
        result = self._contest.ours(OURS, environment=self._setup.environment, database=database, timeout=left)
        log = measure.log_lines(database)
        self.attention, (self.kernels, self.said) = attention(log), captured(log)
        return result

    def one(self, side, turn, left):
        if left == 0:
            raise subprocess.TimeoutExpired(side, 0)
        return self.ours(turn, left) if side == 'ours' else self._contest.peer(PEERS[side], 'system', timeout=left)

    def take(self, deadline):
        self._contest.a.batch = self._batch
        sides = ['ours', *PEERS]
        for name, rungs in REFERENCES.items():
            if deadline.left() == 0:
                raise subprocess.TimeoutExpired(name, 0)
            self._references[name] = self._contest.peer(rungs, 'system', timeout=deadline.left())[1]
        for turn in range(self._setup.pairs):
            try:
                taken = {side: self.one(side, turn, deadline.left()) for side in sides[turn % len(sides):] + sides[:turn % len(sides)]}
            except subprocess.TimeoutExpired:
                if turn == 0:
                    raise
                return  # rather fewer rounds than a broken one
            for side, (ms, losses, memory) in taken.items():
                self._ms[side].append(ms)
                self._memory[side].append(memory)
                self._losses[side].append(losses)

    def row(self):
        tokens = self._batch * CONTEXT
        mine = statistics.median(self._ms['ours'])
        row = {'rounds': len(self._ms['ours']), 'ours ms': round(mine, 2), 'ours tokens/s': round(1e3 * tokens / mine),
               'ours attention': self.attention, 'ours kernels a step': self.kernels, 'ours peak GB': round(max(self._memory['ours']) * 2**20 / 1e9, 2)}
        for side in PEERS:
            ratios = [theirs / ours for ours, theirs in zip(self._ms['ours'], self._ms[side], strict=True)]
            row |= {f'{side} ms': round(statistics.median(self._ms[side]), 2), f'{side} peak GB': round(max(self._memory[side]) * 2**20 / 1e9, 2),
                    f'{side} ratio (95 %)': '{:.3f} ({:.3f} to {:.3f})'.format(*measure.interval(ratios))}
        exact = self._references['float32']
        difference = max(peer.largest_difference(losses, exact) for losses in self._losses['ours'])
        first = max(abs(losses[0] - exact[0]) for losses in self._losses['ours'])  # of the same weights: no step was made yet
        theirs = peer.largest_difference(self._references['bf16'], exact)
        problems = [] if difference <= max(TOLERANCE, 2 * theirs) else ['the losses differ: the two did not do the same work']
        problems += [self.said or 'the run says nothing of a capture'] if self.kernels == 'not measured' else []
        return {**row, 'losses from float32': f'{difference:.1e}', 'first loss': f'{first:.1e}', "the peer's bf16 from it": f'{theirs:.1e}',
                'state': 'failed' if problems else 'measured', 'why': '; '.join(problems)}


def run_compare(setup, deadline):
    os.environ.setdefault('TORCHINDUCTOR_CACHE_DIR', os.path.join(setup.into, KEPT))
    both = contest(setup, setup.folder)
    longest = 0.0

    def measured(batch):
        nonlocal longest
        begin = deadline.left()
        if begin < longest:  # a call may have time for one batch and not for two: the next goes on
            return {'state': 'not run', 'why': checking.TIME_OVER}
        if not os.path.exists(both.init):
            both.prepare()
        pairs = Pairs(setup, both, batch)
        pairs.take(deadline)
        longest = max(longest, begin - deadline.left())
        return pairs.row()

    left = [batch for batch in setup.batches if (batch,) not in setup.settled.get(COMPARE.id, set())]
    return [checking.filled({'batch': batch}, deadline, lambda _: measured(batch)) for batch in left]


def plan_compare(setup):
    both = contest(setup, 'FOLDER')
    both.python = both.python or 'PYTHON'
    commands = []
    for both.a.batch in setup.batches:
        commands.append([*setup.cli, 'train', *both.our_words(OURS, database='FOLDER/compare.db')])
        commands += [both.peer_command(words) for words in PEERS.values()]
    return commands


def plan_launches(setup):
    return [ncu(setup, switches, steps, graphs) for _, switches in rungs() for _, graphs in counts_of(switches)[0] for steps in counts_of(switches)[1]]


LADDER_PART = checking.Part('ladder', f'the ladder of GPT-2 small at batch {BATCH} and context {CONTEXT}', 240,
                            lambda setup: [[*setup.cli, 'train', *rung_words(switches, STEPS)] for _, switches in rungs()], run_ladder)
LAUNCHES = checking.Part('launches', 'kernels and host launches of a step, rung by rung, at batch 1', 240, plan_launches, run_launches)
COMPARE = checking.Part('compare', 'against torch.compile, modes default and reduce-overhead, bf16', 480, plan_compare, run_compare)
