#include "core/train/workers/CapturesTogether.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/Format.h"
#include "core/events/Event.h"
#include "core/profile/DeviceFacts.h"
#include "core/profile/MemorySource.h"
#include "core/program/DataParallel.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/Lod.h"
#include "core/trace/Note.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/train/captures/HeldSteps.h"
#include "core/train/workers/ClockExchange.h"
#include "core/train/workers/SaidChunks.h"

namespace stepscope {
namespace {

// Bytes of a piece of each worker, and of all pieces together, which every worker gets.
constexpr std::size_t kMostPiece = std::size_t{1} << 20, kLeastPiece = std::size_t{64} << 10, kMostPieces = std::size_t{8} << 20;
// What a worker says of a block beside its bytes is less than those: more than so many times what it may hold is no worker's.
constexpr std::size_t kMostOfHeld = 3;
// Instead of how many bytes it has the first one says that the others are to wait and ask again: more than this is not stored yet, half of what a
// recorder takes before whoever brings more has to wait for it.
constexpr double kHoldOn = -1;
constexpr std::int64_t kMostInHand = std::int64_t{32} << 20;
constexpr std::chrono::milliseconds kLooksAtDisk{10};
constexpr std::int64_t kLatestSlice = 9'000'000'000'000'000;  // ns of a session's clock, a hundred days
constexpr std::int64_t kMostDevices = 1024;                   // of a machine
constexpr std::size_t kMostOfFacts = 4096;                    // bytes

// What has the times of steps.
bool hasTimes(const std::string& kind) {
    return isSlices(kind) || kind == kSamples || kind == kAllocations;
}

// Into the first one's time. What lay in something else lies in it afterwards, too.
void moveTo(const ClockLine& line, Slice& slice) {
    const std::int64_t end = line(slice.start + slice.duration);
    slice.start = line(slice.start);
    slice.duration = std::max<std::int64_t>(0, end - slice.start);
    if (line.drift != 0) slice.called = std::llround(static_cast<double>(slice.called) * (1 + line.drift));
    slice.called = std::clamp<std::int64_t>(slice.called, 0, slice.duration);
    if (slice.forwardStart != 0) slice.forwardStart = line(slice.forwardStart);
}

constexpr std::size_t kSaidOfPiece = 2;  // numbers of each worker: how many bytes of a piece it has, and whether it is asked to stop

// Other processes say it.
std::vector<std::size_t> countsOf(const std::vector<double>& said, std::size_t most) {
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < said.size(); i += kSaidOfPiece) {
        if (!(said[i] >= 0 && said[i] <= static_cast<double>(most))) throw strangeWords(counts.size());
        counts.push_back(static_cast<std::size_t>(said[i]));
    }
    return counts;
}

bool somebodyStops(const std::vector<double>& said) {
    bool stops = false;
    for (std::size_t i = 1; i < said.size(); i += kSaidOfPiece) stops = stops || said[i] != 0;
    return stops;
}

}  // namespace

void HeldCapture::publish(Event event) {
    const auto* line = std::get_if<LogLine>(&event);
    if (line == nullptr || line->level == LogLevel::Info) return;
    const std::lock_guard lock(m_mutex);
    m_chunks.push_back(noteChunk(line->text, line->at));
}

void HeldCapture::publishChunk(ChunkPtr chunk) {
    if (!hasTimes(chunk->kind) && chunk->kind != kDeviceFacts) return;
    const std::lock_guard lock(m_mutex);
    const std::size_t bytes = chunk->bytes.size();
    if (bytes <= kMostSaidBytes && m_bytes + bytes <= m_most) {
        m_bytes += bytes;
        m_chunks.push_back(std::move(chunk));
        return;
    }
    ChunkPtr lost = onlyLost(*chunk);
    if (!lost) return;
    m_chunks.push_back(std::move(lost));
    (isSlices(chunk->kind) ? m_lostSlices : m_lostOthers) += chunk->count;
    m_lostAt = chunk->begin;
}

std::int64_t HeldCapture::bytes() {
    const std::lock_guard lock(m_mutex);
    return static_cast<std::int64_t>(m_bytes);
}

std::vector<ChunkPtr> HeldCapture::take() {
    const std::lock_guard lock(m_mutex);
    auto chunks = std::exchange(m_chunks, {});
    const auto say = [&](std::int64_t lost, const char* what) {
        if (lost > 0)
            chunks.push_back(noteChunk(fmt::format("{} {} of its capture are not there: at most {} of it are held until it ends.",
                                                   format::count(lost), what, format::bytes({static_cast<std::int64_t>(m_most)})),
                                       m_lostAt));
    };
    say(std::exchange(m_lostSlices, 0), "slices");
    say(std::exchange(m_lostOthers, 0), "samples and allocations");
    m_bytes = 0;
    return chunks;
}

