#!/usr/bin/env python3
"""How our programs are linked, as readelf sees it: imported functions are bound and made read-only at the start, libraries are looked for by RUNPATH
(which LD_LIBRARY_PATH precedes), and every one of them is found. Usage: test_hardening.py PROGRAM..."""
import subprocess
import sys
import unittest

PROGRAMS = []


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Hardening(unittest.TestCase):
    def each(self):
        self.assertTrue(PROGRAMS, 'no program was named')
        for program in PROGRAMS:
            with self.subTest(program=program):
                yield program

    def test_imported_functions_are_read_only(self):
        for program in self.each():
            self.assertIn('GNU_RELRO', output('readelf', '-lW', program))
            dynamic = output('readelf', '-dW', program)
            self.assertTrue('BIND_NOW' in dynamic or 'Flags: NOW' in dynamic or 'NOW' in dynamic.split('FLAGS_1', 1)[-1].split('\n', 1)[0], dynamic)

    def test_libraries_are_looked_for_by_runpath(self):
        for program in self.each():
            dynamic = output('readelf', '-dW', program)
            self.assertNotIn('(RPATH)', dynamic)
            if 'libtorch_cpu.so' in dynamic:
                self.assertIn('(RUNPATH)', dynamic)

    def test_every_library_is_found(self):
        for program in self.each():
            self.assertNotIn('not found', output('ldd', program))

    def test_copies_of_known_size_are_checked(self):
        """_FORTIFY_SOURCE: glibc's checking forms are called, for one memcpy at least (distributions that define it themselves do the same)."""
        for program in self.each():
            imported = output('readelf', '--dyn-syms', '-W', program)
            self.assertRegex(imported, r'__mem(cpy|move|set)_chk', 'built without _FORTIFY_SOURCE')

    def test_programs_are_position_independent(self):
        for program in self.each():
            self.assertIn('DYN (', output('readelf', '-hW', program))


if __name__ == '__main__':
    PROGRAMS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
