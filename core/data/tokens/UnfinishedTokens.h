// A token file that is not finished: PATH.part, and beside it PATH.part.state, which says how far the text was tokenised. A process that was stopped
// or killed leaves both, and the next one goes on there. Used by TokenFileWriter. The state is believed only when all of it holds: its own hash, the
// key, and the hash of every id that it speaks of.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/data/tokens/TokenFile.h"

namespace stepscope {

// What lies in PATH.part.state, byte for byte.
struct UnfinishedTokens {
    static constexpr std::array<char, 8> kMagic{'S', 'S', 'T', 'O', 'K', 'P', 'R', 'T'};
    static constexpr std::uint32_t kVersion = 1;

    std::array<char, 8> magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t bytesPerId = 2;
    std::uint64_t textBytes = 0;  // of the text, from its beginning, whose ids are in PATH.part
    std::uint64_t count = 0;      // of those ids
    std::uint64_t vocabulary = 0;
    Hash128 text, tokenizer;  // the key: of the whole text
    Hash128 read, ids;        // of those textBytes as they were read, and of those ids
    Hash128 own;              // of the 104 bytes before it

    Hash128 ownHash() const { return hashOf({reinterpret_cast<const char*>(this), offsetof(UnfinishedTokens, own)}); }
};
static_assert(sizeof(UnfinishedTokens) == 120 && offsetof(UnfinishedTokens, own) == 104);

// PATH.part for writing, locked, so that no other process writes to it; made when there is none. -1: another has it, it cannot be locked here, or is
// no regular file.
int lockUnfinished(const std::string& part);
// The same, and which of them it is: another has it, so that it may be had later.
struct LockTried {
    int file = -1;
    bool isTaken = false;
};
LockTried tryLockUnfinished(const std::string& part);

// What PATH.part.state says, if it is of this key and unharmed.
std::optional<UnfinishedTokens> readUnfinished(const std::string& part, const TokenFileKey& key);
// The same of the state's bytes.
std::optional<UnfinishedTokens> parseUnfinished(std::string_view bytes, const TokenFileKey& key);
// Replaces it as a whole, durably. False: it could not be written, and the one before still stands.
bool writeUnfinished(const std::string& part, UnfinishedTokens state);
void removeUnfinishedState(const std::string& part);
bool hasUnfinishedState(const std::string& part);

// What killed processes left in `folder`: temporaries after an hour; unfinished tokens that could go on after a week, and all but the latest three.
// Never what somebody is writing.
void removeLeftovers(const std::string& folder);

// So that a file's name is on the disk, too.
void syncFolder(const std::string& folder);

}  // namespace stepscope
