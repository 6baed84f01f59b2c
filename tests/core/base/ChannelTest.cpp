// The queue between the trainer and its listeners: nothing lost, order kept, and a full one makes the producer wait.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "core/base/Channel.h"

namespace stepscope {
namespace {

using namespace std::chrono_literals;

TEST(Channel, DrainsInTheOrderOfPushing) {
    Channel<int> channel;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(channel.push(i), 0ns);
    EXPECT_EQ(channel.size(), 5u);
    std::vector<int> got{42};
    channel.drain(got);
    EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(channel.size(), 0u);
    channel.drain(got);
    EXPECT_TRUE(got.empty());
}

TEST(Channel, LosesAndReordersNothingOfSeveralProducers) {
    constexpr int kProducers = 4, kEach = 5000;
    Channel<std::pair<int, int>> channel(64);
    std::vector<std::jthread> producers;
    for (int p = 0; p < kProducers; ++p)
        producers.emplace_back([&channel, p] {
            for (int i = 0; i < kEach; ++i) channel.push({p, i});
        });
    std::vector<int> next(kProducers, 0);
    std::vector<std::pair<int, int>> got;
    for (int total = 0; total < kProducers * kEach; total += static_cast<int>(got.size())) {
        ASSERT_TRUE(channel.drainFor(got, 10s));
        ASSERT_LE(got.size(), 64u);
        for (const auto& [producer, i] : got) ASSERT_EQ(i, next[static_cast<std::size_t>(producer)]++);
    }
    for (const int seen : next) EXPECT_EQ(seen, kEach);
}

TEST(Channel, MakesTheProducerOfAFullChannelWaitAndTellsHowLong) {
    Channel<int> channel(2);
    channel.push(1);
    channel.push(2);
    std::atomic<bool> pushed{false};
    auto producer = std::async(std::launch::async, [&] {
        const auto waited = channel.push(3);
        pushed = true;
        return waited;
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(pushed);
    EXPECT_EQ(channel.size(), 2u);
    std::vector<int> got;
    channel.drain(got);
    EXPECT_EQ(got, (std::vector<int>{1, 2}));
    EXPECT_GT(producer.get(), 0ns);
    channel.drain(got);
    EXPECT_EQ(got, (std::vector<int>{3}));
}

TEST(Channel, ClosingWakesAWaitingProducerAndDropsItsItem) {
    Channel<int> channel(1);
    channel.push(1);
    auto producer = std::async(std::launch::async, [&] { channel.push(2); });
    std::this_thread::sleep_for(20ms);
    channel.close();
    producer.get();
    std::vector<int> got;
    EXPECT_TRUE(channel.drainFor(got, 0ms));
    EXPECT_EQ(got, (std::vector<int>{1}));
    EXPECT_FALSE(channel.drainFor(got, 0ms));
}

TEST(Channel, ClosingWakesAWaitingConsumer) {
    Channel<int> channel;
    auto consumer = std::async(std::launch::async, [&] {
        std::vector<int> got;
        return channel.drainFor(got, std::chrono::minutes(10));
    });
    std::this_thread::sleep_for(20ms);
    channel.close();
    EXPECT_FALSE(consumer.get());
}

TEST(Channel, AnEmptyOpenChannelIsAliveAfterThePatienceIsUp) {
    Channel<int> channel;
    std::vector<int> got{1};
    EXPECT_TRUE(channel.drainFor(got, 1ms));
    EXPECT_TRUE(got.empty());
}

TEST(Channel, CarriesTypesThatCanOnlyBeMoved) {
    Channel<std::unique_ptr<int>> channel;
    channel.push(std::make_unique<int>(7));
    std::vector<std::unique_ptr<int>> got;
    channel.drain(got);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(*got[0], 7);
}

}  // namespace
}  // namespace stepscope
