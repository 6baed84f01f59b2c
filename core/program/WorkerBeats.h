// WorkerBeats: while the first worker does something that takes long where the others have gone on to meet it, they hear that it is still there, as
// those do that wait for a pause. Made and ended on the trainer thread; the others are asked on one of its own meanwhile, and by nobody else.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/program/DataParallel.h"

namespace stepscope {

constexpr std::chrono::milliseconds kLongestBeat{1000};

// How often those are heard of who are waited for so long: long before anybody takes them for lost.
constexpr std::chrono::milliseconds beatWithin(std::chrono::milliseconds patience) {
    return std::min(kLongestBeat, patience / 4);
}

class WorkerBeats {
public:
    // others: null, or of one that is not the first: nothing is said. The first time after `every`.
    explicit WorkerBeats(DataParallel* others, std::chrono::milliseconds every = kLongestBeat);
    ~WorkerBeats();  // ends it; what went wrong is not told
    WorkerBeats(const WorkerBeats&) = delete;
    WorkerBeats& operator=(const WorkerBeats&) = delete;

    // Returns whether all have agreed to stop meanwhile. Throws WorkersApart.
    bool end();

private:
    void beat();

    DataParallel* m_others;
    std::chrono::milliseconds m_every;
    std::mutex m_mutex;
    std::condition_variable m_ends;
    bool m_ended = false, m_stopAgreed = false;
    std::exception_ptr m_broke;
    std::thread m_thread;
};

}  // namespace stepscope
