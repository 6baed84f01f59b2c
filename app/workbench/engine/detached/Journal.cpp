#include "app/workbench/engine/detached/Journal.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/trace/ByteColumns.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kFileBytes = 8u << 20;  // a file that is larger is followed by another one
constexpr std::size_t kMostInMemory = std::size_t{64} << 20, kFromDiskAtOnce = 1 << 16;
constexpr std::chrono::milliseconds kTryEvery{200};  // a disk that takes nothing
constexpr std::string_view kSaid = "said-";
constexpr const char* kHeard = "heard";

// Of an event or a chunk; 0 of all else.
std::uint64_t numberOf(const Frame& frame) {
    if (frame.type != FrameType::Event && frame.type != FrameType::Chunk) return 0;
    return ByteReader(frame.payload).whole();
}

std::optional<std::uint64_t> firstNumberOf(const fs::path& path) {
    const std::string name = path.filename().string();
    if (!name.starts_with(kSaid)) return std::nullopt;
    std::uint64_t first = 0;
    const char *begin = name.data() + kSaid.size(), *end = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(begin, end, first);
    return problem == std::errc{} && stop == end && first > 0 ? std::optional(first) : std::nullopt;
}

}  // namespace

std::string Journal::pathOf(std::uint64_t first) const {
    return fmt::format("{}/{}{:020}", m_folder, kSaid, first);
}

Result<std::unique_ptr<Journal>> Journal::create(std::string folder) {
    std::unique_ptr<Journal> made(new Journal(std::move(folder)));
    if (const Status begun = made->beginFile(1); !begun) return begun.error();
    return made;
}

Result<std::unique_ptr<Journal>> Journal::open(std::string folder) {
    std::unique_ptr<Journal> found(new Journal(std::move(folder)));
    std::error_code problem;
    for (fs::directory_iterator entry(found->m_folder, problem), end; !problem && entry != end; entry.increment(problem)) {
        std::error_code ignored;
        const auto first = firstNumberOf(entry->path());
        if (!first || !entry->is_regular_file(ignored)) continue;
        const auto size = entry->file_size(ignored);
        if (!ignored) found->m_files.push_back({*first, size});
    }
    if (problem)
        return makeError(ErrorCode::Io, fmt::format("What the engine said cannot be read in \"{}\": {}.", found->m_folder, problem.message()));
    std::ranges::sort(found->m_files, std::less{}, &File::first);
    const std::string heard = found->m_folder + "/" + kHeard;
    if (std::error_code ignored; fs::is_regular_file(heard, ignored)) std::ifstream(heard) >> found->m_heard;  // a pipe would be waited for
    if (found->m_files.empty()) return found;
    // Where that could not be written, or was not to its end: what is no longer there was stored elsewhere.
    found->m_heard = std::max(found->m_heard, found->m_files.front().first - 1);
    found->m_newest = found->m_files.back().first - 1;
    Reader reader(*found, found->m_files.back().first);
    // A file that is damaged, or whose last frame was not written to its end, tells what stands before that.
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) found->m_newest = std::max(found->m_newest, numberOf(**frame));
    return found;
}

