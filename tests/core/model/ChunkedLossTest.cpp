// The chunked loss against the plain one: value and both gradients, for chunks that divide the rows and chunks that do not.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/model/ChunkedLoss.h"

namespace stepscope {
namespace {

constexpr std::int64_t kWidth = 12, kRows = 23, kIds = 41;

struct Case {
    at::Tensor hidden, head, targets;
    LossSettings settings;

    Case(std::int64_t vocabulary, double smoothing) : settings{vocabulary, smoothing} {
        const auto options = at::TensorOptions().dtype(at::kFloat);
        hidden = at::randn({1, kRows, kWidth}, at::detail::createCPUGenerator(1), options).set_requires_grad(true);
        head = at::randn({kIds, kWidth}, at::detail::createCPUGenerator(2), options).set_requires_grad(true);
        targets = at::randint(vocabulary, {1, kRows}, at::detail::createCPUGenerator(3), at::TensorOptions().dtype(at::kLong));
    }
    struct Outcome {
        double loss;
        at::Tensor hidden, head;
    };
    // rows = 0: the plain loss. upstream: the gradient backward starts from.
    Outcome run(std::int64_t rows, double upstream) {
        hidden.mutable_grad() = at::Tensor();
        head.mutable_grad() = at::Tensor();
        const at::Tensor loss = rows == 0 ? plain::loss(hidden, head, targets, settings) : chunkedLoss(rows, hidden, head, targets, settings);
        loss.backward(at::full_like(loss, upstream));
        return {loss.item<double>(), hidden.grad().clone(), head.grad().clone()};
    }
};

TEST(ChunkedLoss, IsThePlainLossWithItsGradientsForEveryChunkSize) {
    for (const std::int64_t vocabulary : {kIds, kIds - 4})
        for (const double smoothing : {0.0, 0.1}) {
            Case c(vocabulary, smoothing);
            const auto expected = c.run(0, 1);
            for (const std::int64_t rows : {1, 5, 23, 1000}) {
                const auto chunked = c.run(rows, 1);
                EXPECT_NEAR(chunked.loss, expected.loss, 2e-6) << rows;
                EXPECT_TRUE(at::allclose(chunked.hidden, expected.hidden, 1e-5, 1e-7)) << rows;
                EXPECT_TRUE(at::allclose(chunked.head, expected.head, 1e-5, 1e-7)) << rows;
            }
        }
}

TEST(ChunkedLoss, TakesTheIncomingGradientWhetherItWasForetoldOrNot) {
    Case c(kIds, 0);
    const auto expected = c.run(0, 1024);
    for (const double foretold : {1024.0, 1.0, 0.25}) {
        c.settings.backwardScale = foretold;
        const auto chunked = c.run(6, 1024);
        EXPECT_TRUE(at::allclose(chunked.hidden, expected.hidden, 1e-5, 1e-5)) << foretold;
        EXPECT_TRUE(at::allclose(chunked.head, expected.head, 1e-5, 1e-5)) << foretold;
    }
}

TEST(ChunkedLoss, UnderAutocastIsAsCloseToFloat32AsThePlainLossIs) {
    Case c(kIds - 1, 0);
    const auto exact = c.run(0, 1);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const auto plainLow = c.run(0, 1), chunked = c.run(6, 1);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    const auto distance = [](const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); };
    EXPECT_NEAR(chunked.loss, plainLow.loss, 2e-3);
    EXPECT_LT(distance(chunked.head, exact.head), 1.5 * distance(plainLow.head, exact.head));
    EXPECT_LT(distance(chunked.hidden, exact.hidden), 1.5 * distance(plainLow.hidden, exact.hidden));
}

TEST(ChunkedLoss, WithoutGradientsIsTheSameNumber) {
    Case c(kIds, 0);
    const c10::NoGradGuard none;
    EXPECT_NEAR(chunkedLoss(4, c.hidden, c.head, c.targets, c.settings).item<double>(),
                plain::loss(c.hidden, c.head, c.targets, c.settings).item<double>(), 2e-6);
}

}  // namespace
}  // namespace stepscope
