// A row of ids that is no row at all: the text they come from, tokenised anew at each read. What training costs without tokens made
// once. Marks - "token n begins at byte b" every few hundred tokens - are found once, so that a read tokenises only what it needs.
// Made while a corpus is opened; read by the trainer thread and by loader workers.
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/data/Corpus.h"
#include "core/data/TextReader.h"

namespace stepscope {

class TextRow final : public TokenRow {
public:
    // `tokens` are those of the whole `text`; they tell where the marks are and are not read afterwards.
    TextRow(std::shared_ptr<const SourceText> text, std::shared_ptr<const Tokenizer> tokenizer, std::shared_ptr<const TokenRow> tokens);

    // Finds the marks, if that was not done yet: one walk over the ids. Unsupported: the text cannot be cut anywhere near.
    Status prepare(const std::function<bool()>& wanted = {}) const override;

    std::int64_t size() const override { return m_tokens->size(); }
    // Throws DataChanged when the text no longer gives the tokens it gave.
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override;
    void copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const override;
    bool randomAccess() const override { return false; }

private:
    struct Mark {
        std::int64_t token;
        std::size_t byte;
    };
    Status findMarks(const std::function<bool()>& wanted) const;
    std::vector<std::int32_t> tokenise(std::int64_t begin, std::int64_t count) const;

    std::shared_ptr<const SourceText> m_text;
    std::shared_ptr<const Tokenizer> m_tokenizer;
    std::shared_ptr<const TokenRow> m_tokens;
    mutable std::mutex m_preparing;
    mutable std::optional<Status> m_prepared;  // under m_preparing; does not change any more, nor do the marks
    mutable std::vector<Mark> m_marks;         // ascending; the first is {0, 0}, the last the end
};

}  // namespace stepscope
