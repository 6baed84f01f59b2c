"""Part `equivalence` of packaging/gpu-check: every value of every switch on the GPU against the plain run there, from the same weights and batches.

The model is T (4 layers, 4 heads, 128 wide, context 128, batch 12, bytes of LICENSE). Losses of 200 steps: in float32 every one within 2e-5, in
16 bits the means of the last 50 within 5e-3. Gradients of switches that choose kernels: in float32 every tensor within 1e-5 of the plain run's,
in bf16 no farther from float32 than 1.5 times what the plain bf16 run is. They are read off the first moment after 6 steps that change no weight
(lr=0), so that a captured step, which begins at the fourth, is among them. A value that the program refuses is shown with its reason.

The bounds were found on a CPU. A GPU may add up in another order at each run, so a row that fails also says how far two plain runs there are apart.
"""
import array
import concurrent.futures
import dataclasses
import glob
import itertools
import json
import math
import os
import statistics
import struct
import subprocess

import checking
import measure

STEPS, GRADIENT_STEPS, LAST = 200, 6, 50
TIGHT, LOOSE, GRADIENT, FARTHER = 2e-5, 5e-3, 1e-5, 1.5
# A rate at which this text trains calmly: fusion=off and fusion=step on a CPU then differ by 7e-7 in float32 and by 4e-5 in the mean of bf16, at 1e-3
# by 1e-4 and 3e-3 (`train --step-log`, 200 steps).
PLAIN = {'device': checking.DEVICE, 'fusion': 'off', 'amp': 'off', 'validation-every': '0', 'validation-fraction': '0', 'schedule': 'constant',
         'lr': '3e-4', 'min-lr': '0'}
STILL = {'lr': '0', 'grad-clip': '0'}
NUMBERS = {'chunked-loss': '100', 'batch-size': '6', 'context': '64', 'grad-accumulation': '2', 'grad-clip': '0.5', 'loader-workers': '2',
           'loader-prefetch': '4', 'validation-every': '50'}
# What a value needs beside it: two micro-batches of 6 are the batch of 12; a fused-* switch is off beside all others that are on.
BESIDE = {'cuda-graph': {'fusion': 'kernels'}, 'batch-size': {'grad-accumulation': '2'}, 'grad-accumulation': {'batch-size': '6'},
          'loader-prefetch': {'loader-workers': '2'}, 'loader-nonblocking': {'loader-pinned': 'on'}, 'validation-every': {'validation-fraction': '0.2'},
          'validation-amp': {'amp': 'bf16', 'validation-every': '50', 'validation-fraction': '0.2'}}
ON_THE_CPU = {'device', 'context', 'grad-clip', 'validation-every'}  # what changes the work itself is compared with the same on the CPU
SAME_WORK = {'amp', 'validation-every', 'validation-fraction'}       # of BESIDE, what the plain run needs too
ROUNDS = {'amp', 'matmul-precision', 'validation-amp'}
EIGHT_BIT = ('optimizer', '8-bit')  # rounds too, and is compared with itself on the CPU


@dataclasses.dataclass
class Case:
    switch: str
    value: str
    precision: str
    kernels: bool  # it chooses kernels: gradients are compared too

    def names(self):
        """What tells its row from the others (report.SPREAD)."""
        return {'switch': f'{self.switch}={self.value}', 'precision': 'float32' if self.precision == 'off' else self.precision}

    def settings(self):
        beside = {'fusion': 'kernels'} if self.switch.startswith('fused-') and self.value == 'off' else BESIDE.get(self.switch, {})
        return {**PLAIN, 'amp': self.precision, **beside, self.switch: self.value}

    def reference(self):
        if self.switch in ON_THE_CPU or (self.switch, self.value) == EIGHT_BIT:
            return {**self.settings(), 'device': 'cpu'}
        return {**PLAIN, 'amp': self.precision, **{key: value for key, value in BESIDE.get(self.switch, {}).items() if key in SAME_WORK}}

    def expected(self):
        """What the run's log must say, for a value that could silently not act."""
        if self.switch == 'cuda-graph':
            return 'CUDA graphs: '
        if (self.switch, self.value) == ('fusion', 'step'):
            return f'fusion=step does not carry device={checking.DEVICE}: '
        return f'Attention that runs: {self.value}.' if self.switch == 'attention' else ''


