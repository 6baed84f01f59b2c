// The views over captured slices (core/trace/Slice.h): which kinds of slices each is of, and what its columns say.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/trace/SliceCodec.h"
#include "sessions/query/ChunkWalk.h"

namespace stepscope::query {
namespace {

enum class Field {
    Start,
    Duration,
    End,
    Self,
    Name,
    Kind,
    Thread,
    ThreadName,
    Process,
    ProcessName,
    Device,
    Stream,
    Depth,
    Step,
    Phase,
    Layer,
    Role,
    Correlation,
    External,
    Sequence,
    ForwardStart,
    Recomputed,
    Shapes,
    Flops,
    Bytes,
    Grid,
    Block,
    Registers,
    SharedBytes,
    CopyKind,
    Extra,
    Lane,
    Capture,
    Rank,
};

// Named and typed in one text, "start_ns integer".
struct FieldFacts {
    Field field;
    std::string_view declared, about;

    std::string name() const { return std::string(declared.substr(0, declared.find(' '))); }
    std::string type() const { return std::string(declared.substr(declared.find(' ') + 1)); }
};
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
    {Field::Correlation, "correlation integer", "joins a launch in runtime with what it launched"},
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
const FieldFacts& factsOf(Field field) {
    return *std::ranges::find(kFields, field, &FieldFacts::field);
}

constexpr std::uint32_t bit(SliceKind kind) {
    return 1U << static_cast<int>(kind);
}

struct SliceViewFacts {
    const char *name, *about;
    std::uint32_t kinds;
    std::vector<Field> fields;
};

const std::vector<SliceViewFacts>& facts() {
    using enum Field;
    static const std::vector<SliceViewFacts> all{
        {"op",
         "operations on the host: LibTorch's, our own kernels, backward functions",
         bit(SliceKind::Operation) | bit(SliceKind::Own) | bit(SliceKind::Backward),
         {Start,  Duration, Name,  Thread,     Depth,    Step,         Phase, Layer,      Role,    Correlation, Sequence, Self,    End, Kind,
          Shapes, Flops,    Bytes, Recomputed, External, ForwardStart, Extra, ThreadName, Process, ProcessName, Lane,     Capture, Rank}},
        {"kernel", "kernels on devices", bit(SliceKind::Kernel), {Start, Duration,  Name,        Device, Stream,   Correlation, Step,  Grid,
                                                                  Block, Registers, SharedBytes, End,    External, Phase,       Layer, Role,
                                                                  Flops, Bytes,     Extra,       Lane,   Capture,  Rank}},
        {"memcpy",
         "copies on devices and between them and the host",
         bit(SliceKind::Memcpy),
         {Start, Duration, CopyKind, Field::Bytes, Device, Stream, Correlation, Name, End, External, Step, Extra, Lane, Capture, Rank}},
        {"memset",
         "memory of devices that is set to a value",
         bit(SliceKind::Memset),
         {Start, Duration, Name, Field::Bytes, Device, Stream, Correlation, End, External, Step, Extra, Lane, Capture, Rank}},
        {"runtime",
         "calls of the CUDA or HIP runtime, and of the driver below it",
         bit(SliceKind::Runtime) | bit(SliceKind::Driver),
         {Start, Duration, Name, Thread, Correlation, Kind, End, Self, External, Step, Depth, Extra, ThreadName, Process, Lane, Capture, Rank}},
        {"annotation",
         "ranges that the traced program named itself",
         bit(SliceKind::Annotation) | bit(SliceKind::DeviceAnnotation),
         {Start, Duration, Name, Thread, Kind, End, Self, Depth, Step, Device, Stream, Correlation, External, Extra, ThreadName, Lane, Capture,
          Rank}},
        {"slice", "everything that was captured, of every kind", ~0U, {Start,    Duration,   Name,    Kind,        Thread, Device,       Stream,
                                                                       Depth,    Step,       Phase,   Layer,       Role,   Correlation,  External,
                                                                       Sequence, Self,       End,     Shapes,      Flops,  Field::Bytes, Recomputed,
                                                                       Extra,    ThreadName, Process, ProcessName, Lane,   Capture,      Rank}},
    };
    return all;
}

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

struct Place {
    std::shared_ptr<const SliceBlock> block;
    std::uint32_t slice = 0;
};

class SliceCells {
public:
    explicit SliceCells(const QueryFile& file) : m_file(file) {}

