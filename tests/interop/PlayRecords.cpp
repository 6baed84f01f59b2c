// play_records: records of activities as lines on standard input, played by the fake CUPTI as NVIDIA's own structures, taken by the plug-in's
// capture, decoded, packed into chunks and read back; what came out is summed up on standard output. play_records [MULTIPROCESSORS THREADS REGISTERS
// SHARED RESERVED [DATABASE TRACE]]: with the latter the chunks are recorded as a session too, and that is exported. real_records.py feeds it with
// recordings of real GPUs.
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "../core/cuda/cupti/FakeCupti.h"
#include "OnHost.h"
#include "core/analysis/captures/DeviceSummary.h"
#include "core/events/SessionInfo.h"
#include "core/profile/activity/ActivityDecoder.h"
#include "core/trace/SliceCodec.h"
#include "sessions/exporters/KinetoTrace.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

// kind, device, context, stream, start, end, correlation, bytes, copy kind, from, to, grid, block, registers, shared, external, thread, type, event,
// which record of it, name
constexpr std::size_t kFields = 25;

std::int64_t number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

class Player {
public:
    void play(const std::vector<std::string_view>& f) {
        const std::string_view kind = f[0];
        const auto n = [&](std::size_t i) { return number(f[i]); };
        const auto n32 = [&](std::size_t i) { return static_cast<std::uint32_t>(number(f[i])); };
        const auto times = [&](auto& record) {
            record.deviceId = n32(1);
            record.contextId = n32(2);
            record.streamId = n32(3);
            record.start = static_cast<std::uint64_t>(n(4));
            record.end = static_cast<std::uint64_t>(n(5));
            record.correlationId = n32(6);
        };
        if (kind == "kernel") {
            CUpti_ActivityKernel10 record{};
            record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
            times(record);
            record.gridX = static_cast<std::int32_t>(n(11)), record.gridY = static_cast<std::int32_t>(n(12)),
            record.gridZ = static_cast<std::int32_t>(n(13));
            record.blockX = static_cast<std::int32_t>(n(14)), record.blockY = static_cast<std::int32_t>(n(15)),
            record.blockZ = static_cast<std::int32_t>(n(16));
            record.registersPerThread = static_cast<std::uint16_t>(n(17));
            record.dynamicSharedMemory = static_cast<std::int32_t>(n(18));
            record.name = kept(f[24]);
            fakeCuptiRecord(&record, sizeof record);
        } else if (kind == "memcpy") {
            CUpti_ActivityMemcpy6 record{};
            record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
            times(record);
            record.bytes = static_cast<std::uint64_t>(n(7));
            record.copyKind = static_cast<std::uint8_t>(n(8)), record.srcKind = static_cast<std::uint8_t>(n(9)),
            record.dstKind = static_cast<std::uint8_t>(n(10));
            fakeCuptiRecord(&record, sizeof record);
        } else if (kind == "memset") {
            CUpti_ActivityMemset4 record{};
            record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
            times(record);
            record.bytes = static_cast<std::uint64_t>(n(7));
            record.memoryKind = static_cast<std::uint16_t>(n(10));
            fakeCuptiRecord(&record, sizeof record);
        } else if (kind == "sync") {
            CUpti_ActivitySynchronization2 record{};
            record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
            record.type = static_cast<CUpti_ActivitySynchronizationType>(n(21));
            record.contextId = n32(2);
            record.streamId = n(3) < 0 ? CUPTI_SYNCHRONIZATION_INVALID_VALUE : n32(3);
            record.start = static_cast<std::uint64_t>(n(4));
            record.end = static_cast<std::uint64_t>(n(5));
            record.correlationId = n32(6);
            record.cudaEventId = n32(22);
            record.cudaEventSyncId = static_cast<std::uint64_t>(n(23));
            fakeCuptiRecord(&record, sizeof record);
        } else if (kind == "event") {
            CUpti_ActivityCudaEvent2 record{};
            record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
            record.deviceId = n32(1);
            record.contextId = n32(2);
            record.streamId = n32(3);
            record.correlationId = n32(6);
            record.eventId = n32(22);
            record.cudaEventSyncId = static_cast<std::uint64_t>(n(23));
            fakeCuptiRecord(&record, sizeof record);
        } else if (kind == "runtime") {
            CUpti_ActivityAPI record{};
            record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
            const auto [known, added] = m_calls.try_emplace(std::string(f[24]), static_cast<CUpti_CallbackId>(m_calls.size() + 1));
            record.cbid = known->second;
            if (added) fakeCuptiName(CUPTI_CB_DOMAIN_RUNTIME_API, record.cbid, known->first.c_str());
            record.start = static_cast<std::uint64_t>(n(4));
            record.end = static_cast<std::uint64_t>(n(5));
            record.correlationId = n32(6);
            record.threadId = n32(20);
            fakeCuptiRecord(&record, sizeof record);
        } else {
            std::cerr << "unknown kind of record: " << kind << "\n";
            std::exit(1);
        }
        if (n(19) != 0) {
            CUpti_ActivityExternalCorrelation record{};
            record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
            record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
            record.externalId = static_cast<std::uint64_t>(n(19));
            record.correlationId = n32(6);
            fakeCuptiRecord(&record, sizeof record);
        }
    }

private:
    const char* kept(std::string_view name) { return m_kernels.try_emplace(std::string(name)).first->first.c_str(); }
    std::map<std::string, int> m_kernels;
    std::map<std::string, CUpti_CallbackId> m_calls;
};

struct Sum {
    std::int64_t count = 0, ns = 0, bytes = 0, externals = 0, blocks = 0, threads = 0;
};

