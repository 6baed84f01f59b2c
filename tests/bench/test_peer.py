"""What the comparisons with PyTorch call agreement. CTest."""
import math
import unittest

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


if __name__ == '__main__':
    unittest.main()
