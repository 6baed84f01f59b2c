// What LodBuilder makes of slices, as chunks and back. Three kinds of block, all of one lane:
// "lod-14/1" to "lod-36/1" (log2 of the bucket width): one level's folds and kept slices; "lod/1": of all levels what had not filled a block of its
// own, written whenever the lane is brought up to date, with how many slices that is: a lane whose "lod/1" count as many slices as its base is whole.
// "names/1": of each base chunk the sums by name. "kin/1": of many base chunks the sums by name with a histogram.
// The bytes are a stranger's: limits are checked before memory is taken, and what is wrong is one sentence with the place of the byte.
#pragma once
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/trace/Chunk.h"
#include "core/trace/Lod.h"
#include "core/trace/LogHistogram.h"

namespace stepscope {

constexpr const char* kLod = "lod/1";
constexpr const char* kNames = "names/1";
constexpr const char* kKin = "kin/1";
std::string lodKind(int level);  // "lod-14/1"
// Whether it can be made anew from the lane's slices.
bool isLod(const std::string& kind);

struct LodSection {
    int level = 1;
    std::vector<LodRow> rows;  // by depth
    bool operator==(const LodSection&) const = default;
};
struct LodBlock {
    std::int64_t lane = 0;
    std::int64_t slices = 0;  // that it brings the lane up to date by
    std::int32_t depths = 0;  // that the lane has so far
    std::int32_t finest = 1;  // level of the lane
    std::vector<LodStyle> styles;
    std::vector<LodSection> sections;
    bool operator==(const LodBlock&) const = default;
};

struct NameSum {
    std::uint32_t name = 0;  // a place in strings
    SliceKind kind = SliceKind::Operation;
    std::int64_t count = 0, total = 0, self = 0;
    bool operator==(const NameSum&) const = default;
};
// Of one base chunk.
struct NameTable {
    std::int64_t first = 0, last = 0;  // starts of its first and last slice
    std::int64_t end = 0;              // when all have ended
    std::int64_t slices = 0, lost = 0, invalid = 0;
    std::vector<NameSum> sums;
    bool operator==(const NameTable&) const = default;
};
struct NamesBlock {
    std::int64_t lane = 0;
    std::vector<std::string> strings;
    std::vector<NameTable> tables;
    bool operator==(const NamesBlock&) const = default;
};

struct KinSum {
    std::string name;
    SliceKind kind = SliceKind::Operation;
    std::int64_t count = 0, total = 0, self = 0, shortest = 0, longest = 0;
    LogHistogram durations;
    void add(const KinSum& other);
    bool operator==(const KinSum&) const = default;
};
struct KinBlock {
    std::int64_t lane = 0;
    std::int64_t begin = 0, end = 0;
    std::vector<KinSum> sums;
    bool operator==(const KinBlock&) const = default;
};

// `kind`: kLod or lodKind() of its one section.
Chunk encodeLod(const LodBlock& block, const std::string& kind, TimeNs at);
// `only`: of the sections those of this level; 0: all; -1: none, only what the head says.
Result<LodBlock> decodeLod(const Chunk& chunk, int only = 0);
Chunk encodeNames(const NamesBlock& block);
Result<NamesBlock> decodeNames(const Chunk& chunk);
Chunk encodeKin(const KinBlock& block);
Result<KinBlock> decodeKin(const Chunk& chunk);

}  // namespace stepscope
