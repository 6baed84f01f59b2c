"""Part `ab` of packaging/gpu-check: the command `ab` with both sides on the GPU, once with two settings and once with one of them twice.

What is held is what tests elsewhere can only play: that blocks are timed and judged there, that captured steps are told by kind of work with the gaps
between kernels among them, and that a side beside itself is nowhere claimed to be faster. fusion=step runs as fusion=kernels on a GPU. A batch so small
that the host's launches are what takes the time leaves gaps. What NVML does not tell of energy and of other programs is no failure.
"""
import json
import os
import subprocess

import checking
import measure

BUDGET = 60
CLAIMS, ANSWERS = ('faster', 'slower'), ('faster', 'slower', 'equivalent', 'inconclusive')
GAPS = 'launch gaps'
SIDES = {'fusion=off beside fusion=step': ['--a', 'fusion=off', '--b', 'fusion=step'], 'a side beside itself': ['--aa']}
SETTINGS = {'device': checking.DEVICE, 'data': 'random', 'amp': 'bf16', 'batch-size': 1, 'context': 1024, 'validation-every': 0}
EMPTY = {'verdict': '', 'ratio (95 %)': '', 'pairs': '', f'{GAPS} ms, A': '', f'{GAPS} ms, B': '', 'mJ a token, A': '', 'mJ a token, B': '', 'others on it': ''}


def ab(setup, sides, database):
    settings = checking.words(f'{key}={value}' for key, value in SETTINGS.items())
    return [*setup.cli, 'ab', '--preset', 'gpt2-small', *settings, *sides, '--budget', str(BUDGET), '--json', '--db', database]


def shown(value, times=1, places=3, unknown='unknown'):
    return unknown if value is None else f'{times * value:.{places}f}'


def judged(said, same):
    """What the last line of `ab --json` comes to as a row."""
    waterfall = said['waterfall']
    gaps = next((one for one in (waterfall or {'classes': []})['classes'] if one['class'] == GAPS), None)
    problems = [] if said['verdict'] in ANSWERS and said['pairs'] > 0 else [f'no answer: {said["verdict"]} after {said["pairs"]} pairs: {said["why"]}']
    if waterfall is None:
        problems.append('nothing says where the time of the steps went')
    elif gaps is None or not (gaps['a_ms'] or 0) + (gaps['b_ms'] or 0) > 0:
        problems.append(f'the steps have no {GAPS}: what was captured is not the GPU\'s')
    if same and said['verdict'] in CLAIMS:
        problems.append(f'it calls a side {said["verdict"]} than itself')
    others = said['machine_meanwhile']['gpu_others_pct']
    return {'verdict': said['verdict'], 'ratio (95 %)': f'{shown(said["ratio"])} ({shown(said["low"])} to {shown(said["high"])})', 'pairs': said['pairs'],
            f'{GAPS} ms, A': shown(gaps and gaps['a_ms'], places=2), f'{GAPS} ms, B': shown(gaps and gaps['b_ms'], places=2),
            'mJ a token, A': shown(said['a']['joules_per_token'], 1e3), 'mJ a token, B': shown(said['b']['joules_per_token'], 1e3),
            'others on it': 'unknown' if others is None else f'{others:.0f} % of the samples',
            'state': 'failed' if problems else 'measured', 'why': '; '.join(problems)}


def run(setup, deadline):
    def ask(n, sides, left):
        run = subprocess.run(ab(setup, sides, os.path.join(setup.folder, f'ab-{n}.db')), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, **setup.environment}, timeout=left)
        if run.returncode != 0:
            raise measure.Failed('ab', run.returncode, run.stderr.strip())
        return judged(json.loads(run.stdout.strip().split('\n')[-1]), sides == ['--aa'])

    return [checking.filled({'question': name, **EMPTY}, deadline, lambda left: ask(n, sides, left)) for n, (name, sides) in enumerate(SIDES.items())]


PART = checking.Part('ab', 'two settings in turns on the GPU, and one beside itself: verdict, where the time went, energy', 180,
                     lambda setup: [ab(setup, sides, f'FOLDER/ab-{n}.db') for n, sides in enumerate(SIDES.values())], run)
