// TraceBuilder: what the readers of foreign files hand their events to. It keeps them by lane, and when all are there gives them out as blocks: in
// order of time, nested, with steps and flows joined. Memory is bounded whatever comes (RecordSorter, TextStore). One thread.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/KeyedHash.h"
#include "core/base/Result.h"
#include "core/trace/Chunk.h"
#include "core/trace/Slice.h"
#include "sessions/importers/RecordSorter.h"
#include "sessions/importers/TextStore.h"

namespace stepscope::importing {

struct ImportCounts {
    std::int64_t steps = 0, operations = 0, kernels = 0, copies = 0, memsets = 0, runtimeCalls = 0, driverCalls = 0, synchronisations = 0;
    std::int64_t annotations = 0, python = 0, others = 0, samples = 0, allocations = 0;
    std::int64_t flows = 0;    // arrows of which both ends are there
    std::int64_t skipped = 0;  // events that could not be kept, by reason below
    std::map<std::string, std::int64_t> reasons;
};

class TraceBuilder {
public:
    explicit TraceBuilder(const std::string& folder);  // for its working files

    // One file: its worker, and where its clock stands in Unix time; the latter may be told after its events.
    struct File {
        std::int64_t rank = 0;
        bool saysRank = false;  // the file itself, by `rank` or `ranks`; else they are only in a row
        std::int64_t baseNs = 0;
        std::string facts;   // what the file says of itself, a JSON object; stored as it is
        std::string source;  // "kineto", "nsys"
        // Where what is whole of it ends, "at byte 120", if that is before its end; what is there is kept.
        std::string endsEarly;
        std::vector<std::string> warnings;  // what its profiler says of its own recording, each once
        // ns to which its times are rounded: what reaches beyond its parent by no more than this lies within it. 0: they are exact.
        std::int64_t roundedNs = 0;
        // Where the processes of several workers are in it: what each is told by in the file, and the rank that it is given. The processes of the
        // second of them have numbers larger by `apart` for each rank between.
        std::map<std::int64_t, std::int64_t> ranks;
        std::int64_t apart = 0;
        // Or whose each process is, where the file tells by their names, and its number without what tells it from those of others; by what the file
        // calls it. All these ranks are among `ranks`; of other processes the worker is the first of them.
        struct Whose {
            std::int64_t rank = 0;
            std::optional<std::int64_t> process{};
        };
        std::map<std::string, Whose> whose;
    };
    void beginFile(std::int64_t rank);  // the rank may be set anew before endFile()
    File& file() { return m_files.back(); }

    enum class LaneUse : std::uint8_t { Slices, Synchronisation, Samples, Allocations, Flows };
    // pid and tid as the file writes them, numbers or texts. Nothing where there are too many lanes.
    std::optional<std::uint32_t> lane(std::string_view pid, std::string_view tid, LaneUse use = LaneUse::Slices);
    void nameProcess(std::string_view pid, const std::string& name);
    void nameThread(std::string_view pid, std::string_view tid, const std::string& name);
    void ofDevice(std::uint32_t lane, std::int64_t device, std::optional<std::int64_t> stream);

    std::uint32_t text(std::string_view text) { return m_names.add(text); }
    std::string textAt(std::uint32_t number) { return m_names.text(number); }
    // The place of arguments that are equal to these. Numbers and `extra` are checked; what cannot be is left out and told.
    std::uint32_t arguments(const SliceArguments& arguments);

    // Takes the slice, counted by its kind, or skips it with a reason. Times are ns of the file's clock.
    void slice(const Record& record);
    void flow(std::string_view category, std::string_view id, bool begins, std::int64_t at, std::uint32_t lane);
    void sample(std::string_view pid, const std::string& series, const std::string& unit, std::int64_t at, double value);
    struct Memory {
        std::int64_t at = 0, bytes = 0, device = -1, totalAllocated = -1, totalReserved = -1;
        std::uint64_t address = 0;
        std::string kind, owner;
    };
    void allocation(std::string_view pid, const Memory& memory);
    void step(std::int64_t number, std::int64_t start, std::int64_t duration);  // beside its slice, which tells where it is skipped
    void skip(const std::string& reason, std::int64_t events = 1);
    void tell(const std::string& reason) { ++m_counts.reasons[reason]; }  // of an event that is kept

