#include "sessions/query/SliceColumns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stepscope::query {
namespace {

constexpr std::array kFields = std::to_array<FieldFacts>({
    {Field::Start, "start_ns integer", "when it began, ns since the session did"},
    {Field::Duration, "dur_ns integer", "how long it took"},
    {Field::End, "end_ns integer", "start_ns + dur_ns"},
    {Field::Self, "self_ns integer", "dur_ns without what it called on the same thread"},
    {Field::Name, "name text", ""},
    {Field::Kind, "kind text", "operation, own, backward, step, phase, evaluation, annotation, python, runtime, driver, kernel, memcpy, memset, …"},
    {Field::Thread, "thread integer", "number of the thread, as the system has it"},
    {Field::ThreadName, "thread_name text", ""},
    {Field::Process, "process integer", ""},
    {Field::ProcessName, "process_name text", ""},
    {Field::Device, "device integer", "ordinal of the device"},
    {Field::Stream, "stream integer", "number of the stream on its device"},
    {Field::Depth, "depth integer", "how many others of its thread it lies in"},
    {Field::Step, "step integer", "number of the training step"},
    {Field::Phase, "phase text", "forward, backward, optimizer, …"},
    {Field::Layer, "layer integer", "block of the model, from 0"},
    {Field::Role, "role text", "part of the model"},
    {Field::Correlation, "correlation integer", "joins a launch in runtime with what it launched; operations are joined by external"},
    {Field::External, "external integer", "joins an operation with what it launched"},
    {Field::Sequence, "sequence integer", "joins a forward operation with its backward functions"},
    {Field::ForwardStart, "forward_start_ns integer", "of a backward function: when its forward operation began"},
    {Field::Recomputed, "recomputed integer", "1: forward work that was run again for the backward pass"},
    {Field::Shapes, "shapes text", "types and shapes of what it was called with"},
    {Field::Flops, "flops integer", "of this call"},
    {Field::Bytes, "bytes integer", "read and written by this call; of a copy its size"},
    {Field::Grid, "grid text", "blocks x,y,z"},
    {Field::Block, "block text", "threads of a block x,y,z"},
    {Field::Registers, "registers integer", "of a thread"},
    {Field::SharedBytes, "shared_bytes integer", "of a block"},
    {Field::CopyKind, "kind text", "HtoD, DtoH, DtoD, …"},
    {Field::Extra, "extra text", "what else an imported trace says, as JSON"},
    {Field::Lane, "lane integer", "tells the lanes of the session apart"},
    {Field::Capture, "capture integer", "which capture of the session, from 1"},
    {Field::Rank, "rank integer", "which worker of a distributed run"},
});

constexpr std::array<const char*, kSliceKinds> kKindWords{
    "operation", "own",    "backward", "step",   "phase",           "evaluation",        "annotation", "python", "runtime",
    "driver",    "kernel", "memcpy",   "memset", "synchronisation", "device annotation", "overhead",   "other"};

std::string_view copyKind(std::string_view name) {
    for (const std::string_view word : {"HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA"})
        if (name.find(word) != std::string_view::npos) return word;
    for (const auto& [long_, word] : {std::pair<std::string_view, std::string_view>{"HostToDevice", "HtoD"},
                                      {"DeviceToHost", "DtoH"},
                                      {"DeviceToDevice", "DtoD"},
                                      {"HostToHost", "HtoH"}})
        if (name.find(long_) != std::string_view::npos) return word;
    return name;
}

Cell unless(bool unknown, std::int64_t value) {
    return unknown ? Cell() : Cell(value);
}
Cell text(const std::string& value) {
    return value.empty() ? Cell() : Cell(std::string_view(value));
}

}  // namespace

const FieldFacts& factsOf(Field field) {
    return *std::ranges::find(kFields, field, &FieldFacts::field);
}

