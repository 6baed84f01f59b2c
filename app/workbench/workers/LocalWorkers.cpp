#include "app/workbench/workers/LocalWorkers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/workbench/process/ArgumentPointers.h"
#include "core/base/Utf8.h"
#include "core/base/WholeFile.h"

extern char** environ;

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kFirstWorker = "STEPSCOPE_FIRST_WORKER";  // its process
constexpr milliseconds kMayTake{10'000}, kMayTakeMore{2'000}, kLook{10};
constexpr int kItsStderr = 2;
constexpr std::size_t kMostWords = 16 << 20;  // bytes; the system lets no program be started with nearly so many
constexpr std::size_t kMostSaid = 2'000;      // bytes of a sentence

// What another starter of workers may have said of this process is not true of those that it starts.
constexpr std::array kOfPlaces =
    std::to_array<std::string_view>({"RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "LOCAL_WORLD_SIZE=", "MASTER_ADDR=", "MASTER_PORT=", "SLURM_",
                                     "TORCHELASTIC_", "GROUP_RANK=", "ROLE_", "STEPSCOPE_WORKERS_FILE=", "STEPSCOPE_FIRST_WORKER="});

std::vector<std::string> environmentOf(int rank, const WorkerPlace& first) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::ranges::none_of(kOfPlaces, [&](std::string_view name) { return std::string_view(*entry).starts_with(name); }))
            all.emplace_back(*entry);
    all.push_back(fmt::format("RANK={}", rank));
    all.push_back(fmt::format("WORLD_SIZE={}", first.size));
    all.push_back("STEPSCOPE_WORKERS_FILE=" + first.file);
    all.push_back(fmt::format("{}={}", kFirstWorker, ::getpid()));
    return all;
}

// Where the environment wants what is temporary to lie, as the library looks for it.
std::string namedForTemporary() {
    for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
        if (const char* told = std::getenv(name)) return told;
    return "/tmp";
}

}  // namespace

Result<std::unique_ptr<LocalWorkers>> LocalWorkers::start(const std::vector<std::string>& command, int workers, int stoppedStatus,
                                                          std::function<void()> onFailure) {
    std::error_code problem;
    const std::string place = fs::temp_directory_path(problem).string();
    std::string folder = place + "/stepscope-workers-XXXXXX";
    // Of a TMPDIR that is no folder the library tells why, and not its name.
    if (!problem && ::mkdtemp(folder.data()) == nullptr) problem.assign(errno, std::generic_category());
    if (problem)
        return makeError(ErrorCode::Io, fmt::format("No folder can be made at \"{}\" for workers to meet in: {}. TMPDIR names another place.",
                                                    printable(place.empty() ? namedForTemporary() : place), problem.message()));
    std::unique_ptr<LocalWorkers> made(new LocalWorkers);
    made->m_folder = folder;
    made->m_stoppedStatus = stoppedStatus;
    made->m_place = {.rank = 0, .size = workers, .localRank = 0, .localSize = workers, .address = {}, .file = folder + "/meet"};
    for (int rank = 1; rank < workers; ++rank)
        if (auto started = made->spawn(command, rank, onFailure); !started) return started.error();
    return made;
}

Status LocalWorkers::spawn(const std::vector<std::string>& command, int rank, const std::function<void()>& onFailure) {
    std::vector<std::string> words = command, environment = environmentOf(rank, m_place);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    // What it says is told once, by failures(): most of it the first worker says as well.
    const std::string said = fmt::format("{}/worker-{}", m_folder, rank);
    posix_spawn_file_actions_addopen(&files, kItsStderr, said.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
    pid_t pid = 0;
    const int problem =
        ::posix_spawn(&pid, words.front().c_str(), &files, nullptr, argumentPointers(words).data(), argumentPointers(environment).data());
    posix_spawn_file_actions_destroy(&files);
    if (problem != 0) return makeError(ErrorCode::Io, fmt::format("Worker {} cannot be started: {}.", rank, std::strerror(problem)));
    auto& other = *m_others.emplace_back(std::make_unique<Other>());
    other.pid = pid;
    other.waiting = std::thread([this, &other, onFailure] {
        int status = 0;
        while (::waitpid(other.pid, &status, 0) < 0 && errno == EINTR) {
        }
        other.status = status;
        other.order = m_endings++;
        other.ended = true;
        if (failed(status) && onFailure) onFailure();
    });
    return {};
}

bool LocalWorkers::failed(int status) const {
    return !WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != m_stoppedStatus);
}

