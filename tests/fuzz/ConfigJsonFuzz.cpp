// Any bytes as a stored configuration: one whose every key is within its range and that is stored as it was read, or one sentence.
#include "core/base/Check.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const auto config = configFromJson({reinterpret_cast<const char*>(bytes), size});
    if (!config) {
        SS_CHECK(config.error().sentence.ends_with('.'));
        return 0;
    }
    for (const auto& key : configKeys()) SS_CHECK(parseValue(key.values, key.id, toString(key.get(*config))).ok());
    const auto again = configFromJson(configToJson(*config));
    SS_CHECK(again.ok());
    (void)checkConfig(*config).ok();
    return 0;
}
