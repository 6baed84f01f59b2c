// How often an experiment claims what is not there, and finds what is, on a recorded machine; and how often the strip does, which looks at a live
// flip:
//   course_simulation FILE... [--times N] [--budget S] [--no-why] [--delta PCT] [--cores N] [--strip]
// FILE: the step log of a run in which nothing was flipped, however loaded the machine was, and beside it FILE.others with what other programs had
// meanwhile; or FILE.blocks, the blocks of real experiments of one configuration beside itself. tests/bench/record_condition makes all three.
// Cuts contiguous steps (or blocks) in their order from a random start, multiplies those of B, tosses new coins, and lets the production Course
// order, discard and stop. Steps and blocks are never shuffled. Without FILE.others no pair is left out. Prints one row a slowdown, with --strip of
// flips measured by the production FlipMeter. --budget: as `ab` takes it, so the pairs have what it leaves for them beside its captures; with
// --no-why, as there, all of it. --cores: of the machine that was recorded, of whose processors the strip tells shares; that of this one.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/RunHistory.h"
#include "core/analysis/Statistics.h"
#include "core/analysis/flips/FlipMeter.h"
#include "core/events/Event.h"
#include "tests/support/CoursePlayer.h"

namespace {

using namespace stepscope;

struct Options {
    std::vector<std::string> files;
    int times = 1000;
    double budget = 60, delta = 1, cores = 0;
    bool strip = false, captures = true;
    double seconds() const { return secondsOfPairs(budget, captures); }  // for the pairs and what they need
};

int fail(const std::string& sentence) {
    fmt::print(stderr, "{}\n", sentence);
    return 2;
}

void forEachLine(const std::string& path, const std::function<void(const nlohmann::json&)>& take) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);)
        if (const auto row = nlohmann::json::parse(line, nullptr, false); row.is_object()) take(row);
}

// Each line's numbers under two keys; lines without them are passed over.
std::vector<std::pair<double, double>> columnsOf(const std::string& path, const char* first, const char* second) {
    std::vector<std::pair<double, double>> rows;
    forEachLine(path, [&](const nlohmann::json& row) {
        if (row.contains(first) && row[first].is_number() && row.contains(second) && row[second].is_number())
            rows.emplace_back(row[first].get<double>(), row[second].get<double>());
    });
    return rows;
}

// Seconds from the end of each step to the end of the next, and the processors that others had then, where that is known.
StepSeries seriesOf(const std::string& path) {
    StepSeries series;
    const auto others = columnsOf(path + ".others", "seconds", "others");
    std::size_t sample = 0;
    double before = -1;
    for (const auto& [nanoseconds, step] : columnsOf(path, "t_ns", "step")) {
        const double now = nanoseconds * 1e-9;
        if (before >= 0 && now > before) {
            series.seconds.push_back(now - before);
            // The sample that covers the step's end: each stands at the end of what it covers.
            while (sample + 1 < others.size() && others[sample].first < now) ++sample;
            if (!others.empty()) series.others.push_back(others[sample].second);
        }
        before = now;
    }
    return series;
}

std::vector<RecordedBlock> blocksOf(const std::string& path) {
    std::vector<RecordedBlock> blocks;
    forEachLine(path, [&](const nlohmann::json& row) {
        const auto number = [&](const char* key) { return row.contains(key) && row[key].is_number() ? row[key].get<double>() : kUnknown; };
        const double instance = number("instance"), turn = number("turn"), seconds = number("seconds"), steps = number("steps");
        if (!(instance >= 0 && instance < 1e9 && turn >= 0 && seconds > 0 && steps >= 1 && steps < 1e9)) return;
        blocks.push_back({static_cast<std::int64_t>(instance), turn, seconds, static_cast<std::int64_t>(steps), number("others")});
    });
    return blocks;
}

// What is played: a recording, from a random start from which so many seconds come before its end.
struct Recording {
    std::string name, of;  // "steps" or "blocks"
    std::vector<double> seconds;
    std::function<Course(const PlayOptions&)> play;

    std::size_t lastStart(double needed) const {
        std::size_t last = seconds.size();
        for (double left = 0; last > 0 && left < needed; --last) left += seconds[last - 1];
        return last;
    }
};

struct Counts {
    int claims = 0, right = 0, wrong = 0, holds = 0, equivalent = 0;
    double seconds = 0;
    std::map<std::string, int> open;       // by reason
    std::map<std::int64_t, int> byLength;  // by the steps of a block that the pilot chose
};

