#include "sessions/Samples.h"

#include <limits>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"

namespace stepscope {
namespace {

constexpr std::int64_t kSampleBytesAtOnce = std::int64_t{8} << 20;

template <class Decode, class Take>
Status forEachBlockOf(SessionReader& reader, std::int64_t session, const char* kind, const BlockRange& range, Decode decode, const Take& take) {
    const auto lanes = reader.chunkLanes(session);
    if (!lanes) return lanes.error();
    for (const auto& lane : *lanes) {
        if (lane.kind != kind) continue;
        ChunkPlace after;
        for (bool more = true; more;) {
            const auto page = reader.chunks(session, {lane.kind, lane.lane, range.from, range.to}, after, kSampleBytesAtOnce);
            if (!page) return page.error();
            for (const auto& chunk : page->chunks) {
                const auto block = decode(*chunk);
                if (!block) return block.error();
                if (auto good = take(*block); !good) return good;
            }
            after = page->next;
            more = page->more;
        }
    }
    return {};
}

}  // namespace

Status forEachSampleBlock(SessionReader& reader, std::int64_t session, const std::function<Status(const SampleBlock&)>& take,
                          const BlockRange& range) {
    return forEachBlockOf(reader, session, kSamples, range, decodeSamples, take);
}

Status forEachAllocationBlock(SessionReader& reader, std::int64_t session, const std::function<Status(const AllocationBlock&)>& take,
                              const BlockRange& range) {
    return forEachBlockOf(reader, session, kAllocations, range, decodeAllocations, take);
}

Result<bool> othersHaveMemory(SessionReader& reader, std::int64_t session) {
    const auto lanes = reader.chunkLanes(session);
    if (!lanes) return lanes.error();
    for (const auto& lane : *lanes) {
        if (lane.kind != kAllocations) continue;
        const ChunkRange all{lane.kind, lane.lane, {std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}};
        const auto page = reader.chunks(session, all, {}, 1);
        if (!page) return page.error();
        if (page->chunks.empty()) continue;
        const auto block = decodeAllocations(*page->chunks.front());
        if (!block) return block.error();
        if (block->rank > 0) return true;
    }
    return false;
}

Status forEachWorkerTimes(SessionReader& reader, std::int64_t session, const std::function<Status(const WorkerTimes&)>& take) {
    return forEachBlockOf(reader, session, kWorkerTimes, {}, decodeWorkerTimes, take);
}

Status forEachWorkerClocks(SessionReader& reader, std::int64_t session, const std::function<Status(const WorkerClocks&)>& take) {
    return forEachBlockOf(reader, session, kWorkerClocks, {}, decodeWorkerClocks, take);
}

Result<WorkerMap> workerMapOf(const std::string& database, std::int64_t session) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    if (const auto there = (*reader)->summary(session); !there) return there.error();
    WorkerMap map;
    const auto read = forEachWorkerTimes(**reader, session, [&](const WorkerTimes& block) -> Status {
        map.add(block);
        return {};
    });
    if (!read) return read.error();
    const auto clocks = forEachWorkerClocks(**reader, session, [&](const WorkerClocks& found) -> Status {
        map.add(found);
        return {};
    });
    if (!clocks) return clocks.error();
    return map;
}

}  // namespace stepscope
