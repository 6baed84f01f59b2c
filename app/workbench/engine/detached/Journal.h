// Journal: all that an engine which outlives its line says, in order, as frames in files of its folder (said-<number of the first event>), until the
// other side has it stored. While the disk takes nothing frames wait in memory, and who appends waits only when that is much. What is read back is
// checked as if a stranger had written it. Any thread.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/workbench/engine/Descriptor.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

class Journal {
public:
    // A new one in a folder that has none. Errors: Io.
    static Result<std::unique_ptr<Journal>> create(std::string folder);
    // What is there, to be read. Errors: Io.
    static Result<std::unique_ptr<Journal>> open(std::string folder);

    // number: of an event or a chunk, one more than that before it; 0 of all else.
    void append(FrameType type, const FrameBytes& payload, std::uint64_t number);
    void giveUp();                // nobody waits for the disk any longer
    bool settle();                // tries again what waits in memory: whether nothing does
    std::string refusal() const;  // why the disk takes nothing now; empty: it does

    std::uint64_t newest() const;  // number of the newest event or chunk
    std::uint64_t heard() const;   // up to which they are stored elsewhere, as far as that was told
    // Those up to this number are stored elsewhere: whole files of them are removed.
    void letGo(std::uint64_t number);
    bool allHeard() const;       // so are all
    std::int64_t bytes() const;  // on the disk
    bool empty() const { return bytes() == 0; }

    // Frames from some place on, also those that are appended later. One thread.
    class Reader {
    public:
        // Nothing: there is no more yet. An error: what is there is damaged.
        Result<std::optional<Frame>> next();

    private:
        friend class Journal;
        Reader(const Journal& journal, std::uint64_t file) : m_journal(&journal), m_file(file) {}
        const Journal* m_journal;
        std::uint64_t m_file;    // by its first number
        std::uint64_t m_at = 0;  // bytes of it that were read
        FrameReader m_frames;
    };
    // Behind the event or chunk with that number; 0: from the beginning. Errors: it was never said, or what follows it is no longer there.
    Result<Reader> behind(std::uint64_t number) const;

private:
    struct File {
        std::uint64_t first = 0;  // number that an event which comes first in it has
        std::uint64_t size = 0;   // bytes on the disk
    };
    explicit Journal(std::string folder) : m_folder(std::move(folder)) {}
    std::string pathOf(std::uint64_t first) const;
    Status beginFile(std::uint64_t first);
    void write();
    void writeHeard() const;
    // Some bytes of that file from there on; `file` becomes the next one at its end. False: there are none.
    bool read(std::uint64_t& file, std::uint64_t& at, FrameBytes& into) const;

    const std::string m_folder;
    mutable std::mutex m_mutex;  // of all below
    std::condition_variable m_room;
    std::deque<File> m_files;
    Descriptor m_file;    // the newest, where frames are appended
    FrameBytes m_memory;  // behind what is on the disk
    std::string m_refusal;
    std::chrono::steady_clock::time_point m_nextTry;
    std::uint64_t m_newest = 0, m_heard = 0;
    bool m_givenUp = false;
};

}  // namespace stepscope
