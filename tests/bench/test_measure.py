"""What the benches share, over steps whose times are known beforehand. CTest."""
import math
import unittest

import measure

MS = 1_000_000


class SlowerWithin(unittest.TestCase):
    """Steps of 10 ms with 1 ms between them, of which those of a measurement from 100 s to 110 s may be slower."""

    def played(self, slower=1.0, drift=0.0, odd=1.0):
        steps, at, number = [], 80_000 * MS, 0
        while at < 130_000 * MS:
            number += 1
            within = 100_000 * MS < at <= 110_000 * MS
            duration = 10 * MS * (slower if within else 1) * (odd if within and number % 2 else 1) * (1 + drift * (at / MS / 1000 - 105))
            at += round(duration) + MS
            steps.append((number, at, round(duration)))
        return steps

    def found(self, steps, earliest=80_000 * MS, latest=130_000 * MS):
        own = {number for number, _, _ in steps if number % 2 == 0}
        return measure.slower_within(steps, own, 100_000 * MS, 110_000 * MS, earliest, latest)

    def test_finds_by_how_much_all_steps_are_slower_there(self):
        self.assertAlmostEqual(self.found(self.played())[0], 0, places=3)
        self.assertAlmostEqual(self.found(self.played(slower=1.03))[0], math.log(1.03), places=3)

    def test_what_drifts_on_does_not_count(self):
        for drift in (0.002, -0.002):
            self.assertAlmostEqual(self.found(self.played(slower=1.03, drift=drift))[0], math.log(1.03), delta=1e-3)

    def test_the_other_values_steps_do_not_count(self):
        self.assertAlmostEqual(self.found(self.played(odd=1.5))[0], 0, places=3)

    def test_tells_what_lies_between_steps_beside_it(self):
        self.assertAlmostEqual(self.found(self.played(slower=1.03))[1], 1 / 11, places=3)

    def test_says_nothing_where_another_one_is_too_near(self):
        steps = self.played()
        self.assertIsNotNone(self.found(steps, earliest=95_000 * MS, latest=116_000 * MS))
        self.assertIsNone(self.found(steps, earliest=96_000 * MS))
        self.assertIsNone(self.found(steps, latest=114_000 * MS))
        self.assertIsNone(self.found([step for step in steps if not 95_000 * MS < step[1] < 100_000 * MS]))


if __name__ == '__main__':
    unittest.main()
