// What the tests of queries share: a session with a bit of everything in it, made-up slices cut into blocks, and answers as text.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/SessionStore.h"
#include "sessions/query/SessionQuery.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {

inline std::string asText(const QueryValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}r", *real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return "NULL";
}
// Rows as "a|b|c", line by line.
inline std::string asText(const QueryResult& result) {
    std::string all;
    for (const auto& row : result.rows) {
        for (std::size_t c = 0; c < row.size(); ++c) all += (c > 0 ? "|" : "") + asText(row[c]);
        all += '\n';
    }
    return all;
}

inline std::vector<Event> noEvents() {
    return {};
}

struct QueryFixture : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    void record(const std::vector<Chunk>& chunks, const std::vector<Event>& events = noEvents(), const std::string& name = "a run") {
        auto recorder = Recorder::open({.path = path}, sampleInfo(name));
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        for (const auto& event : events) (*recorder)->publish(event);
        for (const auto& chunk : chunks) (*recorder)->publishChunk(std::make_shared<const Chunk>(chunk));
        const Status done = (*recorder)->finish();
        ASSERT_TRUE(done) << done.error().sentence;
    }
    Result<QueryResult> run(const std::string& sql, const QueryLimits& limits = {}, std::int64_t session = 1) {
        auto query = SessionQuery::open(path, session);
        if (!query) return query.error();
        return (*query)->run(sql, limits);
    }
    std::string text(const std::string& sql) {
        const auto result = run(sql);
        return result ? asText(*result) : result.error().sentence + " " + result.error().cause;
    }
    std::string refusal(const std::string& sql, const QueryLimits& limits = {}) {
        const auto result = run(sql, limits);
        return result ? "it ran: " + asText(*result) : result.error().sentence;
    }

    // A thread with a step of two operations and its launches, a stream with a kernel and a copy, a counter, two allocations.
    static std::vector<Chunk> everything() {
        SliceBlock host{.thread = {.process = 10, .thread = 11, .number = 1, .name = "trainer"}};
        host.strings = {"", "step 5", "forward", "aten::addmm", "mlp/up", "cudaLaunchKernel", "loading"};
        host.arguments = {{}, {.text = "Float[4,12]", .flops = 96, .bytes = 200}};
        host.slices = {
            {.start = 1000, .duration = 900, .called = 500, .name = 1, .kind = SliceKind::Step, .step = 5},
            {.start = 1100,
             .duration = 300,
             .called = 20,
             .name = 3,
             .phase = 2,
             .role = 4,
             .arguments = 1,
             .depth = 1,
             .layer = 0,
             .step = 5,
             .sequence = 17,
             .external = 3},
            {.start = 1150, .duration = 20, .name = 5, .depth = 2, .kind = SliceKind::Runtime, .step = 5, .correlation = 77, .external = 3},
            {.start = 1500, .duration = 200, .name = 3, .phase = 2, .depth = 1, .layer = 1, .step = 5},
            {.start = 1800, .duration = 50, .name = 6, .depth = 1, .kind = SliceKind::Annotation},
        };
        SliceBlock stream{.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = 1007, .device = 0}};
        stream.strings = {"", "gemm", "Memcpy HtoD (Pinned -> Device)"};
        stream.arguments = {{}, {.grid = {8, 4, 1}, .block = {128, 1, 1}, .registers = 96, .sharedBytes = 4096}, {.bytes = 65536}};
        stream.slices = {
            {.start = 1250, .duration = 400, .name = 1, .arguments = 1, .kind = SliceKind::Kernel, .step = 5, .correlation = 77, .external = 3},
            {.start = 1700, .duration = 100, .name = 2, .arguments = 2, .kind = SliceKind::Memcpy, .correlation = 78},
        };
        SampleBlock counter{.lane = 1, .device = 0, .name = "GPU 0"};
        counter.series = {{}, {"power", "W"}};
        counter.samples = {{1200, 1, 55.5}, {1400, 1, 60}};
        AllocationBlock memory{.lane = 1, .thread = 11};
        memory.strings = {"", "activations", "aten::addmm"};
        memory.allocations = {{.at = 1110, .address = 64, .bytes = 512, .device = 0, .totalAllocated = 512, .kind = 1, .owner = 2},
                              {.at = 1900, .address = 64, .bytes = -512, .device = 0, .totalAllocated = 0, .kind = 1, .owner = 2}};
        return {encodeSlices(host), encodeSlices(stream), encodeSamples(counter), encodeAllocations(memory)};
    }
};

// Nested slices of one thread, made up; by their start.
inline SliceBlock randomSlices(std::mt19937& random, std::size_t count, std::int64_t thread = 1) {
    SliceBlock block{.thread = {.process = 1, .thread = thread, .name = fmt::format("thread {}", thread)}};
    block.strings = {"", "aten::mm", "aten::add", "MmBackward0", "gelu", "forward", "backward", "mlp", "attention"};
    block.arguments = {{}, {.text = "Float[3]", .flops = 7, .bytes = 12}, {.text = "Float[9]", .flops = 0, .bytes = 36}};
    const auto upTo = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
    std::int64_t at = upTo(1000);
    while (block.slices.size() < count) {
        Slice slice{.start = at, .duration = upTo(500)};
        slice.called = upTo(slice.duration);
        slice.name = static_cast<std::uint32_t>(1 + upTo(3));
        slice.phase = static_cast<std::uint32_t>(5 + upTo(1));
        slice.role = upTo(2) == 0 ? 0 : static_cast<std::uint32_t>(7 + upTo(1));
        slice.arguments = static_cast<std::uint32_t>(upTo(2));
        slice.layer = static_cast<std::int32_t>(upTo(3)) - 1;
        slice.kind = static_cast<SliceKind>(upTo(3));
        slice.recomputed = upTo(5) == 0;
        slice.step = 1 + at / 20'000;
        slice.sequence = upTo(2) == 0 ? -1 : upTo(50);
        slice.correlation = upTo(3) == 0 ? upTo(100) : 0;
        block.slices.push_back(slice);
        at += upTo(300);
    }
    return block;
}

// The same slices as several blocks, cut wherever it comes.
inline std::vector<Chunk> cutAtRandom(const SliceBlock& whole, std::mt19937& random) {
    std::vector<Chunk> chunks;
    SliceBlock part = whole;
    part.slices.clear();
    for (const auto& slice : whole.slices) {
        part.slices.push_back(slice);
        if (std::uniform_int_distribution(0, 30)(random) > 0) continue;
        chunks.push_back(encodeSlices(part));
        part.slices.clear();
    }
    if (!part.slices.empty()) chunks.push_back(encodeSlices(part));
    return chunks;
}

}  // namespace stepscope::test
