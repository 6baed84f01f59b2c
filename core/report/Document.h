// Document: a report as data, in the order in which it is read. Texts are plain, of any origin: who renders it escapes them and leaves out what is
// no text (control characters). Rendered by Html.h and Markdown.h.
#pragma once
#include <cmath>
#include <string>
#include <variant>
#include <vector>

namespace stepscope::report {

// Whether a ratio was measured: what was not is no number.
inline bool isRatio(double value) {
    return std::isfinite(value) && value > 0;
}

struct Heading {
    std::string text;
};
struct Paragraph {
    std::string text;
};
// The answer: larger than what stands around it.
struct Verdict {
    enum class Tone { Good, Bad, Neutral };
    std::string text;
    Tone tone = Tone::Neutral;
};
struct Table {
    std::vector<std::string> head;               // may be empty
    std::vector<std::vector<std::string>> rows;  // as long as each other
    std::size_t textColumns = 1;                 // from the left; the others hold numbers and stand at the right
};
struct Code {
    std::string text;  // to be typed
};

// Pairs of blocks in their order: what each said and what was known after it. Ratios; all positive.
struct PairDot {
    double ratio = 1;
    bool leftOut = false;
    long group = 0;            // pairs of one group were measured with the same instances
    double low = 0, high = 0;  // interval after this pair; 0, 0: none yet
};
struct PairPicture {
    std::vector<PairDot> dots;
    double delta = 0.01;             // a ratio within 1 +- delta counts as equal
    std::string aboveOne, belowOne;  // what a ratio on that side means: "B is faster"
};

// What several measurements said, one bar each: ratios with their intervals.
struct RatioBar {
    std::string name;
    double ratio = 1;          // not positive, or no number: not measured
    double low = 0, high = 0;  // 0, 0: no interval
    std::string note;          // in place of the bar where there is none
    bool strong = false;       // the one that sums the others up
};
struct BarPicture {
    std::string label;  // what a ratio is: "times as fast as the rung below"
    std::vector<RatioBar> bars;
};

// Parts of a whole, one bar each, the longest as wide as there is room.
struct ShareBar {
    std::string name;
    double share = 0;   // of the whole; not positive, or no number: no bar
    std::string value;  // beside the bar: "12.3 ms, 54 %"
};
struct SharePicture {
    std::string label;
    std::vector<ShareBar> bars;
};

using Block = std::variant<Heading, Paragraph, Verdict, Table, Code, PairPicture, BarPicture, SharePicture>;

struct Document {
    std::string title, subtitle;
    std::vector<Block> blocks;
};

// Without control characters; bytes that are no UTF-8 become U+FFFD.
std::string plainText(const std::string& text);

}  // namespace stepscope::report
