"""What the comparisons with PyTorch call agreement. CTest."""
import argparse
import math
import pathlib
import symtable
import unittest

import measure
import peer


class LargestDifference(unittest.TestCase):
    def test_is_that_of_the_worst_step(self):
        self.assertEqual(peer.largest_difference([1, 2, 5], [1, 4, 4]), 2)

    def test_is_infinite_where_a_loss_is_no_number(self):
        for lost in (math.nan, math.inf):
            for n in range(3):
                mine, theirs = [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]
                mine[n] = lost
                self.assertEqual(peer.largest_difference(mine, theirs), math.inf)
                self.assertEqual(peer.largest_difference(theirs, mine), math.inf)
                self.assertEqual(peer.largest_difference(mine, mine), math.inf)


class StepOperations(unittest.TestCase):
    shape = argparse.Namespace(layers=2, embd=8, ctx=4, batch=3, vocab=10)

    def test_counts_every_linear_layer_forwards_and_backwards(self):
        tokens, width = 12, 8
        linear = 3 * 2 * tokens * (2 * 12 * width * width + width * 10)
        self.assertEqual(sum(peer.linear_operations(layer) for layer in peer.layers_of(self.shape)), linear)
        attention = 3 * 2 * 2 * 2 * 3 * (4 * 5 // 2) * width  # 3 directions, 2 products, 2 operations, 2 layers, 3 sequences, 10 pairs of places
        self.assertEqual(peer.step_operations(self.shape), linear + attention)

    def test_the_rate_is_that_of_all_layers_one_after_the_other(self):
        lines = [{'rows': rows, 'in': i, 'out': o, 'bf16': [1.0, 2.0, 3.0]} for rows, i, o in set(peer.layers_of(self.shape))]
        total = sum(peer.linear_operations(layer) for layer in peer.layers_of(self.shape))
        self.assertAlmostEqual(peer.product_rate(self.shape, lines, 'bf16'), total / (9 * 6.0) / 1e9)


class Sources(unittest.TestCase):
    """What needs PyTorch runs by hand only, so that a slip of this kind stands for weeks: importing a.b within a function makes a local name of a."""

    def test_no_function_hides_what_its_file_imports(self):
        for path in sorted(pathlib.Path(__file__).parent.iterdir()):
            if path.suffix in ('.cpp', '.md', '.txt') or not path.is_file():
                continue
            top = symtable.symtable(path.read_text(), path.name, 'exec')
            imported = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_imported()}
            tables = list(top.get_children())
            while tables:
                table = tables.pop()
                tables += table.get_children()
                hidden = imported & {symbol.get_name() for symbol in table.get_symbols() if symbol.is_local() and symbol.is_imported()}
                self.assertEqual(hidden, set(), f'{path.name}, {table.get_name()}')


class HalfWidth(unittest.TestCase):
    def test_is_that_of_the_wider_side(self):
        self.assertAlmostEqual(measure.half_width(2.0, 1.9, 2.3), 0.15)
        self.assertAlmostEqual(measure.half_width(2.0, 1.6, 2.3), 0.2)


class FakeArm:
    def __init__(self, name, times):
        self.name, self._times = name, times

    def go(self, seconds):
        pass

    def step_times(self):
        return self._times


class TurnsRates(unittest.TestCase):
    @staticmethod
    def slices(begins, step):
        return [round((begin + n * step) * 1e9) for begin in begins for n in range(20)]

    def test_are_those_of_the_rounds_after_settling(self):
        arms = [FakeArm('a', self.slices((0, 10, 20), 0.1)), FakeArm('b', self.slices((5, 15, 25), 0.2))]
        turns = measure.Turns(arms, 4)
        turns.round(), turns.round()
        rates = turns.rates()
        self.assertEqual([round(rate, 6) for rate in rates['a']], [10.0, 10.0])
        self.assertEqual([round(rate, 6) for rate in rates['b']], [5.0, 5.0])

    def test_leave_out_a_round_in_which_an_arm_made_too_few_steps(self):
        few = self.slices((0,), 0.1) + [10 * 10**9] + self.slices((20,), 0.1)
        turns = measure.Turns([FakeArm('a', few), FakeArm('b', self.slices((5, 15, 25), 0.2))], 4)
        turns.round(), turns.round()
        self.assertEqual([len(found) for found in turns.rates().values()], [1, 1])


class AllReach(unittest.TestCase):
    def test_asks_the_lower_end_of_every_interval(self):
        sure, open_ = {'ratio': 0.99, 'low': 0.95}, {'ratio': 0.99, 'low': 0.94}
        self.assertTrue(peer.all_reach([sure, sure], 0.95))
        self.assertFalse(peer.all_reach([sure, open_], 0.95))

    def test_is_missed_where_an_interval_is_no_number(self):
        self.assertFalse(peer.all_reach([{'ratio': 0.99, 'low': math.nan}], 0.95))


class RatioOfMedians(unittest.TestCase):
    def test_is_that_of_the_two_times_which_stand_beside_it(self):
        theirs, mine = [27.0, 28.0, 30.0], [15.0, 18.0, 14.0]
        ratio, low, high = measure.ratio_of_medians(theirs, mine)
        self.assertEqual(ratio, 28.0 / 15.0)
        self.assertLessEqual(low, ratio)
        self.assertGreaterEqual(high, ratio)

    def test_keeps_pairs_together(self):
        # Each round is twice as slow as the one before it, on both sides alike: the interval has no width.
        self.assertEqual(measure.ratio_of_medians([2.0, 4.0, 8.0], [1.0, 2.0, 4.0]), (2.0, 2.0, 2.0))


if __name__ == '__main__':
    unittest.main()