    Cell of(const SliceBlock& block, const Slice& slice, Field field) {
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
                return unless(slice.step == 0, slice.step);
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
                return m_file.captureOf(slice.start);
            case Field::Rank:
                return thread.rank;
        }
        return {};
    }

private:
    static Cell unless(bool unknown, std::int64_t value) { return unknown ? Cell() : Cell(value); }
    static Cell text(const std::string& value) { return value.empty() ? Cell() : Cell(std::string_view(value)); }
    Cell sizes(const std::array<std::int64_t, 3>& size) {
        if (size == std::array<std::int64_t, 3>{}) return {};
        m_made = fmt::format("{},{},{}", size[0], size[1], size[2]);
        return std::string_view(m_made);
    }

    const QueryFile& m_file;
    std::string m_made;
};

// Slices by a number of theirs, for joins: made once a run of a query.
class SliceIndex {
public:
    void add(std::int64_t key, std::size_t block, std::uint32_t slice) { m_entries.push_back({key, static_cast<std::uint32_t>(block), slice}); }
    std::size_t keep(std::shared_ptr<const SliceBlock> block) {
        m_blocks.push_back(std::move(block));
        return m_blocks.size() - 1;
    }
    void sort() { std::ranges::sort(m_entries); }
    std::pair<std::size_t, std::size_t> range(std::int64_t key) const {
        const auto first = std::ranges::lower_bound(m_entries, key, {}, &Entry::key), end = std::ranges::upper_bound(m_entries, key, {}, &Entry::key);
        return {static_cast<std::size_t>(first - m_entries.begin()), static_cast<std::size_t>(end - m_entries.begin())};
    }
    Place at(std::size_t entry) const { return {m_blocks[m_entries[entry].block], m_entries[entry].slice}; }

private:
    struct Entry {
        std::int64_t key;
        std::uint32_t block, slice;
        auto operator<=>(const Entry&) const = default;
    };
    std::vector<std::shared_ptr<const SliceBlock>> m_blocks;
    std::vector<Entry> m_entries;
};

class SliceRows : public Rows {
public:
    SliceRows(const QueryFile& file, const std::vector<Field>& fields) : m_cells(file), m_fields(fields) {}
    Cell cell(int column) override {
        return m_cells.of(*m_place.block, m_place.block->slices[m_place.slice], m_fields[static_cast<std::size_t>(column)]);
    }

protected:
    Place m_place;

private:
    SliceCells m_cells;
    const std::vector<Field>& m_fields;
};

class ScannedSlices final : public SliceRows {
public:
    ScannedSlices(QueryFile& file, QueryGuard& guard, const SliceViewFacts& view, const Asked& asked)
        : SliceRows(file, view.fields), m_walk(file, guard, isSlices, decodeSlices, asked.from, asked.to), m_kinds(view.kinds), m_asked(asked) {}

    Result<bool> next() override {
        for (;;) {
            if (m_place.block) {
                const auto& slices = m_place.block->slices;
                for (; m_next < slices.size(); ++m_next) {
                    const Slice& slice = slices[m_next];
                    if ((bit(slice.kind) & m_kinds) == 0 || slice.start < m_asked.from || slice.start > m_asked.to) continue;
                    m_place.slice = static_cast<std::uint32_t>(m_next++);
                    return true;
                }
            }
            auto block = m_walk.next();
            if (!block) return block.error();
            if (!*block) return false;
            m_place.block = std::move(*block);
            m_next = 0;
        }
    }

private:
    ChunkWalk<SliceBlock> m_walk;
    std::uint32_t m_kinds;
    Asked m_asked;
    std::size_t m_next = 0;
};

class FoundSlices final : public SliceRows {
public:
    FoundSlices(const QueryFile& file, const SliceViewFacts& view, std::shared_ptr<const SliceIndex> index, std::int64_t key)
        : SliceRows(file, view.fields), m_index(std::move(index)) {
        std::tie(m_next, m_end) = m_index->range(key);
    }
    Result<bool> next() override {
        if (m_next == m_end) return false;
        m_place = m_index->at(m_next++);
        return true;
    }

private:
    std::shared_ptr<const SliceIndex> m_index;
    std::size_t m_next = 0, m_end = 0;
};

// The rows that could not be: their error comes with the first.
class NoRows final : public Rows {
public:
    explicit NoRows(Error error) : m_error(std::move(error)) {}
    Result<bool> next() override { return m_error; }
    Cell cell(int) override { return {}; }

private:
    Error m_error;
};

class SliceSource final : public RowSource {
public:
    SliceSource(const QueryView& view, const SliceViewFacts& facts, QueryFile& file, QueryGuard& guard)
        : RowSource(view), m_facts(facts), m_file(file), m_guard(guard) {}

