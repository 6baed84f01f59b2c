// Any bytes as a block of the level of detail: folds and kept slices, sums by name, kin: what is read can be written and read again, or it is one
// sentence.
#include "core/base/Check.h"
#include "core/trace/LodCodec.h"

namespace {

template <class Block, class Write>
void check(const stepscope::Result<Block>& block, const stepscope::Chunk& chunk, const Write& writtenAgain) {
    if (!block) {
        SS_CHECK(block.error().sentence.starts_with("A block of kind " + chunk.kind + " is damaged at byte ") &&
                 block.error().sentence.ends_with('.'));
        return;
    }
    SS_CHECK(writtenAgain(*block));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    if (size < 2) return 0;
    Chunk chunk{.kind = kLod, .lane = 0, .begin = {0}, .end = {std::int64_t{1} << 40}, .count = bytes[1], .bytes = {}};
    const auto* data = reinterpret_cast<const std::byte*>(bytes + 2);
    chunk.bytes.assign(data, data + size - 2);
    switch (bytes[0] % 4) {
        case 0:
            (void)decodeLod(chunk, -1);
            return check(decodeLod(chunk), chunk, [](const LodBlock& block) { return decodeLod(encodeLod(block, kLod, {})).ok(); }), 0;
        case 1:
            chunk.kind = lodKind(14 + bytes[1] % 23);
            (void)decodeLod(chunk, 1 + bytes[1] % 23);
            return check(decodeLod(chunk), chunk, [](const LodBlock&) { return true; }), 0;
        case 2:
            chunk.kind = kNames;
            return check(decodeNames(chunk), chunk, [](const NamesBlock& block) { return decodeNames(encodeNames(block)).ok(); }), 0;
        default:
            chunk.kind = kKin;
            return check(decodeKin(chunk), chunk, [](const KinBlock& block) { return decodeKin(encodeKin(block)).ok(); }), 0;
    }
}
