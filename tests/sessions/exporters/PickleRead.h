// A pickle read again as Python's own reader does, as JSON: the opcodes of protocol 2 that a memory snapshot is written in. What is wrong with one
// fails the test.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stepscope::test {

inline nlohmann::json pickleRead(const std::string& bytes) {
    std::vector<nlohmann::json> stack;
    std::vector<std::size_t> marks;
    std::map<std::uint64_t, nlohmann::json> memo;
    std::size_t at = 0;
    const auto number = [&](std::size_t size) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size && at < bytes.size(); ++i, ++at)
            if (i < 8) value |= std::uint64_t{static_cast<unsigned char>(bytes[at])} << (8 * i);
        return value;
    };
    // What lies behind the last mark.
    const auto marked = [&] {
        std::vector<nlohmann::json> some;
        if (marks.empty() || marks.back() > stack.size()) return some;
        some.assign(stack.begin() + static_cast<std::ptrdiff_t>(marks.back()), stack.end());
        stack.resize(marks.back());
        marks.pop_back();
        return some;
    };
    while (at < bytes.size()) {
        const char code = bytes[at++];
        if (code == '.' && at == bytes.size() && stack.size() == 1 && marks.empty()) return stack.back();
        if (code == '\x80') {
            EXPECT_EQ(number(1), 2U);
        } else if (code == '(') {
            marks.push_back(stack.size());
        } else if (code == '}') {
            stack.push_back(nlohmann::json::object());
        } else if (code == ']') {
            stack.push_back(nlohmann::json::array());
        } else if (code == 'J') {
            stack.push_back(static_cast<std::int32_t>(number(4)));
        } else if (code == '\x8a') {
            const std::uint64_t size = number(1), value = number(size);
            stack.push_back(size > 8 ? nlohmann::json(value) : nlohmann::json(static_cast<std::int64_t>(value)));
        } else if (code == 'X') {
            const std::uint64_t size = number(4);
            stack.push_back(bytes.substr(std::min(at, bytes.size()), size));
            at += size;
        } else if (code == 'r' && !stack.empty()) {
            memo[number(4)] = stack.back();
        } else if (code == 'j') {
            stack.push_back(memo.at(number(4)));
        } else if (code == 'e' || code == 'u') {
            const auto some = marked();
            if (stack.empty() || (code == 'u' && some.size() % 2 != 0)) break;
            for (std::size_t i = 0; code == 'e' && i < some.size(); ++i) stack.back().push_back(some[i]);
            for (std::size_t i = 0; code == 'u' && i < some.size(); i += 2) stack.back()[some[i].get<std::string>()] = some[i + 1];
        } else {
            break;
        }
    }
    ADD_FAILURE() << "no pickle, at byte " << at << " of " << bytes.size();
    return nullptr;
}

}  // namespace stepscope::test