[[noreturn]] void fail(const Error& error) {
    std::cerr << error.sentence << "\n";
    std::exit(1);
}

std::unique_ptr<Recorder> recorderOf(const char* database) {
    SessionInfo info{.kind = SessionKind::Trace, .name = "records of a GPU"};
    info.config.reset();
    info.machine.reset();
    auto recorder = Recorder::open({.path = database}, info);
    if (!recorder) fail(recorder.error());
    return std::move(*recorder);
}

int main(int count, char** words) {
    const auto word = [&](int i) { return i < count ? number(words[i]) : 0; };
    const GpuShape gpu{.multiprocessors = word(1),
                       .threadsPerMultiprocessor = word(2),
                       .registersPerMultiprocessor = word(3),
                       .sharedPerMultiprocessorBytes = word(4),
                       .sharedReservedBytes = word(5)};
    DeviceSummary summary(gpu);
    std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>, double> fills;
    const CudaInterface& cuda = *stepscope_cuda_on_host();
    if (const char* why = cuda.captureBegin({})) {
        std::cerr << why << "\n";
        return 1;
    }
    const std::unique_ptr<Recorder> recorder = count > 7 ? recorderOf(words[6]) : nullptr;
    Player player;
    ActivityDecoder decoder({.process = 1});
    using Key = std::tuple<std::int64_t, std::int64_t, int, std::string>;
    std::map<Key, Sum> sums;
    std::int64_t chunks = 0, bytes = 0, slices = 0;
    const auto take = [&](bool last) {
        cuda.captureCollect(last, &decoder, [](void* into, const CudaActivity* records, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) static_cast<ActivityDecoder*>(into)->add(records[i]);
        });
        for (SliceBlock& made : decoder.take(last)) {
            const auto chunk = std::make_shared<const Chunk>(encodeSlices(std::move(made)));
            const auto block = decodeSlices(*chunk);
            if (!block) fail(block.error());
            if (recorder) recorder->publishChunk(chunk);
            chunks += 1;
            summary.add(*block);
            bytes += static_cast<std::int64_t>(chunk->bytes.size());
            for (const Slice& slice : block->slices) {
                const SliceArguments& with = block->arguments[slice.arguments];
                Sum& sum = sums[{block->thread.device, block->thread.thread, static_cast<int>(slice.kind), block->strings[slice.name]}];
                slices += 1;
                sum.count += 1;
                if (const auto fill = kernelFill(with, gpu))
                    fills[{block->strings[slice.name], with.grid[0] * with.grid[1] * with.grid[2], with.block[0] * with.block[1] * with.block[2],
                           with.registers, with.sharedBytes}] = fill->occupancy;
                sum.ns += slice.duration;
                sum.bytes += with.bytes;
                sum.externals += slice.external;
                sum.blocks += with.grid[0] * with.grid[1] * with.grid[2];
                sum.threads += with.block[0] * with.block[1] * with.block[2];
            }
        }
    };
    std::int64_t lines = 0;
    for (std::string line; std::getline(std::cin, line);) {
        std::vector<std::string_view> fields;
        for (std::size_t from = 0; fields.size() + 1 < kFields;) {
            const auto tab = line.find('\t', from);
            if (tab == std::string::npos) break;
            fields.push_back(std::string_view(line).substr(from, tab - from));
            from = tab + 1;
            if (fields.size() + 1 == kFields) fields.push_back(std::string_view(line).substr(from));
        }
        if (fields.size() != kFields) {
            std::cerr << "a line of " << fields.size() << " fields: " << line << "\n";
            return 1;
        }
        player.play(fields);
        if (++lines % 1000 == 0) take(false);
    }
    take(true);
    CudaCaptureCounts counts;
    cuda.captureEnd(&counts);
    if (recorder) {
        const std::int64_t session = recorder->session();
        if (const Status stored = recorder->finish(); !stored) fail(stored.error());
        if (const auto written = exportKinetoTraceFile(words[6], session, words[7]); !written) fail(written.error());
    }
    std::cout << fmt::format("counts\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", counts.records, counts.dropped, counts.unknown, decoder.counts().invalid, chunks,
                             slices, bytes);
    for (const StreamTime& one : summary.streams())
        std::cout << fmt::format("idle\t{}\t{}\t{}\t{}\t{}\t{}\n", one.device, one.stream, one.busy.ns, one.hostWait.ns, one.kernelWait.ns,
                                 one.otherIdle.ns);
    for (const DeviceTime& one : summary.devices())
        std::cout << fmt::format("device\t{}\t{}\t{}\t{}\t{:.9e}\t{:.6f}\n", one.device, (one.end - one.begin).ns, one.busy.ns, one.kernels.ns,
                                 one.efficiency, one.occupancy);
    for (const StreamLaunches& one : summary.launches())
        std::cout << fmt::format("launches\t{}\t{}\t{}\t{}\t{}\t{:.9e}\t{}\n", one.device, one.stream, one.launched, one.total.ns, one.longest.ns,
                                 one.meanQueue, one.longestQueue);
    for (const auto& [key, occupancy] : fills)
        std::cout << fmt::format("fill\t{}\t{}\t{}\t{}\t{:.4f}\t{}\n", std::get<1>(key), std::get<2>(key), std::get<3>(key), std::get<4>(key),
                                 occupancy, std::get<0>(key));
    for (const auto& [key, sum] : sums)
        std::cout << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", std::get<0>(key), std::get<1>(key), std::get<2>(key), sum.count, sum.ns,
                                 sum.bytes, sum.externals, sum.blocks, sum.threads, std::get<3>(key));
    return 0;
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
    return stepscope::main(count, words);
}
