// GeneratorThread: writes text with a copy of the weights while training goes on; one request after the other, the texts of one beside each other, on
// a thread of its own. They are published as TextGenerated events.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "core/base/Channel.h"
#include "core/events/EventSink.h"
#include "core/train/Generator.h"

namespace stepscope {

class GeneratorThread {
public:
    GeneratorThread(EventSink& sink, const SessionClock& clock);
    ~GeneratorThread();  // cuts off
    GeneratorThread(const GeneratorThread&) = delete;
    GeneratorThread& operator=(const GeneratorThread&) = delete;

    struct Job {
        GenerateText request;
        GeneratorWeights model;
        std::int64_t step = 0;
        std::shared_ptr<const Tokenizer> tokenizer;
        bool asked = true;        // by a person; else it is one of the run's own samples
        std::int64_t number = 0;  // of those that were posted
    };
    void post(Job job);
    // From now on texts are cut off, the one under way too. Any thread.
    void cancel();
    // The one under way ends where it is, and of those that wait the ones that were asked for are not begun. Any thread.
    void cutOff();
    // The same, but what is under way goes on where nobody asked for it: of a person's wish that may be some time ago.
    void cutOffAsked();
    // Waits until every text that was asked for is written, or cut off; nothing is published afterwards.
    void finish();
    // > 0 while it works: the trainer marks its steps as disturbed.
    const std::atomic<int>& busy() const { return m_busy; }

private:
    void work();
    void write(const Job& job);

    EventSink& m_sink;
    const SessionClock& m_clock;
    Channel<std::shared_ptr<const Job>> m_jobs;
    std::atomic<int> m_busy{0};
    std::atomic<bool> m_cancelled{false}, m_cutOff{false};
    std::mutex m_mutex;  // of what follows, and of what m_cutOff becomes
    std::int64_t m_posted = 0, m_cutUpTo = 0;
    bool m_writesAsked = false;  // what is under way was asked for
    std::thread m_thread;
};

}  // namespace stepscope
