// EngineRun's line to an engine that outlives it: taken up again when it has broken, so that nothing is lost and nothing happens twice.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/workbench/engine/EngineRun.h"
#include "app/workbench/engine/EngineWords.h"
#include "app/workbench/engine/StartWords.h"
#include "core/base/Utf8.h"
#include "sessions/wire/LineWords.h"

namespace stepscope {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLongestPause{30'000}, kLookForFrame{200};
constexpr std::chrono::seconds kMayTakeToComeBack{120};  // its command may have to ask somebody
constexpr std::chrono::seconds kMayTakeToStop{5};        // the last try, when a person wants it over

}  // namespace

// What came was good, and there is more to hear. A session that was to be taken up and was not is left as it was.
bool EngineRun::takesUp() const {
    return detached() && m_line->broken() && !m_summary && (m_began || !isTakenUp());
}

std::vector<std::string> EngineRun::commandToTakeUp() const {
    return attachWords(m_request.engine, m_hello.engine);
}

Error EngineRun::givenUp() const {
    return makeError(ErrorCode::Cancelled,
                     fmt::format("The line to the engine is broken, so the run on {} could not be told to stop: it goes on there and is recorded "
                                 "there. On that machine \"stepscope-cli engine --list\" lists it, and \"stepscope-cli engine --stop {}\" stops it.",
                                 m_hello.host, m_hello.engine));
}

void EngineRun::pauseFor(milliseconds pause) {
    std::unique_lock lock(m_mutex);
    m_asked.wait_for(lock, pause, [this] { return m_cancelled.load(); });
}

Status EngineRun::takeUp(const Error& broken) {
    {
        const std::lock_guard lock(m_mutex);
        m_up = false;
    }
    m_line->end();
    m_lineDown = true;
    if (commandToTakeUp().empty())
        return makeError(broken.code,
                         fmt::format("{} The run goes on there as engine {}; its command has no --detach, so the line cannot be taken up.",
                                     broken.sentence, m_hello.engine));
    tell(LogLevel::Warning, fmt::format("The line to the engine has broken; the run goes on there. Trying again. ({})", broken.sentence));
    m_tried.clear();
    for (milliseconds pause = m_request.enginePause;; pause = std::min(2 * pause, kLongestPause)) {
        pauseFor(pause);
        const bool last = m_cancelled;  // what is asked for now can be said on a line that is there now, or not at all
        const std::string before = m_tried;
        const auto there = tryAgain();
        if (!there) return there.error();
        if (*there) break;
        if (last) return givenUp();
        if (m_tried != before) tell(LogLevel::Warning, m_tried);
    }
    tell(LogLevel::Info, "The line to the engine is there again.");
    m_lineDown = false;
    return {};
}

// False: not yet, for what m_tried says. Errors: trying again would not help.
Result<bool> EngineRun::tryAgain() {
    auto line = EngineLine::start(commandToTakeUp());
    if (!line) {
        m_tried = line.error().sentence;
        return false;
    }
    {
        const std::lock_guard lock(m_mutex);
        m_line = std::move(*line);
    }
    auto there = greetAgain();
    if (!there || *there) return there;
    m_line->end();
    return false;
}

// Nothing: no frame came, for what m_tried says.
Result<std::optional<Frame>> EngineRun::hear(Clock::time_point until) {
    while (true) {
        if (m_cancelled) until = std::min(until, Clock::now() + kMayTakeToStop);
        auto frame = m_line->next(kLookForFrame);
        if (frame && *frame) return frame;
        if (!frame) {
            m_tried = frame.error().sentence;
            return std::optional<Frame>();
        }
        if (Clock::now() < until) continue;
        m_tried = fmt::format("Nobody answers on the line to the engine on {}.", m_hello.host);
        return std::optional<Frame>();
    }
}

Result<bool> EngineRun::greetAgain() {
    const auto until = Clock::now() + kMayTakeToComeBack;
    const auto first = hear(until);
    if (!first) return first.error();
    if (!*first) return false;
    const auto hello = engineHelloFrom(**first);
    if (!hello) return hello.error();
    if (!hello->engine.empty() && hello->engine != m_hello.engine)
        return makeError(ErrorCode::Damaged, fmt::format("Engine {} answered where {} was called.", hello->engine, m_hello.engine));
    m_line->send(FrameType::Attach, attachToBytes({m_number}));
    const auto answer = hear(until);
    if (!answer) return answer.error();
    if (!*answer) return false;
    if ((*answer)->type == FrameType::Refused) {
        const Error why = errorFromBytes((*answer)->payload);
        // It broke before the engine knew what to train.
        if (why.code == ErrorCode::NotFound && m_number == 0 && !m_recorder) return beginAnew();
        // Its folder is held by the line before, whose end that machine has not noticed yet.
        if (why.code == ErrorCode::Io) {
            m_tried = why.sentence;
            return false;
        }
        return why;
    }
    if ((*answer)->type != FrameType::Attached) return makeError(ErrorCode::Damaged, "The engine does not say what it has heard.");
    const auto attached = attachedFromBytes((*answer)->payload);
    if (!attached) return attached.error();
    const std::lock_guard lock(m_mutex);
    if (attached->commands > m_commands) return makeError(ErrorCode::Damaged, "The engine has heard commands that nobody gave.");
    std::erase_if(m_unheard, [&](const NumberedCommand& one) { return one.number <= attached->commands; });
    for (const NumberedCommand& one : m_unheard) m_line->send(FrameType::Command, commandToBytes(one.number, one.command));
    m_up = true;
    return true;
}

Result<bool> EngineRun::beginAnew() {
    m_line->end();
    auto line = EngineLine::start(m_request.engine);
    if (!line) return line.error();
    {
        const std::lock_guard lock(m_mutex);
        m_line = std::move(*line);
    }
    const Status greeted = greet();
    if (!greeted) return greeted.error();
    return true;
}

}  // namespace stepscope