def values(entry):
    if entry['id'] == 'device':
        return [checking.DEVICE]
    if isinstance(entry['values'], list):
        return [value for value in entry['values'] if value != entry['default']]
    if entry['id'] not in NUMBERS:
        raise SystemExit(f'gpu-check knows no value of {entry["id"]} to try: add one to NUMBERS in tests/gpu/equivalence.py')
    return [NUMBERS[entry['id']]]


def cases(catalogue):
    return [Case(entry['id'], value, precision, entry['group'] == 'Kernels')
            for precision in ('off', 'bf16', 'fp16') for entry in catalogue if precision == 'off' or entry['group'] == 'Kernels' for value in values(entry)]


def train_words(settings, steps):
    return ['--preset', 'tiny-cpu', '--data', os.path.join(measure.ROOT, 'LICENSE'), '--steps', str(steps), '--threads', '2',
            *checking.words(f'{key}={value}' for key, value in settings.items())]


class Runs:
    """Each distinct run once, several at a time: nothing is timed here."""

    def __init__(self, setup, deadline, pool):
        self._setup, self._deadline, self._pool, self._begun, self._number = setup, deadline, pool, {}, itertools.count()

    def losses(self, settings, again=False):
        return self._begin(settings, STEPS, lambda summary, database: (summary, measure.log_lines(database)), again=again)

    def gradients(self, settings, again=False):
        return self._begin({**settings, **STILL}, GRADIENT_STEPS, lambda summary, database: first_moments(checkpoint_of(database, GRADIENT_STEPS)),
                           '--checkpoint-every', str(GRADIENT_STEPS), again=again)

    def _begin(self, settings, steps, read, *more, again):
        key = (steps, again, *sorted(settings.items()))
        if key not in self._begun:
            database = os.path.join(self._setup.folder, f'{next(self._number)}.db')
            self._begun[key] = self._pool.submit(self._one, [*train_words(settings, steps), *more], database, read)
        return self._begun[key]

    def _one(self, words, database, read):
        if self._deadline.left() == 0:
            raise concurrent.futures.CancelledError
        return read(self._setup.train(words, database, self._deadline.left()), database)


def checkpoint_of(database, step):
    """The folder of its only session's checkpoint after this step; the one between is named after the database's random identity."""
    return glob.glob(f'{glob.escape(database)}.checkpoints/db-*/1/step-{step:07}')[0]


def first_moments(checkpoint):
    """{name: AdamW's first moment} of a checkpoint: a weighted sum of the gradients of its steps."""
    with open(os.path.join(checkpoint, 'optimizer.safetensors'), 'rb') as file:
        header = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
        data = file.read()
    moments = {}
    for name, tensor in header.items():
        if name.startswith('exp_avg.'):
            moments[name.removeprefix('exp_avg.')] = array.array('f', data[slice(*tensor['data_offsets'])])
    return moments


def apart(mine, theirs):
    """{name: distance, relative to theirs}."""
    norm = lambda numbers: math.sqrt(sum(x * x for x in numbers))
    return {name: norm(x - y for x, y in zip(mine[name], theirs[name], strict=True)) / max(norm(theirs[name]), 1e-12) for name in theirs}


def loss_distance(case, mine, theirs):
    """How far two runs are apart, and how far they may be."""
    first, second = ([step['loss'] for step in run['log']] for run in (mine, theirs))
    rounds = case.precision != 'off' or case.switch in ROUNDS or (case.switch, case.value) == EIGHT_BIT
    if rounds:
        distance = abs(statistics.fmean(first[-LAST:]) - statistics.fmean(second[-LAST:]))
    else:
        distance = max(abs(x - y) for x, y in zip(first, second, strict=True))
    if mine['val_loss'] is not None:
        distance = max(distance, abs(mine['val_loss'] - theirs['val_loss']))
    return distance, LOOSE if rounds else TIGHT


