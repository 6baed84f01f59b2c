#include "core/data/GeneratedText.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

// Each list in order of how often its words are to come.
// clang-format off
constexpr auto kNouns = std::to_array<std::string_view>(
    {"man",    "house",  "day",    "king",   "land",    "crowd",  "river",  "woman",   "night", "city",    "child",   "word",  "road",  "water",
     "hand",   "tree",   "field",  "mother", "father",  "door",   "fire",   "stone",   "ship",  "mountain","animal",  "horse", "voice", "story",
     "friend", "garden", "island", "evening","bird",    "letter", "window", "market",  "wind",  "bridge",  "apple",   "forest","wall",  "brother",
     "teacher","village","sister", "old man","winter",  "book",   "table",  "hill",    "lamp",  "soldier", "harbour", "sea",   "song",  "engine",
     "egg",    "tower",  "farmer", "sheep",  "question","answer", "merchant","acre",    "uncle", "boat",    "kitchen", "storm", "coat",  "oven",
     "church", "clock",  "orchard","shadow", "mirror",  "dog",    "wolf",   "neighbour","basket","carpenter","secret", "promise","owl",  "lantern"});
constexpr auto kAdjectives = std::to_array<std::string_view>(
    {"old",   "great", "little", "good",  "long",  "young",  "small", "white", "dark",    "early",  "strong", "quiet",  "empty", "cold",  "new",  "open",
     "heavy", "green", "humble", "poor",  "proud", "gentle", "angry", "deep",  "bright",  "ancient","hungry", "narrow", "idle",  "silver","ugly", "patient"});
constexpr auto kNames = std::to_array<std::string_view>({"Anna", "Thomas", "Ruth", "Samuel", "Maria", "Peter", "Edith", "Oliver", "Clara", "Hugo", "Ada", "Ivan"});
constexpr auto kActions = std::to_array<std::string_view>(
    {"saw",    "took",    "found", "knew",    "made",   "called", "loved",    "left",    "heard",   "carried", "asked", "followed", "built",  "opened",
     "watched","brought", "lost",  "kept",    "feared", "sold",   "remembered","crossed","painted", "helped",  "met",   "answered", "guarded","repaired",
     "forgot", "counted", "hid",   "thanked", "chased", "washed", "bought",   "trusted", "described","admired"});
constexpr auto kHappenings = std::to_array<std::string_view>({"came", "went", "slept", "laughed", "waited", "spoke", "returned", "fell", "sang", "worked", "rested",
                                                              "wept", "ran", "stood still", "arrived", "wandered", "listened", "vanished"});
constexpr auto kManners = std::to_array<std::string_view>({"again", "slowly", "there", "at once", "alone", "in the morning", "for a long time", "quietly", "every day",
                                                           "at last", "without a word", "before dawn", "once more"});
constexpr auto kPlaces = std::to_array<std::string_view>({"in", "near", "behind", "under", "beside", "beyond", "above", "across from"});
constexpr auto kSpeaking = std::to_array<std::string_view>({"said", "thought", "believed", "told us", "was sure", "wrote", "swore"});
constexpr auto kJoining = std::to_array<std::string_view>({"and", "but", "because", "while", "so", "until", "although"});
// clang-format on

using Words = std::span<const std::string_view>;

class Author {
public:
    std::string write(std::size_t bytes) {
        m_text.reserve(bytes + 2048);
        while (m_text.size() < bytes) paragraph();
        return std::move(m_text);
    }

private:
    static constexpr std::uint64_t kSeed = 20240101, kStream = 0;

    std::uint64_t below(std::uint64_t bound) { return counterRandomBelow(kSeed, kStream, m_draws++, bound); }
    bool chance(std::uint64_t percent) { return below(100) < percent; }

    // Zipf's law with exponent 1: the word of rank r comes with weight 1 / r.
    std::string_view pick(Words words) {
        constexpr std::uint64_t kUnit = 720720;  // divisible by 1..16, so that the common words have exact weights
        if (m_sums.size() < words.size() + 1) {
            m_sums.assign(1, 0);
            for (std::size_t rank = 1; rank <= std::max<std::size_t>(words.size(), 128); ++rank) m_sums.push_back(m_sums.back() + kUnit / rank);
        }
        const std::uint64_t drawn = below(m_sums[words.size()]);
        const auto found = std::upper_bound(m_sums.begin(), m_sums.begin() + static_cast<std::ptrdiff_t>(words.size()), drawn);
        return words[static_cast<std::size_t>(found - m_sums.begin()) - 1];
    }

    void word(std::string_view text) {
        if (!m_text.empty() && m_text.back() != '\n') m_text += ' ';
        const std::size_t at = m_text.size();
        m_text += text;
        if (m_capital) m_text[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(m_text[at])));
        m_capital = false;
    }
    void sign(std::string_view text) { m_text += text; }

    void thing(int depth) {
        if (chance(15)) return word(pick(kNames));
        const bool definite = chance(65), described = chance(35);
        const std::string_view adjective = described ? pick(kAdjectives) : std::string_view(), noun = pick(kNouns);
        const bool vowel = std::string_view("aeiou").find(described ? adjective.front() : noun.front()) != std::string_view::npos;
        word(definite ? "the" : vowel ? "an" : "a");
        if (described) word(adjective);
        word(noun);
        if (depth < 2 && chance(12)) {
            word(pick(kPlaces));
            thing(depth + 1);
        }
    }

    void clause(int depth) {
        thing(0);
        if (depth < 2 && chance(12)) {
            word(pick(kSpeaking));
            word("that");
            return clause(depth + 1);
        }
        if (chance(60)) {
            word(pick(kActions));
            thing(1);
        } else {
            word(pick(kHappenings));
        }
        if (chance(25)) word(pick(kManners));
    }

    void sentence() {
        m_capital = true;
        if (chance(18)) {
            word(pick(kPlaces));
            thing(2);
            sign(",");
        }
        clause(0);
        if (chance(35)) {
            if (chance(50)) sign(",");
            word(pick(kJoining));
            clause(1);
        }
        sign(chance(92) ? "." : chance(50) ? "!" : "?");
    }

    void paragraph() {
        for (std::uint64_t left = 3 + below(6); left > 0; --left) sentence();
        sign("\n\n");
    }

    std::string m_text;
    std::vector<std::uint64_t> m_sums;  // m_sums[n] = weight of the n first ranks
    std::uint64_t m_draws = 0;
    bool m_capital = false;
};

}  // namespace

std::string generatedText(std::size_t bytes) {
    return Author().write(bytes);
}

}  // namespace stepscope
