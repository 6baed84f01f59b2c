// StoreFile: the file at which workers of one machine meet, held while they use it. What workers left who were killed is of no use to the next ones,
// who would look for them at their ports: whoever comes when nobody holds it takes it away. One a process; any thread.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "core/base/Result.h"

namespace stepscope {

class StoreFile {
public:
    // Refused with a sentence: another file is there, which no workers have met at, or the folder takes none.
    static Result<std::unique_ptr<StoreFile>> hold(const std::string& path);
    ~StoreFile();  // the last one takes away what was held beside it
    StoreFile(const StoreFile&) = delete;
    StoreFile& operator=(const StoreFile&) = delete;

private:
    StoreFile(std::string lock, int file) : m_lock(std::move(lock)), m_file(file) {}
    std::string m_lock;  // the store's own is locked and unlocked by c10d
    int m_file;
};

}  // namespace stepscope
