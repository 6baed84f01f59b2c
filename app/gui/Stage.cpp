#include "app/gui/Stage.h"

#include "app/gui/wiring/LiveFeed.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/run/TransportBar.h"

namespace stepscope {

Stage::Stage(const Panels& panels, LiveFeed& live, LiveFeed& replay, QObject* parent)
    : QObject(parent), m_panels(panels), m_live(live), m_replay(replay) {
    follow(live);
    follow(replay);
    bind();
}

void Stage::follow(LiveFeed& feed) {
    connect(&feed, &LiveFeed::grew, this, [this, &feed] {
        if (&feed != &shown()) return;
        m_panels.livePage.historyChanged();
        Q_EMIT grew();
    });
    connect(&feed, &LiveFeed::started, this, [this, &feed] {
        if (&feed != &shown()) return;
        m_panels.textPage.clear();
        showTitle();
        Q_EMIT started();
    });
    connect(&feed, &LiveFeed::rewound, this, [this, &feed] {
        if (&feed != &shown()) return;
        showText();
    });
    connect(&feed, &LiveFeed::textGenerated, this, [this, &feed](const TextGenerated& text) {
        if (&feed == &shown()) m_panels.textPage.setText(asShown(text));
    });
}

void Stage::showLive() {
    if (!m_replaying) return;
    m_replaying = false;
    bind();
}

void Stage::showReplay() {
    m_replaying = true;
    m_replay.forget();
    bind();
}

void Stage::bind() {
    LiveFeed& feed = shown();
    m_panels.transport.setVisible(m_replaying);
    m_panels.experiment.setReplaying(m_replaying);
    m_panels.livePage.setHistory(feed.history());
    m_panels.log.setModel(&feed.log());
    showText();
    showTitle();
    Q_EMIT switched();
}

void Stage::showText() {
    m_panels.textPage.clear();
    if (const auto& text = shown().history()->text()) m_panels.textPage.setText(asShown(*text));
}

// Nobody writes on at a text of a replay, wherever in it one looks.
TextGenerated Stage::asShown(TextGenerated text) const {
    text.complete = text.complete || m_replaying;
    return text;
}

void Stage::setMachine(const QString& host) {
    m_host = host;
    showTitle();
}

void Stage::showTitle() {
    const auto& info = shown().history()->info();
    const QString name = info ? QString::fromStdString(info->name) : QString();
    const QString kind = m_replaying ? "replay of" : "session";
    const QString title = name.isEmpty() ? QString("Stepscope") : QString("Stepscope – %1 “%2”").arg(kind, name);
    Q_EMIT titleChanged(m_host.isEmpty() ? title : title + " – engine on " + m_host);
    if (m_replaying) m_panels.transport.setName(name);
}

}  // namespace stepscope
