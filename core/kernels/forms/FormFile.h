// Small files of a cache folder, as FormChoice keeps them: read without trust, replaced whole or not at all. Any thread.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace stepscope {

// The text of a regular file of at most `most` bytes; absent where it is none, longer, or cannot be read. Never waits, as a pipe would have it.
std::optional<std::string> readSmallFile(const std::string& path, std::size_t most);

// Writes beside `path` and renames, so that a reader sees the old text or the new one. Makes `folder` where it is missing, for this user alone. False
// where that cannot be done.
bool replaceSmallFile(const std::string& folder, const std::string& path, const std::string& text);

}  // namespace stepscope
