// The schema of the session database as numbered steps: what brings a file of version n - 1 to version n.
// The texts are schema.sql (number 1) and migrations/*.sql, built in by CMake; applied by Connection.
#pragma once
#include <span>
#include <string_view>

namespace stepscope {

constexpr int kApplicationId = 0x53746570;  // "Step", in the header of every file of ours

struct Migration {
    int version = 0;
    std::string_view sql;
};

std::span<const Migration> migrations();  // ascending from 1 without gaps
inline int schemaVersion() {
    return migrations().back().version;
}

}  // namespace stepscope
