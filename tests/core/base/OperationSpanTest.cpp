// Who hears operations and ranges: nobody at no cost, several at once, and each of them begins and ends that pair, also while the list of observers
// changes under running operations. The thread sanitizer runs this too.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/OperationSpan.h"

namespace stepscope {
namespace {

// What it heard, as it came. For one thread.
class Diary final : public StepObserver {
public:
    void spanBegins(const SpanFacts& span) noexcept override { lines.push_back("+" + std::string(span.name)); }
    void spanEnds(const SpanFacts& span) noexcept override { lines.push_back("-" + std::string(span.name)); }
    void rangeBegins(const RangeFacts& range) noexcept override { lines.push_back("+" + std::string(toString(range.activity))); }
    void rangeEnds(const RangeFacts& range) noexcept override { lines.push_back("-" + std::string(toString(range.activity))); }
    std::vector<std::string> lines;
};

// How many operations of any thread it has heard begin and not end.
class Balance final : public StepObserver {
public:
    void spanBegins(const SpanFacts&) noexcept override {
        open.fetch_add(1);
        heard.fetch_add(1);
    }
    void spanEnds(const SpanFacts&) noexcept override {
        if (open.fetch_sub(1) <= 0) unpaired.fetch_add(1);
    }
    std::atomic<int> open{0}, heard{0}, unpaired{0};
};

class Places final : public StepObserver {
public:
    void spanBegins(const SpanFacts& span) noexcept override { seen.push_back(span.place); }
    std::vector<StepPlace> seen;
};

TEST(OperationSpan, IsHeardByEveryObserverAndByNobodyWhoHasGone) {
    const auto first = std::make_shared<Diary>(), second = std::make_shared<Diary>();
    {
        const Listening<StepObserver> one(stepObservers, first);
        const OperationSpan norm("norm");
        {
            const Listening<StepObserver> other(stepObservers, second);
            const OperationSpan product("product");
        }
        const OperationSpan loss("loss");
    }
    const OperationSpan late("late");
    EXPECT_EQ(first->lines, (std::vector<std::string>{"+norm", "+product", "-product", "+loss", "-loss", "-norm"}));
    EXPECT_EQ(second->lines, (std::vector<std::string>{"+product", "-product"}));
    EXPECT_TRUE(stepObservers.empty());
}

TEST(OperationSpan, EndsForThoseWhoHeardItBeginWhateverChangesMeanwhile) {
    const auto early = std::make_shared<Diary>(), late = std::make_shared<Diary>();
    auto listensEarly = std::make_unique<Listening<StepObserver>>(stepObservers, early);
    std::unique_ptr<Listening<StepObserver>> listensLate;
    {
        const OperationSpan span("norm");
        listensEarly.reset();
        listensLate = std::make_unique<Listening<StepObserver>>(stepObservers, late);
    }
    EXPECT_EQ(early->lines, (std::vector<std::string>{"+norm", "-norm"}));
    EXPECT_TRUE(late->lines.empty());
}

TEST(OperationSpan, MayRunOnManyThreadsWhileObserversComeAndGo) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> team;
    for (int worker = 0; worker < 3; ++worker)
        team.emplace_back([&, worker] {
            while (!stop) {
                const OperationSpan outer("outer", worker);
                const OperationSpan inner("inner", Role::MlpUp, worker);
            }
        });
    std::vector<std::shared_ptr<Balance>> all;
    const auto staying = std::make_shared<Balance>();
    {
        const Listening<StepObserver> stays(stepObservers, staying);
        for (int i = 0; i < 300; ++i) {
            all.push_back(std::make_shared<Balance>());
            const Listening<StepObserver> passing(stepObservers, all.back());
            std::this_thread::yield();
        }
        while (staying->heard == 0) std::this_thread::yield();
    }
    stop = true;
    for (auto& thread : team) thread.join();
    all.push_back(staying);
    for (const auto& one : all) {
        EXPECT_EQ(one->open, 0) << "each begin has its end";
        EXPECT_EQ(one->unpaired, 0);
    }
    EXPECT_GT(staying->heard, 0);
}

TEST(OperationSpan, CarriesTheLayerRoleAndActivityOfItsThread) {
    const auto places = std::make_shared<Places>();
    const Listening<StepObserver> listening(stepObservers, places);
    {
        const PlaceScope forward(Activity::Forward);
        const PlaceScope block(3, Role::AttentionQkv);
        const OperationSpan span("product");
        const OperationSpan named("norm", Role::Norm1);
        std::thread([] { const OperationSpan elsewhere("other thread"); }).join();
    }
    const OperationSpan after("after");
    ASSERT_EQ(places->seen.size(), 4u);
    EXPECT_EQ(places->seen[0], (StepPlace{3, Role::AttentionQkv, Activity::Forward}));
    EXPECT_EQ(places->seen[1], (StepPlace{3, Role::Norm1, Activity::Forward}));
    EXPECT_EQ(places->seen[2], StepPlace{});
    EXPECT_EQ(places->seen[3], StepPlace{}) << "scopes give back what was before";
}

TEST(StepRange, EndsOnceWhetherByHandOrByItself) {
    const auto diary = std::make_shared<Diary>();
    const Listening<StepObserver> listening(stepObservers, diary);
    {
        StepRange range({.kind = RangeFacts::Kind::Phase, .activity = Activity::Forward});
        range.end();
        range.begin({.kind = RangeFacts::Kind::Phase, .activity = Activity::Backward});
    }
    EXPECT_EQ(diary->lines, (std::vector<std::string>{"+forward", "-forward", "+backward", "-backward"}));
}

TEST(StepPlace, EveryRoleAndActivityHasItsOwnWord) {
    std::set<std::string> words;
    for (int i = 0; i < kRoles; ++i) words.insert(toString(static_cast<Role>(i)));
    EXPECT_EQ(words.size(), static_cast<std::size_t>(kRoles));
    EXPECT_STREQ(toString(Role::AttentionQkv), "attention/qkv");
    EXPECT_STREQ(toString(Role::BlockWeights), "weights of the block");
    words.clear();
    for (int i = 0; i < kActivities; ++i) words.insert(toString(static_cast<Activity>(i)));
    EXPECT_EQ(words.size(), static_cast<std::size_t>(kActivities));
    EXPECT_STREQ(toString(Activity::Text), "text");
}

}  // namespace
}  // namespace stepscope
