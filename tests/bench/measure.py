"""What the benches share: where the programs are, runs of the command line, and medians with an interval.

Everything here is Python 3's standard library. A figure is always a median over interleaved pairs with a bootstrap interval
(percentile, 95 %), because two runs of the same program differ by more than the effects looked for.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def cores():
    return len(os.sched_getaffinity(0))


def build():
    """Builds what is not up to date, so that no run pays for it."""
    subprocess.run([os.path.join(ROOT, 'packaging/run'), '--build-only'], cwd=ROOT, check=True)


def program(given, name):
    """A program of Stepscope's: the one given, or the release build's, brought up to date. Started without packaging/run, so that the
    time this takes to find everything up to date is not measured."""
    if given:
        return [os.path.abspath(given)]
    build()
    return [os.path.join(ROOT, 'build/release/app', name)]


def train(cli, words, environment=None):
    """One `train`; its summary, and its step log under the key 'log'."""
    with tempfile.TemporaryDirectory(prefix='stepscope-bench-') as folder:
        log = os.path.join(folder, 'steps')
        run = subprocess.run([*cli, 'train', *words, '--step-log', log, '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env={**os.environ, **(environment or {})})
        if run.returncode != 0:
            sys.exit(f'train {" ".join(words)} ended with {run.returncode}: {run.stderr.strip()}')
        summary = json.loads(run.stdout.strip().split('\n')[-1])
        with open(log) as lines:
            summary['log'] = [json.loads(line) for line in lines]
        return summary


def steps_per_second(log, leave_out=3):
    """Mean throughput: everything between two steps counts, not only what a step measures of itself."""
    first, last = log[leave_out], log[-1]
    return (last['step'] - first['step']) / (last['t_ns'] - first['t_ns']) * 1e9


def interval(samples, draws=10000, seed=1):
    """Median, and the 95 % percentile-bootstrap interval of the median."""
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(samples, k=len(samples))) for _ in range(draws))
    return statistics.median(samples), medians[int(0.025 * draws)], medians[int(0.975 * draws) - 1]
