// The views of samples, allocations, steps and workers' times, fed from bulk data of captures and runs, and what a run of ours stored row by row.
#include <array>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/trace/WorkerClocks.h"
#include "core/trace/WorkerTimes.h"
#include "sessions/query/ChunkWalk.h"

namespace stepscope::query {
namespace {

// "at_ns integer", and what it says.
QueryColumn column(std::string_view declared, const char* about) {
    const auto space = declared.find(' ');
    return {std::string(declared.substr(0, space)), std::string(declared.substr(space + 1)), about};
}

std::vector<QueryView> makeBulkViews() {
    return {{"step",
             "training steps: those that were captured, or where none was, those that the run stored",
             {column("number integer", "of the step"), column("start_ns integer", "when it began, ns since the session did"),
              column("dur_ns integer", "how long it took"), column("end_ns integer", "start_ns + dur_ns"),
              column("capture integer", "which capture of the session, from 1; NULL: it was not captured"),
              column("rank integer", "which worker of a distributed run")}},
            {"sample",
             "values of counters over time: the processors, memory, the devices, and those of imported traces",
             {column("at_ns integer", "when, ns since the session began"), column("name text", "what was measured"),
              column("value real", "in its unit"), column("unit text", "B, %, W, …"),
              column("device integer", "ordinal of the device; NULL: the host"), column("source text", "what was measured, in words"),
              column("capture integer", "which capture of the session, from 1"), column("rank integer", "which worker of a distributed run")}},
            {"alloc",
             "memory that was taken and given back",
             {column("at_ns integer", "when, ns since the session began"), column("bytes integer", "taken; given back where it is negative"),
              column("kind text", "weights, activations, …"), column("owner text", "who took it"),
              column("device integer", "ordinal of the device; NULL: the host"), column("address integer", ""),
              column("total_allocated integer", "bytes in use afterwards"), column("total_reserved integer", "bytes that the allocator holds"),
              column("thread integer", "that took it"), column("capture integer", "which capture of the session, from 1"),
              column("rank integer", "which worker of a distributed run")}},
            {"worker_phase",
             "phases of every step with each worker of a run of several; of one worker steps has them",
             {column("at_ns integer", "when the step ended with the first worker, ns since the session began"), column("step integer", "its number"),
              column("rank integer", "which worker"), column("phase text", "forward, waiting, …; other: what belongs to none"),
              column("dur_ns integer", "how long it took")}},
            {"worker_clock",
             "what comparing the workers' clocks found, exchange by exchange; what captures have of other workers is moved by it already",
             {column("at_ns integer", "when, ns since the session began"), column("rank integer", "which worker"),
              column("offset_ns integer", "what is added to its own clock to have the first worker's"),
              column("error_ns integer", "by how much that may be off at most")}}};
}

Cell known(bool there, std::int64_t value) {
    return there ? Cell(value) : Cell();
}
Cell known(const std::string& text) {
    return text.empty() ? Cell() : Cell(std::string_view(text));
}

// One source's rows, then another's.
class BothRows final : public Rows {
public:
    BothRows(std::unique_ptr<Rows> first, std::unique_ptr<Rows> second) : m_first(std::move(first)), m_second(std::move(second)) {}
    Result<bool> next() override {
        if (m_first) {
            auto there = m_first->next();
            if (!there || *there) return there;
            m_first.reset();
        }
        return m_second->next();
    }
    Cell cell(int column) override { return (m_first ? m_first : m_second)->cell(column); }

private:
    std::unique_ptr<Rows> m_first, m_second;
};

template <class Block, class Record>
class BlockRows : public Rows {
public:
    BlockRows(QueryFile& file, QueryGuard& guard, typename ChunkWalk<Block>::IsKind isKind, typename ChunkWalk<Block>::Decode decode,
              std::vector<Record> Block::*records, const Asked& asked)
        : m_file(file), m_walk(file, guard, isKind, decode, asked.from, asked.to), m_records(records) {}
    Result<bool> next() override {
        for (;;) {
            if (m_block && m_next < ((*m_block).*m_records).size()) {
                m_record = &((*m_block).*m_records)[m_next++];
                return true;
            }
            auto block = m_walk.next();
            if (!block) return block.error();
            if (!*block) return false;
            m_block = std::move(*block);
            m_next = 0;
        }
    }

protected:
    QueryFile& m_file;
    std::shared_ptr<const Block> m_block;
    const Record* m_record = nullptr;

private:
    ChunkWalk<Block> m_walk;
    std::vector<Record> Block::*m_records;
    std::size_t m_next = 0;
};

bool areSamples(const std::string& kind) {
    return kind == kSamples;
}
bool areAllocations(const std::string& kind) {
    return kind == kAllocations;
}

class SampleRows final : public BlockRows<SampleBlock, Sample> {
public:
    SampleRows(QueryFile& file, QueryGuard& guard, const Asked& asked)
        : BlockRows(file, guard, areSamples, decodeSamples, &SampleBlock::samples, asked) {}
    Cell cell(int column) override {
        const SampleSeries& series = m_block->series[m_record->series];
        switch (column) {
            case 0:
                return m_record->at;
            case 1:
                return std::string_view(series.name);
            case 2:
                return m_record->value;
            case 3:
                return known(series.unit);
            case 4:
                return known(m_block->device >= 0, m_block->device);
            case 5:
                return known(m_block->name);
            case 6:
                return m_file.captureOf(m_record->at);
            default:
                return m_block->rank;
        }
    }
};

class AllocationRows final : public BlockRows<AllocationBlock, Allocation> {
public:
    AllocationRows(QueryFile& file, QueryGuard& guard, const Asked& asked)
        : BlockRows(file, guard, areAllocations, decodeAllocations, &AllocationBlock::allocations, asked) {}
    Cell cell(int column) override {
        const Allocation& one = *m_record;
        switch (column) {
            case 0:
                return one.at;
            case 1:
                return one.bytes;
            case 2:
                return known(m_block->strings[one.kind]);
            case 3:
                return known(m_block->strings[one.owner]);
            case 4:
                return known(one.device >= 0, one.device);
            case 5:
                return known(one.address != 0, static_cast<std::int64_t>(one.address));
            case 6:
                return known(one.totalAllocated >= 0, one.totalAllocated);
            case 7:
                return known(one.totalReserved >= 0, one.totalReserved);
            case 8:
                return known(m_block->thread != 0, m_block->thread);
            case 9:
                return m_file.captureOf(one.at);
            default:
                return m_block->rank;
        }
    }
};

bool areWorkerTimes(const std::string& kind) {
    return kind == kWorkerTimes;
}

class WorkerPhaseRows final : public BlockRows<WorkerTimes, std::int64_t> {
public:
    WorkerPhaseRows(QueryFile& file, QueryGuard& guard, const Asked& asked)
        : BlockRows(file, guard, areWorkerTimes, decodeWorkerTimes, &WorkerTimes::ns, asked) {}
    Cell cell(int column) override {
        // There is a time, so there are phases and workers.
        const auto place = static_cast<std::size_t>(m_record - m_block->ns.data());
        const std::size_t phases = m_block->phases.size(), workers = static_cast<std::size_t>(m_block->workers);
        switch (column) {
            case 0:
                return m_block->steps[place / phases / workers].at;
            case 1:
                return m_block->steps[place / phases / workers].number;
            case 2:
                return static_cast<std::int64_t>(place / phases % workers);
            case 3:
                return std::string_view(m_block->phases[place % phases]);
            default:
                return *m_record;
        }
    }
};

bool areWorkerClocks(const std::string& kind) {
    return kind == kWorkerClocks;
}

class WorkerClockRows final : public BlockRows<WorkerClocks, ClockReading> {
public:
    WorkerClockRows(QueryFile& file, QueryGuard& guard, const Asked& asked)
        : BlockRows(file, guard, areWorkerClocks, decodeWorkerClocks, &WorkerClocks::readings, asked) {}
    Cell cell(int column) override {
        switch (column) {
            case 0:
                return m_block->at;
            case 1:
                return static_cast<std::int64_t>(m_record - m_block->readings.data());
            case 2:
                return m_record->offset;
            default:
                return m_record->error;
        }
    }
};

// What a run of ours samples, a row a sample, as a row a value.
struct StoredMetric {
    const char *column, *unit;
    bool device;
};
constexpr std::array kMetrics = std::to_array<StoredMetric>({{"cpu_pct", "%", false},
                                                             {"resident_bytes", "B", false},
                                                             {"available_bytes", "B", false},
                                                             {"others_pct", "%", false},
                                                             {"steal_pct", "%", false},
                                                             {"throttled_pct", "%", false},
                                                             {"cpu_clock_mhz", "MHz", false},
                                                             {"cpu_temperature_c", "°C", false},
                                                             {"cpu_power_w", "W", false},
                                                             {"cpu_energy_j", "J", false},
                                                             {"gpu_pct", "%", true},
                                                             {"gpu_memory_bytes", "B", true},
                                                             {"gpu_power_w", "W", true},
                                                             {"gpu_temperature_c", "°C", true},
                                                             {"gpu_clock_mhz", "MHz", true},
                                                             {"gpu_other_processes", "", true},
                                                             {"gpu_others_busy_pct", "%", true}});

class StoredSampleRows final : public Rows {
public:
    StoredSampleRows(QueryFile& file, const Asked& asked) : m_file(file) {
        std::string sql = "SELECT at_ns";
        for (const auto& metric : kMetrics) sql += std::string(", ") + metric.column;
        m_rows = statementRows(file, sql + " FROM device_samples WHERE session = ?1 AND at_ns >= ?2 AND at_ns <= ?3", asked);
    }
    Result<bool> next() override {
        for (;;) {
            for (++m_metric; m_there && m_metric < kMetrics.size(); ++m_metric)
                if (!std::holds_alternative<std::monostate>(value())) return true;
            auto there = m_rows->next();
            if (!there || !*there) return there;
            m_there = true;
            m_metric = static_cast<std::size_t>(-1);
        }
    }
    Cell cell(int column) override {
        switch (column) {
            case 0:
                return m_rows->cell(0);
            case 1:
                return std::string_view(kMetrics[m_metric].column);
            case 2:
                return value();
            case 3:
                return std::string_view(kMetrics[m_metric].unit);
            case 4:
                return known(kMetrics[m_metric].device, 0);
            case 5:
                return {};
            case 6: {
                const Cell at = m_rows->cell(0);
                const auto* ns = std::get_if<std::int64_t>(&at);
                return known(ns != nullptr && !m_file.captures.empty() && *ns <= m_file.captures.back().end,
                             ns == nullptr ? 0 : m_file.captureOf(*ns));
            }
            default:
                return std::int64_t{0};
        }
    }

private:
    Cell value() { return m_rows->cell(static_cast<int>(m_metric) + 1); }

