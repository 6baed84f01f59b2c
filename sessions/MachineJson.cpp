#include "sessions/MachineJson.h"

#include <nlohmann/json.hpp>

namespace stepscope {

using nlohmann::json;

std::string machineToJson(const Machine& machine) {
    json gpus = json::array();
    for (const auto& gpu : machine.gpus)
        gpus.push_back({{"name", gpu.name}, {"memory", gpu.memory.count}, {"compute_major", gpu.computeMajor}, {"compute_minor", gpu.computeMinor}});
    const json all{{"cpu", machine.cpu},
                   {"cores", machine.cores},
                   {"memory", machine.memory.count},
                   {"instructions", machine.instructions},
                   {"system", machine.system},
                   {"stepscope", machine.stepscope},
                   {"libtorch", machine.libtorch},
                   {"gpus", std::move(gpus)},
                   {"driver", machine.driver},
                   {"why_no_cuda", machine.whyNoCuda},
                   {"host", machine.host},
                   {"why_no_processor_energy", machine.whyNoProcessorEnergy}};
    return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

Machine machineFromJson(const std::string& text) {
    const json all = json::parse(text);
    Machine machine;
    machine.cpu = all.value("cpu", machine.cpu);
    machine.cores = all.value("cores", machine.cores);
    machine.memory = {all.value("memory", std::int64_t{0})};
    machine.instructions = all.value("instructions", machine.instructions);
    machine.system = all.value("system", machine.system);
    machine.stepscope = all.value("stepscope", machine.stepscope);
    machine.libtorch = all.value("libtorch", machine.libtorch);
    machine.driver = all.value("driver", machine.driver);
    machine.whyNoCuda = all.value("why_no_cuda", machine.whyNoCuda);
    machine.host = all.value("host", machine.host);
    machine.whyNoProcessorEnergy = all.value("why_no_processor_energy", machine.whyNoProcessorEnergy);
    for (const auto& gpu : all.value("gpus", json::array()))
        machine.gpus.push_back(
            {gpu.value("name", std::string()), {gpu.value("memory", std::int64_t{0})}, gpu.value("compute_major", 0), gpu.value("compute_minor", 0)});
    return machine;
}

}  // namespace stepscope
