// What counts as an operation: work, and not what only calls others, looks at memory in another way or makes room.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <memory>
#include <thread>
#include <vector>

#include "core/base/OperationSpan.h"
#include "core/profile/OperationCounter.h"
#include "core/profile/OperationStream.h"

namespace stepscope {
namespace {

template <class Work>
std::int64_t countedIn(Work work) {
    const OperationCounter counter;
    work();
    return counter.count();
}

TEST(OperationCounter, CountsWorkAndNotViewsOrMemory) {
    const at::Tensor a = at::ones({4, 4}), b = at::ones({4, 4});
    EXPECT_EQ(countedIn([&] { (void)(a + b); }), 1);
    EXPECT_EQ(countedIn([&] { (void)a.view({16}).unsqueeze(0).transpose(0, 1).narrow(0, 0, 2).detach(); }), 0);
    EXPECT_EQ(countedIn([&] { (void)at::empty({3}); }), 0);
    EXPECT_EQ(countedIn([&] {
                  at::Tensor c = at::empty({4, 4});
                  c.copy_(a).add_(b);
              }),
              2);
}

TEST(OperationCounter, CountsAnOperationThatIsMadeOfOthersByItsParts) {
    const at::Tensor x = at::ones({2, 4}), weight = at::ones({3, 4});
    EXPECT_EQ(countedIn([&] { (void)at::linear(x, weight); }), 1);
    EXPECT_EQ(countedIn([&] { (void)x.to(at::kDouble); }), 1) << "to calls copy_ for its work";
    EXPECT_EQ(countedIn([&] { (void)x.to(at::kFloat); }), 0) << "it is float already";
}

TEST(OperationCounter, SeesTheBackwardPass) {
    const at::Tensor x = at::ones({2, 4}).requires_grad_();
    const std::int64_t forward = countedIn([&] { (void)(x * 2).sum(); });
    EXPECT_GT(countedIn([&] { (x * 2).sum().backward(); }), forward);
}

TEST(OperationCounter, CountsOurOwnOperationsOnceHoweverManyThreadsShareThem) {
    const auto both = [] {
        { const OperationSpan norm("norm"); }
        std::thread worker([] { const OperationSpan shared("attention", 1); });
        { const OperationSpan shared("attention", 0); }
        worker.join();
    };
    both();
    EXPECT_EQ(countedIn(both), 2);
    EXPECT_EQ(countedIn([] {}), 0);
}

TEST(OperationCounter, TakesWhatAnOperationOfOurOwnAsksOfLibTorchAsPartOfIt) {
    const at::Tensor a = at::ones({4, 4});
    EXPECT_EQ(countedIn([&] {
                  const OperationSpan span("bias + activation backward");
                  (void)(a + a).sum();
              }),
              1);
    EXPECT_EQ(countedIn([&] {
                  const OperationSpan span("loss");
                  { const OperationSpan part("head"); }
                  { const OperationSpan part("weight gradient"); }
                  (void)(a + a);
              }),
              2)
        << "the launches are its parts";
}

TEST(OperationCounter, AQuestionIsNoWork) {
    const at::Tensor a = at::ones({4, 4});
    EXPECT_EQ(countedIn([&] { (void)at::linear(at::ones({2, 3, 4}), a); }), 2) << "the ones and the product; not that its result is looked at in 3D";
    EXPECT_EQ(countedIn([&] { (void)a.is_same_size(a); }), 0);
}

TEST(OperationCounter, LeavesOutTextThatIsWrittenMeanwhile) {
    EXPECT_EQ(countedIn([] {
                  std::thread([] {
                      const PlaceScope text(Activity::Text);
                      const OperationSpan span("norm");
                  }).join();
              }),
              0);
}

TEST(OperationCounter, SeveralCountEverythingEachInItsOwnTime) {
    const at::Tensor a = at::ones({4, 4});
    const auto work = [&] {
        (void)(a + a);
        const OperationSpan span("norm");
    };
    const OperationCounter whole;
    work();
    {
        const OperationCounter inner;
        work();
        EXPECT_EQ(inner.count(), 2);
    }
    work();
    const OperationCounter late;
    EXPECT_EQ(late.count(), 0);
    EXPECT_EQ(whole.count(), 6) << "a counter that ends does not silence the others";
}

TEST(OperationCounter, HearsEveryThreadThatListens) {
    const at::Tensor a = at::ones({4, 4});
    std::int64_t there = -1;
    const std::int64_t here = countedIn([&] { std::thread([&] { there = countedIn([&] { (void)(a * a); }); }).join(); });
    EXPECT_EQ(there, 1);
    EXPECT_EQ(here, 1);
}

class Ids final : public OperationObserver {
public:
    void operationEnds(const OperationDone& done) noexcept override { heard.push_back(done.id); }
    std::vector<std::int64_t> heard;
};

TEST(OperationIds, AreAboveAllOfTheProcessWhoseSessionIsContinued) {
    const at::Tensor a = at::ones({4, 4});
    const auto idsOf = [&] {
        const auto ids = std::make_shared<Ids>();
        const OperationListening listening(ids);
        (void)(a + a);
        return ids->heard;
    };
    const auto before = idsOf();
    const std::int64_t first = operationsNumberedFrom() + (std::int64_t{1} << 33);
    numberOperationsFrom(first);
    const auto behind = idsOf();
    numberOperationsFrom(first - 5);  // never back
    ASSERT_EQ(before.size(), behind.size());
    EXPECT_LT(before.back(), first);
    for (const std::int64_t id : behind) EXPECT_GT(id, first);
    EXPECT_EQ(operationsNumberedFrom(), first);
    EXPECT_GT(idsOf().front(), behind.back());
}

}  // namespace
}  // namespace stepscope
