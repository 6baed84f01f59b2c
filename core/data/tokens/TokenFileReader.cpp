// Reading of TokenFile.h.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "core/data/MappedFile.h"
#include "core/data/tokens/TokenFileHeader.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

constexpr std::size_t kHashedAtOnce = std::size_t{32} << 20;

// Nothing: nobody wants it any more. passed: told of each part that was read.
std::optional<Hash128> hashOfIds(std::string_view ids, const WantsIds& wanted, const PassedIds& passed) {
    StreamingHash hash;
    for (std::size_t at = 0; at < ids.size(); at += kHashedAtOnce) {
        if (wanted && !wanted(static_cast<double>(at) / static_cast<double>(ids.size()))) return std::nullopt;
        const std::string_view part = ids.substr(at, kHashedAtOnce);
        hash.add(part);
        if (passed) passed(part);
    }
    return hash.digest();
}

}  // namespace

Result<std::shared_ptr<const TokenRow>> readTokenFile(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                                                      const TokenFileKey& key, const WantsIds& wanted, const PassedIds& passed) {
    const auto damaged = [&](const char* what) {
        return makeError(ErrorCode::Damaged, fmt::format("The token cache {} {}; remove it and it will be made again.", name, what));
    };
    TokenFileHeader header;
    if (bytes.size() < sizeof header) return damaged("is cut short");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != TokenFileHeader::kMagic) return damaged("is not a token file");
    if (header.version != TokenFileHeader::kVersion) return damaged("is of another version");
    if (header.header != header.ownHash()) return damaged("has a damaged header");
    if (header.text != key.text || header.tokenizer != key.tokenizer) return damaged("is of another text or tokenizer");
    const std::string_view ids = bytes.substr(sizeof header);
    if (header.vocabulary != static_cast<std::uint64_t>(key.vocabulary) || header.bytesPerId != bytesPerIdOf(key.vocabulary))
        return damaged("is of another vocabulary");
    if (ids.size() % header.bytesPerId != 0 || ids.size() / header.bytesPerId != header.count) return damaged("is cut short or too long");
    const auto hash = hashOfIds(ids, wanted, passed);
    if (!hash) return makeError(ErrorCode::Cancelled, fmt::format("Reading the token cache {} was cancelled.", name));
    if (*hash != header.ids) return damaged("does not hold the tokens that were written");
    return header.bytesPerId == 2 ? rowOf<std::uint16_t>(ids, std::move(owner)) : rowOf<std::uint32_t>(ids, std::move(owner));
}

Result<std::shared_ptr<const TokenRow>> openTokenFile(const std::string& path, const TokenFileKey& key, const WantsIds& wanted) {
    auto file = MappedFile::open(path, MappedFile::Hold::InUse);
    if (!file) return file.error();
    auto owner = std::make_shared<const MappedFile>(std::move(*file));
    // A file may be larger than memory, and training asks for little of it at a time.
    auto row = readTokenFile(owner->bytes(), owner, path, key, wanted, [&](std::string_view part) { owner->letGo(part); });
    if (!row) return row;
    return watched(std::move(*row), std::move(owner));
}

}  // namespace stepscope
