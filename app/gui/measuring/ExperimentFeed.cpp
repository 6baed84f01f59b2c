#include "app/gui/measuring/ExperimentFeed.h"

#include <cmath>

#include "core/events/Event.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {

ExperimentFeed::ExperimentFeed(QObject* parent) : QObject(parent), m_history(std::make_shared<ExperimentHistory>()) {
    m_timer.setInterval(kTickMs);
    connect(&m_timer, &QTimer::timeout, this, &ExperimentFeed::tick);
}

ExperimentFeed::~ExperimentFeed() = default;

void ExperimentFeed::publish(Event event) {
    m_channel.push(std::move(event));
}

void ExperimentFeed::publishChunk(ChunkPtr chunk) {
    if (isSlices(chunk->kind) || chunk->kind == kAllocations) m_chunks.push(std::move(chunk));
}

void ExperimentFeed::begin() {
    std::vector<Event> dropped;
    m_channel.drain(dropped);
    m_chunks.drain(m_chunkBatch);
    m_chunkBatch.clear();
    m_history = std::make_shared<ExperimentHistory>();
    m_session = 0;
    m_name.clear();
    m_doing.clear();
    m_since.invalidate();
    m_timer.start();
}

void ExperimentFeed::end() {
    m_timer.stop();
    tick();
}

bool ExperimentFeed::piloting() const {
    return m_history->blocks().empty() || m_history->blocks().back().pair < 0;
}

double ExperimentFeed::elapsed() const {
    return m_since.isValid() ? static_cast<double>(m_since.elapsed()) / 1000 : 0;
}

void ExperimentFeed::tick() {
    m_channel.drain(m_batch);
    for (const Event& event : m_batch) take(event);
    m_batch.clear();
    m_chunks.drain(m_chunkBatch);
    for (const ChunkPtr& chunk : m_chunkBatch) {
        if (chunk->kind == kAllocations) {
            if (const auto block = decodeAllocations(*chunk)) m_history->add(*block);
        } else if (const auto block = decodeSlices(*chunk)) {
            m_history->add(*block);
        }
    }
    m_chunkBatch.clear();
    Q_EMIT grew();
}

void ExperimentFeed::take(const Event& event) {
    m_history->add(event);
    if (const auto* started = std::get_if<SessionStarted>(&event)) {
        m_session = started->session;
        m_name = QString::fromStdString(started->info->name);
    } else if (const auto* preparing = std::get_if<Preparing>(&event)) {
        m_doing = QString::fromStdString(preparing->what);
        if (std::isfinite(preparing->fraction)) m_doing += QString(", %1 %").arg(preparing->fraction * 100, 0, 'f', 0);
    } else if (std::holds_alternative<BlockDone>(event)) {
        m_doing.clear();
    } else if (std::holds_alternative<ExperimentBegan>(event)) {
        m_since.start();
        Q_EMIT began();
    }
    Q_EMIT said(event);
}

}  // namespace stepscope
