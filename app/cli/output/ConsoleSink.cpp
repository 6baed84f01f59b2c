#include "app/cli/output/ConsoleSink.h"

#include <fmt/format.h>
#include <spdlog/details/console_globals.h>
#include <spdlog/sinks/ansicolor_sink.h>

#include "app/cli/output/Output.h"
#include "app/workbench/process/StandardError.h"
#include "core/analysis/JudgedSentence.h"
#include "core/analysis/captures/CaptureSentence.h"
#include "core/base/Format.h"
#include "core/events/Event.h"

namespace stepscope::cli {

ConsoleSink::ConsoleSink(std::unique_ptr<StepLog> stepLog, StepLines lines, bool terminal)
    : m_stepLog(std::move(stepLog)),
      m_lines(std::move(lines)),
      m_terminal(terminal),
      m_log(std::make_shared<spdlog::logger>("stepscope", std::make_shared<spdlog::sinks::ansicolor_sink<spdlog::details::console_mutex>>(
                                                              standard_error::own(), spdlog::color_mode::automatic))) {
    m_log->set_pattern(terminal ? "%T %^%v%$" : "stepscope-cli: %v");
    m_log->flush_on(spdlog::level::info);
}

ConsoleSink::~ConsoleSink() {
    m_bar.clear();
}

void ConsoleSink::publish(Event event) {
    std::lock_guard lock(m_mutex);
    std::visit(
        Visitor{
            [&](const SessionStarted& e) {
                if (!e.info) return;
                m_lines.begin(*e.info);
                m_bar.begin(e.info->firstStep, e.info->config ? e.info->config->steps : 0);
                if (e.session != 0) say(LogLevel::Info, fmt::format("session {}: {}", e.session, e.info->name));
            },
            [&](const StepDone& e) { onStep(e); },
            [&](const ValidationDone& e) { say(LogLevel::Info, fmt::format("step {}: validation loss {:.4f}", format::count(e.step), e.loss)); },
            // The trainer says these in the log as well.
            [](const SwitchApplied&) {},
            [](const SwitchRefused&) {},
            [](const CheckpointSaved&) {},
            [](const DeviceSample&) {},
            [&](const LogLine& e) { say(e.level, refusalWords(e.text, e.subject)); },
            [&](const StateChanged& e) {
                if (e.state == RunState::Paused) say(isHeldUp(e) ? LogLevel::Warning : LogLevel::Info, "Paused. " + e.why);
            },
            [&](const TextGenerated& e) {
                if (e.complete) say(LogLevel::Info, fmt::format("step {} writes: {}{}", format::count(e.step), e.prompt, e.text));
            },
            [&](const Preparing& e) {
                if (m_terminal) m_bar.preparing(e);
            },
            [](const RecorderWaited&) {},
            [&](const CaptureDone& e) { say(LogLevel::Info, captureSentence(e)); },
            [&](const ExperimentBegan& e) {
                m_delta = e.delta;
                m_sides = sidesInWords(e);
            },
            [](const BlockDone&) {},
            [&](const ExperimentJudged& e) {
                if (e.over) say(LogLevel::Info, fmt::format("step {}: {}", format::count(e.step), judgedSentence(e, m_delta, m_sides)));
            },
            [](const StudyBegan&) {},
            [](const StudyRow&) {},
        },
        event);
}

bool ConsoleSink::finish(const std::string& why) {
    std::lock_guard lock(m_mutex);
    m_bar.clear();
    return m_errorsShown.contains(why);  // by its words: what is asked is whether these words stand there already
}

void ConsoleSink::onStep(const StepDone& step) {
    if (m_stepLog)
        if (auto written = m_stepLog->append(step); !written) {
            m_stepLogFailed = true;
            say(LogLevel::Warning, written.error().sentence);
        }
    if (const auto line = m_lines.after(step)) say(LogLevel::Info, *line);
    if (m_terminal) m_bar.advance(step);
}

void ConsoleSink::say(LogLevel level, const std::string& words) {
    if (level == LogLevel::Info && !m_terminal && !m_lines.wanted()) return;
    const std::string text = printable(words, true);
    m_bar.clear();
    switch (level) {
        case LogLevel::Info:
            m_log->info(text);
            return;
        case LogLevel::Warning:
            m_log->warn(text);
            return;
        case LogLevel::Error:
            m_errorsShown.insert(words);
            m_log->error(text);
            return;
    }
}

}  // namespace stepscope::cli