    std::vector<int> keys() const override {
        std::vector<int> all;
        for (std::size_t i = 0; i < m_facts.fields.size(); ++i)
            if (const Field field = m_facts.fields[i]; field == Field::Correlation || field == Field::External || field == Field::Sequence)
                all.push_back(static_cast<int>(i));
        return all;
    }
    double expectedRows() override { return m_file.records(kSlices) + m_file.records(kSlicesBefore); }
    std::unique_ptr<Rows> rows(const Asked& asked) override {
        if (!asked.key) return std::make_unique<ScannedSlices>(m_file, m_guard, m_facts, asked);
        auto index = indexOf(m_facts.fields[static_cast<std::size_t>(asked.key->first)]);
        if (!index) return std::make_unique<NoRows>(index.error());
        return std::make_unique<FoundSlices>(m_file, m_facts, std::move(*index), asked.key->second);
    }

private:
    Result<std::shared_ptr<const SliceIndex>> indexOf(Field field) {
        auto& known = m_indices[field];
        if (known) return known;
        constexpr std::size_t kMost = 2'000'000;  // slices held, some 250 MB
        auto made = std::make_shared<SliceIndex>();
        ChunkWalk<SliceBlock> walk(m_file, m_guard, isSlices, decodeSlices, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max());
        SliceCells cells(m_file);
        std::size_t held = 0;
        for (;;) {
            const auto block = walk.next();
            if (!block) return block.error();
            if (!*block) break;
            std::optional<std::size_t> place;
            const auto& slices = (*block)->slices;
            for (std::size_t i = 0; i < slices.size(); ++i) {
                if ((bit(slices[i].kind) & m_facts.kinds) == 0) continue;
                const Cell cell = cells.of(**block, slices[i], field);
                const auto* key = std::get_if<std::int64_t>(&cell);
                if (key == nullptr) continue;
                if (!place) {
                    place = made->keep(*block);
                    held += slices.size();
                }
                made->add(*key, *place, static_cast<std::uint32_t>(i));
            }
            if (held > kMost)
                return makeError(
                    ErrorCode::OutOfMemory,
                    fmt::format("Joining \"{0}\" by {1} would need too much memory; join WITH x AS MATERIALIZED (SELECT … FROM {0} WHERE "
                                "start_ns …) instead.",
                                m_facts.name, factsOf(field).name()));
        }
        made->sort();
        known = std::move(made);
        return known;
    }

    const SliceViewFacts& m_facts;
    QueryFile& m_file;
    QueryGuard& m_guard;
    std::map<Field, std::shared_ptr<const SliceIndex>> m_indices;
};

}  // namespace

std::vector<QueryView> sliceViews() {
    std::vector<QueryView> all;
    for (const auto& view : facts()) {
        QueryView made{view.name, view.about, {}};
        for (const Field field : view.fields)
            made.columns.push_back({factsOf(field).name(), factsOf(field).type(), std::string(factsOf(field).about)});
        all.push_back(std::move(made));
    }
    return all;
}

void addSliceSources(RowSources& into, QueryFile& file, QueryGuard& guard) {
    for (const auto& view : facts()) into.push_back(std::make_unique<SliceSource>(viewNamed(view.name), view, file, guard));
}

}  // namespace stepscope::query
