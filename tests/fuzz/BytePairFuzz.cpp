// Any bytes as vocabulary and merges (split at the first NUL), then any bytes as a word: the ids give back the word.
#include "core/base/Check.h"
#include "core/data/tokenizers/BytePairMerges.h"
#include "core/data/tokenizers/Utf8.h"

namespace {

// A vocabulary that is accepted, so that the merges and the word are reached.
std::string goodVocabulary() {
    std::string json = "{";
    int id = 0;
    char32_t spare = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        const char32_t character = printable ? static_cast<char32_t>(byte) : spare++;
        json += "\"";
        if (character == '"' || character == '\\') json += '\\';
        stepscope::utf8::append(json, character);
        json += "\":" + std::to_string(id++) + ",";
    }
    for (const char* product : {"ab", "bc", "abc", "aa", "aaaa"}) json += "\"" + std::string(product) + "\":" + std::to_string(id++) + ",";
    json.back() = '}';
    return json;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const std::string good = goodVocabulary();
    const std::string_view all(reinterpret_cast<const char*>(bytes), size);
    const auto cut = all.find('\0');
    const std::string_view first = all.substr(0, cut), second = cut == std::string_view::npos ? std::string_view() : all.substr(cut + 1);
    (void)stepscope::BytePairMerges::parse(first, "v", second, "m");

    const auto merges = stepscope::BytePairMerges::parse(good, "v", first.empty() ? "a b\n" : first, "m");
    if (!merges) return 0;
    stepscope::BytePairMerges::Scratch scratch;
    std::vector<std::int32_t> ids;
    merges->append(second, scratch, ids);
    std::string back;
    for (const auto id : ids) back += merges->bytesOf(id);
    SS_CHECK(back == second);
    return 0;
}
