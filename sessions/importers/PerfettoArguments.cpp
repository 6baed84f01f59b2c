#include "sessions/importers/PerfettoArguments.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/trace/SliceCodec.h"
#include "sessions/importers/JsonScan.h"
#include "sessions/importers/ProtoFields.h"

namespace stepscope::importing {
namespace {

constexpr std::int64_t kMostOrdinal = 1 << 20;

std::string quotedJson(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// "1, 2, 3"
bool threeSizes(std::string_view text, std::array<std::int64_t, 3>& into) {
    std::array<std::int64_t, 3> found{};
    for (std::size_t i = 0; i < 3; ++i) {
        if (i > 0 && !text.starts_with(", ")) return false;
        if (i > 0) text.remove_prefix(2);
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), found[i]);
        if (problem != std::errc{} || found[i] < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    if (!text.empty()) return false;
    into = found;
    return true;
}

}  // namespace

std::string readableText(std::string_view bytes, std::size_t most) {
    bytes = bytes.substr(0, most);
    if (std::ranges::all_of(bytes, [](char c) { return c >= 0x20 && c < 0x7f; })) return std::string(bytes);
    const std::string text = quotedJson(std::string(bytes));
    return jsonText(std::string_view(text).substr(1, text.size() - 2), most);
}

bool PerfettoArguments::read(const std::vector<std::string_view>& annotations, const Names& names, TraceBuilder& trace, Record& record) {
    *this = {};
    for (const std::string_view message : annotations) {
        std::uint64_t id = 0;
        std::string name, json;  // json: what is neither a whole number that fits nor a text
        std::optional<std::int64_t> whole;
        std::string_view text;
        ProtoFields fields(message);
        while (fields.next()) {
            switch (fields.field) {
                case 1:
                    id = fields.number;
                    break;
                case 2:
                    json = fields.number != 0 ? "true" : "false";
                    break;
                case 3:
                case 7:
                    if (fields.number <= INT64_MAX)
                        whole = static_cast<std::int64_t>(fields.number);
                    else
                        json = std::to_string(fields.number);
                    break;
                case 4:
                    whole = static_cast<std::int64_t>(fields.number);
                    break;
                case 5:
                    if (fields.bytes.size() == 8) json = nlohmann::json(std::bit_cast<double>(littleEndian<std::uint64_t>(fields.bytes, 0))).dump();
                    break;
                case 6:
                    text = fields.bytes;
                    break;
                case 9:
                    if (isJson(fields.bytes)) appendCompact(json, fields.bytes);
                    break;
                case 10:
                    name = readableText(fields.bytes, kLongestAnnotationName);
                    break;
                default:
                    break;
            }
        }
        if (!fields.good()) return false;
        if (name.empty())
            if (const auto found = names.find(id); found != names.end()) name = found->second;
        if (!name.empty()) column(name, whole, text, json, trace, record);
    }
    return true;
}

// What has a column of its own goes there, everything else stays as it is told.
void PerfettoArguments::column(const std::string& name, std::optional<std::int64_t> whole, std::string_view text, const std::string& json,
                               TraceBuilder& trace, Record& record) {
    if (!json.empty()) return append(name, json);
    if (whole) {
        if (!number(name, *whole, record)) append(name, std::to_string(*whole));
        return;
    }
    if (name == "role" || name == "phase") {
        (name == "role" ? record.role : record.phase) = trace.text(readableText(text, kLongestSliceName));
    } else if (name == "inputs") {
        m_arguments.text = readableText(text, kLongestSliceExtra);
    } else if ((name != "grid" || !threeSizes(text, m_arguments.grid)) && (name != "block" || !threeSizes(text, m_arguments.block))) {
        if (name == "owner") owner = text;
        add(name, text);
    }
}

bool PerfettoArguments::number(const std::string& name, std::int64_t whole, Record& record) {
    struct Column {
        const char* name;
        std::int64_t* into;
        std::int64_t least;
    };
    const std::array columns{Column{"step", &record.step, 0},
                             Column{"sequence", &record.sequence, 0},
                             Column{"correlation", &record.correlation, 0},
                             Column{"external id", &record.external, 0},
                             Column{"flops", &m_arguments.flops, 0},
                             Column{"shared memory", &m_arguments.sharedBytes, 0},
                             Column{"registers per thread", &m_arguments.registers, 0}};
    for (const Column& column : columns) {
        if (name != column.name || whole < column.least) continue;
        *column.into = whole;
        return true;
    }
    // Of a slice these are what they are called, and nothing more.
    if (name == "address") address = whole;
    if (name == "total allocated") totalAllocated = std::max<std::int64_t>(-1, whole);
    if (name == "total reserved") totalReserved = std::max<std::int64_t>(-1, whole);
    const bool ordinal = whole >= 0 && whole < kMostOrdinal;
    if (name == "bytes") {
        bytes = whole;
        m_arguments.bytes = std::max<std::int64_t>(0, whole);
    } else if (name == "layer" && ordinal) {
        record.layer = static_cast<std::int32_t>(whole);
    } else if (name == "recomputed" && whole == 1) {
        record.recomputed = true;
    } else if (name == "gpu" && ordinal) {
        device = whole;
    } else if (name == "stream" && whole >= 0) {
        stream = whole;
    } else {
        return false;
    }
    return true;
}

void PerfettoArguments::add(const std::string& name, std::string_view text) {
    append(name, quotedJson(std::string(text.substr(0, 2 * kLongestSliceExtra))));
}

// What is longer is left out as a whole, and told, by the builder.
void PerfettoArguments::append(const std::string& name, const std::string& json) {
    if (m_arguments.extra.size() > kLongestSliceExtra) return;
    m_arguments.extra += (m_arguments.extra.empty() ? "{" : ",") + quotedJson(name) + ":" + json;
}

const SliceArguments& PerfettoArguments::arguments() {
    if (!m_arguments.extra.empty()) m_arguments.extra += '}';
    return m_arguments;
}

}  // namespace stepscope::importing
