#include "app/workbench/engine/EngineElsewhere.h"

#include <fmt/format.h>

#include "core/base/Format.h"
#include "core/base/Utf8.h"

namespace stepscope {

std::string machineWords(const std::string& host, const Machine& machine) {
    std::string words = fmt::format("{}: {}, {} core{}, {} of memory", host, machine.cpu, machine.cores, machine.cores == 1 ? "" : "s",
                                    format::bytes(machine.memory));
    if (machine.gpus.empty())
        words += ", no GPU";
    else if (machine.gpus.size() == 1)
        words += ", " + machine.gpus.front().name;
    else
        words += fmt::format(", {} GPUs: {}", machine.gpus.size(), machine.gpus.front().name);
    return printable(words);  // the names are a stranger's
}

}  // namespace stepscope
