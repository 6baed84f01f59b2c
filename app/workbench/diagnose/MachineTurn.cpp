#include "app/workbench/diagnose/MachineTurn.h"

#include <condition_variable>
#include <mutex>

namespace stepscope {
namespace {

struct Turns {
    std::mutex mutex;
    std::condition_variable lookEnded;
    int runs = 0;
    bool looking = false;
};

Turns& turns() {
    static Turns all;
    return all;
}

thread_local int heldHere = 0;  // turns of this thread, one within the other

}  // namespace

RunTurn::RunTurn() {
    Turns& all = turns();
    std::unique_lock lock(all.mutex);
    ++all.runs;
    all.lookEnded.wait(lock, [&] { return !all.looking; });
}

RunTurn::~RunTurn() {
    std::lock_guard lock(turns().mutex);
    --turns().runs;
}

LookTurn::LookTurn() {
    std::lock_guard lock(turns().mutex);
    if (heldHere == 0 && (turns().runs > 0 || turns().looking)) return;
    ++heldHere;
    turns().looking = m_taken = true;
}

LookTurn::~LookTurn() {
    if (!m_taken || --heldHere > 0) return;
    {
        std::lock_guard lock(turns().mutex);
        turns().looking = false;
    }
    turns().lookEnded.notify_all();
}

bool LookTurn::wanted() {
    std::lock_guard lock(turns().mutex);
    return turns().runs > 0;
}

}  // namespace stepscope
