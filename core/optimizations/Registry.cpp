#include "core/optimizations/Registry.h"

#include <fmt/format.h>

#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

void addSentence(std::string& text, const std::string& sentence) {
    if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
}

}  // namespace

Registry::Registry(Machine machine) : m_machine(std::move(machine)), m_entries(allOptimizations()) {}

const Optimization* Registry::find(const std::string& id) const {
    for (const auto& entry : m_entries)
        if (entry.id == id) return &entry;
    return nullptr;
}

Verdict Registry::verdict(const Optimization& entry, const RunConfig& config, const Value& value) const {
    return entry.applicable ? entry.applicable(m_machine, config, value) : Verdict::yes();
}

std::optional<Instead> Registry::insteadOf(const Optimization& entry, const RunConfig& config) const {
    return entry.instead ? entry.instead(config, config.switches.at(entry.id)) : std::nullopt;
}

std::string Registry::noteOf(const Optimization& entry, const RunConfig& inUse) const {
    const Value& value = inUse.switches.at(entry.id);
    return entry.note && value != entry.byDefault ? entry.note(m_machine, inUse, value) : std::string();
}

RunConfig Registry::running(const RunConfig& config, std::string* why) const {
    RunConfig inUse = config;
    for (const auto& entry : m_entries)
        if (const auto instead = insteadOf(entry, config)) {
            inUse.switches[entry.id] = instead->value;
            if (why != nullptr) addSentence(*why, instead->why);
        }
    return inUse;
}

SwitchCatalogue Registry::catalogue(const RunConfig& config) const {
    RunConfig full = config;
    for (const auto& entry : m_entries) full.switches.emplace(entry.id, entry.byDefault);
    const RunConfig inUse = running(full);
    SwitchCatalogue all;
    for (const auto& entry : m_entries) {
        SwitchInfo info{.id = entry.id,
                        .title = entry.title,
                        .group = entry.group,
                        .why = entry.why,
                        .cost = entry.cost,
                        .reported = entry.reported,
                        .values = entry.values,
                        .byDefault = entry.byDefault,
                        .takesEffect = entry.takesEffect,
                        .whyNewRun = entry.whyNewRun,
                        .applicable = Verdict::yes(),
                        .refusedChoices = {},
                        .instead = {},
                        .note = noteOf(entry, inUse)};
        if (const auto instead = insteadOf(entry, full)) info.instead = instead->why;
        if (const auto* choices = std::get_if<Choices>(&entry.values)) {
            for (const auto& choice : choices->words)
                if (const auto can = verdict(entry, inUse, choice); !can.usable) info.refusedChoices.emplace_back(choice, can.reason);
            // Nothing left to choose from: the whole switch cannot be moved here, for the reason of its last choice.
            if (info.refusedChoices.size() + 1 >= choices->words.size() && !info.refusedChoices.empty())
                info.applicable = Verdict::no(info.refusedChoices.back().second);
        }
        all.push_back(std::move(info));
    }
    return all;
}

Result<RunConfig> Registry::complete(RunConfig config) const {
    for (const auto& entry : m_entries) {
        if (config.switches.contains(entry.id)) continue;
        config.switches[entry.id] = entry.byDefault;
    }
    for (const auto& [id, value] : config.switches) {
        const Optimization* entry = find(id);
        if (entry == nullptr)
            return makeError(ErrorCode::BadInput, fmt::format("There is no switch \"{}\" in this version.", id)).about(Subject::Kind::Switch, id);
        auto parsed = parseValue(entry->values, id, toString(value)).about(Subject::Kind::Switch, id);
        if (!parsed) return parsed.error();
        config.switches[id] = *parsed;
    }
    const RunConfig inUse = running(config);
    for (const auto& entry : m_entries)
        if (const auto can = verdict(entry, inUse, config.switches.at(entry.id)); !can.usable)
            return makeError(ErrorCode::Unsupported,
                             fmt::format("{}={} cannot be used: {}", entry.id, toString(config.switches.at(entry.id)), can.reason))
                .about(Subject::Kind::Switch, entry.id);
    if (auto good = checkConfig(config); !good) return good.error();
    if (const auto conflict = installed(inUse).conflict()) return *conflict;
    return config;
}

Result<RunConfig> Registry::flipped(const RunConfig& config, const std::string& id, const Value& value) const {
    const Optimization* entry = find(id);
    if (entry == nullptr) return makeError(ErrorCode::BadInput, fmt::format("There is no switch \"{}\".", id)).about(Subject::Kind::Switch, id);
    if (entry->takesEffect == TakesEffect::NewRun)
        return makeError(ErrorCode::Unsupported, fmt::format("{} needs a new run: {}", id, entry->whyNewRun));
    return parseValue(entry->values, id, toString(value)).about(Subject::Kind::Switch, id).andThen([&](const Value& parsed) {
        RunConfig wanted = config;
        wanted.switches[id] = parsed;
        return complete(std::move(wanted));
    });
}

GptConfig Registry::modelShape(const RunConfig& config, std::int64_t vocabulary) const {
    GptConfig shape = gptConfig(config, vocabulary);
    for (const auto& entry : m_entries)
        if (entry.shape) entry.shape(shape, config.switches.at(entry.id));
    return shape;
}

ProgramBuilder Registry::installed(const RunConfig& inUse) const {
    ProgramBuilder builder(inUse);
    for (const auto& entry : m_entries) {
        if (!entry.install) continue;
        builder.beginSwitch(entry.id);
        entry.install(builder, inUse.switches.at(entry.id));
    }
    return builder;
}

Result<std::unique_ptr<StepProgram>> Registry::build(const RunConfig& config, TrainState& state, BuildNotes* notes) const {
    BuildNotes told;
    const RunConfig inUse = running(config, &told.instead);
    for (const auto& entry : m_entries) addSentence(told.instead, noteOf(entry, inUse));
    const ProgramBuilder builder = installed(inUse);
    auto program = builder.build();
    if (!program) return program.error();
    // Only after nothing can be refused any more does the State change.
    GptConfig shape = modelShape(inUse, state.config.vocabulary);
    shape.positions = std::max(shape.positions, state.config.positions);
    state.relayout(shape);
    state.moveTo(builder.device());
    for (const auto& entry : m_entries) {
        if (!entry.convert) continue;
        const std::string lost = entry.convert(state, inUse.switches.at(entry.id));
        if (!lost.empty()) told.lost = lost;
    }
    if (notes != nullptr) *notes = std::move(told);
    return program;
}

}  // namespace stepscope
