#include "app/workbench/engine/EngineLooks.h"

#include <fmt/format.h>

#include <utility>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/WeightsLook.h"
#include "app/workbench/engine/FolderList.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

Result<std::optional<Frame>> framed(FrameType type, FrameBytes payload) {
    return std::optional(Frame{.type = type, .version = kWireVersion, .payload = std::move(payload)});
}

WeightsLook lookAtCheckpoint(const std::string& folder) {
    const auto info = inspectCheckpoint(folder);
    if (!info) return {.found = {}, .problem = info.error().sentence, .shaped = {}};
    return {.found = fmt::format("step {}", format::count(info->step)), .problem = {}, .shaped = info->config};
}

}  // namespace

bool EngineLooks::isQuestion(FrameType type) {
    return type == FrameType::List || type == FrameType::CheckData || type == FrameType::CheckWeights || type == FrameType::NeverMind;
}

Result<std::optional<Frame>> EngineLooks::answer(const Frame& question, const std::function<bool()>& wanted) {
    switch (question.type) {
        case FrameType::List: {
            const auto asked = folderAskedFromBytes(question.payload);
            if (!asked) return asked.error();
            return framed(FrameType::Listed, folderListedToBytes(listFolder(*asked)));
        }
        case FrameType::CheckData: {
            const auto asked = dataAskedFromBytes(question.payload);
            if (!asked) return asked.error();
            return framed(FrameType::DataChecked, dataCheckedToBytes({(asked->validation ? m_validation : m_data).problemOf(asked->data, wanted)}));
        }
        case FrameType::CheckWeights: {
            const auto asked = weightsAskedFromBytes(question.payload);
            if (!asked) return asked.error();
            WeightsLook look = asked->checkpoint.empty() ? lookAtWeights(asked->config.init, asked->config) : lookAtCheckpoint(asked->checkpoint);
            return framed(FrameType::WeightsChecked, weightsLookedToBytes({std::move(look.found), std::move(look.problem), std::move(look.shaped)}));
        }
        default:
            return std::optional<Frame>();
    }
}

}  // namespace stepscope
