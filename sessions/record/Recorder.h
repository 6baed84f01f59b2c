// Recorder: the one writing SQLite connection that stays open, on a thread of its own. One transaction per 100 ms. A person's edits and
// the migration of an older file take short ones of their own between its transactions (SessionEdits.cpp, Connection.h).
// publish() is lossless: when the queue is full the caller waits, and the wait is itself an event (RecorderWaited).
// While nothing can be written (a full disk) blocked() is true: the trainer pauses at the next step boundary and goes on when
// it turns false; nothing is lost. What waiting cannot mend, tables that are not ours, ends the recording with a sentence (onEnded).
// What is committed is durable against a power cut a moment later (WalSync.h).
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/Result.h"
#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"

namespace stepscope {

class Recorder : public EventSink {
public:
    // A session that goes on where a process before this one recorded it.
    struct GoneOn {
        std::int64_t session = 0;
        std::string checkpoint;  // from which; what came after it is made again, so its rows go. Empty: from its beginning
        bool all = false;        // nothing is made again: what trains it has gone on, and tells what is missing. All that is stored stays
    };
    struct Options {
        std::string path;  // database
        std::size_t queueCapacity = 65536;
        std::size_t queueBytes = std::size_t{64} << 20;  // of chunks, until they are committed
        bool durable = true;                             // false: left to the system, for benches that ask what it costs
        // Called on the recorder thread: true + a sentence when writing stops being possible, false when it works again.
        std::function<void(bool blocked, const std::string& why)> onBlocked;
        // Called on the recorder thread when it ends before finish(): the run may go on, and nothing more of it is stored.
        std::function<void(const Error&)> onEnded;
        // Called once, on a thread of its own, when the disk refuses to make the log durable: what is committed is safe from a kill only.
        std::function<void(const std::string& why)> onNotDurable;
        // Called on a producer's thread after it had to wait; the same event is stored. For live listeners.
        std::function<void(const RecorderWaited&)> onWaited;
        // While nothing can be written, finish() tries without end; only when this says that a person wants it over does it give up after
        // `patience`, and says how much is lost; so does a publish() that waits for room. Called on the recorder thread.
        std::function<bool()> mayGiveUp = [] { return false; };
        std::chrono::milliseconds patience{5000};
        std::optional<GoneOn> goesOn{};  // instead of a new session
    };

    // Opens (creating and migrating as needed) the database, takes the session's OS lock and stores the session row.
    // The error names the file and what to do. info: of a new session; one that goes on keeps its row.
    static Result<std::unique_ptr<Recorder>> open(Options options, const SessionInfo& info);

    ~Recorder() override = default;  // finish()es
    virtual std::int64_t session() const = 0;
    // When the last thing happened that is stored of a session that goes on: all that is published now comes later. 0 of a new one.
    virtual TimeNs storedUntil() const = 0;
    virtual const std::string& checkpointFolder() const = 0;  // of this session
    virtual bool blocked() const = 0;
    // What the blocks of captures that are committed take on the disk, their level of detail included. Any thread.
    virtual std::int64_t chunkBytes() const = 0;
    // Of blocks that were published and are not committed: who brings more than Options::queueBytes together waits for the disk. Any thread.
    virtual std::int64_t bytesInHand() const = 0;
    // How much was published, and how much of that, in its order, is committed: what was published when the first was asked is stored when the
    // second has come to it. Any thread.
    virtual std::int64_t published() const = 0;
    virtual std::int64_t committed() const = 0;
    // Waits until everything published so far is committed (tests, end of a run).
    virtual void flush() = 0;
    // Writes what is queued, commits, releases the lock; waits for as long as that takes (mayGiveUp). A session whose last StateChanged was not an
    // end stays "running", and, its lock being free, is read as interrupted.
    virtual Status finish() = 0;
};

}  // namespace stepscope
