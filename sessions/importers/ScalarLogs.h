// Logs of numbers that other training programs wrote: TensorBoard's event files, and llm.c's logs (CSV: CsvLog.h). Their losses become the steps and
// validations of the session, everything else samples. Called by Import.cpp on the importing thread; a file is a stranger's.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope {
struct Event;
}

namespace stepscope::importing {

constexpr std::size_t kMostScalarSteps = 2'000'000;

// The numbers of logs, step by step, until all files are read.
class ScalarSteps {
public:
    explicit ScalarSteps(std::size_t most = kMostScalarSteps) : m_most(most) {}
    struct Step {
        std::int64_t at = 0;  // ns of Unix time, or of the log's own
        double loss = kUnknown, learningRate = kUnknown, gradientNorm = kUnknown, validation = kUnknown;
        double milliseconds = kUnknown, tokens = kUnknown, tokensPerSecond = kUnknown;  // of the step, where its log says so
        std::int64_t validatedAt = -1;                                                  // where that is not `at`
        bool told = false;                                                              // `at` is a time of its log
        bool validationTold = false;                                                    // validatedAt is one
    };
    // told: not of a log without times, whose steps are given places in time that say nothing of how long they took.
    Step& at(std::int64_t step, std::int64_t atNs, bool told = true);
    Step& validated(std::int64_t step, std::int64_t atNs, bool told = true);
    // Whether the step is there or there is room for it.
    bool hasRoom(std::int64_t step) const;
    bool takes(std::int64_t step);  // the same; what is told of one without is counted
    std::size_t most() const { return m_most; }
    // Where there was not room for all: a sentence that says of how many numbers they are; else empty.
    std::string leftOut() const;
    void beginsAt(std::int64_t ns) { m_begin = ns; }  // of the log's clock, where that is known
    bool empty() const { return m_steps.empty(); }
    std::size_t count() const { return m_steps.size(); }
    std::int64_t firstNs() const;
    // Whether its log tells when each of its steps and validations was. One that was only put into its place spoils the time of all.
    bool knowsTimes() const;
    bool knowsSomeTimes() const;
    std::optional<std::int64_t> begin() const { return m_begin; }
    // In order, times from `origin` on. A step of which no log says how long it took, took the time since the one before, divided by the steps
    // between; where a log has no times either, 0: nobody knows.
    std::vector<Event> events(std::int64_t origin) const;
    // The same one by one, until `take` says no: all of a long log at once are gigabytes.
    void forEachEvent(std::int64_t origin, const std::function<bool(Event&&)>& take) const;

private:
    const std::size_t m_most;
    std::int64_t m_leftOut = 0;
    std::map<std::int64_t, Step> m_steps;
    std::optional<std::int64_t> m_begin;
};

// "Train_Loss" as "train/loss": so names are compared.
std::string lowered(std::string_view text);
// Where a number of this name belongs, by the names that people give these: Loss/train, train/loss, val_loss, lr, ...; null: nowhere.
double* scalarPlaceOf(ScalarSteps::Step& step, const std::string& tag);

bool looksLikeEventFile(std::string_view head);
bool looksLikeLlmcLog(std::string_view head);

// `go` as of readChromeTrace. What is wrong is one sentence with the byte.
Status readEventFile(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, const std::function<bool(double)>& go);
Status readLlmcLog(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, const std::function<bool(double)>& go);
// The same of bytes in memory, for tests and fuzzers.
Status readEventBytes(std::string_view bytes, const std::string& path, TraceBuilder& trace, ScalarSteps& steps);
Status readLlmcText(std::string_view text, const std::string& path, TraceBuilder& trace, ScalarSteps& steps,
                    std::size_t atOnce = std::string_view::npos);

}  // namespace stepscope::importing