EventSink* CapturesTogether::sink() {
    return rank() == 0 ? m_sink : &m_held;
}

int CapturesTogether::rank() const {
    return m_others == nullptr ? 0 : m_others->rank();
}

void CapturesTogether::collect(CaptureDone& done) {
    if (m_others == nullptr) return;
    // Behind what it is about; the exchange at its begin was before that.
    m_clocks.exchange();
    auto own = rank() == 0 ? std::vector<ChunkPtr>() : m_held.take();
    std::vector<double> span{0, 0};
    for (bool first = true; const ChunkPtr& chunk : own) {
        if (!hasTimes(chunk->kind)) continue;
        span[0] = first ? static_cast<double>(chunk->begin.ns) : std::min(span[0], static_cast<double>(chunk->begin.ns));
        span[1] = first ? static_cast<double>(chunk->end.ns) : std::max(span[1], static_cast<double>(chunk->end.ns));
        first = false;
    }
    const std::vector<double> spans = m_others->gather(span);
    const auto workers = static_cast<std::size_t>(m_others->size());
    m_lines.clear();
    for (std::size_t worker = 0; worker < workers; ++worker) {
        const auto bounded = [&](double ns) { return std::isfinite(ns) ? static_cast<std::int64_t>(std::clamp(ns, -9e15, 9e15)) : 0; };
        m_lines.push_back(m_clocks.over(static_cast<int>(worker), bounded(spans[2 * worker]), bounded(spans[2 * worker + 1])));
    }

    std::vector<HeardChunks> heard(workers);
    const std::size_t most = std::clamp(kMostPieces / workers, kLeastPiece, kMostPiece);
    std::vector<std::size_t> bytes(workers, 0);  // that each has said
    std::vector<std::byte> said, piece;
    std::size_t next = 0;
    m_notRead = m_leftOut = 0;
    m_leavesOut = false;
    bool stops = false;
    while (true) {
        for (; said.size() < most && next < own.size(); own[next++].reset()) sayChunk(*own[next], said);
        const std::size_t count = std::min(most, said.size());
        const auto has = m_others->gather({waitsForDisk(stops) ? kHoldOn : static_cast<double>(count), m_place.stops && m_place.stops() ? 1.0 : 0.0});
        stops = somebodyStops(has);
        if (has.front() == kHoldOn) {
            std::this_thread::sleep_for(kLooksAtDisk);
            continue;
        }
        const auto counts = countsOf(has, most);
        const std::size_t longest = *std::ranges::max_element(counts);
        if (longest == 0) break;
        for (std::size_t worker = 0; worker < workers; ++worker) {
            bytes[worker] += counts[worker];
            if (bytes[worker] > kMostOfHeld * m_place.mostHeld) throw strangeWords(worker);
        }
        piece.assign(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(count));
        piece.resize(longest);
        said.erase(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(count));
        const std::vector<std::byte> all = m_others->gatherBytes(piece);
        if (rank() != 0) continue;
        for (std::size_t worker = 1; worker < workers; ++worker)
            heard[worker].hear(all.data() + worker * longest, counts[worker],
                               [&](const Chunk& chunk) { handOn(static_cast<int>(worker), chunk, done); });
    }
    if (rank() != 0) return;
    std::int64_t error = 0;
    for (std::size_t worker = 1; worker < workers; ++worker)
        if (spans[2 * worker + 1] > spans[2 * worker]) error = std::max(error, m_lines[worker].error);
    const bool whole = m_notRead == 0 && std::ranges::all_of(heard, [](const HeardChunks& one) { return one.whole(); });
    if (!whole) say(done, LogLevel::Warning, "Some of what the other workers captured could not be read; it is not in the session.");
    if (m_leftOut > 0)
        say(done, LogLevel::Warning,
            fmt::format("{} slices of the other workers are not in the session: the run was stopped while nothing could be stored.",
                        format::count(m_leftOut)));
    say(done, LogLevel::Info,
        fmt::format("All {} workers captured {}; times of the others are told by the first one's clock, within {}.", workers,
                    done.steps == 1 ? fmt::format("step {}", done.step) : fmt::format("steps {} to {}", done.firstStep, done.step),
                    format::milliseconds(static_cast<double>(error) / 1e6)));
}

