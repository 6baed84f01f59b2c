// A Perfetto trace read again, packet by packet, as a trace processor does; what is wrong with one fails the test.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace stepscope::test {

// The fields of a message; what is wrong fails the test.
struct ProtoField {
    std::uint64_t number = 0;
    std::string bytes;
};
inline std::multimap<std::uint32_t, ProtoField> protoFields(const std::string& message) {
    std::multimap<std::uint32_t, ProtoField> all;
    std::size_t at = 0;
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (int shift = 0; at < message.size() && shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(message[at++]);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) break;
        }
        return value;
    };
    while (at < message.size()) {
        const std::uint64_t key = varint();
        ProtoField field;
        std::size_t size = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;
        if ((key & 7) == 0) field.number = varint();
        if ((key & 7) == 2) size = varint();
        if (at + size > message.size()) {
            ADD_FAILURE() << "a field ends behind its message";
            return all;
        }
        field.bytes = message.substr(at, size);
        if (size == 8) std::memcpy(&field.number, field.bytes.data(), 8);
        at += size;
        all.emplace(static_cast<std::uint32_t>(key >> 3), field);
    }
    return all;
}

struct PerfettoRead {
    struct Event {
        std::uint64_t at = 0, type = 0, track = 0;
        std::string name;
        std::vector<std::uint64_t> flows, last;
        double value = 0;
        std::map<std::string, std::string> said;  // annotations, numbers as text
    };
    std::vector<Event> events;
    std::map<std::uint64_t, std::string> tracks;
    std::map<std::uint64_t, std::uint64_t> parents;
    std::map<std::uint64_t, std::uint64_t> processes;  // number of the system's, by track

    explicit PerfettoRead(const std::string& trace) {
        std::map<std::uint64_t, std::string> names, keys;
        for (const auto& [number, packet] : protoFields(trace)) {
            EXPECT_EQ(number, 1u);
            const auto fields = protoFields(packet.bytes);
            EXPECT_EQ(fields.find(10)->second.number, 1u) << "the sequence whose names it uses";
            if (const auto interned = fields.find(12); interned != fields.end())
                for (const auto& [kind, entry] : protoFields(interned->second.bytes)) {
                    const auto parts = protoFields(entry.bytes);
                    if (kind == 2) names[parts.find(1)->second.number] = parts.find(2)->second.bytes;
                    if (kind == 3) keys[parts.find(1)->second.number] = parts.find(2)->second.bytes;
                }
            if (const auto track = fields.find(60); track != fields.end()) {
                const auto parts = protoFields(track->second.bytes);
                const auto name = parts.find(2);
                EXPECT_TRUE(tracks.emplace(parts.find(1)->second.number, name == parts.end() ? std::string() : name->second.bytes).second);
                if (const auto parent = parts.find(5); parent != parts.end()) parents[parts.find(1)->second.number] = parent->second.number;
                if (const auto process = parts.find(3); process != parts.end())
                    processes[parts.find(1)->second.number] = protoFields(process->second.bytes).find(1)->second.number;
            }
            if (const auto event = fields.find(11); event != fields.end()) {
                const auto parts = protoFields(event->second.bytes);
                Event one{.at = fields.find(8)->second.number, .type = parts.find(9)->second.number, .track = parts.find(11)->second.number};
                EXPECT_TRUE(tracks.contains(one.track)) << "a track is described before it is used";
                if (const auto name = parts.find(10); name != parts.end()) {
                    EXPECT_TRUE(names.contains(name->second.number));
                    one.name = names[name->second.number];
                }
                if (const auto value = parts.find(44); value != parts.end()) one.value = std::bit_cast<double>(value->second.number);
                for (auto [from, to] = parts.equal_range(47); from != to; ++from) one.flows.push_back(from->second.number);
                for (auto [from, to] = parts.equal_range(48); from != to; ++from) one.last.push_back(from->second.number);
                for (auto [from, to] = parts.equal_range(4); from != to; ++from) {
                    const auto of = protoFields(from->second.bytes);
                    EXPECT_TRUE(keys.contains(of.find(1)->second.number));
                    const std::string& key = keys[of.find(1)->second.number];
                    if (const auto text = of.find(6); text != of.end()) one.said[key] = text->second.bytes;
                    if (const auto whole = of.find(4); whole != of.end())
                        one.said[key] = std::to_string(static_cast<std::int64_t>(whole->second.number));
                    if (const auto large = of.find(3); large != of.end()) one.said[key] = std::to_string(large->second.number);
                }
                events.push_back(one);
            }
        }
    }
    // As a trace processor does: by time, of one moment as they were written; every end ends the slice that began last.
    std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>> slices() {
        std::ranges::stable_sort(events, {}, &Event::at);
        std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>> all;
        std::map<std::uint64_t, std::vector<const Event*>> open;
        for (const auto& event : events) {
            auto& stack = open[event.track];
            if (event.type == 1) stack.push_back(&event);
            if (event.type != 2) continue;
            EXPECT_FALSE(stack.empty()) << "an end without a begin";
            if (stack.empty()) continue;
            all.insert({stack.back()->name, stack.back()->at, event.at - stack.back()->at});
            stack.pop_back();
        }
        for (const auto& [track, stack] : open) EXPECT_TRUE(stack.empty()) << "a begin without an end";
        return all;
    }
};

}  // namespace stepscope::test
