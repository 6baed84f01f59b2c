#include "app/workbench/diagnose/SpeedKey.h"

#include <fmt/format.h>

#include "core/data/Corpus.h"
#include "core/data/Hash128.h"
#include "core/events/ConfigKeys.h"

namespace stepscope {

std::string speedKey(const RunConfig& config, const Machine& machine) {
    std::string text = fmt::format("{}|{}|{}", machine.cpu, machine.cores, machine.libtorch);
    for (const auto& gpu : machine.gpus) text += "|" + gpu.name;
    const bool idsOfData = config.tokenizer == "char" || isReadyTokens(config.data);
    for (const ConfigKey& key : configKeys()) {
        const bool counts = key.section == "model" || key.id == "tokenizer" || key.id == "threads" || key.id == "validation-tokens" ||
                            (idsOfData && key.id == "data");
        if (counts) text += fmt::format("|{}={}", key.id, toString(key.get(config)));
    }
    for (const auto& [id, value] : config.switches) text += fmt::format("|{}={}", id, toString(value));
    return hashOf(text).hex();
}

}  // namespace stepscope
