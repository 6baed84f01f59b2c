#include "app/workbench/engine/detached/EngineFolder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "app/workbench/engine/detached/Journal.h"
#include "core/base/PrivateFolders.h"
#include "core/base/Utf8.h"
#include "sessions/SessionStore.h"
#include "sessions/wire/Hello.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char *kLock = "lock", *kSocket = "line", *kAbout = "about";
constexpr std::chrono::hours kKept{7 * 24};
constexpr milliseconds kMayTakeToLook{1'000}, kLookAtLock{10};  // another process looks at a lock for a moment
constexpr std::size_t kMostDescribed = 400, kMostLastWords = 4096;
constexpr int kWaitingCallers = 4;

std::string enginesFolder() {
    return (fs::path(defaultDatabasePath()).parent_path() / "engines").string();
}

std::string newId() {
    std::uint64_t number = 0;
    while (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
    }
    return fmt::format("{:016x}", number);
}

Error cannot(const std::string& path, const char* what) {
    return makeError(ErrorCode::Io, fmt::format("The engine's folder \"{}\" cannot be {}: {}.", path, what, std::strerror(errno)));
}

// A socket's own path may have no more than 107 bytes, and a home folder has more.
struct ShortPath {
    explicit ShortPath(const std::string& folder) : descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
        address.sun_family = AF_UNIX;
        fmt::format_to_n(address.sun_path, sizeof(address.sun_path) - 1, "/proc/self/fd/{}/{}", descriptor.number(), kSocket);
    }
    const sockaddr* of() const { return reinterpret_cast<const sockaddr*>(&address); }

    Descriptor descriptor;
    sockaddr_un address{};
};

// What the lock file says: which process has it, of which machine. A home folder may be that of many machines, and not every file system tells
// one of them what another one has locked.
struct Holder {
    pid_t process = 0;
    std::string host;  // empty: of none yet
};

Holder holderOf(const Descriptor& file) {
    std::array<char, 256> text{};
    const ssize_t count = ::pread(file.number(), text.data(), text.size(), 0);
    Holder holder;
    if (count <= 0) return holder;
    const char* end = text.data() + count;
    const auto [stop, problem] = std::from_chars(text.data(), end, holder.process);
    if (problem == std::errc{} && stop != end) holder.host = printable(std::string_view(stop + 1, end));
    return holder;
}

Descriptor newSocket() {
    return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

std::string endOf(const std::string& path, std::size_t most) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return {};  // a pipe would be waited for
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return {};
    const auto size = static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg()));
    std::string text(std::min(size, most), '\0');
    file.seekg(static_cast<std::streamoff>(size - text.size()));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return text;
}

std::vector<EngineFolder> allEngines() {
    std::vector<std::pair<fs::file_time_type, EngineFolder>> found;
    std::error_code problem;
    for (fs::directory_iterator entry(enginesFolder(), problem), end; !problem && entry != end; entry.increment(problem)) {
        auto folder = EngineFolder::open(entry->path().filename().string());
        std::error_code ignored;
        if (folder) found.emplace_back(fs::last_write_time(entry->path(), ignored), std::move(*folder));
    }
    std::ranges::sort(found, std::greater{}, [](const auto& one) { return one.first; });
    std::vector<EngineFolder> all;
    all.reserve(found.size());
    for (auto& one : found) all.push_back(std::move(one.second));
    return all;
}

ListedEngine lookAt(const EngineFolder& folder) {
    ListedEngine listed{.id = folder.id(), .description = folder.description(), .lives = folder.engine().has_value()};
    const auto journal = Journal::open(folder.path());
    if (!journal) return listed;
    listed.heard = (*journal)->allHeard();
    listed.bytes = (*journal)->bytes();
    return listed;
}

}  // namespace

Result<EngineFolder> EngineFolder::make() {
    const std::string all = enginesFolder();
    EngineFolder folder(newId(), {});
    folder.m_path = all + "/" + folder.m_id;
    if ((errno = makeMissingFolders(all)) != 0 || ::mkdir(folder.m_path.c_str(), 0700) != 0) return cannot(folder.m_path, "made");
    return folder;
}