    QueryFile& m_file;
    std::unique_ptr<Rows> m_rows;
    std::size_t m_metric = 0;
    bool m_there = false;
};

class CapturedStepRows final : public Rows {
public:
    CapturedStepRows(QueryFile& file, QueryGuard& guard, const Asked& asked)
        : m_file(file), m_walk(file, guard, isSlices, decodeSlices, asked.from, asked.to), m_asked(asked) {}
    Result<bool> next() override {
        for (;;) {
            while (m_block && m_next < m_block->slices.size()) {
                m_slice = &m_block->slices[m_next++];
                if (m_slice->kind == SliceKind::Step && m_slice->start >= m_asked.from && m_slice->start <= m_asked.to) return true;
            }
            auto block = m_walk.next();
            if (!block) return block.error();
            if (!*block) return false;
            m_block = std::move(*block);
            m_next = 0;
        }
    }
    Cell cell(int column) override {
        switch (column) {
            case 0:
                return known(m_slice->step >= 0, m_slice->step);
            case 1:
                return m_slice->start;
            case 2:
                return m_slice->duration;
            case 3:
                return m_slice->start + m_slice->duration;
            case 4:
                return m_file.captureOf(m_slice->start, m_slice->step);
            default:
                return m_block->thread.rank;
        }
    }

private:
    QueryFile& m_file;
    ChunkWalk<SliceBlock> m_walk;
    Asked m_asked;
    std::shared_ptr<const SliceBlock> m_block;
    const Slice* m_slice = nullptr;
    std::size_t m_next = 0;
};

class StepSource final : public RowSource {
public:
    StepSource(QueryFile& file, QueryGuard& guard) : RowSource(viewNamed("step")), m_file(file), m_guard(guard) {}
    int timeColumn() const override { return 1; }
    double expectedRows() override { return 1000; }
    std::unique_ptr<Rows> rows(const Asked& asked) override {
        if (captured()) return std::make_unique<CapturedStepRows>(m_file, m_guard, asked);
        return statementRows(
            m_file,
            "SELECT step, at_ns - duration_ns, duration_ns, at_ns, NULL, 0 FROM steps WHERE session = ?1 AND at_ns - duration_ns >= ?2"
            " AND at_ns - duration_ns <= ?3",
            asked);
    }

private:
    bool captured() const { return m_file.records(kSlices) + m_file.records(kSlicesBefore) > 0; }

