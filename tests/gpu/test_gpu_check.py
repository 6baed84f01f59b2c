"""test_gpu_check.py CLI TESTS: packaging/gpu-check without a GPU. Its plan and its sentence are the real ones; where a part must run, stand_in.py
plays a GPU with the CPU. Reports of GoogleTest, of ncu and of earlier calls are given as they were written. Run by CTest."""
import concurrent.futures
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, 'tests/bench')]
import checking
import equivalence
import experiments
import kernel_tests
import machine
import measure
import report
import speed

CLI, TESTS = sys.argv[1:3]
PARTS = ['machine', 'tests', 'equivalence', 'compare', 'ladder', 'ab', 'sanitizer', 'launches']


def gpu_check(*words, cli=CLI):
    # A GPU that may be here is hidden, and so is its toolkit.
    hidden = {'CUDA_VISIBLE_DEVICES': '', 'PATH': '/usr/bin:/bin', 'CUDA_HOME': HERE, 'STAND_IN_FOR': CLI}
    return subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'packaging/gpu-check'), '--cli', cli, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, **hidden}, timeout=100)


class WithoutAGpu(unittest.TestCase):
    def test_the_plan_has_every_part_and_every_switch(self):
        plan = gpu_check('--dry-run')
        self.assertEqual(plan.returncode, 0, plan.stderr)
        lines = plan.stdout.splitlines()
        self.assertEqual([line.partition(':')[0] for line in lines if not line.startswith(' ')], [*PARTS, 'Lacking here'])
        self.assertRegex(lines[-1], r'^Lacking here: a GPU \(.+\); compute-sanitizer; ncu\.$')
        for entry in json.loads(subprocess.run([CLI, 'switches', '--json'], stdout=subprocess.PIPE, text=True, check=True).stdout):
            self.assertRegex(plan.stdout, f'--set {entry["id"]}=')

    def test_it_says_in_one_sentence_that_there_is_none_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            refused = gpu_check('--into', folder)
            self.assertEqual((refused.returncode, refused.stdout), (2, ''))
            self.assertRegex(refused.stderr, r'^gpu-check needs an NVIDIA GPU that Stepscope can use, and here is none: .+ Nothing was written\.\n$')
            self.assertEqual(os.listdir(folder), [])

    def test_a_question_on_the_gpu_is_not_applicable_without_one_and_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            refused = gpu_check('--only', 'ab', '--into', folder)
            self.assertEqual((refused.returncode, refused.stdout, os.listdir(folder)), (2, '', []))
            self.assertRegex(refused.stderr, r'^gpu-check needs an NVIDIA GPU that Stepscope can use, and here is none: .+\n$')
            # What `ab` itself says where gpu-check asks it all the same.
            setup = types.SimpleNamespace(cli=[CLI], folder=folder, environment={'CUDA_VISIBLE_DEVICES': '', 'XDG_DATA_HOME': folder})
            rows = experiments.run(setup, checking.Deadline(60))
        self.assertEqual([(row['question'], row['state']) for row in rows], [(name, 'not applicable') for name in experiments.SIDES])
        for row in rows:
            self.assertRegex(row['why'], '(?i)nvidia|gpu|cuda')

    def test_the_limits_add_up_to_what_the_readme_says(self):
        parts = (machine.PART, kernel_tests.TESTS, equivalence.PART, speed.COMPARE, speed.LADDER_PART, experiments.PART, kernel_tests.SANITIZER,
                 speed.LAUNCHES)
        seconds = {part.id: part.seconds for part in parts}
        self.assertEqual(list(seconds), PARTS)
        with open(os.path.join(HERE, 'README.md')) as file:
            readme = file.read()
        self.assertIn(f'their limits add up to {sum(seconds.values()) // 60} minutes', readme)
        calls = re.findall(r'^packaging/gpu-check --only ([a-z,]+) .*# at most (\d+) minutes', readme, re.MULTILINE)
        self.assertEqual({part for parts, _ in calls for part in parts.split(',')}, set(PARTS) - {'machine'})
        for parts, minutes in calls:
            self.assertEqual(int(minutes), math.ceil((seconds['machine'] + sum(seconds[part] for part in parts.split(','))) / 60), parts)
            self.assertLess(int(minutes), 10, parts)

    def test_a_part_that_is_none_is_refused_with_those_that_are(self):
        refused = gpu_check('--only', 'kernels')
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f'there is no part "kernels"; the parts are {", ".join(PARTS)}', refused.stderr)


