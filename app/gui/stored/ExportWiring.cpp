#include "app/gui/stored/ExportWiring.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QProgressDialog>
#include <algorithm>
#include <chrono>
#include <set>

#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/workbench/reports/CaptureReports.h"
#include "app/workbench/reports/DocumentFile.h"
#include "core/base/Format.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"
#include "sessions/exporters/ExportSession.h"
#include "widgets/panels/sessions/ExportQuestion.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

constexpr int kShownAfterMs = 300;  // an export that takes longer is shown
constexpr const char* kReport = "report";

// What was captured as a page, which needs the engine: what a preset comes to on this machine is left out of its settings.
Result<std::string> writeReport(const Workbench* workbench, const std::string& database, std::int64_t session, const std::string& file,
                                const OneRank& rank, const std::atomic<bool>& stop) {
    if (rank)
        return makeError(ErrorCode::BadInput, "A report is of all workers that were captured; choose all of them for it, or another format for one.");
    if (workbench == nullptr) return makeError(ErrorCode::Unsupported, RunController::kReportWaits);
    const auto stopped = [&file] { return makeError(ErrorCode::Cancelled, "The report " + file + " was stopped; nothing was written."); };
    const auto document = capturedReport(*workbench, database, session, [&stop] { return !stop; });
    if (!document) return document.error().code == ErrorCode::Cancelled ? stopped() : document.error();
    if (stop) return stopped();
    if (auto written = exportDocument(*document, file); !written) return written.error();
    return file;
}

}  // namespace

std::vector<ExportChoice> exportChoices(bool capturesOnly) {
    std::vector<ExportChoice> choices;
    for (const ExportFormatInfo& one : exportFormats())
        if (one.captures || !capturesOnly)
            choices.push_back({QString::fromStdString(one.word), QString::fromStdString(one.about),
                               QString::fromStdString(one.endings).split(' ', Qt::SkipEmptyParts), QString::fromStdString(one.name), one.captures});
    choices.push_back({kReport, "Report of what was captured", {"*.html", "*.md"}, "session-%-captured.html"});
    return choices;
}

std::vector<ExportPart> exportParts(const std::string& database, std::int64_t session) {
    const auto reader = SessionReader::open(database);
    if (!reader) return {};
    const auto summary = (*reader)->summary(session);
    const auto threads = sliceThreads(**reader, session);
    if (!summary || !threads) return {};
    std::set<std::int64_t> ranks;
    for (const SliceThread& thread : *threads) ranks.insert(thread.rank);
    if (ranks.size() < 2) return {};
    // A session of two sides has A as the first.
    const bool sides = summary->kind == SessionKind::Experiment && ranks == std::set<std::int64_t>{0, 1};
    const bool workers = summary->kind == SessionKind::Run;
    std::vector<ExportPart> parts{{kAllRanks, sides ? "A and B" : workers ? "All workers" : "All ranks"}};
    for (const std::int64_t rank : ranks)
        parts.push_back({rank, sides ? QString(rank == 0 ? "A" : "B") : QString(workers ? "Worker %1" : "Rank %1").arg(rank)});
    return parts;
}

