#include "app/workbench/engine/AskingKeeper.h"

#include <chrono>
#include <utility>

namespace stepscope {
namespace {

constexpr std::chrono::seconds kMayTakeToBeKept{30};  // of one whose answer is not needed

}  // namespace

Result<SessionPlace> AskingKeeper::open(const SessionInfo& info, TimeNs now) {
    if (const Status asked = m_outlet.send(FrameType::Keep, askedToBytes({info, now})); !asked) return asked.error();
    std::unique_lock lock(m_mutex);
    const auto told = [&] { return m_answer || m_closed; };
    if (beside())
        m_answered.wait_for(lock, kMayTakeToBeKept, told);
    else
        m_answered.wait(lock, told);
    if (m_answer) return *m_answer;
    m_wentOn = true;
    if (beside()) return SessionPlace{};
    return makeError(ErrorCode::Cancelled, "Who asked for the run has gone before it began.");
}

bool AskingKeeper::answer(Result<SessionPlace> answer) {
    const std::lock_guard lock(m_mutex);
    if (m_wentOn) return false;
    m_answer = std::move(answer);
    m_answered.notify_all();
    return true;
}

void AskingKeeper::tell(const StoredSoFar& stored) {
    m_chunkBytes = stored.chunkBytes;
    m_blocked = stored.blocked;
}

void AskingKeeper::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_blocked = false;  // a run that waits for a disk there must not wait for ever
    m_answered.notify_all();
}

}  // namespace stepscope
