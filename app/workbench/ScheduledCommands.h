// ScheduledCommands: commands that are taken before a step whose number was named beforehand, so that a script does at a step what a person does in
// the window. Stands between the tee and the listener: the trainer publishes a step before it takes the commands that wait, so none comes a step
// late. publish() on any thread.
#pragma once
#include <algorithm>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/base/Channel.h"
#include "core/events/Event.h"

namespace stepscope {

class ScheduledCommands final : public EventSink {
public:
    // Those of steps that are made already are given at once when the session starts.
    ScheduledCommands(std::vector<ScheduledCommand> wanted, Channel<Command>& commands, EventSink& listener)
        : m_wanted(std::move(wanted)), m_commands(commands), m_listener(listener) {
        std::ranges::stable_sort(m_wanted, {}, &ScheduledCommand::step);
    }
    // The session goes on behind so many steps, with what they were told: before it starts. A capture that is still to come is asked for again.
    void goOnFrom(std::int64_t steps) {
        std::erase_if(m_wanted, [&](const ScheduledCommand& one) {
            const auto* capture = std::get_if<Capture>(&one.command);
            const bool toCome = capture != nullptr && (capture->slowest || capture->firstStep > steps);
            return one.step <= steps && !toCome;
        });
        m_made = steps;
    }
    // Whether one is still to be given before this step. As publish().
    bool before(std::int64_t step) const { return m_given < m_wanted.size() && m_wanted[m_given].step <= step; }
    void publish(Event event) override {
        if (const auto* started = std::get_if<SessionStarted>(&event)) giveUpTo(std::max(m_made, started->info->firstStep) + 1);
        if (const auto* done = std::get_if<StepDone>(&event)) giveUpTo(done->step + 1);
        m_listener.publish(std::move(event));
    }
    void publishChunk(ChunkPtr chunk) override { m_listener.publishChunk(std::move(chunk)); }

private:
    // Steps and the session's start are published by the trainer's thread alone.
    void giveUpTo(std::int64_t next) {
        for (; m_given < m_wanted.size() && m_wanted[m_given].step <= next; ++m_given) m_commands.push(m_wanted[m_given].command);
    }

    std::vector<ScheduledCommand> m_wanted;
    std::size_t m_given = 0;
    std::int64_t m_made = 0;
    Channel<Command>& m_commands;
    EventSink& m_listener;
};

}  // namespace stepscope
