"""Parts `tests` and `sanitizer` of packaging/gpu-check: the GoogleTest programs that need a GPU, alone and under compute-sanitizer.

A test that found no GPU passes, for it then holds the sentence that says so, and notes the property "not_run": counted here, never as passed.
"""
import glob
import json
import os
import subprocess

import checking

PROGRAMS = ('test_cuda_kernels', 'test_cuda_hooks', 'test_cuda_flips')
KERNELS, FILTER = 'test_cuda_kernels', '--gtest_filter=CudaKernels.*'
TOOLS = {'memcheck': ['--leak-check', 'no'], 'racecheck': ['--racecheck-report', 'all']}
FOUND = 9  # exit status of compute-sanitizer when it found something
NO_SANITIZER = 'compute-sanitizer is not installed'


def program(setup, name):
    """Path of a test program, or the name alone where it was not built."""
    found = [path for path in glob.glob(os.path.join(setup.tests, '**', name), recursive=True) if os.path.isfile(path)]
    return os.path.abspath(found[0]) if found else name


def sanitized(setup, tool):
    return [checking.tool('compute-sanitizer') or 'compute-sanitizer', '--tool', tool, *TOOLS[tool], '--error-exitcode', str(FOUND), program(setup, KERNELS), FILTER]


def counted(report):
    """(passed, failed, why not run of each that was not) of GoogleTest's JSON."""
    with open(report) as file:
        tests = [test for suite in json.load(file)['testsuites'] for test in suite['testsuite']]
    failed = [test for test in tests if test.get('failures')]
    idle = [test['not_run'] for test in tests if not test.get('failures') and 'not_run' in test]
    return len(tests) - len(failed) - len(idle), len(failed), idle


def run_program(setup, name, command, left):
    """Runs a test program, perhaps inside a tool; what its row says."""
    if not os.path.isabs(program(setup, name)):
        return {'state': 'not run', 'why': f'it is not under {setup.tests}; build it or name its folder with --tests'}
    report = os.path.join(setup.folder, 'gtest.json')
    if os.path.exists(report):
        os.remove(report)
    run = subprocess.run([*command, f'--gtest_output=json:{report}'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=left,
                         env={**os.environ, **setup.environment})
    summary = next((line.strip('= ') for line in reversed(run.stdout.splitlines()) if 'SUMMARY' in line), '')
    if not os.path.exists(report):
        return {'state': 'failed', 'why': f'ended with {run.returncode}: {summary or run.stdout.strip()[-300:]}'}
    passed, failed, idle = counted(report)
    state = 'failed' if failed or run.returncode else 'not run' if idle or not passed else 'passed'
    return {'passed': passed, 'failed': failed, 'not run': len(idle), 'state': state, 'why': summary or (idle[0] if idle else '')}


def run_tests(setup, deadline):
    return [checking.filled({'program': name, 'passed': 0, 'failed': 0, 'not run': 0}, deadline, lambda left: run_program(setup, name, [program(setup, name)], left))
            for name in PROGRAMS]


def run_sanitizer(setup, deadline):
    row = lambda tool: {'tool': tool, 'passed': 0, 'failed': 0, 'not run': 0}
    if not checking.tool('compute-sanitizer'):
        return [{**row(tool), 'state': 'not run', 'why': NO_SANITIZER} for tool in TOOLS]
    return [checking.filled(row(tool), deadline, lambda left: run_program(setup, KERNELS, sanitized(setup, tool), left)) for tool in TOOLS]


TESTS = checking.Part('tests', 'the tests of the CUDA kernels and of LibTorch\'s CUDA half', 60,
                      lambda setup: [[program(setup, name)] for name in PROGRAMS], run_tests)
SANITIZER = checking.Part('sanitizer', 'the same kernels under compute-sanitizer', 240, lambda setup: [sanitized(setup, tool) for tool in TOOLS], run_sanitizer)
