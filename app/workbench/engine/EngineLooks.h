// An engine's answers to what a window on another machine asks it beside a run (sessions/wire/LookWords.h): folders, data, weights. Owned by
// EngineServer; main thread, which answers one question after the other.
#pragma once
#include <functional>
#include <optional>

#include "app/workbench/DataCheck.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

class EngineLooks {
public:
    static bool isQuestion(FrameType type);
    // The answer, of the next type; nothing to NeverMind. wanted, asked every few milliseconds while much is read, says no when more has been asked.
    // Errors: what came was no question.
    Result<std::optional<Frame>> answer(const Frame& question, const std::function<bool()>& wanted);

private:
    DataCheck m_data, m_validation;  // remember the newest, for an edit that asks again
};

}  // namespace stepscope
