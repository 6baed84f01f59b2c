#!/usr/bin/env python3
"""A stepscope-cli of a machine with a GPU, played by the CPU: test_gpu_check.py gives it to packaging/gpu-check as --cli.

The real program (STAND_IN_FOR) is called with the CPU as device, and what it says of device and machine is changed into what it says with a GPU.
"""
import contextlib
import json
import os
import sqlite3
import subprocess
import sys

words = [word.replace('device=cuda:0', 'device=cpu') for word in sys.argv[1:]]
run = subprocess.run([os.environ['STAND_IN_FOR'], *words], stdout=subprocess.PIPE, text=True)
if words[0] == 'switches':
    switches = json.loads(run.stdout)
    for entry in switches:
        if entry['id'] == 'device':
            entry |= {'applicable': True, 'refused': {}}
    print(json.dumps(switches))
else:
    print(run.stdout, end='')
if '--db' in words:
    with contextlib.closing(sqlite3.connect(words[words.index('--db') + 1])) as database, database:
        machine = json.loads(database.execute('SELECT machine FROM sessions').fetchone()[0])
        machine |= {'gpus': [{'name': 'Stand-in GPU 1', 'memory': 80_000_000_000, 'compute_major': 9, 'compute_minor': 0}], 'driver': '580.1'}
        database.execute('UPDATE sessions SET machine = ?', [json.dumps(machine)])
sys.exit(run.returncode)
