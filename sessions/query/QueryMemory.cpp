#include "sessions/query/QueryMemory.h"

#include <sqlite3.h>

#include <utility>

namespace stepscope::query {
namespace {

thread_local QueryMemory* countedHere = nullptr;
sqlite3_mem_methods plain{};

}  // namespace

struct CountedMalloc {
    static bool allowed(int size) {
        QueryMemory* here = countedHere;
        if (here == nullptr) return true;
        here->m_asked += size;
        // A look at the clock for every 64 KiB or every 64th time.
        if (++here->m_at % 64 == 0 || here->m_asked > (64 << 10)) {
            here->m_asked = 0;
            here->m_refusing = here->m_refusing || here->m_over();
        }
        return !here->m_refusing;
    }
    static void count(std::int64_t bytes) {
        if (countedHere != nullptr) countedHere->m_bytes += bytes;
    }
    static void* allocate(int size) {
        if (!allowed(size)) return nullptr;
        void* made = plain.xMalloc(size);
        if (made != nullptr) count(plain.xSize(made));
        return made;
    }
    static void release(void* gone) {
        if (gone != nullptr) count(-plain.xSize(gone));
        plain.xFree(gone);
    }
    static void* reallocate(void* old, int size) {
        const int before = plain.xSize(old);
        if (size > before && !allowed(size - before)) return nullptr;
        void* made = plain.xRealloc(old, size);
        if (made != nullptr) count(plain.xSize(made) - before);
        return made;
    }
};

namespace {

// Before main, as SQLite takes another allocator only until it is first used.
[[maybe_unused]] const bool installed = [] {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK) return false;
    sqlite3_mem_methods counted = plain;
    counted.xMalloc = CountedMalloc::allocate;
    counted.xFree = CountedMalloc::release;
    counted.xRealloc = CountedMalloc::reallocate;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted) == SQLITE_OK;
}();

}  // namespace

QueryMemory::QueryMemory(std::function<bool()> over) : m_over(std::move(over)), m_outer(std::exchange(countedHere, this)) {}

QueryMemory::~QueryMemory() {
    countedHere = m_outer;
}

}  // namespace stepscope::query
