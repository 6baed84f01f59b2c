#include "tests/app/Process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

extern char** environ;

namespace stepscope::test {
namespace {

struct Ends {
    int read = -1, write = -1;
};

Ends makePipe() {
    std::array<int, 2> both{};
    if (pipe2(both.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    return {both[0], both[1]};
}

Ends makeTerminal() {
    const int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ours < 0 || grantpt(ours) != 0 || unlockpt(ours) != 0) throw std::runtime_error("no pseudo-terminal");
    return {ours, open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

std::vector<std::string> environmentWith(const std::map<std::string, std::string>& more) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!more.contains(text.substr(0, text.find('=')))) all.push_back(text);
    }
    for (const auto& [name, value] : more) all.push_back(name + "=" + value);
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

// False at the end of the stream (a pseudo-terminal says EIO there).
bool readSome(int from, std::string& into) {
    std::array<char, 4096> buffer;
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const Options& options) {
    const Ends out = options.terminalOut ? makeTerminal() : makePipe();
    const Ends err = options.terminal ? makeTerminal() : makePipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
    auto arguments = command;
    auto environment = environmentWith(options.environment);
    const int problem = posix_spawn(&m_id, command.front().c_str(), &actions, nullptr, pointers(arguments).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    close(out.write);
    close(err.write);
    m_out = out.read;
    m_err = err.read;
    if (problem != 0) throw std::runtime_error("cannot start " + command.front());
}

Process::~Process() {
    if (m_id > 0) {
        kill(m_id, SIGKILL);
        waitpid(m_id, nullptr, 0);
    }
    close(m_out);
    close(m_err);
}

void Process::send(int signal) const {
    kill(m_id, signal);
}

Finished Process::wait(std::chrono::seconds patience) {
    Finished result;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::array<pollfd, 2> waiting{{{m_out, POLLIN, 0}, {m_err, POLLIN, 0}}};
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        if (left <= 0) {
            result.timedOut = true;
            send(SIGKILL);
            break;
        }
        poll(waiting.data(), waiting.size(), static_cast<int>(left));
        if (waiting[0].revents != 0 && !readSome(m_out, result.out)) waiting[0].fd = -1;
        if (waiting[1].revents != 0 && !readSome(m_err, result.err)) waiting[1].fd = -1;
    }
    int status = 0;
    waitpid(m_id, &status, 0);
    m_id = -1;
    if (WIFEXITED(status))
        result.exitCode = WEXITSTATUS(status);
    else
        result.signal = WTERMSIG(status);
    return result;
}

}  // namespace stepscope::test
