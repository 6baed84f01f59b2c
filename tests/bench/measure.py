"""What the benches share: where the programs are, runs of the command line, and medians with an interval.

Everything here is Python 3's standard library. A figure is always a median over interleaved pairs with a bootstrap interval
(percentile, 95 %), because two runs of the same program differ by more than the effects looked for.
"""
import contextlib
import itertools
import json
import math
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

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


class Failed(SystemExit):
    """A run of the command line that failed: ends the bench with its sentence, unless somebody goes on without that run."""

    def __init__(self, command, status, said):
        super().__init__(f'{command} ended with {status}: {said}')
        self.status, self.said = status, said


def train(cli, words, environment=None, timeout=None):
    """One `train`; its summary, and its step log under the key 'log'."""
    with tempfile.TemporaryDirectory(prefix='stepscope-bench-') as folder:
        log = os.path.join(folder, 'steps')
        run = subprocess.run([*cli, 'train', *words, '--step-log', log, '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env={**os.environ, **(environment or {})}, timeout=timeout)
        if run.returncode != 0:
            raise Failed(f'train {" ".join(words)}', run.returncode, run.stderr.strip())
        summary = json.loads(run.stdout.strip().split('\n')[-1])
        summary['log'] = step_log(log)
        return summary


def step_log(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines if line.endswith('\n')]


def stored(database, query):
    """All rows of a query to the database of a recorded run."""
    with contextlib.closing(sqlite3.connect(database)) as sessions:
        return sessions.execute(query).fetchall()


def log_lines(database):
    return [text for text, in stored(database, 'SELECT text FROM log_lines ORDER BY at_ns, seq')]


def steps_per_second(log, leave_out=3):
    """Mean throughput: everything between two steps counts, not only what a step measures of itself."""
    first, last = log[leave_out], log[-1]
    return (last['step'] - first['step']) / (last['t_ns'] - first['t_ns']) * 1e9


def interval(samples, draws=10000, seed=1):
    """Median, and the 95 % percentile-bootstrap interval of the median."""
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(samples, k=len(samples))) for _ in range(draws))
    return statistics.median(samples), medians[int(0.025 * draws)], medians[int(0.975 * draws) - 1]


def ratio_of_medians(above, below, draws=10000, seed=1):
    """median(above) / median(below) of pairs measured together, and its 95 % percentile-bootstrap interval: pairs are drawn whole."""
    generator = random.Random(seed)
    pairs = list(zip(above, below, strict=True))

    def ratio(chosen):
        return statistics.median(a for a, _ in chosen) / statistics.median(b for _, b in chosen)

    ratios = sorted(ratio(generator.choices(pairs, k=len(pairs))) for _ in range(draws))
    return ratio(pairs), ratios[int(0.025 * draws)], ratios[int(0.975 * draws) - 1]


def half_width(ratio, low, high):
    """Of an interval, as a part of the ratio inside it: the wider side counts."""
    return max(ratio - low, high - ratio) / ratio


