// Any bytes as a token cache, and as the state of an unfinished one. Random bytes would all fail at the header's hash, so a second try has that put
// right.
#include <cstring>

#include "core/base/Check.h"
#include "core/data/tokens/TokenFileHeader.h"
#include "core/data/tokens/UnfinishedTokens.h"

namespace {

void read(const std::shared_ptr<std::string>& file, const stepscope::TokenFileKey& key) {
    const auto row = stepscope::readTokenFile(*file, file, "fuzz.bin", key);
    if (!row) {
        SS_CHECK(row.error().code == stepscope::ErrorCode::Damaged);
        return;
    }
    std::vector<std::int64_t> ids(static_cast<std::size_t>((*row)->size()));
    (*row)->copy(0, (*row)->size(), ids.data());
}

// The same with its hash put right: what is then believed is of the key, and says no more ids than bytes.
void readState(std::string bytes) {
    using stepscope::UnfinishedTokens;
    SS_CHECK(!stepscope::parseUnfinished(bytes, {}) || bytes.size() == sizeof(UnfinishedTokens));
    bytes.resize(sizeof(UnfinishedTokens));
    UnfinishedTokens state;
    std::memcpy(&state, bytes.data(), sizeof state);
    state.magic = UnfinishedTokens::kMagic;
    state.version = UnfinishedTokens::kVersion;
    state.bytesPerId = 2;
    state.vocabulary = 256;
    state.own = state.ownHash();
    std::memcpy(bytes.data(), &state, sizeof state);
    const auto believed = stepscope::parseUnfinished(bytes, {state.text, state.tokenizer, 256});
    SS_CHECK(believed.has_value() == (state.count <= state.textBytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const auto file = std::make_shared<std::string>(reinterpret_cast<const char*>(bytes), size);
    stepscope::TokenFileHeader header;
    read(file, {});
    readState(*file);
    if (size < sizeof header) return 0;
    std::memcpy(&header, file->data(), sizeof header);
    header.magic = stepscope::TokenFileHeader::kMagic;
    header.version = stepscope::TokenFileHeader::kVersion;
    header.ids = stepscope::hashOf(std::string_view(*file).substr(sizeof header));
    header.header = header.ownHash();
    std::memcpy(file->data(), &header, sizeof header);
    read(file, {header.text, header.tokenizer, static_cast<std::int64_t>(header.vocabulary)});
    return 0;
}
