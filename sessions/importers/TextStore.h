// TextStore: texts by number, each kept once: names and arguments of imported events. What is more than fits into a set amount of memory goes to a
// file that has no name and is gone with the process. RunFile is such a file. Used on the importing thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"

namespace stepscope::importing {

class RunFile {
public:
    explicit RunFile(std::string folder) : m_folder(std::move(folder)) {}
    ~RunFile();
    RunFile(const RunFile&) = delete;
    RunFile& operator=(const RunFile&) = delete;

    // Where it begins. The first failure is remembered: nothing more is written then.
    std::int64_t append(const void* data, std::size_t size);
    // What is there of `size` bytes from `at` on.
    std::size_t read(std::int64_t at, void* data, std::size_t size);
    void flush();
    const Status& status() const { return m_status; }

private:
    void fail(const char* what, int error);

    std::string m_folder;
    int m_file = -1;
    std::int64_t m_written = 0;
    std::string m_pending;
    Status m_status;
};

class TextStore {
public:
    TextStore(std::string folder, std::size_t mostBytes);

    static constexpr std::uint32_t kNone = 0;  // the empty text
    // The number of the text; the same for the same text, unless it lies in the file. `added`: it is new.
    std::uint32_t add(std::string_view text, bool* added = nullptr);
    std::string text(std::uint32_t number);
    const Status& status() const { return m_file.status(); }

private:
    static constexpr std::uint32_t kFiled = 0x80000000;  // with it the place in the file in units of kUnit
    static constexpr std::size_t kUnit = 16;
    struct Entry {
        std::uint64_t hash = 0;
        std::uint32_t number = 0;  // 0: free
    };
    void grow();

    std::size_t m_mostBytes, m_bytes = 0;
    std::vector<std::string> m_texts;
    std::vector<Entry> m_table;
    RunFile m_file;
    std::int64_t m_filed = 0;
};

}  // namespace stepscope::importing
