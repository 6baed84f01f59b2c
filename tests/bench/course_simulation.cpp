// How often an experiment claims what is not there, and finds what is, on a recorded machine: course_simulation FILE... [--times N] [--budget S]
// FILE: the step log of a run in which nothing was flipped, however loaded the machine was, and beside it FILE.others with what other programs had
// meanwhile: tests/bench/record_condition makes both.
// Cuts contiguous steps in their order from a random start, multiplies those of B, and lets the production Course order, discard and stop. Steps and
// blocks are never shuffled. Without FILE.others no pair is left out. Prints one row a slowdown.
#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/support/CoursePlayer.h"

namespace {

using namespace stepscope;

struct Options {
    std::vector<std::string> files;
    int times = 1000;
    double budget = 60;
};

int fail(const std::string& sentence) {
    fmt::print(stderr, "{}\n", sentence);
    return 2;
}

// Each line's numbers under two keys; lines without them are passed over.
std::vector<std::pair<double, double>> columnsOf(const std::string& path, const char* first, const char* second) {
    std::vector<std::pair<double, double>> rows;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        const auto row = nlohmann::json::parse(line, nullptr, false);
        if (!row.is_object() || !row.contains(first) || !row[first].is_number() || !row.contains(second) || !row[second].is_number()) continue;
        rows.emplace_back(row[first].get<double>(), row[second].get<double>());
    }
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

struct Counts {
    int played = 0, claims = 0, wrong = 0, holds = 0, equivalent = 0;
    double seconds = 0;
};

Counts play(const StepSeries& series, const Options& options, double slowdown) {
    Counts counts;
    std::mt19937_64 random(20'251'122);
    std::uniform_int_distribution<std::size_t> start(0, series.seconds.size() - 1);
    const double truth = 1 / slowdown;
    for (int i = 0; i < options.times; ++i) {
        PlayOptions one{.rules = {.seed = static_cast<std::uint64_t>(i) + 1, .budgetSeconds = options.budget, .delta = 0.02}};
        one.start = start(random);
        one.slowdownOfB = slowdown;
        const Course course = playCourse(series, one);
        const PairedVerdict verdict = course.verdict();
        if (verdict.pairs == 0) continue;
        ++counts.played;
        counts.seconds += course.elapsed();
        const bool faster = verdict.outcome == PairedOutcome::Faster, slower = verdict.outcome == PairedOutcome::Slower;
        counts.claims += faster || slower;
        counts.wrong += slowdown > 1 ? faster : slowdown < 1 ? slower : faster || slower;
        counts.holds += !(verdict.low > truth) && !(verdict.high < truth);
        counts.equivalent += verdict.outcome == PairedOutcome::Equivalent;
    }
    return counts;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool number = (word == "--times" || word == "--budget") && i + 1 < argc;
        if (!number) {
            options.files.push_back(word);
            continue;
        }
        const std::string text = argv[++i];
        double value = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem != std::errc{} || end != text.data() + text.size() || !(value >= 1 && value <= 1e6))
            return fail(fmt::format("{} takes a number from 1 to a million, not \"{}\".", word, text));
        if (word == "--budget") options.budget = value;
        if (word == "--times") options.times = static_cast<int>(value);
    }
    if (options.files.empty()) return fail("Give at least one step log: tests/bench/record_condition makes one.");
    fmt::print(
        "| recording | steps | B takes | played | claims | wrong | interval holds the truth | equivalent at 2 % | mean s |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (const std::string& file : options.files) {
        const StepSeries series = seriesOf(file);
        if (series.seconds.size() < 1000) return fail(fmt::format("{} holds {} steps; at least 1000 are needed.", file, series.seconds.size()));
        for (const double slowdown : {1.0, 1.01, 0.99, 1.03, 0.97, 1.1, 0.9}) {
            const Counts counts = play(series, options, slowdown);
            const auto share = [&](int count) { return fmt::format("{:.1f} %", counts.played > 0 ? 100.0 * count / counts.played : 0.0); };
            fmt::print("| {} | {} | {:+.0f} % | {} | {} | {} | {} | {} | {:.0f} |\n", file.substr(file.rfind('/') + 1), series.seconds.size(),
                       (slowdown - 1) * 100, counts.played, share(counts.claims), share(counts.wrong), share(counts.holds), share(counts.equivalent),
                       counts.played > 0 ? counts.seconds / counts.played : 0.0);
        }
    }
    return 0;
}
