// A stand-in for NVIDIA's libcupti, built against NVIDIA's own header: what tests tell it to answer, and the records that it plays. The plug-in opens
// it by its file, as it would the real one. It keeps CUPTI's manners: records of a kind come only where the kind is on, buffers are asked for and
// handed back while its lock is held, and what finds no buffer is dropped and counted.
#pragma once
#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>

struct FakeCuptiScript {
    CUptiResult subscribe = CUPTI_SUCCESS;      // what these answer
    CUptiResult enableKernels = CUPTI_SUCCESS;  //
    CUptiResult enableOthers = CUPTI_SUCCESS;   // kinds that a capture can do without
    CUptiResult flush = CUPTI_SUCCESS;
    bool keepsRecords = false;                             // a flush hands nothing over
    bool flushCalls = false;                               // the driver calls that a flush makes are recorded as well
    int flushSeconds = 0;                                  // that a flush takes
    std::int64_t clockOffset = 1'700'000'000'000'000'000;  // ns that its clock is ahead of the steady one
    double clockRate = 1.0;                                // of its clock against that
};

struct FakeCuptiState {
    int subscribers = 0;
    int enabled = 0;           // kinds
    std::int64_t records = 0;  // played
    std::int64_t dropped = 0;  //
    std::int64_t buffersAsked = 0, buffersBack = 0;
    std::int64_t flushes = 0;
    int pushed = 0;       // external ids on the calling thread's stack
    int graphEvents = 0;  // kinds of them that are listened to
};

extern "C" {
// As if nothing had happened; a buffer that is filled is lost.
#pragma GCC visibility push(default)
void fakeCuptiPlay(const FakeCuptiScript* script);
FakeCuptiState fakeCuptiState();
// Its clock at a time of the steady one, ns.
std::uint64_t fakeCuptiTime(std::int64_t steadyNs);

// A call of the runtime or the driver that begins now on this thread: its correlation. Its record comes with its end; that of an external id at once.
std::uint32_t fakeCuptiCallBegins();
void fakeCuptiCallEnds(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, std::uint32_t correlation, std::uint64_t start);
// Any record, of `size` bytes: kernels, copies, nonsense.
void fakeCuptiRecord(const void* record, std::size_t size);
// Whether a kind is on.
bool fakeCuptiRecords(CUpti_ActivityKind kind);
// What a call is named from now on.
void fakeCuptiName(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const char* name);
// A node of a graph is made, cloned from another (0: not) or destroyed on this thread.
void fakeCuptiNode(CUpti_CallbackIdResource what, std::uint64_t node, std::uint64_t original);
#pragma GCC visibility pop
}
