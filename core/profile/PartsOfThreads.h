// PartsOfThreads: what a recording keeps of each thread apart, so that no thread waits for another while operations run. A thread finds its own part
// again without a lock, and lets go of it when it is told of another recording. OperationSource, HardwareSource and MemorySource have one each; any
// thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace stepscope {

template <class Part>
class PartsOfThreads {
public:
    // The calling thread's own; join() gives it once, as a std::shared_ptr, and may keep it for others to read when nothing runs.
    template <class Join>
    Part& here(Join&& join) {
        Mine& mine = mineHere();
        if (mine.number != m_number) mine = {m_number, join()};
        return *mine.part;
    }

private:
    struct Mine {
        std::uint64_t number = 0;
        std::shared_ptr<Part> part;
    };
    static Mine& mineHere() {
        thread_local Mine mine;
        return mine;
    }

    static inline std::atomic<std::uint64_t> s_numbers{0};
    const std::uint64_t m_number = ++s_numbers;  // an address may come back
};

}  // namespace stepscope
