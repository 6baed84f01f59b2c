#include "app/gui/stored/CapturesWiring.h"

#include <algorithm>
#include <span>

#include "sessions/Captures.h"
#include "widgets/panels/sessions/CapturesDialog.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostListed = 1000;  // the newest

}  // namespace

CapturesWiring::CapturesWiring(const Panels& panels, std::string database, QObject* parent)
    : QObject(parent), m_database(std::move(database)), m_dialog(new CapturesDialog(&panels.window)) {
    connect(&panels.sessions, &SessionsPanel::capturesRequested, this, &CapturesWiring::ask);
    connect(m_dialog, &CapturesDialog::removeRequested, this, &CapturesWiring::remove);
}

void CapturesWiring::ask(qint64 session, const QString& name) {
    m_dialog->ask(session, name);
    read(session);
}

void CapturesWiring::read(qint64 session) {
    m_thread.post([this, session] {
        CapturesView view{.session = session, .captures = {}, .problem = {}};
        if (const auto stored = storedCaptures(m_database, session)) {
            const auto& all = stored->captures;
            view.older = static_cast<qint64>(all.size() - std::min(all.size(), kMostListed));
            for (const StoredCapture& one : std::span(all).subspan(static_cast<std::size_t>(view.older)))
                view.captures.push_back(
                    {one.number, one.firstStep, one.steps, one.records, one.slices, one.bytes, one.cost, one.from.ns, one.until.ns});
            view.detailBytes = stored->detailBytes;
            if (stored->levels.measured()) view.levels = QString::fromStdString(levelSentence(stored->levels));
        } else {
            view.problem = QString::fromStdString(stored.error().sentence);
        }
        answer(this, [this, view] { m_dialog->setView(view); });
    });
}

void CapturesWiring::remove(qint64 session, qint64 number) {
    m_thread.post([this, session, number] {
        const Status done = deleteCapture(m_database, session, number);
        answer(this, [this, session, done] {
            // Told also where only its room could not be given back: it is gone then, and what the dialog lists is read anew.
            Q_EMIT removed(session);
            read(session);
            if (!done && m_dialog->session() == session) m_dialog->setProblem(QString::fromStdString(done.error().sentence));
        });
    });
}

}  // namespace stepscope