const std::vector<SliceViewFacts>& sliceViewFacts() {
    using enum Field;
    static const std::vector<SliceViewFacts> all{
        {"op",
         "operations on the host: LibTorch's, our own kernels, backward functions",
         kindBit(SliceKind::Operation) | kindBit(SliceKind::Own) | kindBit(SliceKind::Backward),
         {Start,  Duration, Name,  Thread,     Depth,    Step,         Phase, Layer,      Role,    Correlation, Sequence, Self,    End, Kind,
          Shapes, Flops,    Bytes, Recomputed, External, ForwardStart, Extra, ThreadName, Process, ProcessName, Lane,     Capture, Rank}},
        {"kernel", "kernels on devices", kindBit(SliceKind::Kernel), {Start, Duration,  Name,        Device, Stream,   Correlation, Step,  Grid,
                                                                      Block, Registers, SharedBytes, End,    External, Phase,       Layer, Role,
                                                                      Flops, Bytes,     Extra,       Lane,   Capture,  Rank}},
        {"memcpy",
         "copies on devices and between them and the host",
         kindBit(SliceKind::Memcpy),
         {Start, Duration, CopyKind, Field::Bytes, Device, Stream, Correlation, Name, End, External, Step, Extra, Lane, Capture, Rank}},
        {"memset",
         "memory of devices that is set to a value",
         kindBit(SliceKind::Memset),
         {Start, Duration, Name, Field::Bytes, Device, Stream, Correlation, End, External, Step, Extra, Lane, Capture, Rank}},
        {"runtime",
         "calls of the CUDA or HIP runtime, and of the driver below it",
         kindBit(SliceKind::Runtime) | kindBit(SliceKind::Driver),
         {Start, Duration, Name, Thread, Correlation, Kind, End, Self, External, Step, Depth, Extra, ThreadName, Process, Lane, Capture, Rank}},
        {"annotation",
         "ranges that the traced program named itself",
         kindBit(SliceKind::Annotation) | kindBit(SliceKind::DeviceAnnotation),
         {Start, Duration, Name, Thread, Kind, End, Self, Depth, Step, Device, Stream, Correlation, External, Extra, ThreadName, Lane, Capture,
          Rank}},
        {"slice", "everything that was captured, of every kind", ~0U, {Start,    Duration,   Name,    Kind,        Thread, Device,       Stream,
                                                                       Depth,    Step,       Phase,   Layer,       Role,   Correlation,  External,
                                                                       Sequence, Self,       End,     Shapes,      Flops,  Field::Bytes, Recomputed,
                                                                       Extra,    ThreadName, Process, ProcessName, Lane,   Capture,      Rank}},
    };
    return all;
}

Cell SliceCells::of(const SliceBlock& block, const Slice& slice, Field field) {
    const SliceThread& thread = block.thread;
    const SliceArguments& arguments = block.arguments[slice.arguments];
    switch (field) {
        case Field::Start:
            return slice.start;
        case Field::Duration:
            return slice.duration;
        case Field::End:
            return slice.start + slice.duration;
        case Field::Self:
            return slice.self();
        case Field::Name:
            return std::string_view(block.strings[slice.name]);
        case Field::Kind:
            return std::string_view(kKindWords[static_cast<std::size_t>(slice.kind)]);
        case Field::Thread:
            return unless(thread.device >= 0, thread.thread);
        case Field::ThreadName:
            return text(thread.name);
        case Field::Process:
            return thread.process;
        case Field::ProcessName:
            return text(thread.processName);
        case Field::Device:
            return unless(thread.device < 0, thread.device);
        case Field::Stream:
            return unless(thread.device < 0, thread.thread);
        case Field::Depth:
            return static_cast<std::int64_t>(slice.depth);
        case Field::Step:
            return unless(slice.step < 0, slice.step);
        case Field::Phase:
            return text(block.strings[slice.phase]);
        case Field::Layer:
            return unless(slice.layer < 0, slice.layer);
        case Field::Role:
            return text(block.strings[slice.role]);
        case Field::Correlation:
            return unless(slice.correlation == 0, slice.correlation);
        case Field::External:
            return unless(slice.external == 0, slice.external);
        case Field::Sequence:
            return unless(slice.sequence < 0, slice.sequence);
        case Field::ForwardStart:
            return unless(slice.forwardStart == 0, slice.forwardStart);
        case Field::Recomputed:
            return std::int64_t{slice.recomputed ? 1 : 0};
        case Field::Shapes:
            return text(arguments.text);
        case Field::Flops:
            return unless(arguments.flops == 0, arguments.flops);
        case Field::Bytes:
            return unless(arguments.bytes == 0, arguments.bytes);
        case Field::Grid:
            return sizes(arguments.grid);
        case Field::Block:
            return sizes(arguments.block);
        case Field::Registers:
            return unless(arguments.registers == 0, arguments.registers);
        case Field::SharedBytes:
            return unless(arguments.grid == std::array<std::int64_t, 3>{}, arguments.sharedBytes);
        case Field::CopyKind:
            return copyKind(block.strings[slice.name]);
        case Field::Extra:
            return text(arguments.extra);
        case Field::Lane:
            return thread.laneNumber();
        case Field::Capture:
            return m_file.captureOf(slice.start, slice.step);
        case Field::Rank:
            return thread.rank;
    }
    return {};
}

Cell SliceCells::sizes(const std::array<std::int64_t, 3>& size) {
    if (size == std::array<std::int64_t, 3>{}) return {};
    m_made = fmt::format("{},{},{}", size[0], size[1], size[2]);
    return std::string_view(m_made);
}

std::vector<QueryView> sliceViews() {
    std::vector<QueryView> all;
    for (const auto& view : sliceViewFacts()) {
        QueryView made{view.name, view.about, {}};
        for (const Field field : view.fields)
            made.columns.push_back({factsOf(field).name(), factsOf(field).type(), std::string(factsOf(field).about)});
        all.push_back(std::move(made));
    }
    return all;
}

}  // namespace stepscope::query