template <typename Key>
std::string listed(const std::map<Key, int>& counts) {
    std::string text;
    for (const auto& [key, count] : counts) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, count);
    return text;
}

Counts play(const Recording& recording, const Options& options, double slowdown, double delta) {
    Counts counts;
    std::mt19937_64 random(20'251'122);
    // A rebuild and a pair that are under way when the budget is spent are finished.
    std::uniform_int_distribution<std::size_t> start(0, recording.lastStart(1.2 * options.seconds() + 10));
    const double truth = 1 / slowdown;
    for (int i = 0; i < options.times; ++i) {
        PlayOptions one{.rules = {.seed = static_cast<std::uint64_t>(i) + 1, .budgetSeconds = options.seconds(), .delta = delta}};
        one.start = start(random);
        one.slowdownOfB = slowdown;
        const Course course = recording.play(one);
        const PairedVerdict verdict = course.verdict();
        counts.seconds += course.elapsed();
        const bool faster = verdict.outcome == PairedOutcome::Faster, slower = verdict.outcome == PairedOutcome::Slower;
        counts.claims += faster || slower;
        counts.right += slowdown > 1 ? slower : slowdown < 1 && faster;
        counts.wrong += slowdown > 1 ? faster : slowdown < 1 ? slower : faster || slower;
        counts.holds += !(verdict.low > truth) && !(verdict.high < truth);
        counts.equivalent += verdict.outcome == PairedOutcome::Equivalent;
        if (verdict.outcome == PairedOutcome::Inconclusive) ++counts.open[toString(verdict.reason)];
        if (course.plan()) ++counts.byLength[course.plan()->steps[0]];
    }
    return counts;
}

void printRows(const Recording& recording, const Options& options) {
    const double delta = options.delta / 100;
    const auto row = [&](double slowdown, double within) {
        const Counts counts = play(recording, options, slowdown, within);
        const auto share = [&](int count) { return fmt::format("{} ({:.1f} %)", count, 100.0 * count / options.times); };
        fmt::print("| {} | {} {} | {:+.0f} % | {:g} % | {} | {} | {} | {} | {} | {} | {:.0f} | {} | {} |\n", recording.name, recording.seconds.size(),
                   recording.of, (slowdown - 1) * 100, within * 100, options.times, share(counts.claims), share(counts.right), share(counts.wrong),
                   share(counts.holds), share(counts.equivalent), counts.seconds / options.times, listed(counts.open), listed(counts.byLength));
        std::fflush(stdout);
    };
    for (const double slowdown : {1.0, 1.01, 0.99, 1.03, 0.97, 1.1, 0.9}) row(slowdown, delta);
    if (delta != 0.02) row(1.0, 0.02);
}

// The window's strip: a run of so many steps, a flip at a random place of the recording, and the steps behind it until it can be said.
struct StripCounts {
    int decided = 0, claims = 0, right = 0, wrong = 0, otherMachine = 0;
};

StripCounts playStrip(const StepSeries& series, const Options& options, double slowdown) {
    constexpr std::size_t kBefore = FlipEffect::kWarmUp + ShamTest::kMost * ShamTest::kPlace + 2 * FlipEffect::kSteps;
    constexpr double kBeyond = 1, kSample = 0.5;  // seconds: the machine's newest sample comes after the newest step, and one comes so often
    const auto longest = *std::ranges::max_element(series.seconds);
    const auto beyond = FlipEffect::kWarmUp + FlipEffect::kSteps + static_cast<std::size_t>(kBeyond / std::max(1e-3, median(series.seconds))) + 1;
    StripCounts counts;
    if (series.seconds.size() <= kBefore + beyond || !(longest > 0)) return counts;
    std::mt19937_64 random(20'251'123);
    std::uniform_int_distribution<std::size_t> start(0, series.seconds.size() - kBefore - beyond - 1);
    for (int i = 0; i < options.times; ++i) {
        const std::size_t begin = start(random);
        RunHistory history;
        FlipMeter meter;
        history.append(SessionStarted{1, std::make_shared<SessionInfo>(), false});
        double now = 0, sampled = 0, others = 0;
        for (std::size_t step = 1; step <= kBefore + beyond; ++step) {
            const double seconds = series.seconds[begin + step] * (step > kBefore ? slowdown : 1);
            now += seconds;
            history.append(StepDone{
                .step = static_cast<std::int64_t>(step), .at = TimeNs::fromSeconds(now), .duration = TimeNs::fromSeconds(seconds), .tokens = 1000});
            if (!series.others.empty()) others += series.others[begin + step] * seconds;
            if (now - sampled >= kSample) {
                if (!series.others.empty())
                    history.append(DeviceSample{.at = TimeNs::fromSeconds(now), .othersPct = 100 * others / (now - sampled) / options.cores});
                sampled = now;
                others = 0;
            }
            if (step == kBefore) {
                const SwitchApplied flip{
                    static_cast<std::int64_t>(step), TimeNs::fromSeconds(now), "flipped", std::string("off"), std::string("on"), ""};
                history.append(flip);
                meter.flipped(history, flip);
            }
        }
        const auto reading = meter.read(history);
        if (!reading || !reading->effect.decided()) continue;
        ++counts.decided;
        const Change& change = reading->effect.ms;
        const bool sameMachine = reading->effect.machineChange.empty(), claims = change.conclusive() && sameMachine;
        counts.otherMachine += !sameMachine;
        counts.claims += claims;
        counts.right += claims && slowdown != 1 && (change.ratio() > 1) == (slowdown > 1);
        counts.wrong += claims && (slowdown == 1 || (change.ratio() > 1) != (slowdown > 1));
    }
    return counts;
}

