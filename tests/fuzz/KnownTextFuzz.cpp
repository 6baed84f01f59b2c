// Any bytes as what is remembered of the text of a token cache: nothing, or what is written and read again as it is.
#include "core/base/Check.h"
#include "core/data/tokens/KnownText.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const auto known = parseKnownText({reinterpret_cast<const char*>(bytes), size});
    if (!known) return 0;
    const auto again = parseKnownText(knownTextJson(*known));
    SS_CHECK(again && *again == *known);
    return 0;
}
