#include "app/workbench/DataCheck.h"

#include "core/data/MappedFile.h"
#include "core/data/TextCheck.h"
#include "core/data/TextReader.h"

namespace stepscope {
namespace {

constexpr std::size_t kPiece = 4 << 20;

}  // namespace

struct DataCheck::Look {
    Stamp of;
    MappedFile file;
    TextCheck check;
};

DataCheck::DataCheck() = default;
DataCheck::~DataCheck() = default;

DataCheck::Stamp DataCheck::stampOf(const std::string& path) {
    std::error_code ignored;
    return {path, std::filesystem::file_size(path, ignored), std::filesystem::last_write_time(path, ignored)};
}

std::optional<std::string> DataCheck::known(const std::string& data) const {
    if (!isPlainTextFile(data)) return std::string();
    return m_looked == stampOf(data) ? std::optional(m_problem) : std::nullopt;
}

std::optional<std::string> DataCheck::problemOf(const std::string& data, const std::function<bool()>& wanted) {
    if (auto told = known(data)) return told;
    const Stamp stamp = stampOf(data);
    if (m_look == nullptr || m_look->of != stamp) {
        auto file = MappedFile::open(data);
        if (!file) return std::string();  // the run says why
        TextCheck check(file->bytes(), std::filesystem::path(data).filename().string());
        m_look.reset(new Look{stamp, std::move(*file), std::move(check)});
    }
    Status good;
    while (good && !m_look->check.done()) {
        if (!wanted()) return std::nullopt;
        good = m_look->check.more(kPiece);
    }
    const bool changed = m_look->file.cutShort();  // its zeros are none of the file's
    m_look.reset();
    if (changed) return std::string();
    m_looked = stamp;
    m_problem = good ? std::string() : good.error().sentence;
    return m_problem;
}

}  // namespace stepscope
