"""packaging/setup.sh and packaging/run in a miniature project: a folder with copies of both, a short list of packages, and stand-ins for apt-get,
dpkg-query, cmake, ninja and both programs that note how they were called. Nothing is installed or built. Run by CTest."""
import os
import shutil
import subprocess
import tempfile
import unittest

PACKAGING = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'packaging')
LIST = '''# name, then why
here                     is installed
?bonus                   can be done without
old|new                  one of the two
needed                   cannot
'''
NO_DISPLAY = '#!/bin/sh\nfor word; do [ "$word" = --can-show ] && { echo "There is no display." >&2; exit 3; }; done\n'


class Miniature(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='stepscope-packaging-')
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for name in ('setup.sh', 'run', 'requirements.txt'):
            os.makedirs(self.path('packaging'), exist_ok=True)
            shutil.copy(os.path.join(PACKAGING, name), self.path('packaging', name))
        self.write('packaging/apt-packages.txt', LIST)
        self.stand_in('apt-get', 'case " $* " in *" install "*" bonus "*|*" install "*" unknown "*) exit 100;; esac')
        self.stand_in('dpkg-query', '[ "$4" = here ] && echo installed')
        self.stand_in('sudo', 'exec "$@"')
        self.available('new', 'needed')

    def path(self, *names):
        return os.path.join(self.root, *names)

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w') as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def stand_in(self, name, does=''):
        self.write(f'bin/{name}', f'#!/bin/sh\necho "{name} $*" >>"{self.path("calls")}"\n{does}\n', 0o755)

    def available(self, *packages):
        self.stand_in('apt-cache', f'case "$2" in {"|".join(packages)}) exit 0;; esac; exit 100')

    def calls(self):
        if not os.path.exists(self.path('calls')):
            return []
        with open(self.path('calls')) as file:
            return file.read().splitlines()

    def call(self, *words):
        # What packaging/test sets for the real build, such as STEPSCOPE_PARQUET, asks for nothing here.
        environment = {name: value for name, value in os.environ.items() if not name.startswith('STEPSCOPE_')}
        environment['PATH'] = f'{self.path("bin")}:/usr/bin:/bin'
        return subprocess.run(words, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, timeout=60)

    def setup(self, functions):
        return self.call('bash', '-c', f'. packaging/setup.sh; lockBuild; {functions}')

    def installed(self):
        return [line.partition('--no-install-recommends ')[2].split() for line in self.calls() if line.startswith('apt-get') and ' install ' in line]


class Packages(Miniature):
    def test_what_is_missing_is_installed_and_the_first_that_is_there_of_two(self):
        self.available('bonus', 'new', 'needed')
        self.stand_in('apt-get')
        done = self.setup('installAptPackages')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.installed(), [['new', 'needed'], ['bonus']])
        self.assertRegex(done.stderr, r'installing packages.*\n  bonus +can be done without\n  old +one of the two\n  needed +cannot\n')
        self.assertEqual(self.setup('installAptPackages').stderr, '', 'nothing to do, nothing said')

    def test_one_that_can_be_done_without_is_passed_over_with_a_sentence(self):
        done = self.setup('installAptPackages')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.installed(), [['new', 'needed']])
        self.assertIn('apt-get knows no package bonus: going on without it\n', done.stderr)
        self.assertEqual(self.setup('installAptPackages').stderr, '', 'and not spoken of again')

    def test_one_that_can_be_done_without_takes_nothing_else_with_it_when_it_cannot_be_fetched(self):
        self.available('bonus', 'new', 'needed')
        done = self.setup('installAptPackages')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.installed(), [['new', 'needed'], ['bonus']])
        self.assertIn('apt-get could not install bonus: going on without it\n', done.stderr)

    @unittest.skipIf(os.geteuid() == 0, 'root needs no sudo')
    def test_without_sudo_only_what_is_needed_ends_it(self):
        no_sudo = 'command() { [[ $* != *sudo* ]] && builtin command "$@"; }; installAptPackages'
        self.assertIn('Ask an administrator to run: apt-get install', self.setup(no_sudo).stderr)
        self.write('packaging/apt-packages.txt', LIST.split('old|new')[0])
        done = self.setup(no_sudo)
        self.assertEqual((done.returncode, self.installed()), (0, []), done.stderr)
        self.assertIn('going on without bonus: apt-get needs root to install it, and there is no sudo\n', done.stderr)

    def test_where_only_that_one_is_missing_nothing_is_installed(self):
        self.write('packaging/apt-packages.txt', LIST.split('old|new')[0])
        done = self.setup('installAptPackages')
        self.assertEqual((done.returncode, self.installed()), (0, []), done.stderr)

    def test_one_that_is_needed_and_nowhere_to_be_had_ends_it(self):
        self.write('packaging/apt-packages.txt', 'unknown  cannot be done without\nneeded  neither\n')
        for _ in range(2):
            done = self.setup('installAptPackages')
            self.assertEqual(done.returncode, 1)
            self.assertIn('apt-get could not install these packages', done.stderr)
        self.assertEqual(self.installed(), 2 * [['unknown', 'needed']], 'tried again the next time')

    def test_the_real_list_leaves_out_no_more_than_the_text(self):
        with open(os.path.join(PACKAGING, 'apt-packages.txt')) as lines:
            self.assertEqual([line.split()[0] for line in lines if line.startswith('?')], ['?bible-kjv'])


