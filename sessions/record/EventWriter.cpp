#include "sessions/record/EventWriter.h"

#include "core/events/Event.h"
#include "sessions/Columns.h"
#include "sessions/EventFields.h"
#include "sessions/SessionRow.h"

namespace stepscope {
namespace {

static_assert(std::tuple_size_v<StoredEvents> + 1 == std::variant_size_v<AnyEvent>);  // all but SessionStarted

template <class E>
std::string insertSql(const char* table, const std::string& key, int keys) {
    // OR REPLACE: a commit that failed on a full disk is tried again, and nobody can be sure how far the first one came.
    std::string names = key, marks = "?";
    for (int i = 1; i < keys; ++i) marks += ", ?";
    for (const auto& column : columnsOf<E>()) {
        names += ", " + column;
        marks += ", ?";
    }
    return std::string("INSERT OR REPLACE INTO ") + table + " (" + names + ") VALUES (" + marks + ")";
}

}  // namespace

template <class E>
void EventWriter::insert(const E& event, std::int64_t sequence) {
    auto& prepared = m_statements[Event(E{}).index()];
    if (!prepared) prepared.emplace(m_database, insertSql<E>(Table<E>::name, "session, at_ns, seq", 3));
    prepared->tryReset();  // after a failure it still stands where it failed, and says so again
    RowWriter row(*prepared);
    row("session", m_session);
    row("at_ns", event.at);
    row("seq", sequence);
    fields(row, event);
    prepared->exec();
}

void EventWriter::insertOperations(const CaptureDone& event, std::int64_t sequence) {
    if (!event.rows) return;
    SQLite::Statement prepared(m_database, insertSql<CapturedOperation>(kCapturedOperations, "session, at_ns, seq, position", 4));
    std::int64_t position = 0;
    for (const CapturedOperation& operation : *event.rows) {
        prepared.reset();
        RowWriter row(prepared);
        row("session", m_session);
        row("at_ns", event.at);
        row("seq", sequence);
        row("position", position++);
        fields(row, operation);
        prepared.exec();
    }
}

void EventWriter::write(const Event& event, std::int64_t sequence) {
    std::visit(Visitor{
                   // What is only known once the text is tokenised and the model is built arrives with this event.
                   [&](const SessionStarted& e) {
                       if (e.info) updateSession(m_database, m_session, *e.info);
                   },
                   [&](const StepDone& e) { insert(e, sequence); },
                   [&](const ValidationDone& e) { insert(e, sequence); },
                   [&](const SwitchApplied& e) { insert(e, sequence); },
                   [&](const SwitchRefused& e) { insert(e, sequence); },
                   [&](const DeviceSample& e) { insert(e, sequence); },
                   [&](const LogLine& e) { insert(e, sequence); },
                   [&](const StateChanged& e) {
                       insert(e, sequence);
                       updateState(m_database, m_session, e);
                   },
                   [&](const CheckpointSaved& e) { insert(e, sequence); },
                   [&](const TextGenerated& e) { insert(e, sequence); },
                   [&](const Preparing& e) { insert(e, sequence); },
                   [&](const RecorderWaited& e) { insert(e, sequence); },
                   [&](const CaptureDone& e) {
                       insert(e, sequence);
                       insertOperations(e, sequence);
                   },
                   [&](const ExperimentBegan& e) { insert(e, sequence); },
                   [&](const BlockDone& e) { insert(e, sequence); },
                   [&](const ExperimentJudged& e) { insert(e, sequence); },
                   [&](const StudyBegan& e) { insert(e, sequence); },
                   [&](const StudyRow& e) { insert(e, sequence); },
               },
               event);
}

}  // namespace stepscope
