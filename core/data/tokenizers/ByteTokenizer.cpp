// The byte tokenizer of Tokenizer.h: an id is a byte of UTF-8.
#include "core/data/tokenizers/Tokenizer.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

constexpr std::int32_t kBytes = 256;

class ByteTokenizer final : public Tokenizer {
public:
    std::string name() const override { return "byte"; }
    std::int64_t vocabulary() const override { return kBytes; }
    std::size_t bytesOf(std::int32_t) const override { return 1; }
    std::size_t cutAfter(std::string_view, std::size_t wanted) const override { return wanted; }
    std::string toJson() const override { return R"({"name":"byte"})"; }

    Result<std::vector<std::int32_t>> encode(std::string_view text) const override {
        std::vector<std::int32_t> ids(text.size());
        for (std::size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<unsigned char>(text[i]);
        return ids;
    }

    std::string decode(std::span<const std::int32_t> ids) const override {
        std::string text;
        text.reserve(ids.size());
        for (const std::int32_t id : ids) {
            if (id >= 0 && id < kBytes)
                text.push_back(static_cast<char>(id));
            else
                utf8::append(text, 0xFFFD);
        }
        return utf8::repair(std::move(text));
    }
};

}  // namespace

std::shared_ptr<const Tokenizer> byteTokenizer() {
    return std::make_shared<ByteTokenizer>();
}

}  // namespace stepscope
