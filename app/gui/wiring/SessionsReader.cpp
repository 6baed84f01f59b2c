#include "app/gui/wiring/SessionsReader.h"

#include <QFile>
#include <QSaveFile>

#include "app/workbench/Checkpoints.h"
#include "sessions/SessionStore.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr int kWatchDatabaseMs = 4000;

SessionRow rowOf(const SessionSummary& from) {
    SessionRow row;
    row.id = from.id;
    row.kind = from.kind;
    row.name = from.name.empty() ? QString("session %1").arg(from.id) : words(from.name);
    row.notes = words(from.notes);
    for (const auto& tag : from.tags) row.tags << words(tag);
    row.state = from.state;
    row.why = words(from.why);
    row.startedUnixMs = from.startedUnixMs;
    row.steps = from.steps;
    row.msPerStep = from.msPerStepMedian;
    row.tokensPerSecond = from.tokensPerSecond;
    row.loss = from.lossLast;
    row.validationLoss = from.validationLossLast;
    row.host = words(from.host);
    row.severalWorkers = from.severalWorkers;
    row.isOfOneKind = from.workers <= 1 && !from.severalWorkers && !from.flipped;
    for (const auto& [key, value] : from.config) row.config.emplace_back(words(key), words(value));
    return row;
}

struct Listed {
    std::vector<SessionRow> rows;
    QStringList unreadable;  // a sentence for each session that is left out
};

// A database that is not there yet is an empty list, not an error: the first run makes it. Not where it cannot.
Result<Listed> readRows(const std::string& database) {
    if (!QFile::exists(words(database))) {
        if (const std::string why = whyDatabaseCannotBeMade(database); !why.empty()) return makeError(ErrorCode::NotFound, why);
        return Listed{};
    }
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    auto list = (*reader)->list();
    if (!list) return list.error();
    Listed listed;
    listed.rows.reserve(list->size());
    for (const auto& summary : *list) listed.rows.push_back(rowOf(summary));
    for (const Error& error : (*reader)->unreadable()) listed.unreadable << words(error.sentence);
    return listed;
}

}  // namespace

SessionsReader::SessionsReader(std::string database, QObject* parent) : QObject(parent), m_database(std::move(database)) {
    m_watch.setInterval(kWatchDatabaseMs);
    connect(&m_watch, &QTimer::timeout, this, &SessionsReader::refresh);
}

void SessionsReader::setWatching(bool watching) {
    if (watching == m_watch.isActive()) return;
    if (!watching) return m_watch.stop();
    m_watch.start();
    refresh();
}

void SessionsReader::refresh() {
    if (m_listing.exchange(true)) return;
    m_thread.post([this] {
        m_listing = false;
        answer(this, [this, found = readRows(m_database)] {
            if (!found) return Q_EMIT unavailable(words(found.error().sentence));
            Q_EMIT listed(found->rows);
            // Once, not at every look.
            for (const QString& sentence : found->unreadable)
                if (!m_unreadable.contains(sentence)) Q_EMIT failed(sentence);
            m_unreadable = found->unreadable;
        });
    });
}

void SessionsReader::edit(std::function<Status()> change, std::function<void()> after) {
    m_thread.post([this, change = std::move(change), after = std::move(after)] {
        answer(this, [this, done = change(), after] {
            if (!done)
                Q_EMIT failed(words(done.error().sentence));
            else if (after)
                after();
            refresh();
        });
    });
}

void SessionsReader::rename(std::int64_t session, const QString& name) {
    edit([path = m_database, session, to = name.toStdString()] { return renameSession(path, session, to); });
}

void SessionsReader::annotate(std::int64_t session, const QString& notes, const QStringList& tags) {
    std::vector<std::string> words;
    for (const QString& tag : tags) words.push_back(tag.toStdString());
    edit([path = m_database, session, text = notes.toStdString(), words] { return annotateSession(path, session, text, words); });
}

void SessionsReader::remove(std::int64_t session, const QString& name) {
    edit([path = m_database, session] { return deleteSession(path, session); }, [this, session, name] { Q_EMIT removed(session, name); });
}

void SessionsReader::restore(std::int64_t session) {
    edit([path = m_database, session] { return restoreSession(path, session); });
}

