// A small catalogue with every kind of switch, for the panels' tests.
#pragma once
#include "core/events/SwitchCatalogue.h"

namespace stepscope {

inline SwitchCatalogue smallCatalogue() {
    SwitchCatalogue all;
    SwitchInfo device{"device", "Device", SwitchGroup::Device, "Where the model lives."};
    device.values = Choices{{"cpu", "cuda:0"}};
    device.byDefault = std::string("cpu");
    device.applicable = Verdict::no("Needs a GPU.");
    all.push_back(device);
    SwitchInfo amp{"amp", "Mixed precision", SwitchGroup::Precision, "Products in 16 bits.", "Rounding.", "1.5–3x"};
    amp.values = Choices{{"off", "bf16", "fp16"}};
    amp.byDefault = std::string("off");
    amp.refusedChoices = {{"fp16", "This CPU has no float16."}};
    all.push_back(amp);
    SwitchInfo memory{"host-memory", "CPU memory", SwitchGroup::Memory, "How memory is kept."};
    memory.values = Choices{{"system", "caching"}};
    memory.byDefault = std::string("caching");
    all.push_back(memory);
    SwitchInfo context{"context", "Context", SwitchGroup::Batch, "Tokens in one sequence."};
    context.values = IntegerRange{1, 65536};
    context.byDefault = std::int64_t{64};
    context.takesEffect = TakesEffect::NewRun;
    context.whyNewRun = "the position table has this many rows";
    all.push_back(context);
    SwitchInfo clip{"grad-clip", "Gradient clipping", SwitchGroup::Optimizer, "Scales gradients down."};
    clip.values = RealRange{0, 1000};
    clip.byDefault = 1.0;
    all.push_back(clip);
    return all;
}

}  // namespace stepscope
