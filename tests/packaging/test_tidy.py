"""packaging/tidy: which commit changes are counted from, and what it says where there is no main line of that name. Repositories of a few empty
commits; nothing is compiled. Run by CTest."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

TIDY = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'packaging', 'tidy')


def loaded():
    loader = importlib.machinery.SourceFileLoader('tidy', TIDY)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('tidy', loader))
    loader.exec_module(module)
    return module


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='stepscope-tidy-')
        self.addCleanup(folder.cleanup)
        # Where git is called from a hook, it names that repository to everybody.
        clean = {name: value for name, value in os.environ.items() if not name.startswith('GIT_') and name != 'STEPSCOPE_TIDY_BASE'}
        patched = mock.patch.dict(os.environ, clean, clear=True)
        patched.start()
        self.addCleanup(patched.stop)
        self.tidy = loaded()
        self.tidy.ROOT = folder.name
        self.git('init', '--quiet', '--initial-branch=main')
        self.commit('first')

    def git(self, *words):
        return subprocess.run(['git', '-C', self.tidy.ROOT, '-c', 'user.name=a', '-c', 'user.email=a@b', *words],
                              check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, words):
        self.git('commit', '--quiet', '--allow-empty', '-m', words)
        return self.git('rev-parse', 'HEAD')

    def test_the_main_line_is_taken_where_it_is_known(self):
        main = self.git('rev-parse', 'HEAD')
        self.git('update-ref', 'refs/remotes/origin/main', main)
        self.commit('second')
        self.commit('third')
        self.assertEqual(self.tidy.base(), (main, ''))
        with mock.patch.dict(os.environ, {'STEPSCOPE_TIDY_BASE': 'another'}):
            self.assertEqual(self.tidy.base(), ('another', ''))

    def test_without_one_the_branch_main_stands_in_and_that_is_said(self):
        main = self.git('rev-parse', 'HEAD')
        self.git('checkout', '--quiet', '-b', 'work')
        self.commit('second')
        self.commit('third')
        commit, said = self.tidy.base()
        self.assertEqual(commit, main)
        self.assertIn('no main line', said)
        self.assertIn('the branch main', said)

    def test_on_the_branch_main_it_is_the_commit_before_the_last(self):
        before = self.commit('second')
        self.commit('third')
        commit, said = self.tidy.base()
        self.assertEqual(commit, before)
        self.assertIn('no main line', said)

    def test_of_one_commit_alone_it_says_that_it_looked_at_nothing(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), mock.patch.object(sys, 'argv', ['tidy']):
            self.assertEqual(self.tidy.main(), 0)
        self.assertIn('no main line', said.getvalue())
        self.assertIn('nothing was looked at', said.getvalue())


if __name__ == '__main__':
    unittest.main()
