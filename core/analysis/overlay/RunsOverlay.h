// RunsOverlay: which stored runs lie over each other in the charts: what each is called (by the keys that differ alone), which colour it has, which
// are hidden, and which belong together where a key groups them. The window's wiring fills it as runs are read; charts and table show it.
// Torch-free, Qt-free. GUI thread.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/overlay/OverlaidRun.h"

namespace stepscope {

struct OverlaidSlot {
    std::int64_t session = 0;
    std::size_t colour = 0;                  // its place among the chosen; kept as long as the overlay is
    std::shared_ptr<const OverlaidRun> run;  // null: not read yet
    bool hidden = false;
    std::string label;  // "amp=bf16, seed=2"; the name where no key differs
};

// What is one line in every chart: a run, or those that have one value of the key that groups.
struct OverlayLine {
    std::string label, shortLabel;  // shortLabel: values without their keys
    std::string series;             // by which it is hidden and pointed at
    std::size_t colour = 0;
    bool hidden = false;                   // all of it
    std::vector<const OverlaidRun*> runs;  // that are read and not hidden; all of them where the whole line is hidden
    std::size_t of = 0;                    // how many belong to it
};

class RunsOverlay {
public:
    static constexpr std::size_t kFewest = 2, kMost = 20;

    explicit RunsOverlay(const std::vector<std::int64_t>& sessions);

    void put(std::shared_ptr<const OverlaidRun> run);
    bool remove(std::int64_t session);  // false: it is not there
    void setHidden(std::int64_t session, bool hidden);
    void setLineHidden(const std::string& series, bool hidden);
    void groupBy(const std::string& key);  // empty: every run is a line
    const std::string& groupKey() const { return m_group; }

    const std::vector<OverlaidSlot>& slots() const { return m_slots; }
    const OverlaidSlot* find(std::int64_t session) const;
    std::size_t read() const;                                          // how many are
    const std::vector<DifferingKeys>& keys() const { return m_keys; }  // values: one a slot that is read, in their order
    std::string valueOf(std::int64_t session, const std::string& key) const;
    const std::vector<OverlayLine>& lines() const { return m_lines; }  // of runs that are read
    const OverlayLine* lineOf(std::int64_t session) const;
    const OverlayLine* line(const std::string& series) const;

    // The line that a person points at or chose: it is drawn over the others, and its flips are marked.
    void point(const std::string& series) { m_pointed = series; }
    void choose(const std::string& series) { m_chosen = series; }
    const OverlayLine* emphasised() const;
    const Markers& marks() const;  // flips of the emphasised line, where that is one run

    // Least and greatest place of a step that is read, of those runs whose places on the axis are known; 0 where there is none.
    double first(XAxis axis) const;
    double last(XAxis axis) const;
    double stepLength(XAxis axis) const;  // mean, of the run with the shortest steps
    // The last place that every run reaches, on tokens and on seconds, of those that tell of them. Unknown where none does.
    double common(XAxis axis) const;
    // A sentence where all of it together says little; empty where nothing stands in the way.
    std::string remark() const;

private:
    void rename();
    void regroup();

    std::vector<OverlaidSlot> m_slots;
    std::vector<DifferingKeys> m_keys;
    std::vector<OverlayLine> m_lines;
    std::string m_group, m_pointed, m_chosen;
};

// Why so many sessions cannot be laid over each other, and what to do; empty where they can.
std::string whyNotOverlaid(std::size_t sessions);

}  // namespace stepscope
