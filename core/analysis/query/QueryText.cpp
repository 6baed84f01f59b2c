#include "core/analysis/query/QueryText.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace stepscope {
namespace {

constexpr std::size_t kCsvPiece = 1 << 20;

// The shortest digits that give the same number again.
std::string shortestDigits(double value) {
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

void appendCsv(std::string& into, const QueryValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || (!text->empty() && text->find_first_of("\",\r\n") == std::string::npos)) {
        into += queryText(value);
        return;
    }
    into += '"';
    for (const char c : *text) {
        if (c == '"') into += '"';
        into += c;
    }
    into += '"';
}

// Exactly: beyond 2^53 a whole number may lie between two neighbouring doubles. Negative: `whole` is less; 0 also where `real` is no number.
int compared(std::int64_t whole, double real) {
    constexpr double kBeyond = 0x1p63;
    if (real >= kBeyond) return -1;
    if (real < -kBeyond) return 1;
    if (std::isnan(real)) return 0;
    const auto below = static_cast<std::int64_t>(std::floor(real));
    if (whole != below) return whole < below ? -1 : 1;
    return real > std::floor(real) ? -1 : 0;
}

int rankOf(const QueryValue& value) {
    return isNullValue(value) ? 0 : std::holds_alternative<std::string>(value) ? 2 : 1;
}

}  // namespace

std::string queryText(const QueryValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&value)) return shortestDigits(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return {};
}

bool isNullValue(const QueryValue& value) {
    return std::holds_alternative<std::monostate>(value);
}

double queryNumber(const QueryValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::numeric_limits<double>::quiet_NaN();
}

bool holdsNumbers(const QueryResult& result, std::size_t column) {
    const auto numeric = [&](const auto& row) { return isNullValue(row[column]) || !std::holds_alternative<std::string>(row[column]); };
    return std::ranges::all_of(result.rows, numeric) && std::ranges::any_of(result.rows, [&](const auto& row) { return !isNullValue(row[column]); });
}

bool queryLess(const QueryValue& a, const QueryValue& b) {
    if (rankOf(a) != rankOf(b)) return rankOf(a) < rankOf(b);
    const auto *wholeA = std::get_if<std::int64_t>(&a), *wholeB = std::get_if<std::int64_t>(&b);
    if (wholeA != nullptr && wholeB != nullptr) return *wholeA < *wholeB;
    const auto *textA = std::get_if<std::string>(&a), *textB = std::get_if<std::string>(&b);
    if (textA != nullptr && textB != nullptr) return *textA < *textB;
    const auto *realA = std::get_if<double>(&a), *realB = std::get_if<double>(&b);
    if (wholeA != nullptr && realB != nullptr) return compared(*wholeA, *realB) < 0;
    if (realA != nullptr && wholeB != nullptr) return compared(*wholeB, *realA) > 0;
    return queryNumber(a) < queryNumber(b);  // false of two NULL; SQLite makes NULL of what is not a number
}

bool writeQueryCsv(const QueryResult& result, const std::function<bool(std::string_view)>& write) {
    std::string piece;
    for (std::size_t c = 0; c < result.columns.size(); ++c) {
        if (c > 0) piece += ',';
        appendCsv(piece, QueryValue(result.columns[c]));
    }
    piece += "\r\n";
    for (const auto& row : result.rows) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (c > 0) piece += ',';
            appendCsv(piece, row[c]);
        }
        piece += "\r\n";
        if (piece.size() < kCsvPiece) continue;
        if (!write(piece)) return false;
        piece.clear();
    }
    return piece.empty() || write(piece);
}

}  // namespace stepscope
