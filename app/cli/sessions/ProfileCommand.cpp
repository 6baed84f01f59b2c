// `profile ID`: where the time of a session's captured steps went, by operation, kernel, layer or role.
#include "app/cli/sessions/ProfileCommand.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/cli/sessions/CaptureReport.h"
#include "app/cli/sessions/CountedRank.h"
#include "app/cli/sessions/ProfileReport.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/diagnose/RoofChoice.h"
#include "core/analysis/captures/CaptureSentence.h"
#include "core/analysis/captures/KernelSummary.h"
#include "core/analysis/captures/OperationCounters.h"
#include "core/analysis/captures/OperationMemory.h"
#include "core/analysis/captures/OperationSummary.h"
#include "core/analysis/panes/OperationForms.h"
#include "core/base/Format.h"
#include "sessions/Captures.h"
#include "sessions/DeviceShapes.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"

namespace stepscope::cli {
namespace {

constexpr const char* kNoKernels = "No kernels were captured: the run was not on a GPU. Operations are shown without --by kernel.";

constexpr const char* kNoneImported =
    "No kernels are in the imported trace: it was recorded without a GPU; operations are shown without --by kernel.";

// What rows are sorted by where memory was asked for, and why: "sorted_by" in JSON, and the sentence above the table.
struct Sorted {
    std::string_view word, sentence;
};
constexpr Sorted kByAllocated{"allocated", "Sorted by the bytes that were allocated.\n"};
constexpr Sorted kByMoved{"moved", "Sorted by the bytes that are read and written: no allocations of this session were recorded.\n"};
constexpr Sorted kByMovedOfNone{"moved",
                                "Sorted by the bytes that are read and written: of the allocations that were recorded none is an operation's.\n"};
constexpr Sorted kByMovedOfPlaces{"moved",
                                  "Sorted by the bytes that are read and written: who allocated how much is known of operations only (--by op).\n"};
constexpr Sorted kByMovedOfKernels{"moved", "Sorted by the bytes that are copied, or read and written by what launched it.\n"};
constexpr Sorted kBySelf{"self", "Sorted by their own time: no bytes are known, neither allocated nor read and written.\n"};
constexpr Sorted kByTotal{"total", "Sorted by their time: no bytes are known of what ran on a GPU.\n"};

struct ProfileOptions {
    std::string id, database, sort = "self", by = "op", rank;
    std::int64_t limit = 40;
    bool json = false;
    std::vector<std::string> reports;

