"""What the parts of packaging/gpu-check share: the options of this call, the time a part has left, and how a row is filled in or says why not.

A row of a part's table is a dict; its last two entries are 'state' (passed, measured, failed, not applicable, not run) and 'why'.
"""
import concurrent.futures
import dataclasses
import json
import os
import shutil
import subprocess
import time
import typing

import measure

OUT_OF_MEMORY, UNSUPPORTED = 6, 5  # exit codes of stepscope-cli that are answers, not failures
REFUSED = 3, 'cannot be used: '    # so is this one with these words: a switch's value and the others cannot be used together
TIME_OVER = "the part's time was over; call it alone with --only, or again where it was alone"
DEVICE = 'cuda:0'


@dataclasses.dataclass
class Part:
    id: str
    what: str
    seconds: int                # it may take
    plan: typing.Callable       # (setup) -> the commands
    run: typing.Callable        # (setup, deadline) -> the rows


class Deadline:
    def __init__(self, seconds):
        self._end = time.monotonic() + seconds

    def left(self):
        return max(0.0, self._end - time.monotonic())


class Setup:
    """What was asked for, and where the programs are."""

    def __init__(self, options, folder):
        self.cli, self.tests, self.python = [os.path.abspath(options.cli)], options.tests, options.python
        self.jobs, self.batches, self.pairs = options.jobs, options.batches, options.pairs
        self.seconds, self.source = options.seconds, options.source
        self.settled = {}  # of the parts that calls add rows to: keys of the rows that an earlier call has settled
        self.folder = folder  # of what this call leaves behind, removed at its end
        self.into = os.path.abspath(options.into)  # of what stays
        self.environment = {'XDG_CACHE_HOME': os.path.join(folder, 'cache'), 'XDG_DATA_HOME': os.path.join(folder, 'data')}
        if options.libraries:
            self.environment['LD_LIBRARY_PATH'] = ':'.join(filter(None, [options.libraries, os.environ.get('LD_LIBRARY_PATH')]))
        plugin = os.path.join(os.path.dirname(self.cli[0]), '../lib/stepscope/libstepscope_cuda.so')
        if os.path.exists(plugin):
            self.environment['STEPSCOPE_CUDA_PLUGIN'] = os.path.abspath(plugin)

    def output(self, command):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.environment}, timeout=120)
        if run.returncode != 0:
            raise measure.Failed(' '.join(command), run.returncode, run.stderr.strip())
        return run.stdout

    def switches(self, *settings):
        return json.loads(self.output([*self.cli, 'switches', '--json', '--preset', 'tiny-cpu', *words(settings)]))

    def train(self, train_words, database, timeout):
        return measure.train(self.cli, [*train_words, '--db', database], self.environment, timeout)

    def why_no_gpu(self):
        """Empty when Stepscope can use a GPU here."""
        device, = (entry for entry in self.switches() if entry['id'] == 'device')
        return device['refused'].get(DEVICE, '')


def words(settings):
    return [word for setting in settings for word in ('--set', setting)]


def tool(name):
    """A program of the CUDA toolkit, from PATH or from where toolkits are installed; empty when it is in neither."""
    places = [os.environ.get('PATH', ''), os.path.join(os.environ.get('CUDA_HOME', '/usr/local/cuda'), 'bin')]
    return shutil.which(name, path=':'.join(places)) or ''


def filled(row, deadline, work):
    """The row with what work(seconds left) adds to it, or with the reason why it adds nothing."""
    try:
        if deadline.left() == 0:
            return {**row, 'state': 'not run', 'why': TIME_OVER}
        return {**row, **work(deadline.left())}
    except measure.Failed as failed:
        states = {UNSUPPORTED: 'not applicable', OUT_OF_MEMORY: 'not run', REFUSED[0]: 'not applicable' if REFUSED[1] in failed.said else 'failed'}
        return {**row, 'state': states.get(failed.status, 'failed'), 'why': failed.said.rpartition('\n')[2].removeprefix('stepscope-cli: ')}
    except subprocess.CalledProcessError as failed:
        return {**row, 'state': 'failed', 'why': f'{os.path.basename(failed.cmd[0])} ended with {failed.returncode}'}
    except (subprocess.TimeoutExpired, concurrent.futures.CancelledError):
        return {**row, 'state': 'not run', 'why': TIME_OVER}
