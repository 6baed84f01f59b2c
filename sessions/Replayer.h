// Replayer: reads a stored session and publishes the same Events through the same door as a live run, on its own thread.
// A jump forward publishes what lies between, one back publishes SessionStarted again and then everything up to the new place: a listener that
// sums up events, as RunHistory does, needs them. One that does not is told of the jump instead, and nothing between is read.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/events/Event.h"

namespace stepscope {

class Replayer {
public:
    struct Position {
        TimeNs at;   // of the session's clock
        TimeNs end;  // of its last event
        std::int64_t step = 0;
        std::int64_t lastStep = 0;
        bool playing = false;
        bool atEnd = false;
    };

    // Called on the replay thread in place of what lies between two places: events behind `to` come next. A jump is found by index, and reads a
    // few rows and one chunk, however long the session.
    using Jumped = std::function<void(TimeNs to, std::int64_t step)>;

    // Publishes SessionStarted (replay = true) at once; starts paused at the beginning. sink outlives the Replayer.
    static Result<std::unique_ptr<Replayer>> open(const std::string& database, std::int64_t session, EventSink& sink, Jumped jumped = {});
    virtual ~Replayer() = default;

    virtual void play() = 0;  // at the end: from the beginning again
    virtual void pause() = 0;
    virtual void setSpeed(double factor) = 0;  // 1 ... 1000; infinity = as fast as the sink takes them
    virtual void seek(TimeNs at) = 0;
    virtual void seekStep(std::int64_t step) = 0;
    virtual void seekEnd() = 0;
    virtual Position position() const = 0;  // any thread
};

}  // namespace stepscope