ExportWiring::ExportWiring(const Panels& panels, RunController& runs, RunWiring& running, std::string database, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_running(running), m_database(std::move(database)) {
    panels.sessions.setExports(exportChoices());
    connect(&panels.sessions, &SessionsPanel::exportRequested, this, &ExportWiring::ask);
}

ExportWiring::~ExportWiring() {
    *m_stop = true;
}

void ExportWiring::ask(qint64 session, const QString& word) {
    const auto choices = exportChoices();
    const auto wanted = std::ranges::find(choices, word, &ExportChoice::word);
    if (wanted != choices.end() && !wanted->ofWorkers) return open(session, word, {});
    m_looks.post(
        [this, session, word] { answer(this, [this, session, word, parts = exportParts(m_database, session)] { open(session, word, parts); }); });
}

void ExportWiring::open(qint64 session, const QString& word, const std::vector<ExportPart>& parts) {
    std::vector<ExportChoice> choices = exportChoices(word.isEmpty());
    if (!word.isEmpty()) std::erase_if(choices, [&](const ExportChoice& one) { return one.word != word; });
    if (choices.empty()) return;
    const QString title =
        word.isEmpty() ? QString("Export what was captured") : QString("Export session %1: %2").arg(session).arg(choices.front().title);
    auto* question = new ExportQuestion(session, std::move(choices), parts, title, m_panels.window);  // gone with its dialog
    connect(question, &ExportQuestion::answered, this,
            [this, session](const QString& path, const QString& format, qint64 rank) { write(session, path, format, rank); });
    question->dialog().open();
}

void ExportWiring::showProgress(const QString& file, qint64 bytes) {
    if (m_dialog == nullptr) {
        m_dialog = new QProgressDialog(m_panels.window);
        m_dialog->setWindowTitle("Export");
        m_dialog->setCancelButtonText("Stop");
        m_dialog->setAutoClose(false);
        m_dialog->setAutoReset(false);
        m_dialog->setMinimumDuration(kShownAfterMs);
        m_dialog->setValue(0);     // from here on; before a first value Qt waits as long as it does by itself, four seconds
        m_dialog->setRange(0, 0);  // how long it will be is known when it is written
        connect(m_dialog, &QProgressDialog::canceled, this, &ExportWiring::stopAll);
    }
    m_dialog->setLabelText(QString("Writing %1: %2 so far").arg(QFileInfo(file).fileName(), QString::fromStdString(format::bytes(Bytes{bytes}))));
}

// What was asked for by now; what is asked for from here on has a flag of its own, though it may wait until the others have heard.
void ExportWiring::stopAll() {
    *m_stop = true;
    m_stop = std::make_shared<std::atomic<bool>>(false);
}

void ExportWiring::ended() {
    if (--m_writing > 0) return;
    if (m_dialog != nullptr) m_dialog->deleteLater();
    m_dialog = nullptr;
}

void ExportWiring::write(qint64 session, const QString& path, const QString& word, qint64 rank) {
    ++m_writing;
    if (m_dialog != nullptr && m_dialog->wasCanceled()) {  // of those that were stopped: it does not come back
        m_dialog->deleteLater();
        m_dialog = nullptr;
    }
    showProgress(path, 0);
    const OneRank one = rank < 0 ? OneRank() : OneRank(rank);
    m_thread.post([this, session, one, stop = m_stop, file = path.toStdString(), word = word.toStdString(), workbench = m_runs.workbench()] {
        auto told = std::chrono::steady_clock::now();
        const auto progress = [&](std::int64_t bytes) {
            // The window hears of what a person can read, and no more often.
            if (const auto now = std::chrono::steady_clock::now(); now - told > std::chrono::milliseconds(100)) {
                told = now;
                answer(this, [this, stop, bytes, name = QString::fromStdString(file)] {
                    if (m_dialog != nullptr && !*stop) showProgress(name, bytes);
                });
            }
            return !*stop;
        };
        const bool page = word == kReport || (word.empty() && (namesHtml(file) || namesMarkdown(file)));
        const auto written = page ? writeReport(workbench, m_database, session, file, one, *stop)
                                  : exportFormatOf(word, file, ExportFormat::CsvLong).andThen([&](ExportFormat format) {
                                        return exportSession(m_database, session, file, format, Existing::Replace, progress, one);
                                    });
        const auto format = exportFormatOf(word, file, ExportFormat::CsvLong);
        std::string several;
        if (written && !page && !one && format && *format == ExportFormat::Kineto) several = severalRanksSentence(m_database, session);
        if (written && !page && format) several += unknownTimesSentence(m_database, session, *format);
        answer(this, [this, session, written, several = QString::fromStdString(several)] {
            ended();
            if (written)
                m_running.say(QString("Session %1 is written to %2.%3")
                                  .arg(session)
                                  .arg(QString::fromStdString(*written), several.isEmpty() ? QString() : QString(" ") + several),
                              false);
            else
                m_running.say(QString::fromStdString(written.error().sentence), written.error().code != ErrorCode::Cancelled);
        });
    });
}

}  // namespace stepscope
