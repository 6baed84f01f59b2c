// What it costs to name operations, steps and phases: where nobody listens, which is nearly always, and beside observers. Run by hand:
// build/release/tests/bench/bench_spans; RESULTS.md keeps what it printed.
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>

#include <cstdio>
#include <utility>

#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/profile/HardwareSource.h"
#include "core/profile/OperationCounter.h"
#include "core/profile/OperationSource.h"
#include "core/profile/OperationTable.h"
#include "core/program/PhaseClock.h"
#include "core/trace/Note.h"

namespace stepscope {
namespace {

void spans(benchmark::State& state) {
    for (auto _ : state) {
        const OperationSpan span("norm", Role::Norm1);
        benchmark::DoNotOptimize(&span);
    }
}
void places(benchmark::State& state) {
    for (auto _ : state) {
        const PlaceScope place(3, Role::Norm1);
        benchmark::DoNotOptimize(&placeHere());
    }
}
void ranges(benchmark::State& state) {
    for (auto _ : state) {
        const StepRange range({.kind = RangeFacts::Kind::Step, .step = 7});
        benchmark::DoNotOptimize(&range);
    }
}
// A small operation of LibTorch's.
void additions(benchmark::State& state) {
    const at::Tensor a = at::ones({4});
    for (auto _ : state) benchmark::DoNotOptimize(a + a);
}

// What a capture of operations hands on goes nowhere; making it into chunks is part of the measurement, as it is of a run (behind its steps).
class Source {
public:
    ~Source() {
        CaptureDone done;
        m_source.finish(done);
    }

private:
    struct Nowhere final : EventSink {
        void publish(Event) override {}
    };
    Nowhere m_nowhere;
    SessionClock m_clock;
    OperationSource m_source{{&m_nowhere, &m_clock}};
};
// What the processor counts, where the system lets us; where it does not, nobody listens, and a line says so.
class Counters {
public:
    ~Counters() {
        CaptureDone done;
        m_source.finish(done);
    }

private:
    struct Says final : EventSink {
        void publish(Event) override {}
        void publishChunk(ChunkPtr chunk) override {
            static bool said = false;
            if (chunk->kind == kNote && !std::exchange(said, true)) std::printf("%s\n", noteOf(*chunk).c_str());
        }
    };
    Says m_says;
    SessionClock m_clock;
    HardwareSource m_source{{&m_says, &m_clock}};
};
// Both sources of a Capture.
struct Both {
    OperationTable table;
    Source source;
};

// The same while an observer listens.
template <class Observer, void (*measured)(benchmark::State&)>
void beside(benchmark::State& state) {
    Observer observer;
    measured(state);
}

BENCHMARK(spans)->Name("span/nobody listens");
BENCHMARK(places)->Name("place/nobody listens");
BENCHMARK(ranges)->Name("range/nobody listens");
BENCHMARK(additions)->Name("aten::add/nobody listens");
BENCHMARK(beside<OperationCounter, spans>)->Name("span/counter");
BENCHMARK(beside<OperationCounter, additions>)->Name("aten::add/counter");
BENCHMARK(beside<OperationTable, spans>)->Name("span/table");
BENCHMARK(beside<OperationTable, additions>)->Name("aten::add/table");
BENCHMARK(beside<Source, spans>)->Name("span/slices");
BENCHMARK(beside<Source, additions>)->Name("aten::add/slices");
BENCHMARK(beside<Counters, spans>)->Name("span/hardware counters");
BENCHMARK(beside<Counters, additions>)->Name("aten::add/hardware counters");
BENCHMARK(beside<Both, spans>)->Name("span/capture");
BENCHMARK(beside<Both, additions>)->Name("aten::add/capture");

}  // namespace
}  // namespace stepscope

BENCHMARK_MAIN();