    QueryFile& m_file;
    QueryGuard& m_guard;
};

class SampleSource final : public RowSource {
public:
    SampleSource(QueryFile& file, QueryGuard& guard) : RowSource(viewNamed("sample")), m_file(file), m_guard(guard) {}
    double expectedRows() override { return 5000 + m_file.records(kSamples); }
    std::unique_ptr<Rows> rows(const Asked& asked) override {
        return std::make_unique<BothRows>(std::make_unique<StoredSampleRows>(m_file, asked), std::make_unique<SampleRows>(m_file, m_guard, asked));
    }

private:
    QueryFile& m_file;
    QueryGuard& m_guard;
};

class AllocationSource final : public RowSource {
public:
    AllocationSource(QueryFile& file, QueryGuard& guard) : RowSource(viewNamed("alloc")), m_file(file), m_guard(guard) {}
    double expectedRows() override { return m_file.records(kAllocations); }
    std::unique_ptr<Rows> rows(const Asked& asked) override { return std::make_unique<AllocationRows>(m_file, m_guard, asked); }

private:
    QueryFile& m_file;
    QueryGuard& m_guard;
};

class WorkerPhaseSource final : public RowSource {
public:
    WorkerPhaseSource(QueryFile& file, QueryGuard& guard) : RowSource(viewNamed("worker_phase")), m_file(file), m_guard(guard) {}
    double expectedRows() override { return m_file.records(kWorkerTimes); }
    std::unique_ptr<Rows> rows(const Asked& asked) override { return std::make_unique<WorkerPhaseRows>(m_file, m_guard, asked); }

private:
    QueryFile& m_file;
    QueryGuard& m_guard;
};

class WorkerClockSource final : public RowSource {
public:
    WorkerClockSource(QueryFile& file, QueryGuard& guard) : RowSource(viewNamed("worker_clock")), m_file(file), m_guard(guard) {}
    double expectedRows() override { return m_file.records(kWorkerClocks); }
    std::unique_ptr<Rows> rows(const Asked& asked) override { return std::make_unique<WorkerClockRows>(m_file, m_guard, asked); }

private:
    QueryFile& m_file;
    QueryGuard& m_guard;
};

}  // namespace

std::vector<QueryView> bulkViews() {
    return makeBulkViews();
}

void addBulkSources(RowSources& into, QueryFile& file, QueryGuard& guard) {
    into.push_back(std::make_unique<StepSource>(file, guard));
    into.push_back(std::make_unique<SampleSource>(file, guard));
    into.push_back(std::make_unique<AllocationSource>(file, guard));
    into.push_back(std::make_unique<WorkerPhaseSource>(file, guard));
    into.push_back(std::make_unique<WorkerClockSource>(file, guard));
}

}  // namespace stepscope::query
