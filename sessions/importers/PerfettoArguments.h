// PerfettoArguments: what the annotations of an event in Perfetto's format say of a slice: its place in the model, what it was called with, whose
// stream it is. Used by PerfettoEvents.cpp on the importing thread; the bytes are a stranger's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/KeyedHash.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {

// As much of it as is text, and no more than `most` bytes.
std::string readableText(std::string_view bytes, std::size_t most);
constexpr std::size_t kLongestAnnotationName = 256;

class PerfettoArguments {
public:
    using Names = KeyedMap<std::uint64_t, std::string>;

    // Of one event, of which nothing is known before; names: of annotations, by number. False: one of them is damaged.
    bool read(const std::vector<std::string_view>& annotations, const Names& names, TraceBuilder& trace, Record& record);
    void add(const std::string& name, std::string_view text);  // one more, behind those
    const SliceArguments& arguments();                         // whole: nothing is added any more

    std::optional<std::int64_t> device, stream;
    std::optional<std::int64_t> bytes;
    // Of memory that was taken or given back.
    std::int64_t address = 0, totalAllocated = -1, totalReserved = -1;
    std::string_view owner;  // of the event's bytes

private:
    void column(const std::string& name, std::optional<std::int64_t> whole, std::string_view text, const std::string& json, TraceBuilder& trace,
                Record& record);
    bool number(const std::string& name, std::int64_t whole, Record& record);
    void append(const std::string& name, const std::string& json);

    SliceArguments m_arguments;
};

}  // namespace stepscope::importing
