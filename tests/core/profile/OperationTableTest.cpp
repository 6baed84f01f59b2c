// The rows of a capture: what ran, added up by name, kind and place, with counts and times that agree with the operations.
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "core/base/OperationSpan.h"
#include "core/profile/OperationTable.h"

namespace stepscope {
namespace {

template <class Work>
CaptureDone tabled(std::int64_t steps, Work work) {
    OperationTable table;
    for (std::int64_t step = 1; step <= steps; ++step) {
        const StepRange range({.kind = RangeFacts::Kind::Step, .step = step});
        work();
    }
    CaptureDone done{.steps = steps};
    table.finish(done);
    return done;
}

CapturedOperation rowOf(const CaptureDone& done, const std::string& name) {
    const auto found = std::ranges::find(*done.rows, name, &CapturedOperation::name);
    return found == done.rows->end() ? CapturedOperation{} : *found;
}

TEST(OperationTable, AddsUpByNameAndPlace) {
    const at::Tensor x = at::ones({2, 4}), weight = at::ones({3, 4});
    const auto done = tabled(3, [&] {
        const PlaceScope forward(Activity::Forward);
        {
            const PlaceScope place(1, Role::MlpUp);
            (void)at::linear(x, weight);
        }
        const PlaceScope place(1, Role::MlpDown);
        (void)at::linear(x, weight);
        const OperationSpan span("norm + QKV", Role::Norm1AndQkv);
    });
    const auto linears = std::ranges::count(*done.rows, "aten::linear", &CapturedOperation::name);
    EXPECT_EQ(linears, 2) << "one a role";
    const auto linear = rowOf(done, "aten::linear");
    EXPECT_EQ(linear.runs, 3);
    EXPECT_EQ(linear.launches, 0) << "it calls the product, which is the work";
    EXPECT_EQ(linear.kind, "matrix product");
    EXPECT_EQ(linear.phase, "forward");
    EXPECT_GE(linear.total, linear.self);
    const auto own = rowOf(done, "norm + QKV");
    EXPECT_TRUE(own.ours);
    EXPECT_EQ(own.role, "norm1 + attention/qkv");
    EXPECT_EQ(own.launches, 3);
    EXPECT_DOUBLE_EQ(done.operations, 3) << "two products and one of our own in each step";
}

TEST(OperationTable, SharesAnOperationsTimeBetweenItAndWhatItCalls) {
    const auto done = tabled(1, [] {
        const OperationSpan outer("outer");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const OperationSpan inner("inner");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_GE(rowOf(done, "outer").total.milliseconds(), 25);
    EXPECT_LT(rowOf(done, "outer").self.milliseconds(), 0.5 * rowOf(done, "inner").self.milliseconds() + 5);
    EXPECT_EQ(rowOf(done, "inner").self, rowOf(done, "inner").total);
    EXPECT_EQ(done.rows->front().name, "inner") << "most time of its own first";
}

TEST(OperationTable, CountsTheTimeOfACallWithinOneOfItsOwnNameOnce) {
    const auto done = tabled(1, [] {
        const OperationSpan outer("again");
        const OperationSpan between("between");
        const OperationSpan inner("again");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    const auto again = rowOf(done, "again");
    EXPECT_EQ(again.runs, 2);
    EXPECT_GE(again.total.milliseconds(), 20);
    EXPECT_LT(again.total.ns, 2 * rowOf(done, "between").total.ns) << "the inner one's time is the outer one's already";
    EXPECT_GE(again.total, rowOf(done, "between").total);
}

TEST(OperationTable, CountsOfTheStepsOnlyWhatRanInThem) {
    const at::Tensor x = at::ones({2, 2});
    OperationTable table;
    (void)(x + x);
    {
        const StepRange range({.kind = RangeFacts::Kind::Step, .step = 7});
        (void)(x * x);
    }
    CaptureDone done{.steps = 1};
    table.finish(done);
    EXPECT_DOUBLE_EQ(done.operations, 1);
    EXPECT_EQ(rowOf(done, "aten::add").runs, 1) << "it is seen nevertheless";
}

TEST(OperationTable, HasABoundedNumberOfRowsWithBoundedNames) {
    std::vector<std::string> names;
    for (int i = 0; i < 700; ++i) names.push_back(std::to_string(i) + std::string(400, 'x'));
    const auto done = tabled(1, [&] {
        for (const auto& name : names) const OperationSpan span(name.c_str());
    });
    EXPECT_EQ(done.rows->size(), kMostCapturedOperations);
    EXPECT_EQ(done.leftOut, 200);
    EXPECT_DOUBLE_EQ(done.operations, 700) << "what has no row is counted";
    for (const auto& row : *done.rows) EXPECT_EQ(row.name.size(), kLongestOperationName);
}

TEST(OperationTable, MoreKindsThanItKeepsApartAreOneRowAndNoneIsDropped) {
    constexpr int kNames = 9000, kApart = 8192;
    std::vector<std::string> names;
    for (int i = 0; i < kNames; ++i) names.push_back("kind " + std::to_string(i));
    const auto done = tabled(1, [&] {
        const PlaceScope forward(Activity::Forward);
        for (int i = 0; i < kNames; ++i) {
            const OperationSpan span(names[static_cast<std::size_t>(i)].c_str());
            if (i == kNames - 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        for (const auto& name : {names.front(), names.back()}) const OperationSpan again(name.c_str());
    });
    EXPECT_DOUBLE_EQ(done.operations, kNames + 2);
    const auto later = rowOf(done, "operations of more kinds than 8192: the later ones together");
    EXPECT_EQ(later.runs, kNames - kApart + 1) << "the first name has a place of its own, the last has none";
    EXPECT_EQ(later.launches, later.runs);
    EXPECT_GE(later.self.milliseconds(), 50);
    EXPECT_EQ(later.total, later.self);
    EXPECT_EQ(later.phase, "") << "of any";
    EXPECT_EQ(done.leftOut, kApart + 1 - static_cast<std::int64_t>(kMostCapturedOperations));
}

TEST(OperationTable, KnowsWhatKindOfWorkANameIs) {
    const auto kind = [](const char* name, Activity activity = Activity::Forward) {
        return std::string(toString(kindOf({.name = name, .place = {.activity = activity}, .launch = true})));
    };
    EXPECT_EQ(kind("aten::addmm"), "matrix product");
    EXPECT_EQ(kind("projection + MLP"), "matrix product");
    EXPECT_EQ(kind("aten::_scaled_dot_product_flash_attention_for_cpu"), "attention");
    EXPECT_EQ(kind("attention backward"), "attention");
    EXPECT_EQ(kind("aten::native_layer_norm"), "norm");
    EXPECT_EQ(kind("residual + norm"), "norm");
    EXPECT_EQ(kind("aten::gelu"), "pointwise");
    EXPECT_EQ(kind("autograd::engine::evaluate_function: AddmmBackward0"), "other");
    EXPECT_EQ(kind("bias + activation"), "pointwise");
    EXPECT_EQ(kind("aten::nll_loss_forward"), "loss");
    EXPECT_EQ(kind("norm + head + cross-entropy"), "loss");
    EXPECT_EQ(kind("aten::copy_"), "memory");
    EXPECT_EQ(kind("aten::copy_", Activity::Copy), "data");
    EXPECT_EQ(kind("aten::_foreach_mul_", Activity::Optimizer), "optimizer");
    std::set<std::string> words;
    for (int i = 0; i < kOperationKinds; ++i) words.insert(toString(static_cast<OperationKind>(i)));
    EXPECT_EQ(words.size(), static_cast<std::size_t>(kOperationKinds));
}

}  // namespace
}  // namespace stepscope
