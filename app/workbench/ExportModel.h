// Writes a model's weights for other programs: torch-free header, for `checkpoint export`. Called on the main thread, which waits.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

struct ExportRequest {
    std::string from;    // a checkpoint's folder, or weights that another program wrote
    std::string folder;  // to write
    bool llmc = false;   // llm.c's file; else a folder as transformers of Hugging Face reads it
    bool bf16 = false;   // else float32
    std::int64_t shardBytes = 5'000'000'000;
    bool force = false;  // in place of an export that is there
};

struct ExportAnswer {
    struct File {
        std::string name;
        std::int64_t bytes = 0;
    };
    std::vector<File> files;
    std::int64_t bytes = 0, parameters = 0;
    std::vector<std::string> notes;  // sentences: what was left out, and what is written in another form
};

Result<ExportAnswer> exportModel(const ExportRequest& request, const std::atomic<bool>& cancelled);

}  // namespace stepscope