void SessionsReader::writeTable(const QString& path, const QString& text) {
    m_thread.post([this, path, bytes = text.toUtf8()] {
        QSaveFile file(path);  // whole or not at all
        const bool written = file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
        answer(this, [this, written, path, why = file.errorString()] {
            if (written)
                Q_EMIT told("The table of sessions was written to " + path + ".");
            else
                Q_EMIT failed(QString("The table could not be written to %1: %2.").arg(path, why));
        });
    });
}

void SessionsReader::measureFlips(const Machine& machine) {
    m_thread.post([this, machine] {
        // Nothing to say when it fails: the list of sessions is read from the same file and says why.
        if (auto flips = measuredFlips(m_database, machine)) answer(this, [this, flips = std::move(*flips)] { Q_EMIT flipsMeasured(flips); });
        if (auto turns = measuredTurns(m_database, machine)) answer(this, [this, turns = std::move(*turns)] { Q_EMIT turnsMeasured(turns); });
    });
}

void SessionsReader::measurePairs(const Machine& machine) {
    m_thread.post([this, machine] {
        if (auto pairs = measuredPairs(m_database, machine)) answer(this, [this, pairs = std::move(*pairs)] { Q_EMIT pairsMeasured(pairs); });
    });
}

void SessionsReader::purge() {
    // Nothing to tell when it fails: another program may hold the file, and the next start tries again.
    m_thread.post([path = m_database] {
        if (QFile::exists(words(path))) (void)purgeDeletedSessions(path).ok();
    });
}

void SessionsReader::withInfo(std::int64_t session, std::function<void(const SessionInfo&)> use) {
    m_thread.post([this, session, use = std::move(use)] {
        auto read = [&]() -> Result<SessionInfo> {
            auto reader = SessionReader::open(m_database);
            if (!reader) return reader.error();
            auto info = (*reader)->info(session);
            if (!info || !info->config) return info;
            auto config = storedConfig(*info->config, QString("Session %1 of %2").arg(session).arg(words(m_database)).toStdString());
            if (!config) return config.error();
            info->config = std::move(*config);
            return info;
        }();
        answer(this, [this, read = std::move(read), use] {
            if (read)
                use(*read);
            else
                Q_EMIT failed(words(read.error().sentence));
        });
    });
}

void SessionsReader::withStoredCheckpoint(std::int64_t session, std::function<void(const SessionInfo&, const std::string&)> use) {
    m_thread.post([this, session, use = std::move(use)] {
        auto read = [&]() -> Result<std::pair<SessionInfo, std::string>> {
            auto folder = newestStoredCheckpoint(m_database, session);
            if (!folder) return folder.error();
            if (folder->empty())
                return makeError(ErrorCode::NotFound, QString("Session %1 has no checkpoint to go on from; a run keeps one at its end unless "
                                                              "checkpoint-at-end is off.")
                                                          .arg(session)
                                                          .toStdString());
            auto reader = SessionReader::open(m_database);
            if (!reader) return reader.error();
            auto info = (*reader)->info(session);
            if (!info) return info.error();
            return std::pair(std::move(*info), std::move(*folder));
        }();
        answer(this, [this, read = std::move(read), use] {
            if (read)
                use(read->first, read->second);
            else
                Q_EMIT failed(words(read.error().sentence));
        });
    });
}

void SessionsReader::withCheckpoint(std::int64_t session, std::string checkpoint, std::function<void(const SessionInfo&, const RunConfig&)> use) {
    m_thread.post([this, session, wanted = std::move(checkpoint), use = std::move(use)] {
        auto read = [&]() -> Result<std::pair<SessionInfo, RunConfig>> {
            auto path = wanted.empty() ? newestCheckpoint(m_database, session) : Result<std::string>(wanted);
            if (!path) return path.error();
            auto checkpoint = inspectCheckpoint(*path);
            if (!checkpoint) return checkpoint.error();
            auto reader = SessionReader::open(m_database);
            if (!reader) return reader.error();
            auto info = (*reader)->info(session);
            if (!info) return info.error();
            return std::pair(std::move(*info), std::move(checkpoint->config));
        }();
        answer(this, [this, read = std::move(read), use] {
            if (read)
                use(read->first, read->second);
            else
                Q_EMIT failed(words(read.error().sentence));
        });
    });
}

}  // namespace stepscope