@contextlib.contextmanager
def display(size='1920x1080'):
    """The environment with a display in it: the person's own, else an Xvfb for as long as the block lasts. Second value: is it ours?"""
    if os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'):
        yield dict(os.environ), False
        return
    server = subprocess.Popen(['Xvfb', '-displayfd', '1', '-screen', '0', f'{size}x24', '-nolisten', 'tcp'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    try:
        yield dict(os.environ, DISPLAY=':' + server.stdout.readline().strip()), True
    finally:
        server.terminate()
        server.wait()


def main_thread_cpu(pid):
    """Seconds of processor time that a process's first thread has used: the GUI thread of a window."""
    with open(f'/proc/{pid}/task/{pid}/stat') as stat:
        user, system = stat.read().rsplit(')', 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')


def family(pid):
    """A process and all that come of it."""
    yield pid
    with contextlib.suppress(FileNotFoundError):
        for thread in os.listdir(f'/proc/{pid}/task'):
            with contextlib.suppress(FileNotFoundError), open(f'/proc/{pid}/task/{thread}/children') as children:
                for child in children.read().split():
                    yield from family(int(child))


def thread_seconds(pid):
    """Processor seconds of each thread of a process, and of those that come of it, so far."""
    seconds, ticks = {}, os.sysconf('SC_CLK_TCK')
    for one in list(family(pid)):
        with contextlib.suppress(FileNotFoundError):
            for thread in os.listdir(f'/proc/{one}/task'):
                with contextlib.suppress(FileNotFoundError), open(f'/proc/{one}/task/{thread}/stat') as stat:
                    user, system = stat.read().rsplit(')', 1)[1].split()[11:13]
                    seconds[thread] = (int(user) + int(system)) / ticks
    return seconds


def beside_training(run, seconds, settle=5):
    """Percent of all cores that the threads of a training have which do not train; those that train are the busiest, one a core. run: a Popen,
    looked at for so many seconds once it has settled."""
    time.sleep(settle)
    before = thread_seconds(run.pid)
    time.sleep(seconds)
    if run.poll() is not None:
        sys.exit(f'{" ".join(run.args)} ended with {run.returncode}')
    spent = sorted((after - before.get(thread, 0) for thread, after in thread_seconds(run.pid).items()), reverse=True)
    return 100 * sum(spent[cores():]) / cores() / seconds


class Sliced:
    """A training in a process of its own that runs in slices: between them it is stopped (SIGSTOP), so that several can take turns on the
    whole machine within seconds. `step_times()` answers, after the end, with the ns at which each step ended."""

    def __init__(self, name, command, step_times, environment=None):
        self.name, self.step_times = name, step_times
        self.main_cpu = self.ran = 0.0  # of the first thread, and wall time, in all slices since the last reset
        self._said = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._said, env=environment)

    def tell(self, what):
        os.kill(self.process.pid, what)

    def go(self, seconds):
        before = main_thread_cpu(self.process.pid)
        self.tell(signal.SIGCONT)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.tell(signal.SIGSTOP)
            self.main_cpu += main_thread_cpu(self.process.pid) - before
            self.ran += seconds
            return
        self._said.seek(0)
        sys.exit(f'{self.name} ended by itself with {code}: {self._said.read()[-400:].strip()}')

    def end(self):
        """Stops the run as Ctrl-C would and returns the step times."""
        self.tell(signal.SIGCONT)
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        return self.step_times()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def rates_of(times, slice_seconds, leave_out=0.4):
    """Steps a second of each slice. A slice ends where no step came for half its length; its first `leave_out` seconds do not count."""
    slices, rates = [[]], []
    for before, now in itertools.pairwise([times[0], *times]):
        if now - before > 0.5e9 * slice_seconds:
            slices.append([])
        slices[-1].append(now)
    for moments in slices:
        counted = [t for t in moments if t - moments[0] >= leave_out * 1e9]
        rates.append((len(counted) - 1) / (counted[-1] - counted[0]) * 1e9 if len(counted) > 2 else None)
    return rates


def take_turns(arms, rounds, slice_seconds, settle=6, told=None):
    """Lets the arms run in turn, one slice each a round; {arm's name: steps a second in each round}, and {arm's name: share of a core that its
    first thread used}.
    `arms` are functions that start a Sliced; each settles alone first. `told(arm)` is called before its first slice that counts."""
    started = []
    try:
        for make in arms:
            started.append(make())
            started[-1].go(settle)
            if told:
                told(started[-1])
            started[-1].main_cpu = started[-1].ran = 0.0
        for _ in range(rounds):
            for arm in started:
                arm.go(slice_seconds)
        rates = {}
        for arm in started:
            found = rates_of(arm.end(), slice_seconds)
            # The first stretch is the settling, and after the last there is what it takes to stop.
            rates[arm.name] = found[1:rounds + 1]
            if len(rates[arm.name]) < rounds or None in rates[arm.name]:
                sys.exit(f'{arm.name}: {len(found)} stretches of steps were found instead of {rounds} or more, or one without steps')
        return rates, {arm.name: arm.main_cpu / arm.ran for arm in started}
    finally:
        for arm in started:
            arm.kill()


class Turns:
    """Trainings that take turns for as long as somebody wants more rounds (`turns`)."""

    def __init__(self, arms, slice_seconds):
        self.arms, self.slice_seconds, self.rounds = arms, slice_seconds, 0

    def settle(self, steps=3, most=600):
        """Each alone until it has made some steps: compiling takes its time."""
        for arm in self.arms:
            for _ in range(int(most)):
                arm.go(1)
                if len(arm.step_times()) >= steps:
                    break
            else:
                sys.exit(f'{arm.name} made no {steps} steps in {most} s')

    def round(self):
        for arm in self.arms:
            arm.go(self.slice_seconds)
        self.rounds += 1

    def rates(self):
        """{arm's name: steps a second in each round}, of the rounds in which every arm had steps enough to tell."""
        each = [rates_of(arm.step_times(), self.slice_seconds)[-self.rounds:] for arm in self.arms]
        if any(len(found) < self.rounds for found in each):  # a slice without any step: rounds cannot be told apart
            return {arm.name: [] for arm in self.arms}
        whole = [n for n in range(self.rounds) if all(found[n] is not None for found in each)]
        return {arm.name: [found[n] for n in whole] for arm, found in zip(self.arms, each)}

    def peak_memory(self):
        """{arm's name: the most MB it had resident}."""
        peaks = {}
        for arm in self.arms:
            with open(f'/proc/{arm.process.pid}/status') as status:
                peaks[arm.name] = next(int(line.split()[1]) for line in status if line.startswith('VmHWM')) / 1024
        return peaks


@contextlib.contextmanager
def turns(arms, slice_seconds):
    """`arms` as for take_turns; each has settled when this begins."""
    started = []
    try:
        for make in arms:
            started.append(make())
            os.kill(started[-1].process.pid, signal.SIGSTOP)
        taking = Turns(started, slice_seconds)
        taking.settle()
        yield taking
    finally:
        for arm in started:
            arm.kill()


def cost(rates, of, against):
    """What arm `of` costs against arm `against`, in percent of mean throughput: median over the rounds with its interval."""
    median, low, high = interval([a / b for a, b in zip(rates[of], rates[against])])
    return 100 * (1 - median), 100 * (1 - high), 100 * (1 - low)


FEWEST, LEFT_OUT = 5, 3  # steps of a stretch; its first ones behind a measurement, which warm up


def stretch(steps, begin, end):
    """Of the (at, duration) in ns of the steps that ended within: their mean duration, and the part of the time that no step accounts for."""
    within = [(at, duration) for at, duration in steps if begin < at <= end]
    if len(within) < FEWEST:
        return None
    mean = statistics.mean(duration for _, duration in within)
    return mean, 1 - mean * (len(within) - 1) / (within[-1][0] - within[0][0])


def slower_within(steps, own, begin, end, earliest, latest):
    """Logarithm of how much longer a step takes between `begin` and `end` than beside, and the part of the time beside that no step accounts for. Of the
    (number, at, duration) in ns of `steps` those that `own` has are held against all of as long a time beside it: the first half against what lies before, the
    second against what lies behind, so that a machine that drifts adds to one what it takes from the other. Nothing where `earliest` to `latest`, between
    which nothing else is measured, has no room for that, or too few steps."""
    half = (end - begin) // 2
    behind = [at for _, at, _ in steps if at > end][LEFT_OUT:LEFT_OUT + 1]
    if begin - half < earliest or not behind or behind[0] + half > latest:
        return None
    every, counted = [(at, duration) for _, at, duration in steps], [(at, duration) for number, at, duration in steps if number in own]
    before, after = stretch(every, begin - half, begin), stretch(every, behind[0], behind[0] + half)
    first, second = stretch(counted, begin, begin + half), stretch(counted, end - half, end)
    if None in (before, after, first, second):
        return None
    return (math.log(first[0] / before[0]) + math.log(second[0] / after[0])) / 2, (before[1] + after[1]) / 2
