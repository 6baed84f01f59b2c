#include "sessions/exporters/MemorySnapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/PickleText.h"

namespace stepscope {
namespace {

// One of a device, with its texts; allocations of one device may lie in several lanes, and workers have devices of one ordinal and addresses alike.
struct SnapshotEntry {
    Allocation what;
    std::string kind, owner;
};

constexpr std::int64_t kMostEntries = 20'000'000;  // held at once: a snapshot is in order of time, device by device

// The format has one list of events for each number of a device. Here that is the place in this order, from 0 on: by worker, of a worker by the
// ordinal of the device, and the host's behind its devices.
struct SnapshotDevices {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<SnapshotEntry>> byDevice;  // rank, device
    std::int64_t count = 0;
};

Result<SnapshotDevices> readAllocations(SessionReader& reader, std::int64_t session, const ExportProgress& progress, const OneRank& rank) {
    SnapshotDevices all;
    std::set<std::int64_t> recorded;
    const auto done = forEachAllocationBlock(reader, session, [&](const AllocationBlock& block) -> Status {
        recorded.insert(block.rank);
        if (!isOfRank(rank, block)) return stillWanted(progress);
        all.count += static_cast<std::int64_t>(block.allocations.size());
        if (all.count > kMostEntries)
            return makeError(ErrorCode::Unsupported,
                             fmt::format("Session {} has more than {} allocations, more than a snapshot can be made of; export a trace instead.",
                                         session, kMostEntries));
        for (const auto& one : block.allocations) {
            if (one.bytes == std::numeric_limits<std::int64_t>::min()) continue;  // no size has that opposite
            all.byDevice[{block.rank, one.device < 0 ? std::numeric_limits<std::int64_t>::max() : one.device}].push_back(
                {one, block.strings[one.kind], block.strings[one.owner]});
        }
        return stillWanted(progress);
    });
    if (!done) return done.error();
    if (auto there = rankIsThere(rank, session, recorded); !there) return there.error();
    for (auto& [device, entries] : all.byDevice) std::ranges::stable_sort(entries, {}, [](const SnapshotEntry& one) { return one.what.at; });
    return all;
}

// A capture of ours gives back at its end what is still held, so that the next one tells of it anew. Nobody gave it back: behind the last capture it
// is what is in use. Those are the last of a worker's, all of one time.
void leaveOutTheEnd(SnapshotDevices& all) {
    std::map<std::int64_t, std::int64_t> last;  // by rank
    for (const auto& [device, entries] : all.byDevice)
        if (!entries.empty()) {
            const auto [found, added] = last.try_emplace(device.first, entries.back().what.at);
            if (!added) found->second = std::max(found->second, entries.back().what.at);
        }
    for (auto& [device, entries] : all.byDevice)
        while (!entries.empty() && entries.back().what.bytes < 0 && entries.back().what.at == last[device.first]) entries.pop_back();
}

void writeFrames(PickleText& out, const SnapshotEntry& entry) {
    out.text("frames");
    out.beginList();
    if (!entry.owner.empty() || !entry.kind.empty()) {
        out.beginDict();
        out.entry("filename", entry.kind.empty() ? "unknown" : entry.kind);
        out.entry("line", 0);
        out.entry("name", entry.owner.empty() ? "unknown" : entry.owner);
        out.endDict();
    }
    out.endList();
}

void writeEvent(PickleText& out, const char* action, const SnapshotEntry& entry) {
    out.beginDict();
    out.entry("action", action);
    out.text("addr");
    out.unsignedWhole(entry.what.address);
    out.entry("size", entry.what.bytes < 0 ? -entry.what.bytes : entry.what.bytes);
    out.entry("stream", 0);
    out.entry("time_us", entry.what.at / 1000);
    writeFrames(out, entry);
    out.endDict();
}

// What is in use at the end, each as a segment of its own: how the allocator had cut its memory is not known.
void writeSegments(PickleText& out, std::int64_t number, const std::vector<SnapshotEntry>& entries) {
    std::map<std::uint64_t, const SnapshotEntry*> live;
    for (const auto& entry : entries) {
        if (entry.what.bytes > 0)
            live[entry.what.address] = &entry;
        else
            live.erase(entry.what.address);
    }
    for (const auto& [address, entry] : live) {
        out.beginDict();
        out.text("address");
        out.unsignedWhole(address);
        for (const char* size : {"total_size", "allocated_size", "active_size", "requested_size"}) out.entry(size, entry->what.bytes);
        out.entry("stream", 0);
        out.entry("segment_type", "large");
        out.entry(R"(device)", number);  // a key of the format
        out.text("segment_pool_id");
        out.beginList();
        out.whole(0);
        out.whole(0);
        out.endList();
        out.entry("is_expandable", 0);
        writeFrames(out, *entry);
        out.text("blocks");
        out.beginList();
        out.beginDict();
        out.text("address");
        out.unsignedWhole(address);
        out.entry("size", entry->what.bytes);
        out.entry("requested_size", entry->what.bytes);
        out.entry("state", "active_allocated");
        writeFrames(out, *entry);
        out.endDict();
        out.endList();
        out.endDict();
    }
}

}  // namespace

Status exportMemorySnapshot(const std::string& database, std::int64_t session, std::ostream& out, const ExportProgress& progress,
                            const OneRank& rank) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    auto all = readAllocations(**reader, session, progress, rank);
    if (!all) return all.error();
    if (info->kind != SessionKind::Trace) leaveOutTheEnd(*all);
    if (all->count == 0)
        return makeError(
                   ErrorCode::NotFound,
                   fmt::format("No allocation of session {} was recorded, so there is no memory to write a snapshot of; captured steps of a run "
                               "have some, and traces of PyTorch's profiler with profile_memory=True.",
                               session))
            .about(Subject::Kind::Session, std::to_string(session));
    PickleText pickle;
    const auto write = [&]() -> Status {
        out << pickle.take();
        if (out) return {};
        return makeError(ErrorCode::Io, "The snapshot could not be written; check the free room and the permissions of the target.");
    };
    pickle.beginDict();
    pickle.text("segments");
    pickle.beginList();
    std::int64_t number = 0;
    for (const auto& [device, entries] : all->byDevice) writeSegments(pickle, number++, entries);
    pickle.endList();
    pickle.text("device_traces");
    pickle.beginList();
    for (const auto& [device, entries] : all->byDevice) {
        pickle.beginList();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries[i].what.bytes > 0) {
                writeEvent(pickle, "alloc", entries[i]);
            } else if (entries[i].what.bytes < 0) {
                writeEvent(pickle, "free_requested", entries[i]);
                writeEvent(pickle, "free_completed", entries[i]);
            }
            if (i % 4096 == 4095)
                if (auto done = write(); !done) return done;
        }
        pickle.endList();
    }
    pickle.endList();
    pickle.text("allocator_settings");
    pickle.beginDict();
    pickle.endDict();
    pickle.text("external_annotations");
    pickle.beginList();
    pickle.endList();
    pickle.endDict();
    pickle.end();
    if (auto done = write(); !done) return done;
    out.flush();
    return write();
}

}  // namespace stepscope
