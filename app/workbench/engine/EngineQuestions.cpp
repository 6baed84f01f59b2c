#include "app/workbench/engine/EngineQuestions.h"

#include <fmt/format.h>

#include <utility>

#include "app/workbench/engine/EngineWords.h"
#include "app/workbench/engine/StartWords.h"
#include "core/base/Utf8.h"

namespace stepscope {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookWhetherWanted{50};

constexpr FrameType answerTo(FrameType question) {
    return static_cast<FrameType>(static_cast<std::uint8_t>(question) + 1);
}

std::string commandLine(const std::vector<std::string>& words) {
    return printable(fmt::format("{}", fmt::join(words, " ")));
}

}  // namespace

EngineQuestions::EngineQuestions(std::vector<std::string> command) : EngineQuestions(std::move(command), Limits()) {}

EngineQuestions::EngineQuestions(std::vector<std::string> command, const Limits& limits)
    : m_command(questionWords(std::move(command))), m_limits(limits) {}

Result<EngineElsewhere> EngineQuestions::findOut(const std::vector<std::string>& command) {
    return findOut(command, Limits());
}

Result<EngineElsewhere> EngineQuestions::findOut(const std::vector<std::string>& command, const Limits& limits) {
    EngineQuestions questions(command, limits);
    auto hello = questions.greet([] { return true; });
    if (!hello) return hello.error();
    return EngineElsewhere{command, std::move((*hello)->host), std::move((*hello)->machine), std::move((*hello)->going)};
}

// Who answers, once a line.
Result<std::optional<Hello>> EngineQuestions::greet(const Wanted& wanted) {
    if (m_line == nullptr) {
        m_hello.reset();
        m_owed = 0;
        auto line = EngineLine::start(m_command);
        if (!line) return line.error();
        m_line = std::move(*line);
        m_began = SteadyClock::now();
    }
    const BrokenPipesAreTold told;  // not of the process that was started
    while (!m_hello) {
        if (!wanted()) return std::optional<Hello>();
        const auto frame = m_line->next(kLookWhetherWanted);
        if (!frame) return frame.error();
        if (*frame) {
            auto hello = engineHelloFrom(**frame);
            if (!hello) return hello.error();
            m_hello = std::move(*hello);
        } else if (SteadyClock::now() - m_began > m_limits.greet) {
            return makeError(ErrorCode::Io, fmt::format("The engine has not said who it is within {} seconds; does \"{}\" wait for somebody?",
                                                        m_limits.greet.count(), commandLine(m_command)));
        }
    }
    return m_hello;
}

// A line that was kept may have broken since the last question: then a new one is asked.
EngineQuestions::Answer EngineQuestions::ask(FrameType question, const FrameBytes& payload, const Wanted& wanted, bool mayTakeLong) {
    const bool kept = m_line != nullptr;
    Answer answer = askOnce(question, payload, wanted, mayTakeLong);
    if (answer) return answer;
    m_line.reset();
    if (!kept || !wanted()) return answer;
    answer = askOnce(question, payload, wanted, mayTakeLong);
    if (!answer) m_line.reset();
    return answer;
}

EngineQuestions::Answer EngineQuestions::askOnce(FrameType question, const FrameBytes& payload, const Wanted& wanted, bool mayTakeLong) {
    const auto hello = greet(wanted);
    if (!hello) return hello.error();
    if (!*hello) return std::optional<Frame>();
    const BrokenPipesAreTold told;
    m_line->send(question, payload);
    const auto until = SteadyClock::now() + m_limits.answer;
    while (true) {
        if (!wanted()) {
            m_line->send(FrameType::NeverMind, {});
            const auto frame = m_line->next(std::chrono::milliseconds{0});  // it goes out now
            if (!frame) return frame.error();
            if (!*frame) ++m_owed;
            return std::optional<Frame>();
        }
        auto frame = m_line->next(kLookWhetherWanted);
        if (!frame) return frame.error();
        if (*frame && m_owed > 0) {
            --m_owed;
        } else if (*frame) {
            if ((*frame)->type == answerTo(question)) return frame;
            return makeError(ErrorCode::Damaged, "The engine answered something else than it was asked; is it this program's command?");
        } else if (!mayTakeLong && SteadyClock::now() > until) {
            return makeError(ErrorCode::Io, fmt::format("{} has not answered within {} seconds.", m_hello->host, m_limits.answer.count()));
        }
    }
}

template <class T>
Result<std::optional<T>> EngineQuestions::heard(const Answer& answer, Result<T> (*read)(const FrameBytes&)) {
    if (!answer) return answer.error();
    if (!*answer) return std::optional<T>();
    auto told = read((*answer)->payload);
    if (told) return std::optional<T>(std::move(*told));
    m_line.reset();
    return told.error();
}

Result<std::optional<FolderListed>> EngineQuestions::list(const FolderAsked& asked, const Wanted& wanted) {
    return heard(ask(FrameType::List, folderAskedToBytes(asked), wanted, false), folderListedFromBytes);
}

Result<std::optional<DataChecked>> EngineQuestions::check(const DataAsked& asked, const Wanted& wanted) {
    return heard(ask(FrameType::CheckData, dataAskedToBytes(asked), wanted, true), dataCheckedFromBytes);
}

Result<std::optional<WeightsLooked>> EngineQuestions::look(const WeightsAsked& asked, const Wanted& wanted) {
    return heard(ask(FrameType::CheckWeights, weightsAskedToBytes(asked), wanted, false), weightsLookedFromBytes);
}

}  // namespace stepscope
