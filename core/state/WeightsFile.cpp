#include "core/state/WeightsFile.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/JsonDepth.h"
#include "core/base/WholeFile.h"
#include "core/state/foreign/ForeignModel.h"

namespace stepscope {
namespace {

using Entries = std::map<std::string, TensorEntry>;

constexpr std::size_t kListed = 6;  // names that a sentence carries
constexpr std::int64_t kMostLayers = 1000;
constexpr std::uintmax_t kLargestConfig = 1 << 20, kLargestState = 16'000'000;  // bytes, as where they are read whole

// GPT-2's files carry the causal mask of every layer, and a constant beside it.
bool isBuffer(const std::string& name, const TensorEntry& entry) {
    return !entry.isReal() || name.ends_with(".attn.masked_bias") || (name.ends_with(".attn.bias") && entry.shape.size() == 4);
}

std::string listed(const std::vector<std::string>& names) {
    const std::size_t shown = std::min(names.size(), kListed);
    std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

std::string shapeOf(at::IntArrayRef shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

// The rows of a slot that files hold, in their orientation.
at::Tensor targetOf(const at::Tensor& flat, const ParameterSlot& slot, std::int64_t vocabulary) {
    at::Tensor target = ParameterLayout::view(flat, slot);
    if (slot.vocabulary) target = target.narrow(0, 0, vocabulary);
    return slot.linear ? target.t() : target;
}

// Every parameter of a layout from a file that has it in that shape.
Status readInto(TensorSource& file, const std::string& path, const ParameterLayout& layout, std::int64_t vocabulary, const std::string& prefix,
                const at::Tensor& flat) {
    for (const auto& slot : layout.slots()) {
        const std::string name = writtenName(file.entries(), prefix + slot.name);
        if (name.empty()) return makeError(ErrorCode::Damaged, fmt::format("{} has no tensor {}{}.", path, prefix, slot.name));
        at::Tensor target = targetOf(flat, slot, vocabulary);
        const at::IntArrayRef shape = file.entries().at(name).shape;
        if (shape != target.sizes())
            return makeError(ErrorCode::BadInput, fmt::format("{}{} in {} has the shape {}, this model needs {}.", prefix, slot.name, path,
                                                              shapeOf(shape), shapeOf(target.sizes())));
        auto source = file.read(name);
        if (!source) return source.error();
        target.copy_(*source);
    }
    return file.whole();
}

struct Fit {
    std::vector<std::string> missing, others, shapes;
    std::string cut;
    bool whole() const { return missing.empty() && others.empty() && shapes.empty(); }
};

std::string sentencesOf(const Fit& fit) {
    std::string text;
    if (!fit.missing.empty()) text += fmt::format(" It lacks {}.", listed(fit.missing));
    if (!fit.others.empty()) text += fmt::format(" The model has no place for {}.", listed(fit.others));
    if (!fit.shapes.empty()) text += fmt::format(" Of another shape: {}.", listed(fit.shapes));
    return text;
}

// Copies what fits into the State's weights and notes what does not. A table of positions that is too short gives its rows.
Status takeWhatFits(TensorSource& file, const TrainState& state, Fit& fit, std::set<std::string>& taken) {
    for (const auto& slot : state.layout.slots()) {
        const std::string name = writtenName(file.entries(), slot.name);
        if (name.empty()) {
            fit.missing.push_back(slot.name);
            continue;
        }
        taken.insert(name);
        auto read = file.read(name);
        if (!read) return read.error();
        at::Tensor source = *read, target = targetOf(state.weights, slot, state.config.vocabulary);
        if (slot.name == "wpe.weight" && source.dim() == 2 && source.size(1) == target.size(1) && source.size(0) != target.size(0)) {
            const std::int64_t rows = std::min(source.size(0), target.size(0));
            if (source.size(0) > target.size(0))
                fit.cut = fmt::format(" Of its {} positions the first {} are used.", source.size(0), rows);
            else
                fit.shapes.push_back(fmt::format("wpe.weight has {} positions, context is {}", source.size(0), target.size(0)));
            source = source.narrow(0, 0, rows);
            target = target.narrow(0, 0, rows);
        }
        if (source.sizes() == target.sizes())
            target.copy_(source);
        else
            fit.shapes.push_back(fmt::format("{} is {}, this model needs {}", slot.name, shapeOf(source.sizes()), shapeOf(target.sizes())));
    }
    return {};
}

// Whether the file's head is its table of tokens once more, as files of tied models may have it.
Result<bool> repeatsTable(TensorSource& file, const std::string& head) {
    const std::string table = writtenName(file.entries(), "wte.weight");
    if (table.empty() || file.entries().at(table).shape != file.entries().at(head).shape) return false;
    auto first = file.read(table);
    if (!first) return first.error();
    auto second = file.read(head);
    if (!second) return second.error();
    return at::equal(*first, *second);
}

Status listOthers(TensorSource& file, const std::set<std::string>& taken, Fit& fit) {
    for (const auto& [name, entry] : file.entries()) {
        if (taken.contains(name) || isBuffer(name, entry)) continue;
        if (plainName(name) == "lm_head.weight") {
            const auto repeats = repeatsTable(file, name);
            if (!repeats) return repeats.error();
            if (*repeats) continue;
        }
        fit.others.push_back(plainName(name));
    }
    return {};
}

// As takeWhatFits, by the shapes alone: the parameters are tensors without memory.
void noteWhatFits(const Entries& entries, const GptConfig& config, Fit& fit, std::set<std::string>& taken) {
    const ParameterLayout layout(config);
    const at::Tensor flat = at::empty({layout.size()}, at::TensorOptions().dtype(at::kFloat).device(at::kMeta));
    for (const auto& slot : layout.slots()) {
        const std::string name = writtenName(entries, slot.name);
        if (name.empty()) {
            fit.missing.push_back(slot.name);
            continue;
        }
        taken.insert(name);
        const auto& shape = entries.at(name).shape;
        const auto wanted = targetOf(flat, slot, config.vocabulary).sizes().vec();
        if (shape == wanted) continue;
        const bool positions = slot.name == "wpe.weight" && shape.size() == 2 && shape[1] == wanted[1];
        if (positions && shape[0] > wanted[0])
            fit.cut = fmt::format(" Of its {} positions the first {} are used.", shape[0], wanted[0]);
        else if (positions)
            fit.shapes.push_back(fmt::format("wpe.weight has {} positions, context is {}", shape[0], wanted[0]));
        else
            fit.shapes.push_back(fmt::format("{} is {}, this model needs {}", slot.name, shapeOf(shape), shapeOf(wanted)));
    }
}

nlohmann::json objectIn(const std::filesystem::path& file, std::uintmax_t largest) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(file, problem) || std::filesystem::file_size(file, problem) > largest || problem) return {};
    const auto text = readWhole(file.string(), largest);
    if (!text || nestsDeeper(*text)) return {};
    auto all = nlohmann::json::parse(*text, nullptr, false);
    return all.is_object() ? all : nlohmann::json();
}

// 0 = none that a model can have.
std::int64_t headsIn(const nlohmann::json& object) {
    const auto found = object.is_object() ? object.find("n_head") : object.end();
    return found != object.end() && found->is_number_unsigned() && found->get<std::uint64_t>() <= 1000 ? found->get<std::int64_t>() : 0;
}

std::int64_t layersIn(const Entries& entries) {
    std::int64_t layers = 0;
    for (const auto& [written, entry] : entries) {
        const std::string name = plainName(written);
        std::int64_t layer = -1;
        if (!name.starts_with("h.")) continue;
        std::from_chars(name.data() + 2, name.data() + name.size(), layer);
        layers = std::max(layers, std::min(layer, kMostLayers) + 1);
    }
    return layers;
}

}  // namespace

std::int64_t headsBeside(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (const std::int64_t heads = headsIn(objectIn(folder / "config.json", kLargestConfig)); heads > 0) return heads;
    const auto state = objectIn(folder / "state.json", kLargestState);
    const auto model = state.is_object() ? state.find("model") : state.end();
    return model != state.end() ? headsIn(*model) : 0;
}

NamedTensors namedForFile(const at::Tensor& flat, const TrainState& state, const std::string& prefix) {
    NamedTensors tensors;
    for (const auto& slot : state.layout.slots()) tensors.emplace_back(prefix + slot.name, targetOf(flat, slot, state.config.vocabulary));
    return tensors;
}

Status readAll(TensorSource& file, const std::string& path, const TrainState& state, const std::string& prefix, const at::Tensor& flat) {
    return readInto(file, path, state.layout, state.config.vocabulary, prefix, flat);
}

Result<at::Tensor> readWeights(TensorSource& file, const std::string& path, const GptConfig& config) {
    const ParameterLayout layout(config);
    at::Tensor weights = at::zeros({layout.size()}, at::TensorOptions().dtype(at::kFloat));
    if (auto read = readInto(file, path, layout, config.vocabulary, "", weights); !read) return read.error();
    return weights;
}

Result<LoadedWeights> loadInitialWeights(const std::string& path, const GptConfig& config, std::uint64_t seed, bool partial) {
    auto model = openForeignModel(path);
    if (!model) return model.error();
    // What no tensor tells, above all the number of heads.
    if (const std::string key = model->model ? differingKey(*model->model, config) : ""; !key.empty() && (!partial || key == "heads"))
        return makeError(ErrorCode::BadInput, fmt::format("{} is of a model with another {}; leave {} as it has it{}.", path, key, key,
                                                          key == "heads" ? "" : ", or take only what fits (init-partial)"));
    const std::int64_t told = model->model ? config.heads : headsBeside(path);
    if (told > 0 && told != config.heads)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} is of a model of {} heads, as the file beside it says, and heads is {}; leave heads as it has it.", path,
                                     told, config.heads));
    TensorSource& file = *model->tensors;
    LoadedWeights loaded{.state = TrainState::initialise(config, seed), .note = {}};
    Fit fit;
    std::set<std::string> taken;
    if (auto done = takeWhatFits(file, loaded.state, fit, taken); !done) return done.error();
    if (auto done = listOthers(file, taken, fit); !done) return done.error();
    if (!fit.whole() && !partial)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} is not of this model.{} Set the model as the file has it (--init-shape does), or take only "
                                     "what fits (init-partial).",
                                     path, sentencesOf(fit)));
    if (fit.missing.size() == loaded.state.layout.slots().size())
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} has no tensor with a name of GPT-2's (wte.weight, h.0.attn.c_attn.weight, ...).", path));
    if (auto whole = file.whole(); !whole) return whole.error();
    if (!loaded.state.isFinite())
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} holds weights that are no numbers (NaN or infinite); no training can start there.", path));
    if (!fit.whole() || !fit.cut.empty()) loaded.note = fmt::format("Weights from {}.{}{}", path, sentencesOf(fit), fit.cut);
    if (!fit.whole()) loaded.note += " What is not from the file is drawn as for a new model.";
    return loaded;
}

