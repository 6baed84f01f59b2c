// EngineFolder: what an engine that outlives its line has on the disk: <data folder>/engines/<id>, for its user alone. In it a lock that is held
// while the engine lives, the socket at which it is reached, the journal of what it said (Journal.h), and what libraries and a crash wrote. Any
// thread; several processes look at one.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/engine/Descriptor.h"
#include "core/base/Result.h"

namespace stepscope {

constexpr const char* kEngineLog = "log";      // what libraries and a crash wrote
constexpr const char* kEngineHello = "hello";  // its first frame

class EngineFolder {
public:
    // A new one, with a name of its own. Errors: Io.
    static Result<EngineFolder> make();
    // Errors: NotFound, and BadInput for what is no engine's name.
    static Result<EngineFolder> open(const std::string& id);

    const std::string& id() const { return m_id; }
    std::string file(const char* name) const { return m_path + "/" + name; }
    const std::string& path() const { return m_path; }

    // The sign that its engine lives, gone with it however it ends. Errors: somebody else has it, or it is another machine's, which shares the
    // folder.
    Result<Descriptor> lock() const;
    std::optional<pid_t> engine() const;  // the process that has it; 0: another machine's, of which nobody here knows whether it lives
    Result<Descriptor> listen() const;
    // Nothing: nobody listens.
    std::optional<Descriptor> connect() const;

    void describe(const std::string& run) const;  // one line, for the list
    std::string description() const;              // printable
    std::string lastWords() const;                // the last line of what libraries and a crash wrote, printable; empty: none
    void remove() const;

private:
    EngineFolder(std::string id, std::string path) : m_id(std::move(id)), m_path(std::move(path)) {}
    std::string m_id, m_path;
};

struct ListedEngine {
    std::string id, description;
    bool lives = false;
    bool heard = false;      // nothing is left in its journal that nobody has fetched
    std::int64_t bytes = 0;  // of the journal
};
// Newest first.
std::vector<ListedEngine> listEngines();
// Those that are gone for days and have nothing to tell.
void removeOldEngines();

}  // namespace stepscope
