// DataCheck: says before a run is started that a chosen file cannot be read as text, with the run's own sentence (core/data/TextCheck). Asked
// with every edit in the window, looks through a file once. Qt-free; called by app/gui on a thread of its own.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace stepscope {

class DataCheck {
public:
    DataCheck();
    ~DataCheck();

    // A sentence when `data` are such as a run would refuse, else empty. A plain file is looked through whatever its size; of folders, .jsonl and
    // packed texts the first 64 MB are, and of a folder whether it holds any text. Nothing when `wanted`, asked every few milliseconds, says no: the
    // next call for a plain file goes on there.
    std::optional<std::string> problemOf(const std::string& data, const std::function<bool()>& wanted);
    // The same where it is known without a look.
    std::optional<std::string> known(const std::string& data) const;

private:
    struct Stamp {
        std::string path;
        std::uintmax_t size = 0;
        std::filesystem::file_time_type changed;
        std::int64_t inode = 0;  // ns of its last change, of permissions too
        bool operator==(const Stamp&) const = default;
    };
    struct Look;
    static Stamp stampOf(const std::string& path);

    std::optional<Stamp> m_looked;  // the file of m_problem
    std::string m_problem;
    std::unique_ptr<Look> m_look;  // one that was interrupted
};

}  // namespace stepscope
