// AskingKeeper: the keeper of a session in an engine that runs apart: asks the program at the other end of its line. Of an engine that ends with its
// line the session is there alone, and the run waits for the answer; one that outlives its line records here, too, and does not wait for a line that
// may have broken. open() on the trainer thread, the rest on the thread that reads the line.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "app/workbench/engine/EngineOutlet.h"
#include "app/workbench/engine/SessionKeeper.h"
#include "app/workbench/engine/StartWords.h"

namespace stepscope {

class AskingKeeper final : public SessionKeeper {
public:
    enum class Kind { Alone, Beside };
    AskingKeeper(EngineOutlet& outlet, Kind kind) : m_outlet(outlet), m_kind(kind) {}

    Result<SessionPlace> open(const SessionInfo& info, TimeNs now) override;
    bool blocked() const override { return m_blocked; }
    std::int64_t chunkBytes() const override { return m_chunkBytes; }
    bool beside() const override { return m_kind == Kind::Beside; }

    // False: the run has gone on without it.
    bool answer(Result<SessionPlace> answer);
    void tell(const StoredSoFar& stored);
    void close();  // no answer will come

private:
    EngineOutlet& m_outlet;
    const Kind m_kind;
    std::mutex m_mutex;
    std::condition_variable m_answered;
    std::optional<Result<SessionPlace>> m_answer;  // under m_mutex, with the two below
    bool m_closed = false, m_wentOn = false;
    std::atomic<bool> m_blocked{false};
    std::atomic<std::int64_t> m_chunkBytes{0};
};

}  // namespace stepscope
