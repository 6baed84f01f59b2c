// What this process has used so far, for differences between two readings. Any thread.
#pragma once
#include <sys/resource.h>
#include <time.h>

#include <cstdint>

namespace stepscope {

inline std::int64_t pageFaults() {  // minor and major
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt + used.ru_majflt;
}

inline std::int64_t processorNs() {  // of all its threads
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace stepscope
