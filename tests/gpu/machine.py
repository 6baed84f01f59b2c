"""Part `machine` of packaging/gpu-check: one step on the GPU, what the program then stored about the machine, and which switches it refuses there."""
import json
import os
import subprocess

import checking
import measure


def described(setup):
    """What stands at the head of the tables, from a run of one step."""
    database = os.path.join(setup.folder, 'machine.db')
    setup.train(step_words(), database, PART.seconds)
    (text,), = measure.stored(database, 'SELECT machine FROM sessions')
    stored = json.loads(text)
    gpu = stored['gpus'][0]
    about = {'gpu': gpu['name'], 'memory': f'{gpu["memory"] / 1e9:.1f} GB', 'compute capability': f'{gpu["compute_major"]}.{gpu["compute_minor"]}',
             'driver': stored['driver'], 'LibTorch': stored['libtorch'], 'Stepscope': stored['stepscope'], 'system': stored['system'],
             'processor': f'{stored["cpu"]}, {stored["cores"]} cores'}
    if setup.python:
        asked = subprocess.run([setup.python, '-c', 'import torch; print(torch.__version__)'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        about['PyTorch of the comparison'] = asked.stdout.strip() or 'not found'
    return about


def step_words():
    return ['--preset', 'tiny-cpu', '--data', 'random', '--steps', '1', *checking.words([f'device={checking.DEVICE}'])]


def run(setup, deadline):
    rows = [{'switch': f'device={checking.DEVICE}', 'state': 'passed', 'why': 'a step ran'}]
    for entry in setup.switches(f'device={checking.DEVICE}'):
        if not entry['applicable'] and not entry['refused']:
            rows.append({'switch': entry['id'], 'state': 'not applicable', 'why': entry['reason']})
        rows += [{'switch': f'{entry["id"]}={value}', 'state': 'not applicable', 'why': why} for value, why in entry['refused'].items()]
    return rows


PART = checking.Part('machine', 'one step, and what is refused here beside the plain settings', 60,
                     lambda setup: [[*setup.cli, 'train', *step_words()], [*setup.cli, 'switches', '--json', *checking.words([f'device={checking.DEVICE}'])]], run)