void printStrip(const std::string& name, const StepSeries& series, const Options& options) {
    for (const double slowdown : {1.0, 1.03, 0.97, 1.1, 0.9}) {
        const StripCounts counts = playStrip(series, options, slowdown);
        fmt::print("| {} | {} | {:+.0f} % | {} | {} | {} | {} | {} | {} |\n", name, series.seconds.size(), (slowdown - 1) * 100, options.times,
                   counts.decided, counts.claims, counts.right, counts.wrong, counts.otherMachine);
        std::fflush(stdout);
    }
}

std::string nameOf(const std::string& file) {
    return file.substr(file.rfind('/') + 1);
}

int playAll(const Options& options) {
    if (options.strip)
        fmt::print(
            "| recording | steps | steps behind the flip take | flips | decided | claims | right | wrong | put down to the machine |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    else
        fmt::print(
            "| recording | of | B takes | counts as equal | played | claims | right | wrong | interval holds the truth | equivalent | mean s | why "
            "open | steps of a block |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |\n");
    for (const std::string& file : options.files) {
        if (file.ends_with(".blocks")) {
            if (options.strip) return fail(fmt::format("{} holds blocks; the strip is of steps.", file));
            const std::vector<RecordedBlock> blocks = blocksOf(file);
            if (blocks.size() < 100) return fail(fmt::format("{} holds {} blocks; at least 100 are needed.", file, blocks.size()));
            Recording recording{nameOf(file), "blocks", {}, [&](const PlayOptions& one) { return playBlocks(blocks, one); }};
            for (const RecordedBlock& block : blocks) recording.seconds.push_back(block.turnSeconds + block.seconds);
            printRows(recording, options);
            continue;
        }
        const StepSeries series = seriesOf(file);
        if (series.seconds.size() < 1000) return fail(fmt::format("{} holds {} steps; at least 1000 are needed.", file, series.seconds.size()));
        if (options.strip)
            printStrip(nameOf(file), series, options);
        else
            printRows({nameOf(file), "steps", series.seconds, [&](const PlayOptions& one) { return playCourse(series, one); }}, options);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    options.cores = std::max(1U, std::thread::hardware_concurrency());
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--strip") {
            options.strip = true;
            continue;
        }
        if (word == "--no-why") {
            options.captures = false;
            continue;
        }
        const bool number = word == "--times" || word == "--budget" || word == "--delta" || word == "--cores";
        if (!number) {
            if (word.starts_with("--")) return fail(fmt::format("{} is no option of this bench; its first lines name them.", word));
            options.files.push_back(word);
            continue;
        }
        const std::string text = i + 1 < argc ? argv[++i] : "";
        double value = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem != std::errc{} || end != text.data() + text.size() || !(value >= 0.05 && value <= 1e6) || (word == "--times" && value < 1))
            return fail(fmt::format("{} takes a number up to a million, not \"{}\".", word, text));
        if (word == "--budget") options.budget = value;
        if (word == "--delta") options.delta = value;
        if (word == "--cores") options.cores = value;
        if (word == "--times") options.times = static_cast<int>(value);
    }
    if (options.files.empty()) return fail("Give at least one step log: tests/bench/record_condition makes one.");
    return playAll(options);
}