// Of the first one. Who brings more than the recorder takes waits within it, for as long as a disk is full, and meets nobody meanwhile. stops: one of
// the workers is asked to.
bool CapturesTogether::waitsForDisk(bool stops) {
    if (rank() > 0 || !m_place.inHand || m_place.inHand() <= kMostInHand) return false;
    m_leavesOut = m_leavesOut || (stops && m_place.blocked && m_place.blocked());
    return !m_leavesOut;
}

// What another process says of itself beside its slices, whose they are, is known here.
void CapturesTogether::handOn(int worker, const Chunk& chunk, CaptureDone& done) {
    if (chunk.kind == kNote) return say(done, LogLevel::Warning, fmt::format("Worker {}: {}", worker, noteOf(chunk)));
    if (chunk.kind == kDeviceFacts) {
        // By the ordinal alone, as readers know them: of workers on several machines the first one's GPU of a number stands for the others' of that
        // number.
        if (chunk.lane >= 0 && chunk.lane < kMostDevices && chunk.bytes.size() <= kMostOfFacts && m_devices.insert(chunk.lane).second) {
            const TimeNs now = m_clock->now();
            m_sink->publishChunk(std::make_shared<const Chunk>(
                Chunk{.kind = chunk.kind, .lane = chunk.lane, .begin = now, .end = now + TimeNs{1}, .count = 1, .bytes = chunk.bytes}));
        }
        return;
    }
    // What is in it lies within it; beyond any clock's time nothing is moved.
    TimeNs last;
    ChunkPtr moved;
    if (chunk.begin.ns >= -kLatestSlice && chunk.end.ns <= kLatestSlice)
        moved = isSlices(chunk.kind)         ? slicesOf(worker, chunk, last)
                : chunk.kind == kSamples     ? samplesOf(worker, chunk, last)
                : chunk.kind == kAllocations ? allocationsOf(worker, chunk, last)
                                             : nullptr;
    if (!moved) {
        ++m_notRead;
        return;
    }
    if (m_leavesOut) {
        if (isSlices(chunk.kind)) m_leftOut = cappedSum(m_leftOut, chunk.count);
        return;
    }
    // What is of a capture is told from that of the next one by when it begins, and nothing of it can have begun by now.
    if (moved->count > 0) done.at = std::max(done.at, std::min(last, m_clock->now()));
    m_sink->publishChunk(std::move(moved));
}

// Null: what cannot be read. last: when the last of it began.
ChunkPtr CapturesTogether::slicesOf(int worker, const Chunk& chunk, TimeNs& last) const {
    auto block = decodeSlices(chunk);
    if (!block) return nullptr;
    const ClockLine& line = m_lines[static_cast<std::size_t>(worker)];
    block->thread.rank = worker;
    block->thread.lane = laneOfWorker(block->thread.laneNumber(), worker);
    for (Slice& slice : block->slices) moveTo(line, slice);
    if (!block->slices.empty()) last = {block->slices.back().start};
    return std::make_shared<const Chunk>(encodeSlices(std::move(*block), TimeNs{line(chunk.begin.ns)}));
}

ChunkPtr CapturesTogether::samplesOf(int worker, const Chunk& chunk, TimeNs& last) const {
    auto block = decodeSamples(chunk);
    if (!block) return nullptr;
    const ClockLine& line = m_lines[static_cast<std::size_t>(worker)];
    block->rank = worker;
    block->lane = laneOfWorker(block->lane, worker);
    for (Sample& sample : block->samples) sample.at = line(sample.at);
    if (!block->samples.empty()) last = {block->samples.back().at};
    return std::make_shared<const Chunk>(encodeSamples(std::move(*block), TimeNs{line(chunk.begin.ns)}));
}

ChunkPtr CapturesTogether::allocationsOf(int worker, const Chunk& chunk, TimeNs& last) const {
    auto block = decodeAllocations(chunk);
    if (!block) return nullptr;
    const ClockLine& line = m_lines[static_cast<std::size_t>(worker)];
    block->rank = worker;
    block->lane = memoryLane(worker);
    for (Allocation& one : block->allocations) one.at = line(one.at);
    if (!block->allocations.empty()) last = {block->allocations.back().at};
    return std::make_shared<const Chunk>(encodeAllocations(std::move(*block), TimeNs{line(chunk.begin.ns)}));
}

void CapturesTogether::say(const CaptureDone& done, LogLevel level, std::string sentence) const {
    m_sink->publish(LogLine{m_clock->now(), done.step, level, std::move(sentence)});
}

}  // namespace stepscope
