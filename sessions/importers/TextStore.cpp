#include "sessions/importers/TextStore.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "core/base/KeyedHash.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kPending = std::size_t{1} << 20;

}  // namespace

RunFile::~RunFile() {
    if (m_file >= 0) ::close(m_file);
}

void RunFile::fail(const char* what, int error) {
    if (m_status)
        m_status = makeError(ErrorCode::Io, fmt::format("A working file of the import in \"{}\" could not be {}: {}. Make room there and try again.",
                                                        m_folder, what, std::generic_category().message(error)));
}

std::int64_t RunFile::append(const void* data, std::size_t size) {
    const std::int64_t at = m_written + static_cast<std::int64_t>(m_pending.size());
    m_pending.append(static_cast<const char*>(data), size);
    if (m_pending.size() >= kPending) flush();
    return at;
}

void RunFile::flush() {
    if (!m_status) m_pending.clear();
    if (m_pending.empty()) return;
    if (m_file < 0) {
        m_file = ::open(m_folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (m_file < 0) {
            std::string name = m_folder + "/.import-XXXXXX";
            m_file = ::mkostemp(name.data(), O_CLOEXEC);
            if (m_file >= 0) ::unlink(name.c_str());
        }
        if (m_file < 0) return fail("made", errno);
    }
    for (std::size_t done = 0; done < m_pending.size();) {
        const ssize_t wrote = ::pwrite(m_file, m_pending.data() + done, m_pending.size() - done, m_written + static_cast<std::int64_t>(done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return fail("written", wrote < 0 ? errno : ENOSPC);
        done += static_cast<std::size_t>(wrote);
    }
    m_written += static_cast<std::int64_t>(m_pending.size());
    m_pending.clear();
}

std::size_t RunFile::read(std::int64_t at, void* data, std::size_t size) {
    std::size_t done = 0;
    while (done < size && m_status && m_file >= 0) {
        const ssize_t got = ::pread(m_file, static_cast<char*>(data) + done, size - done, at + static_cast<std::int64_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("read", errno);
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

TextStore::TextStore(std::string folder, std::size_t mostBytes) : m_mostBytes(mostBytes), m_texts(1), m_table(1 << 12), m_file(std::move(folder)) {}

void TextStore::grow() {
    std::vector<Entry> old(m_table.size() * 2);
    old.swap(m_table);
    const std::size_t mask = m_table.size() - 1;
    for (const Entry& entry : old) {
        if (entry.number == 0) continue;
        std::size_t at = entry.hash & mask;
        while (m_table[at].number != 0) at = (at + 1) & mask;
        m_table[at] = entry;
    }
}

std::uint32_t TextStore::add(std::string_view text, bool* added) {
    if (added != nullptr) *added = false;
    if (text.empty()) return kNone;
    const std::uint64_t hash = keyedHash(text);
    const std::size_t mask = m_table.size() - 1;
    std::size_t at = hash & mask;
    for (; m_table[at].number != 0; at = (at + 1) & mask)
        if (m_table[at].hash == hash && m_texts[m_table[at].number] == text) return m_table[at].number;
    if (added != nullptr) *added = true;
    if (m_bytes + text.size() + sizeof(std::string) + 32 > m_mostBytes) {
        const auto size = static_cast<std::uint32_t>(text.size());
        const std::size_t padding = (kUnit - (sizeof size + text.size()) % kUnit) % kUnit;
        static constexpr std::array<char, kUnit> zeros{};
        const std::int64_t place = m_file.append(&size, sizeof size);
        m_file.append(text.data(), text.size());
        m_file.append(zeros.data(), padding);
        m_filed = place + static_cast<std::int64_t>(sizeof size + text.size() + padding);
        return place / static_cast<std::int64_t>(kUnit) >= kFiled ? kNone
                                                                  : kFiled | static_cast<std::uint32_t>(place / static_cast<std::int64_t>(kUnit));
    }
    const auto number = static_cast<std::uint32_t>(m_texts.size());
    m_texts.emplace_back(text);
    m_bytes += text.size() + sizeof(std::string) + 32;
    m_table[at] = {hash, number};
    if (m_texts.size() * 2 > m_table.size()) grow();
    return number;
}

std::string TextStore::text(std::uint32_t number) {
    if ((number & kFiled) == 0) return number < m_texts.size() ? m_texts[number] : std::string();
    m_file.flush();
    std::array<char, 512> head{};
    const std::int64_t place = static_cast<std::int64_t>(number & ~kFiled) * static_cast<std::int64_t>(kUnit);
    const std::size_t got = m_file.read(place, head.data(), head.size());
    std::uint32_t size = 0;
    if (got < sizeof size) return {};
    std::memcpy(&size, head.data(), sizeof size);
    std::string text(head.data() + sizeof size, std::min<std::size_t>(size, got - sizeof size));
    if (text.size() < size) {
        const std::size_t had = text.size();
        text.resize(size);
        text.resize(had + m_file.read(place + static_cast<std::int64_t>(sizeof size + had), text.data() + had, size - had));
    }
    return text;
}

}  // namespace stepscope::importing