Result<std::string> describeFit(const std::string& path, const GptConfig& config, bool partial) {
    const auto model = openForeignModel(path);
    if (!model) return model.error();
    TensorSource& file = *model->tensors;
    Fit fit;
    std::set<std::string> taken;
    noteWhatFits(file.entries(), config, fit, taken);
    if (auto done = listOthers(file, taken, fit); !done) return done.error();
    if (!fit.whole() && !partial) return makeError(ErrorCode::BadInput, fmt::format("{} is not of this model.{}", path, sentencesOf(fit)));
    std::string note = fit.cut;
    if (!fit.whole()) note += sentencesOf(fit) + " What is not from them is drawn as for a new model.";
    const auto buffers = std::ranges::count_if(file.entries(), [](const auto& one) { return isBuffer(one.first, one.second); });
    if (buffers > 0) note += fmt::format(" Masks and other buffers of its files, {} tensor{}, are passed over.", buffers, buffers == 1 ? "" : "s");
    if (config.tiedHead && !writtenName(file.entries(), "lm_head.weight").empty()) note += " Its head is its table of tokens once more.";
    return note.empty() ? note : note.substr(1);
}

Result<GptConfig> shapeOfWeights(const std::string& path, const GptConfig& like) {
    auto model = openForeignModel(path);
    if (!model) return model.error();
    if (model->model) return *model->model;
    TensorSource& file = *model->tensors;
    const Entries& entries = file.entries();
    const auto extent = [&](const std::string& name, std::size_t axis) -> std::int64_t {
        const std::string written = writtenName(entries, name);
        return written.empty() || entries.at(written).shape.size() <= axis ? 0 : entries.at(written).shape[axis];
    };
    const auto has = [&](const std::string& name) { return !writtenName(entries, name).empty(); };
    GptConfig shape = like;
    shape.layers = layersIn(entries);
    shape.vocabulary = shape.paddedVocabulary = extent("wte.weight", 0);
    shape.width = extent("wte.weight", 1);
    if (shape.layers < 1 || shape.layers > kMostLayers || shape.vocabulary < 1 || shape.width < 1)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} does not tell a model's shape: it has no wte.weight, or no blocks h.0, h.1, ...", path));
    shape.positionKind = has("wpe.weight") ? PositionKind::Learned : PositionKind::Rope;
    if (has("wpe.weight")) shape.positions = std::max<std::int64_t>(1, extent("wpe.weight", 0));
    shape.splitQkv = has("h.0.attn.q_proj.weight");
    shape.bias = has("h.0.mlp.c_fc.bias");
    if (has("h.0.ln_1.bias")) shape.norm = NormKind::LayerNorm;
    if (!has("h.0.ln_1.bias") && shape.bias) shape.norm = NormKind::RmsNorm;
    shape.placement = has("ln_f.weight") ? NormPlacement::Pre : NormPlacement::Post;
    shape.activation = extent("h.0.mlp.c_fc.weight", 1) == 4 * shape.width ? Activation::Gelu : Activation::Swiglu;
    shape.tiedHead = true;
    if (const std::string head = writtenName(entries, "lm_head.weight"); !head.empty()) {
        const auto repeats = repeatsTable(file, head);
        if (!repeats) return repeats.error();
        shape.tiedHead = *repeats;
    }
    if (const std::int64_t heads = headsBeside(path); heads > 0) shape.heads = heads;
    if (shape.width % shape.heads != 0)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} has a width of {}, and no tensor tells the number of heads: {} does not divide it; give "
                                     "heads (GPT-2 has width / 64).",
                                     path, shape.width, shape.heads));
    return shape;
}

}  // namespace stepscope
