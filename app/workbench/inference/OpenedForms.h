// What a question about forms of weights rests on: the weights, the held-out text, what the model has room for. Opened and checked before anything is
// measured, by MeasureForms, on its thread.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "app/workbench/inference/MeasureForms.h"
#include "app/workbench/text/HeldOut.h"
#include "core/inference/TimedDecoder.h"

namespace stepscope {

struct OpenedForms {
    std::vector<WeightType> types;  // float32 first
    TimedShape shape;
    HeldOut text;
    GeneratorWeights weights;
    int threads = 1;
    std::int64_t context = 1;          // tokens of a window
    double bytesPerSecond = kUnknown;  // of a large copy here, where that was measured

    std::int64_t tokens() const { return text.end - text.begin - 1; }  // that are read
    // Prompts from the held-out text, one behind the other; it is read again from its beginning where it is short.
    std::vector<std::int64_t> prompts() const;
};

Result<OpenedForms> openForms(const FormsRequest& request, const std::function<void(const std::string&)>& tell, const std::atomic<bool>& cancelled);

}  // namespace stepscope
