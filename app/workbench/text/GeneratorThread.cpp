#include "app/workbench/text/GeneratorThread.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "core/events/Event.h"
#include "core/train/Failure.h"

namespace stepscope {

GeneratorThread::GeneratorThread(EventSink& sink, const SessionClock& clock) : m_sink(sink), m_clock(clock), m_thread([this] { work(); }) {}

GeneratorThread::~GeneratorThread() {
    cancel();
    finish();
}

void GeneratorThread::post(Job job) {
    m_busy.fetch_add(1);
    {
        const std::lock_guard lock(m_mutex);
        job.number = ++m_posted;
    }
    m_jobs.push(std::make_shared<const Job>(std::move(job)));
}

void GeneratorThread::cancel() {
    const std::lock_guard lock(m_mutex);
    m_cancelled = m_cutOff = true;
}

void GeneratorThread::cutOff() {
    const std::lock_guard lock(m_mutex);
    m_cutUpTo = m_posted;
    m_cutOff = true;
}

void GeneratorThread::cutOffAsked() {
    const std::lock_guard lock(m_mutex);
    m_cutUpTo = m_posted;
    m_cutOff = m_cutOff || m_writesAsked;
}

void GeneratorThread::finish() {
    m_jobs.close();
    if (m_thread.joinable()) m_thread.join();
}

void GeneratorThread::work() {
    std::vector<std::shared_ptr<const Job>> jobs;
    while (m_jobs.drainFor(jobs, std::chrono::milliseconds(500)))
        for (auto& job : jobs) {
            if (!m_cancelled)
                write(*job);
            else
                m_sink.publish(LogLine{m_clock.now(), job->step, LogLevel::Info, "The text of this step was not written: the run was stopped."});
            job.reset();
            m_busy.fetch_sub(1);
        }
}

void GeneratorThread::write(const Job& job) {
    const auto say = [&](const Error& error) {
        m_sink.publish(LogLine{m_clock.now(), job.step, LogLevel::Error, "No text: " + error.sentence, error.code, {Subject::Kind::Text, {}}});
    };
    TextWork work;
    std::vector<std::string> prompts{job.request.prompt};
    prompts.insert(prompts.end(), job.request.besides.begin(), job.request.besides.end());
    const auto publish = [&](std::size_t place, const std::string& text, bool complete) {
        m_sink.publish(TextGenerated{job.step, m_clock.now(), prompts[place], text, complete, work.promptRate(), work.textRate(),
                                     static_cast<std::int64_t>(place)});
    };
    {
        const std::lock_guard lock(m_mutex);
        m_writesAsked = job.asked;
        m_cutOff = m_cancelled || (job.asked && job.number <= m_cutUpTo);
    }
    // Who asked for it waits for its end, though there is none of it.
    if (m_cutOff && !m_cancelled) {
        for (std::size_t place = 0; place < prompts.size(); ++place) publish(place, {}, true);
        return;
    }
    try {
        // Half of the threads that train: with all of them each would wait for the other's at every barrier.
        const TextOptions options{.threads = std::max(1, at::get_num_threads() / 2)};
        const auto texts = generateTexts(
            job.model, *job.tokenizer, job.request, prompts, options,
            [&](std::size_t place, const std::string& soFar, const TextWork&) { publish(place, soFar, false); }, m_cutOff, work);
        if (!texts) return say(texts.error());
        if (m_cancelled) m_sink.publish(LogLine{m_clock.now(), job.step, LogLevel::Info, "The text of this step was cut off: the run was stopped."});
        for (std::size_t place = 0; place < texts->size(); ++place) publish(place, (*texts)[place], true);
    } catch (const std::exception& thrown) {
        say(describeException(thrown, Doing::Reading));
    }
}

}  // namespace stepscope
