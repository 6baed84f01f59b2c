// PlanDraft: a RunPlan while the switches fill it, in the order of install.cpp. What two of them would both decide is refused with both names. Used
// by the registry.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/base/Result.h"
#include "core/events/RunPlan.h"

namespace stepscope {

class PlanDraft {
public:
    // running: every switch at the value that runs (Registry::running). workers: that make a run's steps together, at least 1; beforeHere: so many of
    // them that run on this machine come before this one.
    explicit PlanDraft(RunConfig running, int workers = 1, int beforeHere = 0)
        : m_running(std::move(running)), m_workers(workers), m_beforeHere(beforeHere) {}

    RunPlan plan;

    // For a switch that depends on another one's value.
    const RunConfig& running() const { return m_running; }
    // For a note about what is done between workers.
    int workers() const { return m_workers; }
    int workersBeforeHere() const { return m_beforeHere; }

    // Who decides from here on, for the sentence about two claims.
    void beginSwitch(std::string id) { m_owner = std::move(id); }
    // That the switch at hand decides this, in words that complete "both decide the".
    void claim(const std::string& what);
    // Whether one before it does.
    bool isClaimed(const std::string& what) const { return m_claims.contains(what); }

    // The sentence about the first thing that two switches have claimed.
    const std::optional<Error>& conflict() const { return m_conflict; }

private:
    RunConfig m_running;
    int m_workers, m_beforeHere;
    std::string m_owner;
    std::map<std::string, std::string> m_claims;  // what -> switch
    std::optional<Error> m_conflict;
};

}  // namespace stepscope
