#include "core/analysis/panes/MemoryCurve.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "core/base/KeyedHash.h"
#include "core/trace/Lod.h"

namespace stepscope {

std::uint32_t MemoryCurve::textOf(const std::string& text) {
    const auto [found, added] = m_places.try_emplace(text, static_cast<std::uint32_t>(m_texts.size()));
    if (added) m_texts.push_back(text);
    return found->second;
}

bool MemoryCurve::add(const AllocationBlock& block) {
    std::vector<std::uint32_t> texts;
    for (const auto& text : block.strings) texts.push_back(textOf(text));
    for (const Allocation& one : block.allocations) {
        if (m_all.size() >= kMostKept) {
            m_full = true;
            return false;
        }
        m_all.push_back(
            {one.at, one.address, one.bytes, one.device, block.rank, one.totalAllocated, one.totalReserved, texts[one.kind], texts[one.owner]});
    }
    return true;
}

std::vector<MemoryOfDevice> MemoryCurve::result(std::int64_t from, std::int64_t to) const {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const Kept*>> devices;
    for (const Kept& one : m_all)
        if (one.at < to) devices[{one.rank, one.device}].push_back(&one);
    std::vector<MemoryOfDevice> all;
    for (auto& entry : devices) {
        std::vector<const Kept*>& of = entry.second;
        std::ranges::stable_sort(of, {}, [](const Kept* one) { return one->at; });
        MemoryOfDevice memory{.rank = entry.first.first, .device = entry.first.second};
        memory.absolute = std::ranges::all_of(of, [](const Kept* one) { return one->total >= 0; });
        const double part = static_cast<double>(to - from) / static_cast<double>(kPoints);
        std::int64_t level = 0;
        std::size_t peakPlace = 0;
        bool some = false;
        // What was in use behind the highest point of a part, where there was less: else the line would hold the highest until the next part that
        // anything happened in.
        std::optional<std::pair<std::int64_t, std::int64_t>> behind;
        const auto endPart = [&] {
            if (behind && behind->second != memory.curve.back().second) memory.curve.push_back(*behind);
            behind.reset();
        };
        for (std::size_t i = 0; i < of.size(); ++i) {
            const Kept& one = *of[i];
            const std::int64_t before = level;
            level = memory.absolute  ? one.total
                    : one.bytes >= 0 ? cappedSum(level, one.bytes)
                                     : std::max(level, -kMostTime) + std::max(one.bytes, -kMostTime);
            if (one.at < from) continue;
            if (!some && i > 0 && one.at > from) {  // what was in use when the range began
                memory.curve.emplace_back(from, before);
                memory.peak = before;
                memory.peakAt = from;
                memory.reserved = of[i - 1]->reserved;
                peakPlace = i - 1;
                some = true;
            }
            memory.reserved = std::max(memory.reserved, one.reserved);
            if (one.bytes > 0) {
                memory.allocations += 1;
                memory.taken = cappedSum(memory.taken, one.bytes);
            } else {
                memory.freed = cappedSum(memory.freed, -std::max(one.bytes, -kMostTime));
            }
            if (!some || level > memory.peak) {
                memory.peak = level;
                memory.peakAt = one.at;
                peakPlace = i;
            }
            some = true;
            const auto slot = [&](std::int64_t at) { return part > 0 ? static_cast<std::int64_t>(static_cast<double>(at - from) / part) : 0; };
            if (memory.curve.size() <= 1 || slot(memory.curve.back().first) != slot(one.at)) {
                endPart();
                memory.curve.emplace_back(one.at, level);
            } else if (level > memory.curve.back().second) {
                memory.curve.back() = {one.at, level};
                behind.reset();
            } else {
                behind.emplace(one.at, level);
            }
        }
        if (!some) continue;
        endPart();
        // What was taken up to the peak and not given back.
        KeyedMap<std::uint64_t, const Kept*> alive;
        for (std::size_t i = 0; i <= peakPlace; ++i) {
            if (of[i]->bytes > 0)
                alive[of[i]->address] = of[i];
            else
                alive.erase(of[i]->address);
        }
        std::map<std::pair<std::uint32_t, std::uint32_t>, MemoryOwner> owners;
        std::vector<const Kept*> pieces;
        for (const auto& entryAlive : alive) {
            const Kept& one = *entryAlive.second;
            pieces.push_back(&one);
            MemoryOwner& owner = owners[{one.kind, one.owner}];
            owner.kind = m_texts[one.kind];
            owner.owner = m_texts[one.owner];
            owner.bytes = cappedSum(owner.bytes, one.bytes);
            owner.count += 1;
            memory.aliveBytes = cappedSum(memory.aliveBytes, one.bytes);
        }
        memory.alivePieces = static_cast<std::int64_t>(pieces.size());
        std::ranges::sort(pieces, {}, [](const Kept* one) { return std::tuple(-one->bytes, one->at, one->address); });
        if (pieces.size() > kMostPieces) pieces.resize(kMostPieces);
        for (const Kept* one : pieces) memory.pieces.push_back({m_texts[one->kind], m_texts[one->owner], one->bytes, one->at});
        for (auto& [key, owner] : owners) memory.alive.push_back(std::move(owner));
        std::ranges::stable_sort(memory.alive, [](const MemoryOwner& a, const MemoryOwner& b) { return a.bytes > b.bytes; });
        all.push_back(std::move(memory));
    }
    return all;
}

}  // namespace stepscope
