#include "core/train/captures/HeldSteps.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

// ns. A GPU may still be at a step when the host has ended it, and CUPTI is asked, and a GPU's meters are read, a few times a second: so far from a
// step lies what may be of it.
constexpr std::int64_t kNear = 500'000'000;
// ns before a step that has no neighbour before it, from which the newest reading of a meter still stands: a short step has one, too.
constexpr std::int64_t kStands = 250'000'000;

}  // namespace

void HeldSteps::add(std::int64_t step, Held held) {
    m_steps[step] = std::move(held);
    m_newest = step;
}

void HeldSteps::drop(const Wanted& wanted, bool andNewest) {
    std::erase_if(m_steps, [&](const auto& one) { return !(andNewest && m_newest == one.first) && !wanted(one.first); });
}

void HeldSteps::sortIn(bool all) {
    const auto newest = m_newest ? m_steps.find(*m_newest) : m_steps.end();
    for (const ChunkPtr& chunk : std::exchange(m_late, {})) {
        if (!all && newest != m_steps.end() && chunk->end > newest->second.begin) {
            m_late.push_back(chunk);
            continue;
        }
        if (std::ranges::none_of(m_steps, [&](const auto& one) { return (all || one.first != m_newest) && concerns(*chunk, one.second); })) continue;
        if (isSlices(chunk->kind)) cutSlices(*chunk);
        if (chunk->kind == kSamples) cutSamples(*chunk);
    }
}

bool HeldSteps::concerns(const Chunk& chunk, const Held& held) const {
    return chunk.end.ns >= held.begin.ns - kNear && chunk.begin.ns <= held.end.ns + kNear;
}

// When what a block does not have was to be, nobody says: the first step that it may be of lacks it, rather than none.
std::optional<std::int64_t> HeldSteps::nearest(const Chunk& chunk) const {
    for (const auto& [step, held] : m_steps)
        if (concerns(chunk, held)) return step;
    return std::nullopt;
}

// What lies between two steps that follow each other is of the later one, and of one that has none before it what is at most so many ns older.
std::optional<std::int64_t> HeldSteps::stepAt(std::int64_t ns, std::int64_t before) const {
    for (const auto& [step, held] : m_steps) {
        if (ns > held.end.ns) continue;
        const bool follows = m_steps.contains(step - 1);
        return follows || ns >= held.begin.ns - before ? std::optional(step) : std::nullopt;
    }
    return std::nullopt;
}

void HeldSteps::cutSlices(const Chunk& chunk) {
    auto block = decodeSlices(chunk);
    if (!block) return;
    std::map<std::int64_t, std::vector<Slice>> parts;
    for (const Slice& slice : block->slices) {
        // Of what an operation launched it is known which step had it launched, whenever it ran.
        const auto step = slice.step != kNoStep ? std::optional(slice.step) : stepAt(slice.start, 0);
        if (step && m_steps.contains(*step)) parts[*step].push_back(slice);
    }
    if (parts.empty() && block->lost + block->invalid > 0)
        if (const auto step = nearest(chunk)) parts[*step];
    for (auto& [step, slices] : parts) {
        Held& held = m_steps.at(step);
        held.chunks.push_back(std::make_shared<const Chunk>(encodeSlices({.thread = block->thread,
                                                                          .lost = std::exchange(block->lost, 0),
                                                                          .invalid = std::exchange(block->invalid, 0),
                                                                          .strings = block->strings,
                                                                          .arguments = block->arguments,
                                                                          .slices = std::move(slices)},
                                                                         held.begin)));
    }
}

void HeldSteps::cutSamples(const Chunk& chunk) {
    auto block = decodeSamples(chunk);
    if (!block) return;
    std::map<std::int64_t, std::vector<Sample>> parts;
    for (const Sample& sample : block->samples)
        if (const auto step = stepAt(sample.at, block->device >= 0 ? kStands : 0)) parts[*step].push_back(sample);
    if (parts.empty() && block->lost + block->invalid > 0)
        if (const auto step = nearest(chunk)) parts[*step];
    for (auto& [step, samples] : parts) {
        Held& held = m_steps.at(step);
        SampleBlock part{.lane = block->lane, .process = block->process, .device = block->device, .rank = block->rank, .name = block->name};
        part.lost = std::exchange(block->lost, 0);
        part.invalid = std::exchange(block->invalid, 0);
        part.series = block->series;
        part.samples = std::move(samples);
        held.chunks.push_back(std::make_shared<const Chunk>(encodeSamples(std::move(part), held.begin)));
    }
}

std::size_t HeldSteps::bytes() const {
    std::size_t sum = 0;
    for (const auto& [step, held] : m_steps)
        for (const auto& chunk : held.chunks) sum += chunk->bytes.size();
    for (const auto& chunk : m_late) sum += chunk->bytes.size();
    return sum;
}

std::map<std::int64_t, HeldSteps::Held> HeldSteps::take() {
    m_late.clear();
    m_newest.reset();
    return std::exchange(m_steps, {});
}

ChunkPtr onlyLost(const Chunk& chunk) {
    if (isSlices(chunk.kind)) {
        if (const auto block = decodeSlices(chunk))
            return std::make_shared<const Chunk>(
                encodeSlices({.thread = block->thread, .lost = block->lost + chunk.count, .invalid = block->invalid}, chunk.begin));
    } else if (chunk.kind == kSamples) {
        if (const auto block = decodeSamples(chunk)) {
            SampleBlock lost{.lane = block->lane, .process = block->process, .device = block->device, .rank = block->rank, .name = block->name};
            lost.lost = block->lost + chunk.count;
            lost.invalid = block->invalid;
            return std::make_shared<const Chunk>(encodeSamples(std::move(lost), chunk.begin));
        }
    } else if (chunk.kind == kAllocations) {
        if (const auto block = decodeAllocations(chunk)) {
            AllocationBlock lost{.lane = block->lane, .process = block->process, .thread = block->thread, .rank = block->rank};
            lost.lost = block->lost + chunk.count;
            lost.invalid = block->invalid;
            return std::make_shared<const Chunk>(encodeAllocations(std::move(lost), chunk.begin));
        }
    }
    return nullptr;
}

}  // namespace stepscope