def gradient_distance(case, runs):
    """(largest distance as a share of what is allowed, the tensor)."""
    mine, plain = runs.gradients(case.settings()).result(), runs.gradients(case.reference()).result()
    if case.precision == 'off':
        shares = {name: distance / GRADIENT for name, distance in apart(mine, plain).items()}
    else:
        exact = runs.gradients(PLAIN).result()
        allowed = apart(plain, exact)
        shares = {name: distance / (FARTHER * allowed[name] + 1e-7) for name, distance in apart(mine, exact).items()}
    worst = max(shares, key=shares.get)
    return shares[worst], worst


def noise(case, runs):
    """How far plain runs on the GPU are apart, in the terms of the case's bounds: what a reader needs to tell a mistake from rounding."""
    plain, told = {**PLAIN, 'amp': case.precision}, []
    others = {'the same twice': (plain, True), 'attention=manual': ({**plain, 'attention': 'manual'}, False)}
    for name, (settings, again) in others.items():
        try:
            losses = loss_distance(case, runs.losses(settings, again).result()[0], runs.losses(plain).result()[0])[0]
            words = f'{name} {losses:.1e}'
            if compares_gradients(case):
                words += f', gradients {max(apart(runs.gradients(settings, again).result(), runs.gradients(plain).result()).values()):.1e}'
            told.append(words)
        except (measure.Failed, subprocess.TimeoutExpired, concurrent.futures.CancelledError):
            told.append(f'{name} not measured')
    return f'plain runs there are apart: {"; ".join(told)}'


def compares_gradients(case):
    return case.kernels and case.precision != 'fp16'  # fp16's first steps overflow and are left out


def judged(case, runs):
    mine, log = runs.losses(case.settings()).result()
    theirs, _ = runs.losses(case.reference()).result()
    distance, bound = loss_distance(case, mine, theirs)
    said = next((line for line in log if line.startswith(('CUDA graphs: ', 'The step could not be captured', 'fusion=step does not carry'))), '')
    row = {'loss apart': f'{distance:.1e}', 'allowed': f'{bound:.0e}', 'gradients, share of what is allowed': '', 'state': 'passed', 'why': said}
    problems = [] if distance <= bound else ['the losses differ']
    if compares_gradients(case):
        share, tensor = gradient_distance(case, runs)
        row['gradients, share of what is allowed'] = f'{share:.2f}'
        problems += [] if share <= 1 else [f'the gradient of {tensor} differs']
    if problems and case.precision == 'off':
        problems.append(noise(case, runs))
    if not any(line.startswith(case.expected()) for line in log):
        problems.append(f'the run did not say "{case.expected()}"')
    return {**row, 'state': 'failed', 'why': '; '.join([*problems, said] if said else problems)} if problems else row


def begin(case, runs):
    """Starts what the case needs, so that several of its runs go on at once."""
    for settings in (case.settings(), case.reference()):
        runs.losses(settings)
        if compares_gradients(case):
            runs.gradients(settings)


def missing(every, settled):
    """The cases that no earlier call has settled: all of them take longer than one call may."""
    return [case for case in every if tuple(case.names().values()) not in settled]


def run(setup, deadline):
    with concurrent.futures.ThreadPoolExecutor(setup.jobs) as pool:
        runs = Runs(setup, deadline, pool)
        left = missing(cases(setup.switches()), setup.settled.get(PART.id, set()))
        for case in left:
            begin(case, runs)
        empty = {'loss apart': '', 'allowed': '', 'gradients, share of what is allowed': ''}
        # Time is over for runs, not for what has been run: each waits for its own.
        return [checking.filled({**case.names(), **empty}, checking.Deadline(math.inf), lambda _: judged(case, runs)) for case in left]


def plan(setup):
    commands = []
    for case in cases(setup.switches()):
        for settings in (case.reference(), case.settings()):
            command = [*setup.cli, 'train', *train_words(settings, STEPS)]
            if command not in commands:
                commands.append(command)
    return commands


PART = checking.Part('equivalence', 'every value of every switch against the plain run on the GPU, losses and gradients', 360, plan, run)
