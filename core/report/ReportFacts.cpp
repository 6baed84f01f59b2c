#include "core/report/ReportFacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/Format.h"

namespace stepscope::report {

void addMachine(Document& document, const ReportFacts& facts) {
    document.blocks.push_back(Heading{"Where"});
    if (!facts.machineKnown) {
        document.blocks.push_back(Paragraph{"The machine was not stored."});
        return;
    }
    const Machine& machine = facts.machine;
    Table table{.head = {}, .rows = {}, .textColumns = 2};
    table.rows.push_back({"processor", fmt::format("{}, {} core{}", machine.cpu, machine.cores, machine.cores == 1 ? "" : "s")});
    if (!machine.instructions.empty()) table.rows.push_back({"instructions", fmt::format("{}", fmt::join(machine.instructions, " "))});
    table.rows.push_back({"memory", format::bytes(machine.memory)});
    std::string gpus;
    for (const Gpu& gpu : machine.gpus) gpus += (gpus.empty() ? "" : "; ") + gpu.name + ", " + format::bytes(gpu.memory);
    table.rows.push_back({"GPU", gpus.empty() ? machine.whyNoCuda : gpus});
    table.rows.push_back({"versions", fmt::format("Stepscope {}, LibTorch {}, {}{}", machine.stepscope, machine.libtorch, machine.system,
                                                  machine.driver.empty() ? "" : ", NVIDIA driver " + machine.driver)});
    if (facts.parameters > 0) table.rows.push_back({"model", fmt::format("{} parameters", format::count(facts.parameters))});
    document.blocks.push_back(std::move(table));
}

void addRepeat(Document& document, const ReportFacts& facts) {
    if (facts.repeat.empty()) return;
    document.blocks.push_back(Heading{"Ask it again"});
    document.blocks.push_back(Code{facts.repeat});
}

}  // namespace stepscope::report