class OnAStandIn(unittest.TestCase):
    def call(self, folder, *words):
        done = gpu_check('--into', folder, *words, cli=os.path.join(HERE, 'stand_in.py'))
        path, = glob.glob(os.path.join(folder, '*.json'))
        self.assertEqual(os.path.basename(path), 'stand-in-gpu-1.json', done.stderr)
        with open(path) as file, open(path.replace('.json', '.md')) as table:
            return done, json.load(file), table.read()

    def test_tests_that_found_no_gpu_are_not_run_and_later_calls_add_their_part(self):
        with tempfile.TemporaryDirectory() as folder:
            done, stored, table = self.call(folder, '--only', 'tests', '--tests', TESTS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            kernels = stored['parts']['tests']['rows'][0]
            self.assertEqual((kernels['program'], kernels['passed'], kernels['state']), ('test_cuda_kernels', 0, 'not run'))
            self.assertGreater(kernels['not run'], 5)
            self.assertIn('NVIDIA', kernels['why'])
            self.assertEqual({row['state'] for row in stored['parts']['tests']['rows']}, {'not run'})
            self.assertRegex(table, r'(?s)## sanitizer\nnot measured yet')
            done, stored, table = self.call(folder, '--only', 'sanitizer', '--tests', TESTS)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(list(stored['parts']), ['machine', 'tests', 'sanitizer'])
            self.assertEqual({row['why'] for row in stored['parts']['sanitizer']['rows']}, {kernel_tests.NO_SANITIZER})
            self.assertEqual(stored['machine']['compute capability'], '9.0')

    def test_a_part_that_fails_hides_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = os.path.join(folder, 'test_cuda_kernels')
            with open(broken, 'w') as file:
                file.write('#!/bin/sh\necho it broke\nexit 3\n')
            os.chmod(broken, 0o755)
            done, stored, table = self.call(folder, '--only', 'tests,sanitizer', '--tests', folder)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(stored['parts']['tests']['rows'][0]['why'], 'ended with 3: it broke')
            self.assertEqual(len(stored['parts']['sanitizer']['rows']), 2)
            self.assertNotIn(folder, table)


class Reading(unittest.TestCase):
    def test_a_refusal_and_too_little_memory_are_no_failures(self):
        states = {}
        for status in (5, 6, 9):
            def refused(left):
                raise measure.Failed('train', status, 'first line\nstepscope-cli: the reason.')
            row = checking.filled({'switch': 'x'}, checking.Deadline(9), refused)
            self.assertEqual(row['why'], 'the reason.')
            states[status] = row['state']
        self.assertEqual(states, {5: 'not applicable', 6: 'not run', 9: 'failed'})
        self.assertEqual(checking.filled({}, checking.Deadline(0), refused)['state'], 'not run')

    def test_a_value_that_the_others_rule_out_is_not_applicable_and_a_wrong_word_is_a_failure(self):
        for said, state in (('attention=sdpa-flash cannot be used: switch amp on.', 'not applicable'), ('batch-size cannot be "x"; it takes a number.', 'failed')):
            def refused(left):
                raise measure.Failed('train', 3, f'stepscope-cli: {said}')
            self.assertEqual(checking.filled({'switch': 'x'}, checking.Deadline(9), refused), {'switch': 'x', 'state': state, 'why': said})

    def test_googletest_counts_what_found_no_gpu_apart(self):
        tests = [{'name': 'A'}, {'name': 'B', 'failures': [{'failure': 'x'}]}, {'name': 'C', 'not_run': 'No NVIDIA driver is installed.'}]
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            json.dump({'testsuites': [{'testsuite': tests}]}, file)
            file.flush()
            self.assertEqual(kernel_tests.counted(file.name), (1, 1, ['No NVIDIA driver is installed.']))

    def test_ncu_lists_a_kernel_in_as_many_rows_as_it_has_metrics(self):
        said = ('==PROF== Connected\n{"session":0}\n"ID","Kernel Name","Metric Name","Metric Value"\n"0","gemm","gpu__time_duration.sum","8"\n'
                '"1","a, b","gpu__time_duration.sum","4"\n"1","a, b","launch__block_size","32"\n')
        self.assertEqual(speed.kernels_of(said), 2)
        self.assertEqual(speed.kernels_of('==WARNING== No kernels were profiled.\n'), 0)

    def launches(self, ncu):
        with unittest.mock.patch.object(subprocess, 'run', ncu), unittest.mock.patch.object(checking, 'tool', lambda name: name):
            rows = speed.run_launches(types.SimpleNamespace(cli=['stepscope-cli'], environment={}), checking.Deadline(60))
        self.assertEqual([row['rung'] for row in rows], [name for name, _ in speed.rungs()])
        return rows

    def test_a_captured_step_is_counted_by_its_kernels_and_by_what_the_host_launches(self):
        def ncu(command, **_):
            of = lambda word: command[command.index(word) + 1]
            a_step = 9 if 'cuda-graph=on' in command and of('--graph-profiling') == 'graph' else 410
            kernels = ''.join(f'"{n}","gemm","{of("--metrics")}","1"\n' for n in range(30 + a_step * int(of('--steps'))))
            return types.SimpleNamespace(returncode=0, stdout='"ID","Kernel Name","Metric Name","Metric Value"\n' + kernels, stderr='')

        rows = self.launches(ncu)
        self.assertEqual([(row['kernels a step'], row['host launches a step']) for row in rows], [(410, 410)] * (len(rows) - 1) + [(410, 9)])

    def test_what_ncu_does_not_list_is_a_failure_and_what_it_may_not_count_is_not_measured(self):
        rows = self.launches(lambda *_, **__: types.SimpleNamespace(returncode=0, stdout='==WARNING== No kernels were profiled.\n', stderr=''))
        self.assertEqual({(row['kernels a step'], row['state']) for row in rows}, {('not measured', 'failed')})
        asked = []
        def refuses(command, **_):
            asked.append(command)
            said = '==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission.\n'
            return types.SimpleNamespace(returncode=1, stdout=said, stderr='')
        rows = self.launches(refuses)
        self.assertEqual({(row['kernels a step'], row['state'], row['why']) for row in rows},
                         {('not measured', 'not run', 'not measured: ERR_NVGPUCTRPERM - The user does not have permission.')})
        self.assertEqual(len(asked), 1, 'it would say the same of every rung')

    def test_the_ladder_shows_flash_and_the_attention_that_is_chosen_and_goes_on_with_that(self):
        attention = [switches['attention'] for _, switches in speed.rungs()]
        self.assertIn('sdpa-flash', attention)
        self.assertEqual((attention[-1], speed.OURS['attention']), ('auto', 'auto'))
        self.assertEqual(speed.attention(['x', 'Attention that runs: sdpa-cudnn.']), 'sdpa-cudnn')

    def test_a_capture_says_its_kernels_and_a_failed_one_why(self):
        self.assertEqual(speed.captured(['x', 'CUDA graphs: 412 kernels a step in 2 launches, captured in 0.31 s.'])[0], '412 in 2 launches')
        kernels, why = speed.captured(['The step could not be captured into a CUDA graph, so it runs eagerly: out of memory.'])
        self.assertEqual(kernels, 'not measured')
        self.assertIn('out of memory', why)

    ANSWER = {'verdict': 'faster', 'why': '', 'ratio': 1.5, 'low': 1.25, 'high': 1.75, 'pairs': 40, 'machine_meanwhile': {'gpu_others_pct': None},
              'a': {'joules_per_token': 0.002}, 'b': {'joules_per_token': None},
              'waterfall': {'classes': [{'class': 'attention', 'a_ms': 3, 'b_ms': 2}, {'class': 'launch gaps', 'a_ms': 5.5, 'b_ms': 0}]}}

    def asked(self, answers):
        """Rows of the part `ab`, where the program's last lines are these, or its exit status and its sentence."""
        answers = iter(answers)
        def ab(command, **_):
            self.assertEqual(command[:2], ['stepscope-cli', 'ab'])
            self.assertIn('device=cuda:0', command)
            answer = next(answers)
            if isinstance(answer, tuple):
                return types.SimpleNamespace(returncode=answer[0], stdout='', stderr=answer[1])
            return types.SimpleNamespace(returncode=0, stdout='said before\n' + json.dumps(answer) + '\n', stderr='')
        with unittest.mock.patch.object(subprocess, 'run', ab):
            return experiments.run(types.SimpleNamespace(cli=['stepscope-cli'], environment={}, folder=HERE), checking.Deadline(60))

    def test_a_question_that_is_answered_has_its_verdict_the_gaps_between_kernels_and_the_energy(self):
        different, same = self.asked([self.ANSWER, {**self.ANSWER, 'verdict': 'equivalent', 'machine_meanwhile': {'gpu_others_pct': 12.4}}])
        self.assertEqual((different['state'], different['why']), ('measured', ''))
        self.assertEqual((different['verdict'], different['ratio (95 %)'], different['pairs']), ('faster', '1.500 (1.250 to 1.750)', 40))
        self.assertEqual((different['launch gaps ms, A'], different['launch gaps ms, B']), ('5.50', '0.00'))
        self.assertEqual((different['mJ a token, A'], different['mJ a token, B'], different['others on it']), ('2.000', 'unknown', 'unknown'))
        self.assertEqual((same['verdict'], same['state'], same['others on it']), ('equivalent', 'measured', '12 % of the samples'))
        self.assertEqual(list(different), list(same), 'one table')
        undecided = {**self.ANSWER, 'verdict': 'inconclusive', 'low': None, 'high': None}
        self.assertEqual({row['state'] for row in self.asked([undecided, undecided])}, {'measured'})

    def test_a_claim_of_a_side_beside_itself_and_steps_without_gaps_are_failures(self):
        different, same = self.asked([{**self.ANSWER, 'waterfall': {'classes': self.ANSWER['waterfall']['classes'][:1]}}, {**self.ANSWER, 'verdict': 'slower'}])
        self.assertEqual((different['state'], different['why']), ('failed', "the steps have no launch gaps: what was captured is not the GPU's"))
        self.assertEqual((same['state'], same['why']), ('failed', 'it calls a side slower than itself'))
        idle = {'classes': [{'class': 'launch gaps', 'a_ms': 0, 'b_ms': None}]}
        different, same = self.asked([{**self.ANSWER, 'waterfall': None}, {**self.ANSWER, 'verdict': 'equivalent', 'waterfall': idle}])
        self.assertEqual((different['state'], different['why']), ('failed', 'nothing says where the time of the steps went'))
        self.assertEqual(same['state'], 'failed')
        nothing = {**self.ANSWER, 'verdict': 'inconclusive', 'pairs': 0, 'why': 'The budget was spent.'}
        self.assertEqual({row['state'] for row in self.asked([nothing, nothing])}, {'failed'})
        rows = self.asked([(9, 'stepscope-cli: it broke.'), (6, 'stepscope-cli: too little memory.')])
        self.assertEqual([(row['state'], row['why']) for row in rows], [('failed', 'it broke.'), ('not run', 'too little memory.')])

    def test_losses_are_compared_one_by_one_in_float32_and_by_their_means_in_16_bits(self):
        run = lambda shift: {'log': [{'loss': 2 + shift * (-1) ** n} for n in range(100)], 'val_loss': None}
        for precision, bound, wanted in (('off', equivalence.TIGHT, 1e-3), ('bf16', equivalence.LOOSE, 0)):
            distance, allowed = equivalence.loss_distance(equivalence.Case('fusion', 'kernels', precision, True), run(1e-3), run(0))
            self.assertAlmostEqual(distance, wanted, places=9)
            self.assertEqual(allowed, bound)

    def test_a_row_that_fails_in_float32_says_how_far_plain_runs_are_apart(self):
        runs = types.SimpleNamespace()
        def losses(settings, again=False):
            shift = 1e-4 if again else 1e-3 if settings['attention'] == 'manual' else 1e-2 if settings['fusion'] == 'kernels' else 0
            run = {'log': [{'loss': 2 + shift} for _ in range(100)], 'val_loss': None}
            return types.SimpleNamespace(result=lambda: (run, ['Attention that runs: sdpa-math.']))
        runs.losses = lambda settings, again=False: losses({'attention': 'auto', **settings}, again)
        runs.gradients = lambda settings, again=False: types.SimpleNamespace(result=lambda: {'wte': [1.0, 2.0]})
        case = equivalence.Case('fusion', 'kernels', 'off', True)
        row = equivalence.judged(case, runs)
        self.assertEqual((row['state'], row['loss apart']), ('failed', '1.0e-02'))
        self.assertEqual(row['why'], 'the losses differ; plain runs there are apart: the same twice 1.0e-04, gradients 0.0e+00; '
                                     'attention=manual 1.0e-03, gradients 0.0e+00')
        def late(settings, again=False):
            if again:
                raise concurrent.futures.CancelledError
            return losses({'attention': 'auto', **settings}, again)
        runs.losses = late
        self.assertIn('the same twice not measured; attention=manual 1.0e-03', equivalence.judged(case, runs)['why'])

    def test_a_switch_that_could_silently_not_act_must_say_that_it_did(self):
        self.assertEqual(equivalence.Case('cuda-graph', 'on', 'off', True).expected(), 'CUDA graphs: ')
        self.assertEqual(equivalence.Case('attention', 'sdpa-flash', 'bf16', True).expected(), 'Attention that runs: sdpa-flash.')
        self.assertEqual(equivalence.Case('fusion', 'step', 'off', True).expected(), 'fusion=step does not carry device=cuda:0: ')

    def test_moments_in_8_bits_are_compared_with_themselves_on_the_cpu(self):
        case = equivalence.Case('optimizer', '8-bit', 'off', False)
        self.assertEqual(case.reference(), {**case.settings(), 'device': 'cpu'})
        run = {'log': [{'loss': 2}] * 100, 'val_loss': None}
        self.assertEqual(equivalence.loss_distance(case, run, run)[1], equivalence.LOOSE)

    def test_batches_of_an_earlier_call_are_kept_where_this_one_did_not_get_to_them(self):
        part = lambda source, *rows: {'source': source, 'rows': [{'batch': batch, 'state': state, 'ms': ms} for batch, state, ms in rows]}
        columns = report.SPREAD['compare']
        earlier, now = part('a', (16, 'measured', 1), (1, 'not run', 0)), part('a', (16, 'not run', 0), (64, 'measured', 2), (1, 'not run', 0))
        self.assertEqual([(row['batch'], row['ms']) for row in report.with_earlier(now, earlier, columns)['rows']], [(1, 0), (16, 1), (64, 2)])
        self.assertEqual(report.with_earlier(now, {**earlier, 'source': 'b'}, columns), now)


class CompareInSeveralCalls(unittest.TestCase):
    def call(self, settled, seconds_a_batch):
        """{batch: state} of a call in which every batch takes as long."""
        clock = types.SimpleNamespace(now=speed.COMPARE.seconds)
        clock.left = lambda: max(0, clock.now)

        class Pairs:
            def __init__(self, setup, both, batch):
                pass

            def take(self, deadline):
                clock.now -= seconds_a_batch
                if clock.now < 0:
                    raise subprocess.TimeoutExpired('peer', 0)

            def row(self):
                return {'state': 'measured', 'why': ''}

        setup = types.SimpleNamespace(folder=HERE, into='/nowhere', batches=[64, 1, 16, 32], settled={'compare': settled})
        with unittest.mock.patch.object(speed, 'Pairs', Pairs), unittest.mock.patch.dict(os.environ), \
                unittest.mock.patch.object(speed, 'contest', lambda *_: types.SimpleNamespace(init=HERE)):
            os.environ.pop('TORCHINDUCTOR_CACHE_DIR', None)
            rows = speed.run_compare(setup, clock)
            self.assertEqual(os.environ['TORCHINDUCTOR_CACHE_DIR'], '/nowhere/inductor-cache')
        return {row['batch']: row['state'] for row in rows}, clock.left()

    def test_a_batch_that_would_not_come_to_its_end_is_left_to_the_next_call_which_goes_on_with_it(self):
        states, left = self.call(set(), 300)
        self.assertEqual(states, {64: 'measured', 1: 'not run', 16: 'not run', 32: 'not run'})
        self.assertEqual(left, 180, 'no time was spent on what could not be finished')
        self.assertEqual(self.call({(64,)}, 300)[0], {1: 'measured', 16: 'not run', 32: 'not run'})
        self.assertEqual(self.call({(64,), (1,)}, 150)[0], {16: 'measured', 32: 'measured'})

    def test_a_round_that_the_time_breaks_off_does_not_count_and_takes_none_of_the_whole_ones_with_it(self):
        for broken, rounds in ((11, 3), (7, 1), (5, 1), (4, None), (1, None)):
            runs = []
            def run(*_, timeout, **__):
                runs.append(timeout)
                if len(runs) > broken:
                    raise subprocess.TimeoutExpired('run', timeout)
                return 10.0, [2.0], 100

            both = types.SimpleNamespace(a=types.SimpleNamespace(batch=0), ours=run, peer=run)
            pairs = speed.Pairs(types.SimpleNamespace(folder=HERE, environment={}, pairs=3), both, 16)
            with unittest.mock.patch.object(measure, 'log_lines', lambda _: ['CUDA graphs: 412 kernels a step in 2 launches, captured in 0.31 s.']):
                if rounds is None:
                    self.assertRaises(subprocess.TimeoutExpired, pairs.take, checking.Deadline(60))
                    continue
                pairs.take(checking.Deadline(60))
            self.assertEqual((pairs.row()['rounds'], pairs.row()['state']), (rounds, 'measured'))


    def row_of(self, ours, float32, bf16):
        both = types.SimpleNamespace(a=types.SimpleNamespace(batch=0), ours=lambda *_, **__: (10.0, ours, 100),
                                     peer=lambda rungs, *_, **__: (20.0, {'fp32,flash': float32, 'bf16,flash': bf16}.get(rungs, [99.0, 99.0]), 100))
        pairs = speed.Pairs(types.SimpleNamespace(folder=HERE, environment={}, pairs=1), both, 16)
        with unittest.mock.patch.object(measure, 'log_lines', lambda _: ['CUDA graphs: 412 kernels a step in 2 launches, captured in 0.31 s.']):
            pairs.take(checking.Deadline(60))
        return pairs.row()

    def test_losses_are_held_against_float32_and_may_be_as_far_from_it_as_twice_the_peers_own_bf16(self):
        self.assertEqual(self.row_of([10.0, 9.01], [10.0, 9.0], [10.0, 9.0])['state'], 'measured')
        self.assertEqual(self.row_of([10.0, 9.03], [10.0, 9.0], [10.0, 9.0])['state'], 'failed')
        self.assertEqual(self.row_of([10.0, 9.15], [10.0, 9.0], [10.0, 9.08])['state'], 'measured')
        row = self.row_of([10.0, 9.17], [10.0, 9.0], [10.0, 9.08])
        self.assertEqual((row['state'], row['losses from float32'], row["the peer's bf16 from it"]), ('failed', '1.7e-01', '8.0e-02'))


class EquivalenceInSeveralCalls(unittest.TestCase):
    MACHINE = {'gpu': 'Stand-in GPU 1'}
    CATALOGUE = [{'id': 'zero-grad', 'group': 'Optimizer', 'values': ['set-to-none', 'zero'], 'default': 'set-to-none'},
                 {'id': 'fusion', 'group': 'Kernels', 'values': ['off', 'kernels', 'step'], 'default': 'off'}]
    ROWS = [('zero-grad=zero', 'float32'), *((f'fusion={value}', precision) for precision in ('float32', 'bf16', 'fp16') for value in ('kernels', 'step'))]

    def call(self, folder, source, time_over_for, again=False):
        """The cases that were tried; runs of those named find the time over, all others are refused."""
        tried = set()

        def train(words, database, timeout):
            case, = [case for case in equivalence.cases(self.CATALOGUE) if case.settings() == dict(word.split('=', 1) for word in words if '=' in word)] or [None]
            if case is not None:
                tried.add(tuple(case.names().values()))
                if tuple(case.names().values()) in time_over_for:
                    raise concurrent.futures.CancelledError
            raise measure.Failed('train', checking.UNSUPPORTED, 'stepscope-cli: the reason.')

        settled = set() if again else report.settled(folder, self.MACHINE, 'equivalence', source)
        setup = types.SimpleNamespace(jobs=1, folder=folder, settled={'equivalence': settled}, switches=lambda: self.CATALOGUE, train=train)
        part = {'what': '', 'date': '', 'seconds': 0, 'source': source, 'command': '', 'rows': equivalence.run(setup, checking.Deadline(60))}
        report.write(folder, self.MACHINE, {'equivalence': part}, PARTS, again)
        return tried

    def states(self, folder):
        rows = report.stored_parts(report.json_path(folder, self.MACHINE))['equivalence']['rows']
        self.assertEqual([(row['switch'], row['precision']) for row in rows], self.ROWS)
        return [row['state'] for row in rows]

    def test_a_second_call_goes_on_with_what_the_first_did_not_get_to(self):
        with tempfile.TemporaryDirectory() as folder:
            late = set(self.ROWS[2:4])
            self.assertEqual(self.call(folder, 'a', late), set(self.ROWS))
            self.assertEqual(self.states(folder).count('not run'), 2)
            self.assertEqual(self.call(folder, 'a', set()), late)
            self.assertEqual(set(self.states(folder)), {'not applicable'})
            self.assertEqual(self.call(folder, 'a', set()), set())
            self.assertEqual(set(self.states(folder)), {'not applicable'})

    def test_another_source_or_again_tries_everything(self):
        with tempfile.TemporaryDirectory() as folder:
            self.call(folder, 'a', set())
            self.assertEqual(self.call(folder, 'b', set()), set(self.ROWS))
            self.assertEqual(self.call(folder, 'b', set(), again=True), set(self.ROWS))

    def test_what_failed_is_tried_again_and_its_row_stays_until_it_was(self):
        row = lambda state: {'switch': 'fusion=step', 'precision': 'bf16', 'state': state, 'why': ''}
        part = lambda state: {'source': 'a', 'rows': [row(state)]}
        columns = report.SPREAD['equivalence']
        with tempfile.TemporaryDirectory() as folder:
            with open(report.json_path(folder, self.MACHINE), 'w') as file:
                json.dump({'parts': {'equivalence': part('failed')}}, file)
            self.assertEqual(report.settled(folder, self.MACHINE, 'equivalence', 'a'), set())
        self.assertEqual(report.with_earlier(part('not run'), part('failed'), columns)['rows'], [row('failed')])
        self.assertEqual(report.with_earlier(part('passed'), part('failed'), columns)['rows'], [row('passed')])


unittest.main(argv=sys.argv[:1])
