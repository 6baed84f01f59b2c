#include "core/data/TextRow.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMarkEvery = 256;        // tokens: a read tokenises up to twice as many too many
constexpr std::size_t kLongestPiece = 1 << 20;  // bytes between two marks
constexpr std::int64_t kBlock = 1 << 16;

}  // namespace

TextRow::TextRow(std::shared_ptr<const SourceText> text, std::shared_ptr<const Tokenizer> tokenizer, std::shared_ptr<const TokenRow> tokens)
    : m_text(std::move(text)), m_tokenizer(std::move(tokenizer)), m_tokens(std::move(tokens)) {}

Status TextRow::prepare(const std::function<bool()>& wanted) const {
    const std::lock_guard lock(m_preparing);
    if (m_prepared) return *m_prepared;
    Status found = findMarks(wanted);
    if (found || found.error().code != ErrorCode::Cancelled) m_prepared = found;
    return found;
}

Status TextRow::findMarks(const std::function<bool()>& wanted) const {
    const std::string_view text = m_text->text();
    m_marks = {{0, 0}};
    std::vector<std::int64_t> block(static_cast<std::size_t>(std::min(kBlock, m_tokens->size())));
    std::size_t byte = 0, cut = 0;  // the token looked at begins at `byte`; the next place to cut, when one was looked for
    for (std::int64_t token = 0; token < m_tokens->size();) {
        if (wanted && !wanted()) return makeError(ErrorCode::Cancelled, fmt::format("Finding places in {} was cancelled.", m_text->name));
        const std::int64_t count = std::min(kBlock, m_tokens->size() - token);
        m_tokens->copy(token, count, block.data());
        for (std::int64_t i = 0; i < count && byte < text.size(); ++i, ++token) {
            if (token - m_marks.back().token >= kMarkEvery) {
                if (cut < byte) cut = m_tokenizer->cutAfter(text, byte);
                if (cut == byte) m_marks.push_back({token, byte});
            }
            byte += m_tokenizer->bytesOf(static_cast<std::int32_t>(block[static_cast<std::size_t>(i)]));
        }
        if (byte >= text.size()) break;
    }
    requireWhole(m_text->file);
    m_marks.push_back({m_tokens->size(), text.size()});
    for (std::size_t i = 1; i < m_marks.size(); ++i) {
        if (m_marks[i].byte - m_marks[i - 1].byte <= kLongestPiece) continue;
        return makeError(
            ErrorCode::Unsupported,
            fmt::format("data-source=text cannot be used: {} runs on for {} bytes without a blank, so the text of one batch cannot be found "
                        "without tokenising them all; choose mmap.",
                        m_text->name, m_marks[i].byte - m_marks[i - 1].byte));
    }
    return {};
}

std::vector<std::int32_t> TextRow::tokenise(std::int64_t begin, std::int64_t count) const {
    if (const Status ready = prepare(); !ready) throw DataChanged(ready.error().sentence);
    const auto after = [](std::int64_t token, const Mark& mark) { return token < mark.token; };
    const auto from = std::upper_bound(m_marks.begin(), m_marks.end(), begin, after) - 1;
    const auto to = std::lower_bound(from, m_marks.end(), begin + count, [](const Mark& mark, std::int64_t token) { return mark.token < token; });
    auto ids = m_tokenizer->encode(m_text->text().substr(from->byte, to->byte - from->byte));
    requireWhole(m_text->file);
    if (!ids || static_cast<std::int64_t>(ids->size()) != to->token - from->token)
        throw DataChanged(fmt::format("{} was changed by another program while the run tokenised it; put it back and resume from the last checkpoint",
                                      m_text->name));
    ids->erase(ids->begin(), ids->begin() + static_cast<std::ptrdiff_t>(begin - from->token));
    return *std::move(ids);
}

void TextRow::copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const {
    checkRange(begin, count, size());
    if (count == 0) return;
    const auto ids = tokenise(begin, count);
    std::copy_n(ids.begin(), count, into);
}

void TextRow::copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const {
    SS_CHECK(count > 0);
    checkRange(begin, count + 1, size());
    const auto all = tokenise(begin, count + 1);
    std::copy_n(all.begin(), count, ids);
    std::copy_n(all.begin() + 1, count, next);
}

}  // namespace stepscope
