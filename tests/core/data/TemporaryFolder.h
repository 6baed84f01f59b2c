// A folder of its own for each test, removed afterwards, and the few file operations the tests of data need.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/Corpus.h"

namespace stepscope::testing {

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "stepscope-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) std::abort();
        m_path = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name = {}) const { return name.empty() ? m_path.string() : (m_path / name).string(); }

    // Writes a file (and the folders above it) and returns its path.
    std::string write(const std::string& name, std::string_view bytes) const {
        std::filesystem::create_directories((m_path / name).parent_path());
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }

private:
    std::filesystem::path m_path;
};

inline std::string readFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class Word>
std::string bytesOf(const std::vector<Word>& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(Word)};
}

inline std::vector<std::int64_t> idsOf(const TokenRow& row) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(row.size()));
    row.copy(0, row.size(), ids.data());
    return ids;
}

// `count` lines of text that all differ.
inline std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "line number " + std::to_string(i) + " of a text\n";
    return text;
}

inline const std::atomic<bool> kNeverCancelled{false};

}  // namespace stepscope::testing
