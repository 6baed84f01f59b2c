// Stepscope's own token files (the cache): a header of 128 bytes, then uint16 or uint32 ids, little-endian.
// The header holds hashes of the text, of the tokenizer, of the ids and of itself, so that a file is believed only when it
// is what it should be. Written beside its place, fsynced and renamed: a reader never sees half of one. Who was stopped goes on with what he left.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/Result.h"
#include "core/data/Corpus.h"
#include "core/data/Hash128.h"
#include "core/data/tokens/OneMaker.h"

namespace stepscope {

// Whose tokens a file holds.
struct TokenFileKey {
    Hash128 text;
    Hash128 tokenizer;  // of Tokenizer::toJson()
    std::int64_t vocabulary = 0;
};

// Asked while ids are read, with the share of them that was: whether anybody still wants them.
using WantsIds = std::function<bool(double share)>;
// Told of a part of the bytes that was checked and is not needed soon.
using PassedIds = std::function<void(std::string_view part)>;

// Maps `path` and checks everything. NotFound: no such file. Damaged: not a token file, another key, cut short, ids changed. Cancelled: `wanted` says
// so; a long file is read from the disk for it.
Result<std::shared_ptr<const TokenRow>> openTokenFile(const std::string& path, const TokenFileKey& key, const WantsIds& wanted = {});
// The same checks on bytes that `owner` keeps alive; `name` is for the sentences.
Result<std::shared_ptr<const TokenRow>> readTokenFile(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                                                      const TokenFileKey& key, const WantsIds& wanted = {}, const PassedIds& passed = {});

class TokenFileWriter {
public:
    // What the file holds already: the ids of the text's first textBytes.
    struct Done {
        std::size_t textBytes = 0;
        Hash128 read;  // of those bytes, as they were when they were tokenised
        std::uint64_t count = 0;
    };

    // Makes the folder and opens PATH.part, with what a process that was stopped left of the same key there (UnfinishedTokens.h). While another
    // process writes to that, a temporary file of our own, which nobody can go on with. What was left is read from the disk for it; Cancelled:
    // `wanted` says so, and it stays there. lock: that of unfinishedPath(path), where the caller has it already.
    static Result<std::unique_ptr<TokenFileWriter>> create(const std::string& path, const TokenFileKey& key, const WantsIds& wanted = {},
                                                           MakerLock lock = {});
    static std::string unfinishedPath(const std::string& path);  // PATH.part
    ~TokenFileWriter();                                          // leaves what keep() has kept, if there is any, and removes the rest

    const Done& done() const { return m_done; }
    // In place of what done() tells: nothing.
    Status beginAnew();

    Status append(std::span<const std::int32_t> ids);  // each in [0, vocabulary)
    // What was appended is the text up to textBytes: puts that on the disk, so that another process can go on there.
    Status keep(std::size_t textBytes, const Hash128& read);
    Status finish();
    void discard();  // nothing is left

private:
    TokenFileWriter() = default;
    Status write(const void* bytes, std::size_t count);
    Status openTemporary();
    Status takeUp(const WantsIds& wanted);

    std::string m_path, m_temporary;
    TokenFileKey m_key;
    Done m_done;
    int m_file = -1;
    bool m_canGoOn = false;  // m_temporary is PATH.part
    std::uint64_t m_count = 0;
    std::vector<unsigned char> m_buffer;
    StreamingHash m_hash;  // of the ids
};

}  // namespace stepscope
