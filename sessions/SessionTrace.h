// SessionTrace: the chunks of one session as core/trace/TraceIndex asks for them, and its level of detail built anew where it is missing: in a
// session of an older version, and in one whose recording was killed. On a reader's thread.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/TraceIndex.h"
#include "sessions/SessionStore.h"

namespace stepscope {

class SessionTrace final : public TraceSource {
public:
    static Result<std::unique_ptr<SessionTrace>> open(const std::string& path, std::int64_t session);

    // Where the level of detail does not stand for all slices: reads them all, and stores it, or keeps it in memory where nothing can be written.
    // What is being recorded is left to who records it. `goesOn` false ends it with ErrorCode::Cancelled.
    Status complete(const std::function<bool()>& goesOn);

    Result<std::vector<TraceSourceLane>> lanes() override;
    Status read(const std::string& kind, std::int64_t lane, std::int64_t from, std::int64_t to,
                const std::function<Status(const Chunk&)>& take) override;

private:
    SessionTrace(std::string path, std::int64_t session, std::unique_ptr<SessionReader> reader)
        : m_path(std::move(path)), m_session(session), m_reader(std::move(reader)) {}

    std::string m_path;
    std::int64_t m_session;
    std::unique_ptr<SessionReader> m_reader;
    std::vector<ChunkPtr> m_made;  // in place of those that are stored; empty: those are good
};

}  // namespace stepscope
