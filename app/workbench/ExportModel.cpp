#include "app/workbench/ExportModel.h"

#include "app/workbench/StoredModel.h"
#include "core/state/foreign/WeightsExport.h"
#include "core/train/Failure.h"

namespace stepscope {

Result<ExportAnswer> exportModel(const ExportRequest& request, const std::atomic<bool>& cancelled) {
    try {
        const auto model = openStoredModel(request.from);
        if (!model) return model.error();
        const auto written = exportWeights({.tensors = model->tensors.get(),
                                            .place = model->place,
                                            .model = model->model,
                                            .tokenizer = model->tokenizer.get(),
                                            // Of a checkpoint there was a run, whose own sentence it is.
                                            .whyNoTokenizer = model->foreign ? model->whyNoTokenizer : std::string(),
                                            .dropout = model->config.dropout,
                                            .format = request.llmc ? WeightsFormat::Llmc : WeightsFormat::HuggingFace,
                                            .bf16 = request.bf16,
                                            .shardBytes = request.shardBytes,
                                            .force = request.force},
                                           request.folder, cancelled);
        if (!written) return written.error();
        ExportAnswer answer{.files = {}, .parameters = parameterCount(model->model), .notes = written->notes};
        for (const ExportedFile& file : written->files) {
            answer.files.push_back({file.name, file.bytes});
            answer.bytes += file.bytes;
        }
        return answer;
    } catch (const std::exception& thrown) {
        return describeException(thrown, Doing::Reading);
    }
}

}  // namespace stepscope
