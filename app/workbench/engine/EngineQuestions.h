// What this program asks an engine on another machine beside runs: who it is, what lies in its folders, what chosen data and weights are. A process
// of its own, started by the same command at the first question and kept for the next ones (EngineLooks answers there). Without LibTorch. One thread,
// which waits for each answer; never the window's.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/engine/EngineElsewhere.h"
#include "app/workbench/engine/EngineLine.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LookWords.h"

namespace stepscope {

class EngineQuestions {
public:
    using Wanted = std::function<bool()>;  // asked a few times a second; no: nobody waits for the answer any more

    struct Limits {
        std::chrono::seconds greet{20};   // over a network, its libraries loaded there
        std::chrono::seconds answer{60};  // but for what reads a whole file
    };

    explicit EngineQuestions(std::vector<std::string> command);
    EngineQuestions(std::vector<std::string> command, const Limits& limits);

    // Starts the process and ends it again. Errors: what a person can do something about, in one sentence.
    static Result<EngineElsewhere> findOut(const std::vector<std::string>& command);
    static Result<EngineElsewhere> findOut(const std::vector<std::string>& command, const Limits& limits);

    // Nothing: it is not wanted any more. Errors: the engine is not to be reached, or what it said is none of its words.
    Result<std::optional<FolderListed>> list(const FolderAsked& asked, const Wanted& wanted);
    Result<std::optional<DataChecked>> check(const DataAsked& asked, const Wanted& wanted);
    Result<std::optional<WeightsLooked>> look(const WeightsAsked& asked, const Wanted& wanted);

private:
    using Answer = Result<std::optional<Frame>>;
    Answer ask(FrameType question, const FrameBytes& payload, const Wanted& wanted, bool mayTakeLong);
    Answer askOnce(FrameType question, const FrameBytes& payload, const Wanted& wanted, bool mayTakeLong);
    Result<std::optional<Hello>> greet(const Wanted& wanted);
    template <class T>
    Result<std::optional<T>> heard(const Answer& answer, Result<T> (*read)(const FrameBytes&));

    std::vector<std::string> m_command;
    Limits m_limits;
    std::unique_ptr<EngineLine> m_line;
    std::chrono::steady_clock::time_point m_began;  // the line
    std::optional<Hello> m_hello;
    int m_owed = 0;  // answers that nobody wanted any more, and that still come
};

}  // namespace stepscope
