// Gpt2Sizes: what the files of other programs say of a GPT-2: its sizes, the rest is as GPT-2 has it. And how much of each is believed. Torch-free.
#pragma once
#include <cstdint>

namespace stepscope {

struct Gpt2Sizes {
    std::int64_t layers = 0, heads = 0, width = 0;
    std::int64_t vocabulary = 0, positions = 0;  // rows of the tables
    bool tiedHead = true;

    bool operator==(const Gpt2Sizes&) const = default;
};

// As the keys of the configuration allow (core/events/ConfigKeys.cpp): the products of such sizes stay within 64 bits.
inline constexpr std::int64_t kMostForeignLayers = 1000, kMostForeignHeads = 1000, kMostForeignWidth = 100'000, kMostForeignRows = 10'000'000;

}  // namespace stepscope
