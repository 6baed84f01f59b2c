// SliceColumns: the views over captured slices (core/trace/Slice.h): which kinds of slices each is of, which columns it has and what those say of a
// slice. SliceSources feeds them. On the query's thread.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/SliceCodec.h"
#include "sessions/query/QueryFile.h"

namespace stepscope::query {

enum class Field {
    Start,
    Duration,
    End,
    Self,
    Name,
    Kind,
    Thread,
    ThreadName,
    Process,
    ProcessName,
    Device,
    Stream,
    Depth,
    Step,
    Phase,
    Layer,
    Role,
    Correlation,
    External,
    Sequence,
    ForwardStart,
    Recomputed,
    Shapes,
    Flops,
    Bytes,
    Grid,
    Block,
    Registers,
    SharedBytes,
    CopyKind,
    Extra,
    Lane,
    Capture,
    Rank,
};

// Named and typed in one text, "start_ns integer".
struct FieldFacts {
    Field field;
    std::string_view declared, about;

    std::string name() const { return std::string(declared.substr(0, declared.find(' '))); }
    std::string type() const { return std::string(declared.substr(declared.find(' ') + 1)); }
};
const FieldFacts& factsOf(Field field);

constexpr std::uint32_t kindBit(SliceKind kind) {
    return 1U << static_cast<int>(kind);
}

struct SliceViewFacts {
    const char *name, *about;
    std::uint32_t kinds;
    std::vector<Field> fields;
};
const std::vector<SliceViewFacts>& sliceViewFacts();

// What the columns say of one slice. A text is good until the next is asked for.
class SliceCells {
public:
    explicit SliceCells(const QueryFile& file) : m_file(file) {}
    Cell of(const SliceBlock& block, const Slice& slice, Field field);

private:
    Cell sizes(const std::array<std::int64_t, 3>& size);

    const QueryFile& m_file;
    std::string m_made;
};

}  // namespace stepscope::query
