// Holds the plain cross-entropy, the reference of linear + cross-entropy, against finite differences. Run by CTest.
#include "Numbers.h"
#include "core/kernels/cross_entropy/CrossEntropy.h"

namespace stepscope {
namespace {

using testing::numbers;

TEST(CrossEntropy, HasTheGradientsThatFiniteDifferencesGive) {
    const CrossEntropyShape shape{.columns = 7, .vocabulary = 6, .smoothing = 0.1f};
    auto logits = numbers<float>(7, 1, 3.0);
    const std::vector<std::int64_t> targets{4};
    std::vector<float> loss(1), gradient(7), unused(7), up(1), down(1);
    crossEntropyRows(shape, logits, targets, loss, gradient);
    for (std::size_t c = 0; c < 7; ++c) {
        const float kept = logits[c], h = 1e-2f;
        logits[c] = kept + h;
        crossEntropyRows(shape, logits, targets, up, unused);
        logits[c] = kept - h;
        crossEntropyRows(shape, logits, targets, down, unused);
        logits[c] = kept;
        EXPECT_NEAR(gradient[c], (static_cast<double>(up[0]) - down[0]) / (2.0 * h), 1e-4);
    }
}

}  // namespace
}  // namespace stepscope
