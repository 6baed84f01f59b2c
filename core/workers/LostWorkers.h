// LostWorkers: who the others are, and the sentence when working together breaks: which worker gave up, has ended or does not answer. Torch-free; any
// thread.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace stepscope {

// What a worker says of itself when it joins, as bytes.
struct WorkerIdentity {
    std::array<char, 128> machine{};  // alike with those whose processes it can see
    std::array<char, 64> host{};
    std::int64_t process = 0;
    std::array<std::uint64_t, 16> processors{};  // a bit of each that it may use; none where it cannot tell
};
WorkerIdentity ownIdentity();
bool onOneMachine(const WorkerIdentity& a, const WorkerIdentity& b);
// Whether a processor of their machine may be used by both; true where one cannot tell. srun and taskset give each its own.
bool shareProcessors(const WorkerIdentity& a, const WorkerIdentity& b);
// Whether it ran on `own`'s machine and does not run any more; false where that cannot be seen from here.
bool hasEnded(const WorkerIdentity& worker, const WorkerIdentity& own);

// What became of a worker after something that all do together had failed.
struct WorkerFate {
    bool answered = false;  // it says that it failed there too
    bool ended = false;     // its process is gone, and it said nothing
    std::string reason;     // it gave up for a reason of its own: its sentence
};

struct Broken {
    int rank = 0;              // who tells
    std::string aim;           // what all were to do: "add up gradients"
    std::int64_t seconds = 0;  // how long it waits for the slowest
};
// workers, fates: by rank.
std::string lostSentence(const Broken& broken, const std::vector<WorkerIdentity>& workers, const std::vector<WorkerFate>& fates);

}  // namespace stepscope
