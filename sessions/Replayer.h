// Replayer: reads a stored session and publishes the same Events through the same door as a live run, on its own thread.
// A jump forward publishes what lies between, one back publishes SessionStarted again and then everything up to the new place. A listener that can
// go back by itself, as RunHistory can, is told of a jump back instead; one that needs nothing of what lies between is told of every jump.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "core/analysis/StandingEvents.h"
#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/events/EventSink.h"

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

    struct Jump {
        TimeNs to;  // events behind it come next
        std::int64_t step = 0;
        StandingEvents standing;  // what holds there
    };
    // Called on the replay thread, in the order of what is published. A jump is found by index, and reads a few rows and one chunk, however long
    // the session.
    using Jumped = std::function<void(const Jump& jump)>;
    enum class Told { OfJumpsBack, OfEveryJump };

    // Publishes SessionStarted (replay = true) at once; starts paused at the beginning. sink outlives the Replayer.
    static Result<std::unique_ptr<Replayer>> open(const std::string& database, std::int64_t session, EventSink& sink, Jumped jumped = {},
                                                  Told told = Told::OfEveryJump);
    virtual ~Replayer() = default;

    virtual void play() = 0;  // at the end: from the beginning again
    virtual void pause() = 0;
    virtual void setSpeed(double factor) = 0;  // 1 ... 1000; infinity = as fast as the sink takes them
    virtual void seek(TimeNs at) = 0;
    virtual void seekStep(std::int64_t step) = 0;
    virtual void seekEnd() = 0;             // at the end already: publishes what has been stored since
    virtual Position position() const = 0;  // any thread
};

}  // namespace stepscope
