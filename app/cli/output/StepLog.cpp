#include "app/cli/output/StepLog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

namespace stepscope::cli {

Result<std::unique_ptr<StepLog>> StepLog::open(const std::string& path, bool goesOn) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | (goesOn ? O_APPEND : O_TRUNC) | O_CLOEXEC, 0644);
    if (descriptor < 0) return makeError(ErrorCode::Io, fmt::format("The step log {} cannot be written: {}.", path, std::strerror(errno)));
    return std::unique_ptr<StepLog>(new StepLog(descriptor, path));
}

StepLog::~StepLog() {
    ::close(m_descriptor);
}

Status StepLog::append(const StepDone& step) {
    if (m_failed) return {};
    fmt::basic_memory_buffer<char, 128> line;
    fmt::format_to(std::back_inserter(line), "{{\"step\":{},\"t_ns\":{},\"loss\":", step.step, step.at.ns);
    const auto number = [&](double value) {
        if (std::isfinite(value))
            fmt::format_to(std::back_inserter(line), "{:.9g}", value);
        else
            fmt::format_to(std::back_inserter(line), "null");
    };
    number(step.loss);
    fmt::format_to(std::back_inserter(line), ",\"lr\":");
    number(step.learningRate);
    fmt::format_to(std::back_inserter(line), ",\"grad_norm\":");
    number(step.gradientNorm);
    if (const auto waiting = step.phaseNs[static_cast<std::size_t>(Phase::Waiting)]; waiting > 0)
        fmt::format_to(std::back_inserter(line), ",\"waiting_ns\":{}", waiting);
    fmt::format_to(std::back_inserter(line), "}}\n");

    std::size_t written = 0;
    while (written < line.size()) {
        const ssize_t count = ::write(m_descriptor, line.data() + written, line.size() - written);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            m_failed = true;
            return makeError(ErrorCode::Io, fmt::format("The step log {} ends at step {}: {}.", m_path, step.step - 1, std::strerror(errno)));
        }
        written += static_cast<std::size_t>(count);
    }
    return {};
}

}  // namespace stepscope::cli
