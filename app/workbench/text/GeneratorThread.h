// GeneratorThread: writes text with a copy of the weights while training goes on; one request after the other, on a thread of its
// own. Its text is published as TextGenerated events.
#pragma once
#include <atomic>
#include <memory>
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
    };
    void post(Job job);
    // From now on texts are cut off, the one under way too. Any thread.
    void cancel() {
        m_cancelled = true;
        m_cutOff = true;
    }
    // The one under way ends where it is. Any thread.
    void cutOff() { m_cutOff = true; }
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
    std::thread m_thread;
};

}  // namespace stepscope
