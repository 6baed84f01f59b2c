// Stepscope's own token files (the cache): a header of 128 bytes, then uint16 or uint32 ids, little-endian.
// The header holds hashes of the text, of the tokenizer, of the ids and of itself, so that a file is believed only when it
// is what it should be. Written to a temporary file, fsynced and renamed: a reader never sees half of one.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "core/base/Result.h"
#include "core/data/Corpus.h"
#include "core/data/Hash128.h"

namespace stepscope {

// Whose tokens a file holds.
struct TokenFileKey {
    Hash128 text;
    Hash128 tokenizer;  // of Tokenizer::toJson()
    std::int64_t vocabulary = 0;
};

// Maps `path` and checks everything. NotFound: no such file. Damaged: not a token file, another key, cut short, ids changed.
Result<std::shared_ptr<const TokenRow>> openTokenFile(const std::string& path, const TokenFileKey& key);
// The same checks on bytes that `owner` keeps alive; `name` is for the sentences.
Result<std::shared_ptr<const TokenRow>> readTokenFile(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                                                      const TokenFileKey& key);

class TokenFileWriter {
public:
    // Makes the folder and a temporary file beside `path`; temporaries that a killed process left an hour ago are removed.
    static Result<std::unique_ptr<TokenFileWriter>> create(const std::string& path, const TokenFileKey& key);
    ~TokenFileWriter();  // removes the temporary file unless finish() succeeded

    Status append(std::span<const std::int32_t> ids);  // each in [0, vocabulary)
    Status finish();

private:
    TokenFileWriter() = default;
    Status write(const void* bytes, std::size_t count);

    struct Streaming;
    struct FreeStreaming {
        void operator()(Streaming* streaming) const;
    };
    std::string m_path, m_temporary;
    TokenFileKey m_key;
    int m_file = -1;
    std::uint64_t m_count = 0;
    std::vector<unsigned char> m_buffer;
    std::unique_ptr<Streaming, FreeStreaming> m_hash;
};

}  // namespace stepscope