Result<EngineFolder> EngineFolder::open(const std::string& id) {
    if (!isEngineId(id))
        return makeError(ErrorCode::BadInput, fmt::format("\"{}\" is no engine's name; stepscope-cli engine --list tells them.", printable(id)));
    EngineFolder folder(id, enginesFolder() + "/" + id);
    struct stat status {};
    if (::lstat(folder.m_path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return makeError(ErrorCode::NotFound,
                         fmt::format("There is no engine {} on {}; stepscope-cli engine --list tells those that are there.", id, hostName()));
    if (status.st_uid != ::geteuid())
        return makeError(ErrorCode::BadInput, fmt::format("The folder of engine {}, \"{}\", is another user's.", id, folder.m_path));
    return folder;
}

Result<Descriptor> EngineFolder::lock() const {
    Descriptor file(::open(this->file(kLock).c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return cannot(m_path, "used");
    if (const Holder holder = holderOf(file); !holder.host.empty() && holder.host != hostName())
        return makeError(ErrorCode::Unsupported, fmt::format("Engine {} is one of {}, and this is {}; call that machine by a name of its own.", m_id,
                                                             holder.host, hostName()));
    for (auto left = kMayTakeToLook; ::flock(file.number(), LOCK_EX | LOCK_NB) != 0; left -= kLookAtLock) {
        if (left.count() <= 0)
            return makeError(ErrorCode::Io, fmt::format("Engine {} is in use by another program, and cannot be reached; try again.", m_id));
        std::this_thread::sleep_for(kLookAtLock);
    }
    const std::string own = fmt::format("{} {}", ::getpid(), hostName());
    if (::ftruncate(file.number(), 0) != 0 || ::pwrite(file.number(), own.data(), own.size(), 0) < 0) {
        // Who looks for the process does not find it; the lock holds all the same.
    }
    return file;
}

std::optional<pid_t> EngineFolder::engine() const {
    const Descriptor file(::open(this->file(kLock).c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (!file) return std::nullopt;
    if (const Holder holder = holderOf(file); !holder.host.empty() && holder.host != hostName()) return 0;
    if (::flock(file.number(), LOCK_SH | LOCK_NB) == 0) return std::nullopt;
    return holderOf(file).process;
}

Result<Descriptor> EngineFolder::listen() const {
    const ShortPath path(m_path);
    Descriptor made = newSocket();
    if (!path.descriptor || !made || ::bind(made.number(), path.of(), sizeof(path.address)) != 0 || ::listen(made.number(), kWaitingCallers) != 0)
        return cannot(m_path, "listened in");
    return made;
}

std::optional<Descriptor> EngineFolder::connect() const {
    const ShortPath path(m_path);
    Descriptor made = newSocket();
    if (!path.descriptor || !made || ::connect(made.number(), path.of(), sizeof(path.address)) != 0) return std::nullopt;
    return made;
}

void EngineFolder::describe(const std::string& run) const {
    std::ofstream(file(kAbout), std::ios::trunc) << firstBytes(run, kMostDescribed);
}

std::string EngineFolder::description() const {
    return printable(endOf(file(kAbout), kMostDescribed));
}

std::string EngineFolder::lastWords() const {
    std::string said = endOf(file(kEngineLog), kMostLastWords);
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
    if (const auto before = said.find_last_of('\n'); before != std::string::npos) said.erase(0, before + 1);
    return printable(firstBytes(said, kMostDescribed));
}

void EngineFolder::remove() const {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
}

std::vector<ListedEngine> listEngines() {
    std::vector<ListedEngine> all;
    for (const EngineFolder& folder : allEngines()) all.push_back(lookAt(folder));
    return all;
}

void removeOldEngines() {
    for (const EngineFolder& folder : allEngines()) {
        std::error_code problem;
        const auto age = fs::file_time_type::clock::now() - fs::last_write_time(folder.path(), problem);
        if (problem || age < kKept) continue;
        const ListedEngine listed = lookAt(folder);
        if (!listed.lives && listed.heard) folder.remove();
    }
}

}  // namespace stepscope