LocalWorkers::~LocalWorkers() {
    end({});
    std::error_code ignored;
    fs::remove_all(m_folder, ignored);
}

void LocalWorkers::end(milliseconds patience) {
    const auto allEnded = [&](milliseconds within) {
        const auto all = [&] { return std::ranges::all_of(m_others, [](const auto& other) { return other->ended.load(); }); };
        for (auto left = within; left.count() > 0 && !all(); left -= kLook) std::this_thread::sleep_for(kLook);
        return all();
    };
    // A process that has been waited for may have given its number to another one.
    const auto tell = [&](int signal) {
        for (const auto& other : m_others)
            if (!other->ended) ::kill(other->pid, signal);
    };
    if (!allEnded(patience)) tell(SIGTERM);
    if (!allEnded(kMayTakeMore)) tell(SIGKILL);
    for (const auto& other : m_others)
        if (other->waiting.joinable()) other->waiting.join();
}

std::string LocalWorkers::saidBy(int rank) const {
    std::ifstream file(fmt::format("{}/worker-{}", m_folder, rank), std::ios::binary);
    std::string said(kMostSaid, '\0');
    file.read(said.data(), static_cast<std::streamsize>(said.size()));
    said.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
    // Behind the program's name and the worker's, which whoever tells it says again.
    for (const auto& name : {std::string("stepscope-cli: "), fmt::format("worker {}: ", rank)})
        if (said.starts_with(name)) said.erase(0, name.size());
    return printable(said);
}

std::vector<std::string> LocalWorkers::failures() {
    end(kMayTake);
    std::vector<int> ranks(m_others.size());
    std::iota(ranks.begin(), ranks.end(), 1);
    const auto of = [&](int rank) -> const Other& { return *m_others[static_cast<std::size_t>(rank - 1)]; };
    std::ranges::sort(ranks, std::less{}, [&](int rank) { return of(rank).order; });
    std::vector<std::string> all;
    for (const int rank : ranks) {
        const int status = of(rank).status;
        if (!failed(status)) continue;
        const std::string said = saidBy(rank);
        if (!said.empty())
            all.push_back(said);
        else if (WIFSIGNALED(status))
            all.push_back(fmt::format("Worker {} was ended by signal {} ({}).", rank, WTERMSIG(status), ::strsignal(WTERMSIG(status))));
        else
            all.push_back(fmt::format("Worker {} ended with status {} and said nothing.", rank, WEXITSTATUS(status)));
    }
    return all;
}

bool startedByFirstWorker() {
    return std::getenv(kFirstWorker) != nullptr;
}

void endWithFirstWorker() {
    const char* first = std::getenv(kFirstWorker);
    if (first == nullptr) return;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // It may have gone before that was said.
    if (std::to_string(::getppid()) != first) ::raise(SIGTERM);
}

std::string ownProgram() {
    std::error_code problem;
    return fs::read_symlink("/proc/self/exe", problem).string();
}

Result<std::vector<std::string>> ownCommand(const std::string& told) {
    const auto all = readWhole(told, kMostWords);
    if (!all || all->empty())
        return makeError(ErrorCode::Io,
                         fmt::format("The other workers cannot be started, as the words that this one was started with are not known: {}",
                                     all ? told + " is empty." : all.error().sentence));
    std::vector<std::string> words;
    for (std::size_t at = 0; at < all->size();) {
        const auto end = std::min(all->find('\0', at), all->size());
        words.push_back(all->substr(at, end - at));
        at = end + 1;
    }
    words.front() = ownProgram();
    return words;
}

}  // namespace stepscope
