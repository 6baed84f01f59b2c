#include "app/gui/measuring/StudyFeed.h"

#include "core/events/Event.h"

namespace stepscope {

StudyFeed::StudyFeed(QObject* parent) : QObject(parent), m_history(std::make_shared<StudyHistory>()) {
    m_timer.setInterval(kTickMs);
    connect(&m_timer, &QTimer::timeout, this, &StudyFeed::tick);
}

StudyFeed::~StudyFeed() = default;

void StudyFeed::publish(Event event) {
    m_channel.push(std::move(event));
}

void StudyFeed::begin() {
    std::vector<Event> dropped;
    m_channel.drain(dropped);
    m_history = std::make_shared<StudyHistory>();
    m_session = 0;
    m_name.clear();
    m_doing.clear();
    m_since.start();
    m_timer.start();
}

void StudyFeed::end() {
    m_timer.stop();
    tick();
}

void StudyFeed::tick() {
    m_channel.drain(m_batch);
    for (const Event& event : m_batch) {
        m_history->add(event);
        if (const auto* started = std::get_if<SessionStarted>(&event)) {
            m_session = started->session;
            m_name = QString::fromStdString(started->info->name);
        } else if (const auto* preparing = std::get_if<Preparing>(&event)) {
            m_doing = QString::fromStdString(preparing->what);
        } else if (std::holds_alternative<StudyBegan>(event)) {
            Q_EMIT began();
        } else if (std::holds_alternative<LogLine>(event)) {
            Q_EMIT said(event);
        }
    }
    m_batch.clear();
    Q_EMIT grew();
}

}  // namespace stepscope