    const ImportCounts& counts() const { return m_counts; }
    bool empty() const { return m_recorded == 0; }
    std::int64_t recorded() const { return m_recorded; }
    std::int64_t lastEndNs() const { return m_lastEnd; }  // of the session's clock, once finish() is done
    // Unix time of the first event, ns; 0: unknown. Of no use before all files are read.
    std::int64_t originNs() const;
    std::vector<File>& files() { return m_files; }
    std::int64_t lastStep() const { return m_lastStep; }
    const Status& status() const;

    // Hands out everything as chunks that are still to be encoded, which is work for another thread. False from `take` ends it. Once only.
    using Encode = std::function<Chunk()>;
    // `go` is asked now and then, also where nothing comes out for long; false ends it too.
    // `origin`: where the session begins, of the clock of originNs(); by default there.
    Status finish(const std::function<bool(Encode)>& take, const std::function<bool()>& go = {}, std::optional<std::int64_t> origin = {});
    struct CapturedStep {
        std::int64_t number, start, end;  // ns of Unix time, or of the file's own
    };
    // Of the first file that has any, each number once, by their begin. Once finish() is done.
    std::vector<CapturedStep> capturedSteps() const;

private:
    struct Lane {
        LaneUse use = LaneUse::Slices;
        std::size_t file = 0;
        std::string pid, tid;
        std::int64_t device = -1;
        std::optional<std::int64_t> stream;
        std::int64_t number = 0;  // autograd's
        SliceThread thread;       // once all are known
    };
    struct StepRange {
        std::int64_t start, end, number;
    };
    struct Arrow {
        std::uint32_t lane;
        std::int64_t at, from;
        bool operator<(const Arrow& other) const { return std::tie(lane, at) < std::tie(other.lane, other.at); }
    };
    friend class LaneWriter;
    void nameLanes();
    void joinFlow(const Record& end);
    void joinLaunch(const Record& call);
    std::int64_t stepOf(std::size_t file, std::int64_t at) const;
    std::int64_t stepOf(std::size_t file, const Record& record) const;
    std::optional<std::int64_t> launchedIn(std::size_t file, std::int64_t correlation) const;
    bool fits(std::int64_t start);

    TextStore m_names, m_arguments;
    RecordSorter m_sorter;
    std::vector<File> m_files;
    std::vector<std::int64_t> m_firstOfFile;
    std::vector<Lane> m_lanes;
    KeyedMap<std::string, std::uint32_t> m_laneOf;
    std::string m_key;
    std::optional<std::uint32_t> m_flows;  // the file's lane of flows and launches
    struct Recent {
        std::string key;
        std::uint32_t lane = 0;
    };
    std::vector<Recent> m_recent;  // lanes found lately, by a few bits of their keys
    std::map<std::pair<std::size_t, std::string>, std::string> m_processNames;
    std::map<std::tuple<std::size_t, std::string, std::string>, std::string> m_threadNames;
    std::vector<std::vector<StepRange>> m_steps;  // by file
    struct Witness {                              // a backward function, to learn who autograd's thread is
        std::uint32_t lane;
        std::int64_t start, thread;
        bool operator<(const Witness& other) const { return std::tie(lane, start) < std::tie(other.lane, other.start); }
    };
    std::vector<Witness> m_witnesses;
    std::map<std::pair<std::size_t, std::int64_t>, int> m_witnessed;
    std::vector<Arrow> m_arrows;
    std::int64_t m_flowKey = 0;        // of the ends that are being joined, with the begins that have no end yet
    std::vector<Record> m_flowBegins;  // of one id, all before its first end
    std::size_t m_flowNext = 0;        // of them, the one that the next end belongs to
    std::int64_t m_flowBegun = 0;
    // Calls whose correlations follow each other, all of one step: a trace has few, as correlations are counted upwards.
    struct Launches {
        std::int64_t first, last, step;
    };
    std::vector<Launches> m_launches;  // of one file, by their correlation
    std::size_t m_launchesFile = 0;
    Record m_launch;  // that was joined last
    ImportCounts m_counts;
    std::int64_t m_recorded = 0, m_lastStep = 0, m_lastEnd = 0;
    std::string m_blob;
};

}  // namespace stepscope::importing
