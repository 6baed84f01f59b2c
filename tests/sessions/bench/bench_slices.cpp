// bench_slices: what it takes to store slices as they are captured: blocks are made, encoded, packed and stored with their level of detail. As fast
// as it goes, in turns; then at 50 000 a second, in processor time of the whole process. Exits 1 below the bar of 500 000 a second, or where the
// second takes 10 % of a core or more.
// bench_slices FILE SESSION: the room that the slices of a stored session take, each: columns and names, the level of detail, and apart from them
// what is only kept to be exported again. Plain program: one long measurement.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "core/analysis/Statistics.h"
#include "core/trace/LodCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/SessionTrace.h"
#include "sessions/Slices.h"
#include "sessions/record/ChunkPacking.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace {

using namespace stepscope;
using Clock = std::chrono::steady_clock;
constexpr int kBlock = 4096;

double processorSeconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Operations in steps of a thread, as an eager step nests them, with sizes and sequence numbers.
class Steps {
public:
    SliceBlock next() {
        SliceBlock block{.thread = {.process = 1, .thread = 7, .number = 1, .name = "trainer"}};
        for (int i = 1; i < 60; ++i) block.strings.push_back(fmt::format("aten::operation_{}", i));
        for (const char* word : {"forward", "attention/qkv", "mlp/up", "norm1", "head/loss"}) block.strings.emplace_back(word);
        for (int i = 0; i < 40; ++i)
            block.arguments.push_back({.text = fmt::format("Float[{},256] Float[256,{}]", 64 + i, 128 + i), .flops = 100'000 + i, .bytes = 4000 + i});
        while (static_cast<int>(block.slices.size()) < kBlock) {
            const auto length = static_cast<std::int64_t>(2'000 + m_random() % 40'000);
            const auto layer = static_cast<std::int32_t>(m_made / 64 % 6);
            const auto take = [&](std::int64_t start, std::int64_t duration, std::int64_t called, int depth) {
                block.slices.push_back({.start = start,
                                        .duration = duration,
                                        .called = called,
                                        .name = static_cast<std::uint32_t>(1 + m_random() % 59),
                                        .phase = 60,
                                        .role = static_cast<std::uint32_t>(61 + m_random() % 4),
                                        .arguments = static_cast<std::uint32_t>(m_random() % 41),
                                        .depth = depth,
                                        .layer = layer,
                                        .step = m_made / 2000,
                                        .sequence = m_made});
                ++m_made;
            };
            take(m_now, length, length / 2, 2);
            if (static_cast<int>(block.slices.size()) < kBlock) take(m_now + 200, length / 2, 0, 3);
            m_now += length + static_cast<std::int64_t>(m_random() % 1'500);
        }
        return block;
    }

private:
    std::mt19937_64 m_random{1};
    std::int64_t m_now = 0, m_made = 0;
};

struct Rate {
    double byClock = 0, byProcessor = 0;  // slices a second
};

Rate asFastAsItGoes(std::int64_t slices) {
    const test::TempFolder folder;
    auto recorder = Recorder::open({.path = folder.file("s.db"), .durable = false}, test::sampleInfo());
    if (!recorder) return {};
    Steps steps;
    std::vector<SliceBlock> made;
    for (std::int64_t done = 0; done < slices; done += kBlock) made.push_back(steps.next());
    const double before = processorSeconds();
    const auto begin = Clock::now();
    for (auto& block : made) (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(std::move(block))));
    (void)(*recorder)->finish();
    const auto all = static_cast<double>(made.size()) * kBlock;
    return {all / std::chrono::duration<double>(Clock::now() - begin).count(), all / (processorSeconds() - before)};
}

// Percent of one core.
double pacedCost(double perSecond, std::chrono::seconds length) {
    const test::TempFolder folder;
    auto recorder = Recorder::open({.path = folder.file("s.db"), .durable = false}, test::sampleInfo());
    if (!recorder) return kUnknown;
    Steps steps;
    std::vector<SliceBlock> made;
    for (double done = 0; done < perSecond * static_cast<double>(length.count()); done += kBlock) made.push_back(steps.next());
    const double before = processorSeconds();
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < made.size(); ++i) {
        (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(std::move(made[i]))));
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(i + 1) * kBlock / perSecond)));
    }
    (void)(*recorder)->finish();
    return 100 * (processorSeconds() - before) / std::chrono::duration<double>(Clock::now() - begin).count();
}

int roomOf(const std::string& path, std::int64_t session) {
    auto reader = SessionReader::open(path);
    if (!reader) return fmt::print(stderr, "{}\n", reader.error().sentence), 2;
    // An imported session gets its level of detail when it is looked at first.
    auto trace = SessionTrace::open(path, session);
    if (!trace) return fmt::print(stderr, "{}\n", trace.error().sentence), 2;
    if (const auto whole = (*trace)->complete([] { return true; }); !whole) return fmt::print(stderr, "{}\n", whole.error().sentence), 2;
    double slices = 0, columns = 0, kept = 0, detail = 0;
    const auto done = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
        slices += static_cast<double>(block.slices.size());
        const auto whole = static_cast<double>(packed(encodeSlices(block)).size());
        SliceBlock without = block;
        for (auto& arguments : without.arguments) arguments.extra.clear();
        const auto bare = static_cast<double>(packed(encodeSlices(std::move(without))).size());
        columns += bare;
        kept += whole - bare;
        return {};
    });
    if (!done) return fmt::print(stderr, "{}\n", done.error().sentence), 2;
    const auto lanes = (*reader)->chunkLanes(session);
    if (!lanes) return fmt::print(stderr, "{}\n", lanes.error().sentence), 2;
    for (const auto& lane : *lanes)
        if (isLod(lane.kind)) detail += static_cast<double>(lane.packedBytes);
    if (slices == 0) return fmt::print(stderr, "Session {} has no slices.\n", session), 2;
    fmt::print(
        "{:.0f} slices: {:.2f} bytes each ({:.2f} of columns and names, {:.2f} of the level of detail); kept to be exported again, apart: {:.2f}\n",
        slices, (columns + detail) / slices, columns / slices, detail / slices, kept / slices);
    return (columns + detail) / slices <= 12 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 2) return roomOf(argv[1], std::atoll(argv[2]));
    std::vector<double> byClock, byProcessor, paced;
    for (int round = 0; round < 5; ++round) {
        const Rate rate = asFastAsItGoes(1'000'000);
        byClock.push_back(rate.byClock);
        byProcessor.push_back(rate.byProcessor);
    }
    fmt::print("slices stored: {:.0f}/s by the clock (median of {} rounds of a million; {:.0f} to {:.0f}), {:.0f} a second of processor time\n",
               median(byClock), byClock.size(), quantile(byClock, 0), quantile(byClock, 1), median(byProcessor));
    for (int round = 0; round < 3; ++round) paced.push_back(pacedCost(50'000, std::chrono::seconds(5)));
    fmt::print("at 50 000 slices/s: {:.2f} % of a core ({:.2f} to {:.2f})\n", median(paced), quantile(paced, 0), quantile(paced, 1));
    return median(byClock) >= 500'000 && median(paced) < 10 ? 0 : 1;
}
