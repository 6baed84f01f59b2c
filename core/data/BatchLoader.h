// BatchLoader: the next training batch, cut at once or by worker threads ahead of time. The order is that of the sequence numbers
// whatever the number of workers, because a batch is a function of (seed, cursor). A Program owns one; no thread outlives it.
// Validation never comes through it.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/data/BatchSource.h"

namespace stepscope {

// Memory for one batch: (2, batch, context) int64, inputs then targets. `owner` keeps it alive.
struct TokenBlock {
    std::shared_ptr<void> owner;
    std::int64_t* ids = nullptr;
};
using BlockMaker = std::function<TokenBlock()>;  // called on the trainer thread and on workers

class BatchLoader {
public:
    struct Settings {
        TokenPlace place = TokenPlace::Mapped;
        BatchCreation creation = BatchCreation::Vectorised;
        std::int64_t batch = 1, context = 1;
        std::int64_t workers = 0;   // 0 = cut when asked, on the thread that asks
        std::int64_t prefetch = 2;  // batches that workers keep ready, > 0
        bool reuseBlocks = true;    // false: a block may still be read (by a copy that runs on) when the next one is asked for
    };
    BatchLoader(const Settings& settings, BlockMaker makeBlock);
    ~BatchLoader();  // ends the workers
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    // Training sequences cursor ... cursor + batch - 1. With reuseBlocks the ids are overwritten after the next call. Asking for
    // anything but what follows the last batch starts the workers there. Throws what a worker met, at the batch where it met it.
    // stride: sequences from one batch to the next, of which others take what lies between; 0 = batch.
    TokenBlock next(const BatchSource& source, std::uint64_t seed, std::int64_t cursor, std::int64_t stride = 0);

private:
    // What is read: all a worker needs, so that it holds on to nothing that a flip or the end of the run takes away.
    struct Reading {
        std::shared_ptr<const TokenRow> row;
        std::int64_t trainTokens = 0, vocabulary = 0;
        std::uint64_t seed = 0;
        std::int64_t stride = 0;
        bool operator==(const Reading&) const = default;
    };
    struct Cut {
        TokenBlock block;
        std::exception_ptr problem;
    };
    Cut cut(const Reading& reading, std::int64_t cursor, TokenBlock block) const;
    TokenBlock takeFree();
    void work(const std::stop_token& stop);

    Settings m_settings;
    BlockMaker m_makeBlock;

    std::mutex m_mutex;  // of all below
    std::condition_variable_any m_room, m_filled;
    Reading m_reading;
    std::uint64_t m_round = 0;            // counts unbroken rows of batches: what is cut for a former one is thrown away
    std::int64_t m_expected = -1;         // the cursor that goes on with this round
    std::int64_t m_issue = 0;             // the cursor that the next free worker cuts
    std::int64_t m_ahead = 0;             // batches cut or being cut, not yet handed out
    std::map<std::int64_t, Cut> m_ready;  // by cursor
    std::vector<TokenBlock> m_free;
    TokenBlock m_inHand;
    std::vector<std::jthread> m_workers;  // last: they use everything above
};

}  // namespace stepscope
