// `checkpoint export FILE|ID FOLDER`: a checkpoint's weights as other programs read them. Main thread; Ctrl-C leaves nothing behind.
#include <fmt/format.h>

#include <atomic>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/workbench/ExportModel.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

struct WeightsOut {
    std::string from, database, folder;
    std::string format = "hf", type = "f32", shardSize = "5GB";
    bool force = false, json = false;
};

Result<ExitCode> exportCheckpoint(const WeightsOut& options) {
    if (options.folder.empty()) return makeError(ErrorCode::BadInput, "checkpoint export needs a folder to write; \"\" is none.");
    const auto shards = sizeOption("--shard-size", options.shardSize);
    if (!shards) return shards.error();
    if (*shards < 1) return makeError(ErrorCode::BadInput, "--shard-size cannot be 0; give the bytes that a file may have, such as 5GB.");
    const auto from = chooseCheckpoint(options.from, options.database);
    if (!from) return from.error();
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const auto answer = exportModel({.from = *from,
                                     .folder = options.folder,
                                     .llmc = options.format == "llmc",
                                     .bf16 = options.type == "bf16",
                                     .shardBytes = *shards,
                                     .force = options.force},
                                    cancelled);
    if (!answer) return answer.error();
    if (options.json) {
        Json files = Json::array();
        for (const auto& file : answer->files) files.push_back({{"name", file.name}, {"bytes", file.bytes}});
        print(line({{"from", *from},
                    {"folder", options.folder},
                    {"format", options.format},
                    {"dtype", options.type},
                    {"parameters", answer->parameters},
                    {"bytes", answer->bytes},
                    {"files", files},
                    {"notes", answer->notes}}));
        return ExitCode::Ok;
    }
    std::string text = fmt::format("{}: {} parameters in {}, {}\n", printable(options.folder), format::count(answer->parameters), options.type,
                                   format::bytes({answer->bytes}));
    for (const auto& file : answer->files) text += fmt::format("  {}  {}\n", file.name, format::bytes({file.bytes}));
    for (const auto& note : answer->notes) text += note + "\n";
    print(text);
    return ExitCode::Ok;
}

}  // namespace

void addCheckpointExport(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<WeightsOut>();
    auto* command = parent.add_subcommand("export", "Write its weights as other programs read them: transformers of Hugging Face, llm.c");
    command->add_option("FILE|ID", options->from, "A checkpoint, by its folder or a file in it, a session, whose newest is taken, or others' weights")
        ->required();
    command->add_option("FOLDER", options->folder, "To write; it must not be there yet")->required();
    addDatabaseOption(*command, options->database);
    command->add_option("--format", options->format, "hf: config.json, safetensors and the tokenizer's files; llmc: model.bin")
        ->type_name("WORD")
        ->check(CLI::IsMember({"hf", "llmc"}))
        ->capture_default_str()
        ->take_last();
    command->add_option("--dtype", options->type, "f32 or bf16, which rounds the weights and takes half the room")
        ->type_name("WORD")
        ->check(CLI::IsMember({"f32", "bf16"}))
        ->capture_default_str()
        ->take_last();
    command->add_option("--shard-size", options->shardSize, "More tensors than this go into several files (hf)")
        ->type_name("SIZE")
        ->capture_default_str()
        ->take_last();
    command->add_flag("--force", options->force, "Take the place of an export that is there");
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return exportCheckpoint(*options); };
}

}  // namespace stepscope::cli