Status Journal::beginFile(std::uint64_t first) {
    Descriptor file(::open(pathOf(first).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
    if (!file) return makeError(ErrorCode::Io, fmt::format("What the engine says cannot be kept in \"{}\": {}.", m_folder, std::strerror(errno)));
    m_file = std::move(file);
    m_files.push_back({.first = first});
    return {};
}

void Journal::append(FrameType type, const FrameBytes& payload, std::uint64_t number) {
    const FrameBytes frame = frameOf(type, payload);
    std::unique_lock lock(m_mutex);
    // Where no file can be begun the one before it grows.
    if (number > 0 && m_memory.empty() && m_files.back().size >= kFileBytes) (void)beginFile(number);
    if (number > 0) m_newest = number;
    m_memory.insert(m_memory.end(), frame.begin(), frame.end());
    write();
    while (m_memory.size() > kMostInMemory && !m_givenUp) {
        m_room.wait_for(lock, kTryEvery);
        write();
    }
}

void Journal::write() {
    if (!m_refusal.empty() && Clock::now() < m_nextTry) return;
    std::size_t written = 0;
    m_refusal.clear();
    while (written < m_memory.size()) {
        const ssize_t count = ::write(m_file.number(), m_memory.data() + written, m_memory.size() - written);
        if (count > 0) {
            written += static_cast<std::size_t>(count);
        } else if (count == 0 || errno != EINTR) {
            m_refusal = count == 0 ? "it takes nothing" : std::strerror(errno);
            m_nextTry = Clock::now() + kTryEvery;
            break;
        }
    }
    m_files.back().size += written;
    m_memory.erase(m_memory.begin(), m_memory.begin() + static_cast<std::ptrdiff_t>(written));
}

void Journal::giveUp() {
    const std::lock_guard lock(m_mutex);
    m_givenUp = true;
    m_room.notify_all();
}

bool Journal::settle() {
    const std::lock_guard lock(m_mutex);
    write();
    return m_memory.empty();
}

std::string Journal::refusal() const {
    const std::lock_guard lock(m_mutex);
    return m_refusal;
}

std::uint64_t Journal::newest() const {
    const std::lock_guard lock(m_mutex);
    return m_newest;
}

bool Journal::allHeard() const {
    const std::lock_guard lock(m_mutex);
    return m_heard >= m_newest;
}

std::int64_t Journal::bytes() const {
    const std::lock_guard lock(m_mutex);
    std::uint64_t all = 0;
    for (const File& file : m_files) all += file.size;
    return static_cast<std::int64_t>(all);
}

std::uint64_t Journal::heard() const {
    const std::lock_guard lock(m_mutex);
    return m_heard;
}

void Journal::letGo(std::uint64_t number) {
    const std::lock_guard lock(m_mutex);
    if (number <= m_heard) return;
    m_heard = number;
    writeHeard();
    // Of the newest one nobody knows what comes into it.
    while (m_files.size() > 1 && m_files[1].first <= number + 1) {
        std::error_code ignored;
        fs::remove(pathOf(m_files.front().first), ignored);
        m_files.pop_front();
    }
}

// In one go: of a disk that is full, or an engine that is killed meanwhile, what was known before stays.
void Journal::writeHeard() const {
    const std::string path = m_folder + "/" + kHeard, next = path + ".next";
    {
        std::ofstream file(next, std::ios::trunc);
        if (!(file << m_heard << std::flush)) return;
    }
    std::error_code ignored;
    fs::rename(next, path, ignored);
}

bool Journal::read(std::uint64_t& file, std::uint64_t& at, FrameBytes& into) const {
    const std::lock_guard lock(m_mutex);
    auto found = std::ranges::lower_bound(m_files, file, std::less{}, &File::first);
    while (found != m_files.end()) {
        if (found->first != file) {  // the one before it is let go of, and was read to its end
            file = found->first;
            at = 0;
        }
        const bool last = std::next(found) == m_files.end();
        if (at < found->size) {
            const Descriptor from(::open(pathOf(file).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
            into.resize(std::min<std::uint64_t>(kFromDiskAtOnce, found->size - at));
            const ssize_t count = ::pread(from.number(), into.data(), into.size(), static_cast<off_t>(at));
            into.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
        } else if (last && at - found->size < m_memory.size()) {
            const auto begin = m_memory.begin() + static_cast<std::ptrdiff_t>(at - found->size);
            into.assign(begin, begin + std::min<std::ptrdiff_t>(kFromDiskAtOnce, m_memory.end() - begin));
        } else if (!last) {
            ++found;
            continue;
        } else {
            return false;
        }
        at += into.size();
        return !into.empty();
    }
    return false;
}

Result<std::optional<Frame>> Journal::Reader::next() {
    FrameBytes piece;
    while (true) {
        auto frame = m_frames.next();
        if (!frame || *frame) return frame;
        if (!m_journal->read(m_file, m_at, piece)) return std::optional<Frame>();
        m_frames.add(piece.data(), piece.size());
    }
}

Result<Journal::Reader> Journal::behind(std::uint64_t number) const {
    std::uint64_t file = 0;
    {
        const std::lock_guard lock(m_mutex);
        if (number > m_newest)
            return makeError(ErrorCode::Damaged,
                             fmt::format("The other side has heard event {} of this engine, which has said {}.", number, m_newest));
        const auto behind = std::ranges::upper_bound(m_files, number, std::less{}, &File::first);
        if (behind == m_files.begin()) {
            if (m_files.empty() || behind->first != number + 1)
                return makeError(ErrorCode::NotFound,
                                 fmt::format("What the engine said after event {} is no longer there, as it was stored elsewhere.", number));
            return Reader(*this, behind->first);
        }
        file = std::prev(behind)->first;
    }
    Reader reader(*this, file);
    while (true) {
        const auto frame = reader.next();
        if (!frame) return frame.error();
        if (!*frame) return makeError(ErrorCode::Damaged, fmt::format("The journal of what the engine said has no event {}.", number));
        if (numberOf(**frame) == number) return reader;
    }
}

}  // namespace stepscope
