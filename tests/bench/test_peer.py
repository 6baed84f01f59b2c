"""What the comparisons with PyTorch call agreement. CTest."""
import math
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