    std::string path() const { return database.empty() ? defaultDatabasePath() : database; }
};

const char* kindOf(SliceKind kind) {
    return kind == SliceKind::Memcpy ? "copy" : kind == SliceKind::Memset ? "memset" : "kernel";
}

// What is known of operations beside their slices.
struct Beside {
    OperationMemory memory;
    OperationCounters counters;
    std::string counterNote;  // why there are no counters, or what they cost; empty: nobody asked
    OperationForms forms;
    Roof roof;
    std::optional<LevelCosts> levels;  // of a run of ours
    std::map<std::string, KernelFacts> kernels;
    Sorted sorted;  // where memory was asked for; else empty
    CountedRank ranks;
    std::int64_t lostAllocations = 0, lostSamples = 0;  // or invalid
};

// What bounds it, by the roof of what it ran on.
Bounded boundOf(const SummaryRow& row, const Beside& beside) {
    return boundBy(PaneOperation{row, {}, beside.forms.typeOf(row.name), row.own ? beside.forms.threadsOf(row.name) : 1}, beside.roof);
}
Bounded boundOf(const LaunchedRow& row, const Beside& beside) {
    return boundBy(PaneKernel{.row = row}, beside.roof);
}
std::string boundText(const Bounded& bounded) {
    return bounded.by == Bound::Unknown ? std::string("-") : fmt::format("{}, {:.0f} %", toString(bounded.by), 100 * bounded.share);
}
void addBound(Json& into, const Bounded& bounded) {
    into["bound_by"] = bounded.by == Bound::Unknown ? Json(nullptr) : Json(toString(bounded.by));
    into["roof_share"] = bounded.by == Bound::Unknown ? Json(nullptr) : Json(number(bounded.share));
}
std::string roofText(const Roof& roof) {
    return roof.known() ? fmt::format("Bound by, with the share of the roof that is reached: {}.\n", roof.source)
                        : fmt::format("What bounds each is not said: {}.\n", roof.whyNone);
}

Result<Roof> roofFor(SessionReader& reader, std::int64_t id, SummaryBy by, bool devices, const std::vector<GpuWork>& worked) {
    if (by == SummaryBy::Operation && devices) return Roof{.whyNone = "operations of a run on a GPU only launch what computes (--by kernel)"};
    const auto info = reader.info(id);
    if (!info) return info.error();
    const auto shapes = deviceShapes(reader, id);
    if (!shapes) return shapes.error();
    if (info->kind == SessionKind::Trace) return roofOf(*info, devices, *shapes, worked, nullptr);
    return roofOf(*info, devices, *shapes, worked, &Workbench::create()->machine());
}

void addWork(const SliceBlock& block, std::vector<GpuWork>& worked) {
    auto gpu = std::ranges::find_if(worked, [&](const GpuWork& one) { return one.rank == block.thread.rank && one.device == block.thread.device; });
    if (gpu == worked.end()) gpu = worked.insert(gpu, {.rank = block.thread.rank, .device = block.thread.device, .time = {}});
    for (const Slice& slice : block.slices)
        if (isDeviceWork(slice.kind)) gpu->time.ns = cappedSum(gpu->time.ns, slice.duration);
}

Json orNull(const std::optional<double>& value) {
    return value ? Json(number(*value)) : Json(nullptr);
}

// What a row of operations and one of kernels have alike.
template <class Row>
Json timesJson(const Row& row, TimeNs self) {
    Json json = {{"name", row.name},
                 {"calls", row.calls},
                 {"self_ms", number(self.milliseconds())},
                 {"total_ms", number(row.total.milliseconds())},
                 {"mean_us", number(static_cast<double>(row.mean().ns) / 1e3)},
                 {"min_us", number(static_cast<double>(row.shortest.ns) / 1e3)},
                 {"max_us", number(static_cast<double>(row.longest.ns) / 1e3)},
                 {"layer", row.layer < 0 ? Json(nullptr) : Json(row.layer)},
                 {"role", row.role.empty() ? Json(nullptr) : Json(row.role)}};
    return json;
}

Json asJson(const SummaryRow& row, const Beside& beside) {
    const OperationMemory& memory = beside.memory;
    const CountedOperation counted = beside.counters.of(row.name);
    Json json = timesJson(row, row.self);
    json["phase"] = row.phase.empty() ? Json(nullptr) : Json(row.phase);
    json["places"] = row.places;
    json["recomputed"] = row.recomputed;
    json["own"] = row.own;
    json["flops"] = row.flops == 0 ? Json(nullptr) : Json(row.flops);
    json["bytes"] = row.bytes == 0 ? Json(nullptr) : Json(row.bytes);
    json["allocated_bytes"] = memory.known() ? Json(memory.of(row.name)) : Json(nullptr);
    json["instructions_per_cycle"] = orNull(counted.instructionsPerCycle);
    json["fetched_bytes_per_second"] = orNull(counted.bytesPerSecond);
    json["stalled_share"] = orNull(counted.stalledShare);
    addBound(json, boundOf(row, beside));
    const std::string formats = beside.forms.formatsOf(row.name);
    json["dtype"] = formats.empty() ? Json(nullptr) : Json(formats);
    return json;
}

Json asJson(const LaunchedRow& row, const Beside& beside) {
    Json json = timesJson(row, row.total);
    json["kind"] = kindOf(row.kind);
    json["grid"] = row.grid[0] == 0 ? Json(nullptr) : Json(row.grid);
    json["block"] = row.block[0] == 0 ? Json(nullptr) : Json(row.block);
    json["operation"] = row.operation.empty() ? Json(nullptr) : Json(row.operation);
    json["operations"] = row.operations;
    json["bytes"] = row.bytes == 0 ? Json(nullptr) : Json(row.bytes);
    addBound(json, boundOf(row, beside));
    const double worked = row.worked.seconds();
    json["dtype"] = row.type.empty() ? Json(nullptr) : Json(row.type);
    json["flops_per_second"] = worked > 0 && row.flops > 0 ? Json(number(row.flops / worked)) : Json(nullptr);
    json["bytes_per_second"] = worked > 0 && row.movedBytes > 0 ? Json(number(row.movedBytes / worked)) : Json(nullptr);
    json["registers"] = row.grid[0] == 0 ? Json(nullptr) : Json(row.registers);
    json["shared_bytes"] = row.grid[0] == 0 ? Json(nullptr) : Json(row.sharedBytes);
    const auto found = row.kind == SliceKind::Kernel ? beside.kernels.find(row.name) : beside.kernels.end();
    const KernelFacts facts = found != beside.kernels.end() ? found->second : KernelFacts();
    json["phase"] = facts.phase.empty() ? Json(nullptr) : Json(facts.phase);
    json["launch_delay_us"] = facts.launched > 0 ? Json(number(static_cast<double>(facts.launchDelay.ns) / 1e3)) : Json(nullptr);
    json["blocks_per_sm"] = facts.blocksPerMultiprocessor < 0 ? Json(nullptr) : Json(number(facts.blocksPerMultiprocessor));
    json["occupancy"] = facts.occupancy < 0 ? Json(nullptr) : Json(number(facts.occupancy));
    return json;
}

template <class Row>
Json asJson(const OperationSummary& summary, const std::vector<Row>& rows, bool ofDevice, const Beside& beside, const std::string& why,
            const std::vector<std::string>& notes) {
    Json list = Json::array();
    for (const auto& row : rows) list.push_back(asJson(row, beside));
    const SummaryTotals& totals = summary.totals();
    Json json = {{"rows", list},
                 {"steps", totals.steps},
                 {"step_ms", number(totals.stepTime.milliseconds())},
                 {"operations", totals.operations},
                 {"self_ms", number(totals.self.milliseconds())},
                 {"kernels", totals.kernels},
                 {"device_ms", number(totals.deviceTime.milliseconds())},
                 {"times_of", ofDevice ? "gpu" : "cpu"},
                 {"notes", notes},
                 {"rank", beside.ranks.rank() ? Json(*beside.ranks.rank()) : Json(nullptr)},
                 {"ranks", beside.ranks.there()},
                 {"roof", beside.roof.known()           ? Json(beside.roof.source)
                          : beside.roof.whyNone.empty() ? Json(nullptr)
                                                        : Json(beside.roof.whyNone)},
                 {"hardware_counters", beside.counterNote.empty() ? Json(nullptr) : Json(beside.counterNote)},
                 {"levels", beside.levels ? levelsJson(*beside.levels) : Json(nullptr)},
                 {"sorted_by", beside.sorted.word.empty() ? Json(nullptr) : Json(std::string(beside.sorted.word))},
                 {"lost", cappedSum(totals.lost, cappedSum(beside.lostAllocations, beside.lostSamples))},
                 {"lost_allocations", beside.lostAllocations},
                 {"lost_samples", beside.lostSamples},
                 {"invalid", totals.invalid}};
    if (!why.empty()) json["why"] = why;
    return json;
}

std::string rate(std::int64_t amount, const SummaryRow& row, const char* unit) {
    return amount == 0 || row.self.ns <= 0 ? std::string("-") : format::rate(static_cast<double>(amount) / row.self.seconds(), unit);
}

std::string sortedText(const Beside& beside) {
    return std::string(beside.sorted.sentence);
}

// What is told above every table.
std::string headText(const OperationSummary& summary, bool ofDevice, const Beside& beside, const std::vector<std::string>& notes) {
    const SummaryTotals& totals = summary.totals();
    std::string text =
        fmt::format("{} calls of operations in {} captured steps, {} a step.\n", format::count(totals.operations), format::count(totals.steps),
                    format::milliseconds(totals.stepTime.milliseconds() / static_cast<double>(std::max<std::int64_t>(1, totals.steps))));
    text += beside.ranks.text();
    if (totals.lost + totals.invalid > 0)
        text += fmt::format("{} slices were lost and {} invalid: these sums are without them.\n", format::count(totals.lost),
                            format::count(totals.invalid));
    if (beside.lostAllocations > 0)
        text += fmt::format("{} allocations were lost or invalid: what is said of memory is without them.\n", format::count(beside.lostAllocations));
    if (beside.lostSamples > 0)
        text += fmt::format("{} samples of counters were lost or invalid: curves and sums are without them.\n", format::count(beside.lostSamples));
    if (ofDevice)
        text += fmt::format("{} kernels and copies took {} on GPUs; times are those there.\n", format::count(totals.kernels),
                            format::milliseconds(totals.deviceTime.milliseconds()));
    if (beside.levels) text += "Cost of observing, measured in this run: " + levelSentence(*beside.levels) + "\n";
    for (const auto& note : notes) text += printable(note) + "\n";
    if (!beside.counterNote.empty()) text += printable(beside.counterNote) + "\n";
    return text;
}

std::string asText(const OperationSummary& summary, const std::vector<SummaryRow>& rows, SummaryBy by, const Beside& beside,
                   const std::vector<std::string>& notes) {
    using enum Table::Align;
    const bool ofDevice = summary.ofDevice(by);
    const TimeNs all = summary.whole(by);
    std::string text = headText(summary, ofDevice, beside, notes);
    const bool allocated = beside.sorted.word == kByAllocated.word;
    const bool counted = by == SummaryBy::Operation && beside.counters.known(), bounded = by == SummaryBy::Operation && beside.roof.known();
    if (by == SummaryBy::Operation) text += roofText(beside.roof);
    std::vector<Table::Column> columns{{by == SummaryBy::Operation ? "OPERATION"
                                        : by == SummaryBy::Layer   ? "LAYER"
                                                                   : "ROLE"},
                                       {"CALLS", Right},
                                       {"SELF", Right},
                                       {"SHARE", Right},
                                       {"TOTAL", Right},
                                       {"MEAN", Right},
                                       {"LAYER", Right},
                                       {"ROLE"},
                                       {"COMPUTES", Right},
                                       {"MOVES", Right}};
    if (allocated) columns.push_back({"ALLOCATED", Right});
    if (by == SummaryBy::Operation) columns.push_back({"TYPE"});
    if (bounded) columns.push_back({"BOUND BY"});
    if (counted)
        for (const char* head : {"INSTR/CYCLE", "FETCHES", "STALLED"}) columns.push_back({head, Right});
    Table table(columns);
    for (const auto& row : rows) {
        std::vector<std::string> cells{
            printable(row.name), format::count(row.calls), format::milliseconds(row.self.milliseconds()),
            all.ns > 0 ? fmt::format("{:.1f} %", 100 * static_cast<double>(row.self.ns) / static_cast<double>(all.ns)) : "-",
            format::milliseconds(row.total.milliseconds()), format::milliseconds(row.mean().milliseconds()),
            row.layer < 0 ? std::string("-") : std::to_string(row.layer),
            row.role.empty() ? std::string("-") : printable(row.role) + (row.places > 1 ? fmt::format(" (and {} more)", row.places - 1) : ""),
            rate(row.flops, row, "FLOP/s"),
            // Of a layer on a GPU only the copies say how much they moved.
            ofDevice ? std::string("-") : rate(row.bytes, row, "B/s")};
        if (allocated) cells.push_back(beside.memory.of(row.name) == 0 ? "-" : format::bytes(Bytes{beside.memory.of(row.name)}));
        if (by == SummaryBy::Operation) cells.push_back(beside.forms.formatsOf(row.name).empty() ? "-" : printable(beside.forms.formatsOf(row.name)));
        if (bounded) cells.push_back(boundText(boundOf(row, beside)));
        if (counted) {
            const CountedOperation one = beside.counters.of(row.name);
            cells.push_back(one.instructionsPerCycle ? format::significant(*one.instructionsPerCycle) : "-");
            cells.push_back(one.bytesPerSecond ? format::rate(*one.bytesPerSecond, "B/s") : "-");
            cells.push_back(one.stalledShare ? fmt::format("{:.1f} %", 100 * *one.stalledShare) : "-");
        }
        table.add(std::move(cells));
    }
    return text + table.text();
}

// Names of templates take hundreds of columns; both ends of them tell one from another. --json has them whole.
std::string tableName(const std::string& name) {
    constexpr std::size_t kMost = 72, kEnd = 24;
    const std::string text = printable(name);
    const auto continues = [&](std::size_t at) { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
    if (text.size() <= kMost) return text;
    std::size_t head = kMost - kEnd - 1, tail = text.size() - kEnd;
    while (head > 0 && continues(head)) --head;
    while (continues(tail)) ++tail;
    return text.substr(0, head) + "\u2026" + text.substr(tail);
}

std::string sizes(const std::array<std::int64_t, 3>& of) {
    return of[0] == 0 ? std::string("-") : fmt::format("{}x{}x{}", of[0], of[1], of[2]);
}

std::string asText(const KernelSummary& summary, const std::vector<LaunchedRow>& rows, const Beside& beside) {
    using enum Table::Align;
    Table table({{"KERNEL"},
                 {"CALLS", Right},
                 {"TOTAL", Right},
                 {"SHARE", Right},
                 {"MEAN", Right},
                 {"GRID", Right},
                 {"BLOCK", Right},
                 {"OPERATION"},
                 {"ROLE"},
                 {"BOUND BY"}});
    for (const auto& row : rows)
        table.add({tableName(row.name), format::count(row.calls), format::milliseconds(row.total.milliseconds()),
                   summary.total().ns > 0 ? fmt::format("{:.1f} %", 100 * static_cast<double>(row.total.ns) / static_cast<double>(summary.total().ns))
                                          : "-",
                   format::milliseconds(row.mean().milliseconds()), sizes(row.grid), sizes(row.block),
                   row.operation.empty() ? std::string("-")
                                         : printable(row.operation) + (row.operations > 1 ? fmt::format(" (and {} more)", row.operations - 1) : ""),
                   row.role.empty() ? std::string("-") : printable(row.role), boundText(boundOf(row, beside))});
    return roofText(beside.roof) + table.text();
}

Result<ExitCode> printProfile(const ProfileOptions& options, std::int64_t session) {
    const auto by = summaryBy(options.by);
    if (!by) return by.error();
    const auto sort = summarySort(options.sort);
    if (!sort) return sort.error();
    auto reader = SessionReader::open(options.path());
    if (!reader) return reader.error();
    const auto known = (*reader)->summary(session);
    if (!known) return known.error();
    auto ranks = CountedRank::from(options.rank, known->kind);
    if (!ranks) return ranks.error();
    OperationSummary summary;
    Beside beside;
    beside.ranks = std::move(*ranks);
    GpuShapes shapes;
    if (*by == SummaryBy::Kernel) {
        auto found = deviceShapes(**reader, session);
        if (!found) return found.error();
        shapes = std::move(*found);
        const auto slices = sliceCount(**reader, session);
        if (!slices) return slices.error();
        if (const std::string needed = kernelMemorySentence(*slices); !needed.empty()) printStatus(needed + "\n");
    }
    KernelSummary kernels(KernelSummary::Blocks::LaneByLane, std::move(shapes));
    bool onGpus = false;
    std::vector<GpuWork> worked;
    auto read = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
        onGpus = onGpus || block.thread.device >= 0;
        if (!beside.ranks.counts(block.thread.rank)) return {};
        if (block.thread.device >= 0) addWork(block, worked);
        summary.add(block);
        beside.forms.add(block);
        if (*by == SummaryBy::Kernel) kernels.add(block);
        return {};
    });
    if (!read) return read.error();
    if (const Status there = beside.ranks.check(options.path(), session); !there) return there.error();
    beside.kernels = kernels.facts();
    if (*by == SummaryBy::Operation || *by == SummaryBy::Kernel) {
        auto roof = roofFor(**reader, session, *by, summary.totals().kernels > 0, worked);
        if (!roof) return roof.error();
        beside.roof = std::move(*roof);
    }
    std::string slowest;  // what is not recorded of steps that were kept as such
    if (known->kind == SessionKind::Run) {
        const auto stored = storedCaptures(options.path(), session);
        if (!stored) return stored.error();
        beside.levels = stored->levels;
        slowest = slowestSentence(slowestAmong(stored->captures));
    }
    // Who took memory is known by operation only, and so is what was counted.
    OperationMemory& memory = beside.memory;
    if (auto note = counterNote(**reader, session); note)
        beside.counterNote = std::move(*note);
    else
        return note.error();
    auto added = forEachSampleBlock(**reader, session, [&](const SampleBlock& block) -> Status {
        if (!beside.ranks.counts(block.rank)) return {};
        if (*by == SummaryBy::Operation) beside.counters.add(block);
        beside.lostSamples = cappedSum(beside.lostSamples, cappedSum(block.lost, block.invalid));
        return {};
    });
    if (!added) return added.error();
    bool allocations = false;
    added = forEachAllocationBlock(**reader, session, [&](const AllocationBlock& block) -> Status {
        if (!beside.ranks.counts(block.rank)) return {};
        if (*by == SummaryBy::Operation) memory.add(block);
        allocations = allocations || !block.allocations.empty();
        beside.lostAllocations = cappedSum(beside.lostAllocations, cappedSum(block.lost, block.invalid));
        return {};
    });
    if (!added) return added.error();
    auto rows = summary.rows(*by, *sort);
    if (*sort == SummarySort::Memory && *by != SummaryBy::Kernel) {
        const bool moved = std::ranges::any_of(rows, [](const SummaryRow& row) { return row.bytes > 0; });
        beside.sorted = memory.known()                ? kByAllocated
                        : !moved                      ? kBySelf
                        : !allocations                ? kByMoved
                        : *by == SummaryBy::Operation ? kByMovedOfNone
                                                      : kByMovedOfPlaces;
        if (memory.known()) memory.sort(rows);
        if (!memory.known() && !moved) rows = summary.rows(*by, SummarySort::Self);
    }
    if (options.limit > 0 && rows.size() > static_cast<std::size_t>(options.limit)) rows.resize(static_cast<std::size_t>(options.limit));
    auto notes = captureNotes(**reader, session);
    if (!notes) return notes.error();
    if (!slowest.empty()) notes->push_back(std::move(slowest));
    std::string noKernels = notes->empty() ? std::string(kNoKernels) : notes->front();
    if (known->kind == SessionKind::Run && beside.ranks.there().size() > 1) {
        const auto whole = othersHaveMemory(**reader, session);
        if (!whole) return whole.error();
        if (!*whole && onGpus && notes->empty()) noKernels = otherWorkersSentence(true);
        if (!*whole) notes->push_back(otherWorkersSentence(onGpus));
    }
    if (!kernels.launchersKnown()) notes->push_back(launchersUnknownSentence(KernelSummary::kMostHeld));
    // By kernel: with grid and launching operation, which the ids of launches tell.
    if (const auto launched = kernels.rows(*sort, static_cast<std::size_t>(options.limit)); !launched.empty()) {
        if (*sort == SummarySort::Memory) beside.sorted = launched.front().moved() > 0 ? kByMovedOfKernels : kByTotal;
        print(options.json ? line(asJson(summary, launched, true, beside, "", *notes))
                           : sortedText(beside) + headText(summary, true, beside, *notes) + asText(kernels, launched, beside));
        return ExitCode::Ok;
    }
    std::string why;
    if (summary.totals().slices == 0)
        why = noCapture(session).sentence;
    else if (*by == SummaryBy::Kernel && summary.totals().kernels == 0)
        why = known->kind == SessionKind::Trace ? std::string(kNoneImported) : noKernels;
    if (options.json)
        print(line(asJson(summary, rows, summary.ofDevice(*by), beside, why, *notes)));
    else
        print(why.empty() ? sortedText(beside) + asText(summary, rows, *by, beside, *notes) : printable(why) + "\n");
    return ExitCode::Ok;
}

Result<ExitCode> profile(const ProfileOptions& options) {
    if (auto named = checkCaptureReports(options.reports); !named) return named.error();
    const auto id = parseSessionId(options.id);
    if (!id) return id.error();
    auto printed = printProfile(options, *id);
    if (!printed) return printed;
    if (auto written = writeCaptureReports(options.path(), *id, options.reports); !written) return written.error();
    return printed;
}

}  // namespace

void addProfile(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<ProfileOptions>();
    auto* command = parent.add_subcommand("profile", "Where the time of captured steps went; train --profile captures them");
    command->add_option("ID", options->id, "The session's number")->required();
    command->add_option("--by", options->by, "Rows: op, kernel, layer or role")
        ->check(CLI::IsMember({"op", "kernel", "layer", "role"}))
        ->capture_default_str()
        ->take_last();
    command
        ->add_option("--sort", options->sort,
                     "By self time, total time, or memory: bytes allocated where they were recorded, else read and written, else by self time")
        ->check(CLI::IsMember({"self", "total", "memory"}))
        ->capture_default_str()
        ->take_last();
    CountedRank::addOption(*command, options->rank);
    command->add_option("--limit", options->limit, "Rows at most; 0 = all")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->capture_default_str()
        ->take_last();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "End with one line of JSON");
    addCaptureReports(*command, options->reports);
    actions[command] = [options] { return profile(*options); };
}

}  // namespace stepscope::cli
