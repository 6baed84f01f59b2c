#include "app/gui/stored/ExportWiring.h"

#include "app/gui/wiring/RunWiring.h"
#include "sessions/exporters/ExportSession.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {

std::vector<ExportChoice> exportChoices(bool capturesOnly) {
    std::vector<ExportChoice> choices;
    for (const ExportFormatInfo& one : exportFormats())
        if (one.captures || !capturesOnly)
            choices.push_back({QString::fromStdString(one.word), QString::fromStdString(one.about),
                               QString::fromStdString(one.endings).split(' ', Qt::SkipEmptyParts), QString::fromStdString(one.name)});
    return choices;
}

ExportWiring::ExportWiring(const Panels& panels, RunWiring& running, std::string database, QObject* parent)
    : QObject(parent), m_running(running), m_database(std::move(database)) {
    panels.sessions.setExports(exportChoices());
    connect(&panels.sessions, &SessionsPanel::exportRequested, this, &ExportWiring::write);
}

void ExportWiring::write(qint64 session, const QString& path, const QString& word) {
    m_thread.post([this, session, file = path.toStdString(), word = word.toStdString()] {
        const auto written = exportFormatOf(word, file, ExportFormat::CsvLong).andThen([&](ExportFormat format) {
            return exportSession(m_database, session, file, format);
        });
        answer(this, [this, session, written] {
            if (written)
                m_running.say(QString("Session %1 is written to %2.").arg(session).arg(QString::fromStdString(*written)), false);
            else
                m_running.say(QString::fromStdString(written.error().sentence), true);
        });
    });
}

}  // namespace stepscope
