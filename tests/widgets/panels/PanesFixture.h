// What the tests of the panes below a timeline look at: a trace of a step with or without a GPU, and one whose operations say their work.
#pragma once
#include <gtest/gtest.h>

#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"
#include "widgets/timeline/panes/Pane.h"

namespace stepscope {

inline PanesView paneView(bool device, std::int64_t most = PanesReader::kMostSlices) {
    SliceBlock host, stream;
    host.thread = {.process = 1, .thread = 10, .name = "trainer"};
    host.strings = {"", "aten::mm", "aten::gelu", "cudaLaunchKernel", "forward", "mlp/up", "head/loss"};
    host.slices = {{.start = 0, .duration = 30'000'000, .called = 12'000'000, .kind = SliceKind::Step, .step = 1},
                   {.start = 1'000'000, .duration = 9'000'000, .name = 1, .phase = 4, .role = 5, .depth = 1, .layer = 1, .external = 5},
                   {.start = 2'000'000, .duration = 10'000, .name = 3, .depth = 2, .kind = SliceKind::Runtime, .correlation = 5, .external = 5},
                   {.start = 11'000'000, .duration = 200'000, .name = 2, .phase = 4, .role = 6, .depth = 1}};
    stream.thread = {.thread = 7, .lane = 77, .device = 0};
    stream.strings = {"", "gemm, \"wide\"", "Memcpy HtoD"};
    stream.arguments.push_back({.grid = {80, 2, 1}, .block = {256, 1, 1}, .registers = 32});
    stream.slices = {{.start = 3'000'000, .duration = 900'000, .name = 1, .arguments = 1, .kind = SliceKind::Kernel, .correlation = 5, .external = 5},
                     {.start = 8'000'000, .duration = 11'000, .name = 2, .kind = SliceKind::Memcpy}};
    MemoryTrace trace;
    trace.add(encodeSlices(host));
    if (device) trace.add(encodeSlices(stream));
    trace.finish();
    PanesReader reader(
        trace, GpuShapes{.first = {{0, {.multiprocessors = 80, .threadsPerMultiprocessor = 2048}}}, .ofRank = {}}, [] { return true; }, most);
    EXPECT_TRUE(reader.open());
    auto panes = reader.read(0, 0);
    if (panes) panes->turnFlame();
    EXPECT_TRUE(panes);
    return {.panes = std::make_shared<const RangePanes>(std::move(*panes)), .range = "all of it, 30 ms", .note = {}};
}

inline PanesView rooflineView() {
    SliceBlock host;
    host.thread = {.process = 1, .thread = 10, .name = "trainer"};
    host.strings = {"", "aten::mm", "aten::bmm", "aten::add", "forward", "mlp/up", "attention/core"};
    host.arguments.push_back({.text = "Float[64,64] Float[64,64]", .flops = 80'000'000, .bytes = 1'000'000});
    host.arguments.push_back({.text = "Float[2,8] Float[8,2]", .flops = 1'000'000, .bytes = 1'000'000});
    host.arguments.push_back({.text = "Float[9] Float[9]", .bytes = 100'000});
    host.slices = {{.start = 0, .duration = 30'000'000, .called = 12'000'000, .kind = SliceKind::Step, .step = 1},
                   {.start = 1'000'000, .duration = 1'000'000, .name = 1, .phase = 4, .role = 5, .arguments = 1, .depth = 1, .layer = 1},
                   {.start = 3'000'000, .duration = 100'000, .name = 2, .phase = 4, .role = 6, .arguments = 2, .depth = 1},
                   {.start = 4'000'000, .duration = 1'000'000, .name = 3, .phase = 4, .arguments = 3, .depth = 1}};
    MemoryTrace trace;
    trace.add(encodeSlices(host));
    trace.finish();
    PanesReader reader(trace, {}, [] { return true; });
    EXPECT_TRUE(reader.open());
    PanesView view{.panes = std::make_shared<const RangePanes>(reader.read(0, 0).value()), .range = "all of it, 30 ms", .note = {}};
    view.roof = {.float32 = 1e11, .bytesPerSecond = 1e10, .source = "measured on this machine"};
    return view;
}

}  // namespace stepscope