class UpToDate(Miniature):
    """Everything there already, by the stamps that setup.sh leaves."""

    def setUp(self):
        super().setUp()
        for name in ('cmake', 'pip', 'ninja', 'stepscope-cli'):
            self.stand_in(name)
        shutil.move(self.path('bin/stepscope-cli'), self.path('cli'))
        os.makedirs(self.path('build/release/app/cli'))
        shutil.move(self.path('cli'), self.path('build/release/app/cli/stepscope-cli'))
        self.program('#!/bin/sh\n')
        self.write('build/release/CMakeCache.txt', f'CMAKE_HOME_DIRECTORY:INTERNAL={os.path.realpath(self.root)}\n')
        self.write('build/release/build.ninja', '')
        self.write('CMakePresets.json', '{}')
        made = self.setup('cp packaging/apt-packages.txt "$stamps"; mkdir -p "$venv"; [[ -x $python ]] || python=$(command -v python3); '
                          'for set in base texts driver nvcc; do printf "%s\\n%s\\n" "$(readlink -f "$python")" "$(pinsOf $set)" >"$venv/.stepscope-$set"; done; '
                          'touch "$stamps/configured-release"')
        self.assertEqual(made.stderr, '')

    def program(self, script):
        note = f'echo "stepscope $* [${{QT_QPA_PLATFORM-}}]" >>"{self.path("calls")}"\n'
        self.write('build/release/app/gui/stepscope', script + note, 0o755)

    def run_it(self, *words):
        return self.call('packaging/run', *words)

    def test_it_says_nothing_and_asks_only_ninja(self):
        done = self.run_it('--build-only')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
        self.assertEqual([line.split()[0] for line in self.calls()], ['ninja'])

    def test_it_becomes_the_window_where_one_can_be_shown(self):
        self.assertEqual(self.run_it('--demo').returncode, 0)
        self.assertRegex(self.calls()[-1], r'^stepscope --demo \[')

    def test_without_a_display_the_demonstration_runs_in_the_terminal_and_says_why(self):
        self.program(NO_DISPLAY)
        done = self.run_it('--demo', '--db=s.db', '--set', 'lr=0.1')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls()[-1], 'stepscope-cli train --preset tiny-cpu --db s.db --set lr=0.1')
        self.assertEqual(done.stderr, 'stepscope: There is no display. The same demonstration runs in the terminal instead.\n')

    def test_without_a_display_what_needs_the_window_is_refused_by_name(self):
        self.program(NO_DISPLAY)
        done = self.run_it('--open=3')
        self.assertEqual((done.returncode, done.stderr), (2, 'stepscope: --open needs the window: There is no display.\n'))
        self.assertFalse([line for line in self.calls() if line.startswith('stepscope')])

    def test_without_a_display_a_picture_is_made_without_a_screen(self):
        self.program(NO_DISPLAY)
        self.assertEqual(self.run_it('--screenshot', 'window.png').returncode, 0)
        self.assertEqual(self.calls()[-1], 'stepscope --screenshot window.png [offscreen]')

    def test_wrong_words_are_answered_by_the_program(self):
        self.program('#!/bin/sh\n[ "$1" = --can-show ] && exit 2\n')
        self.run_it('--wrong')
        self.assertRegex(self.calls()[-1], r'^stepscope --wrong \[')


if __name__ == '__main__':
    unittest.main()
