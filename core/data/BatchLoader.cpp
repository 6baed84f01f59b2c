#include "core/data/BatchLoader.h"

#include "core/base/Check.h"

namespace stepscope {

BatchLoader::BatchLoader(const Settings& settings, BlockMaker makeBlock) : m_settings(settings), m_makeBlock(std::move(makeBlock)) {
    SS_CHECK(settings.batch > 0 && settings.context > 0 && settings.workers >= 0 && settings.prefetch > 0);
    for (std::int64_t i = 0; i < settings.workers; ++i) m_workers.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

BatchLoader::~BatchLoader() {
    // All at once: joined one by one, each would first finish its batch.
    for (auto& worker : m_workers) worker.request_stop();
}

TokenBlock BatchLoader::next(const BatchSource& source, std::uint64_t seed, std::int64_t cursor, std::int64_t stride) {
    const Corpus& corpus = source.corpus();
    Reading reading{source.tokens(m_settings.place), corpus.trainTokens, corpus.vocabulary, seed, stride > 0 ? stride : m_settings.batch};
    std::unique_lock lock(m_mutex);
    if (m_settings.reuseBlocks && m_inHand.ids != nullptr) m_free.push_back(std::exchange(m_inHand, {}));
    Cut done;
    if (m_workers.empty()) {
        m_reading = std::move(reading);  // held on to: a copy in memory lives as long as somebody reads it, and would be made anew at every step
        done = cut(m_reading, cursor, takeFree());
    } else {
        if (cursor != m_expected || reading != m_reading) {
            ++m_round;
            m_reading = std::move(reading);
            m_issue = cursor;
            m_ahead = 0;
            m_ready.clear();
            m_room.notify_all();
        }
        m_filled.wait(lock, [&] { return m_ready.contains(cursor); });
        done = std::move(m_ready.extract(cursor).mapped());
        --m_ahead;
        m_expected = done.problem ? -1 : cursor + m_reading.stride;
        m_room.notify_one();
    }
    if (done.problem) std::rethrow_exception(done.problem);
    return m_inHand = std::move(done.block);
}

TokenBlock BatchLoader::takeFree() {
    if (m_free.empty()) return {};
    TokenBlock block = std::move(m_free.back());
    m_free.pop_back();
    return block;
}

BatchLoader::Cut BatchLoader::cut(const Reading& reading, std::int64_t cursor, TokenBlock block) const {
    try {
        if (block.ids == nullptr) block = m_makeBlock();
        const auto starts = trainingStarts(reading.trainTokens, reading.seed, cursor, m_settings.batch, m_settings.context);
        cutBatch(*reading.row, m_settings.creation, starts, m_settings.context, reading.vocabulary, block.ids,
                 block.ids + m_settings.batch * m_settings.context);
        return {std::move(block), nullptr};
    } catch (...) {
        return {{}, std::current_exception()};
    }
}

void BatchLoader::work(const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    const auto room = [&] { return m_reading.row != nullptr && m_ahead < m_settings.prefetch; };
    while (m_room.wait(lock, stop, room) && !stop.stop_requested()) {
        const std::uint64_t round = m_round;
        const std::int64_t cursor = m_issue;
        const Reading reading = m_reading;
        TokenBlock block = takeFree();
        m_issue += reading.stride;
        ++m_ahead;
        lock.unlock();
        Cut done = cut(reading, cursor, std::move(block));
        lock.lock();
        if (round != m_round) continue;
        m_ready.emplace(cursor, std::move(done));
        m_filled.notify_one();
    }
}

}  // namespace stepscope
