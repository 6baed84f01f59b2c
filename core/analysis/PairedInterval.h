// PairedInterval: between which values the mean of paired differences lies, valid however often one looks.
//
// A difference is that of one pair of measurements whose order a fair coin decided, so around the true mean its sign is as fair as the coin,
// whatever drifts, repeats itself or has heavy tails meanwhile. For such differences exp(lambda S - lambda^2 V / 2) with S = sum(d - theta) and
// V = sum((d - theta)^2) is a supermartingale (de la Pena, "A general class of exponential inequalities for martingales and ratios", Annals of
// Probability 27, 1999); mixed over lambda ~ N(0, 1 / eta) it gives, for all numbers of pairs at once with probability 1 - alpha,
// S^2 <= (V + eta) log((V + eta) / (eta alpha^2))  (Howard, Ramdas, McAuliffe, Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
// sequences", Annals of Statistics 49, 2021). The interval is every theta for which that holds, around the mean.
//
// To look only once, at a number of pairs that nothing measured has decided, costs far less: under fair signs Student's t is about as often beyond
// its quantile as under the normal distribution (Efron, "Student's t-test under symmetry conditions", Journal of the American Statistical Association
// 64, 1969), so S^2 <= V n q^2 / (n - 1 + q^2) with its quantile q for n - 1 degrees of freedom is an interval at that look. About: of few
// differences of one size S has few values, and the share beyond the quantile jumps from one number of pairs to the next, to nearly twice alpha. So
// of fewer than kExactBelow a theta is outside only if, besides, at most alpha of all signs that the |d - theta| could have had lead as far from 0 as
// S: that holds exactly, whatever their sizes. Where even all signs alike are more than alpha of them (n < 1 + log2(1 / alpha)), Student's t stands
// alone, and so it does of more pairs, which seldom are of one size. Pure functions, any thread.
#pragma once
#include <cstddef>
#include <limits>
#include <span>

namespace stepscope {

struct PairedBound {
    double eta = 0;       // > 0, in squared units of a difference; fixed before the first pair. Narrowest where V is near it
    double alpha = 0.05;  // of missing the mean at any of the looks
    // d - theta is cut at +-clip before it counts: odd, so it stays valid, and one pair that somebody else disturbed moves little. Infinite = not.
    double clip = std::numeric_limits<double>::infinity();
};

struct PairedInterval {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    double centre = std::numeric_limits<double>::quiet_NaN();  // where S is 0, of several such places their middle: the mean, when nothing is cut
    double halfWidth() const { return (high - low) / 2; }
    bool holds(double theta) const { return low <= theta && theta <= high; }
};

// differences: finite. Unbounded on both sides while there are too few to bound anything; without any, centre is no number.
PairedInterval pairedInterval(std::span<const double> differences, const PairedBound& bound);

// At one look all signs are counted of fewer differences than this.
constexpr std::size_t kExactBelow = 16;

// The same at one look that was fixed beforehand; eta is not used. Unbounded with fewer than two differences.
PairedInterval pairedIntervalAtOneLook(std::span<const double> differences, const PairedBound& bound);

// Where S is 0: the mean of what is left of the differences when each is cut at +-clip of it. That of the same differences with their signs turned is
// the same with its sign turned. At least one difference.
double cutMean(std::span<const double> differences, double clip);

// So many differences bound their mean on both sides, whatever they are; clip must be finite. Fewer may, where luck has them close together.
std::size_t enoughToBound(const PairedBound& bound);

}  // namespace stepscope
