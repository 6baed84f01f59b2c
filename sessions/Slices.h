// The captured slices of a session, block by block: never more than a few of them in memory. Whoever adds up, draws or exports a capture reads it by
// this. On a reader's thread.
#pragma once
#include <functional>

#include "core/base/Result.h"
#include "core/trace/Slice.h"
#include "sessions/SessionStore.h"

namespace stepscope {

// Lane by lane (a thread each), in a lane by the begin of the blocks. The first error of `take` ends it and is handed on.
Status forEachSliceBlock(SessionReader& reader, std::int64_t session, const std::function<Status(const SliceBlock&)>& take);
// The same of all lanes side by side, as time goes on: a block of a device comes when all of the host that began before its end has come, so that
// whoever joins works with the calls that launched them need not hold all of either.
Status forEachSliceBlockInTime(SessionReader& reader, std::int64_t session, const std::function<Status(const SliceBlock&)>& take);
// The same of all lanes side by side by the begin of the blocks: nothing in those that come later begins before the block in hand.
Status forEachSliceBlockByBegin(SessionReader& reader, std::int64_t session, const std::function<Status(const SliceBlock&)>& take);
// The first block of each lane: who the threads are.
Result<std::vector<SliceThread>> sliceThreads(SessionReader& reader, std::int64_t session);
// How many slices there are, without reading them.
Result<std::int64_t> sliceCount(SessionReader& reader, std::int64_t session);
// What captures of it had to say, each sentence once: why kernels are missing, say.
Result<std::vector<std::string>> captureNotes(SessionReader& reader, std::int64_t session);
// What the newest capture of it had to say of the processor's own counters: why there are none, or what reading them cost. Empty: nothing.
Result<std::string> counterNote(SessionReader& reader, std::int64_t session);
// What is said where there are none.
Error noCapture(std::int64_t session);

}  // namespace stepscope
