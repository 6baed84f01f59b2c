#include "core/optimizations/registry/Registry.h"

#include <fmt/format.h>

#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

void addSentence(std::string& text, const std::string& sentence) {
    if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
}

}  // namespace

Registry::Registry(Machine machine, int workers, int beforeHere)
    : m_machine(std::move(machine)), m_workers(workers), m_beforeHere(beforeHere), m_entries(allSwitches()) {}

const Switch* Registry::find(const std::string& id) const {
    for (const auto& entry : m_entries)
        if (entry.id == id) return &entry;
    return nullptr;
}

Verdict Registry::verdict(const Switch& entry, const RunConfig& config, const Value& value) const {
    return entry.applicable ? entry.applicable(m_machine, config, value) : Verdict::yes();
}

std::optional<Fallback> Registry::fallbackOf(const Switch& entry, const RunConfig& config) const {
    return entry.fallback ? entry.fallback(config, config.switches.at(entry.id)) : std::nullopt;
}

SwitchNote Registry::noteOf(const Switch& entry, const PlanDraft& draft) const {
    const Value& value = draft.running().switches.at(entry.id);
    return entry.note && value != entry.byDefault ? entry.note(m_machine, draft, value) : SwitchNote();
}

PlanDraft Registry::drafted(const RunConfig& config, RunConfig inUse, std::int64_t vocabulary) const {
    PlanDraft draft(std::move(inUse), m_workers, m_beforeHere);
    draft.plan.config = config;
    draft.plan.vocabulary = vocabulary;
    for (const auto& entry : m_entries) {
        draft.beginSwitch(entry.id);
        entry.resolve(draft, draft.running().switches.at(entry.id));
    }
    return draft;
}

Result<RunPlan> Registry::plan(const RunConfig& config, std::int64_t vocabulary) const {
    std::string notes;
    PlanDraft draft = drafted(config, running(config, &notes), vocabulary);
    if (const auto& conflict = draft.conflict()) return *conflict;
    if (Status there = checkGpu(draft.plan); !there) return there.error();
    for (const auto& entry : m_entries) addSentence(notes, noteOf(entry, draft).text);
    draft.plan.notes = std::move(notes);
    return std::move(draft.plan);
}

// The GPU that a person named is there (complete()), but this worker's may not be.
Status Registry::checkGpu(const RunPlan& plan) const {
    const auto gpus = static_cast<int>(m_machine.gpus.size());
    if (!plan.gpu || *plan.gpu < gpus || m_workers == 1) return {};
    return makeError(
        ErrorCode::Unsupported,
        fmt::format("Each worker trains on a GPU of its own, and there is no {} for worker number {} of this machine, which has {} GPU{}; start "
                    "fewer workers on it, or set device=cpu.",
                    plan.device(), m_beforeHere + 1, gpus, gpus == 1 ? "" : "s"));
}

RunConfig Registry::running(const RunConfig& config, std::string* why) const {
    RunConfig inUse = config;
    for (const auto& entry : m_entries)
        if (const auto fallback = fallbackOf(entry, config)) {
            inUse.switches[entry.id] = fallback->value;
            if (why != nullptr) addSentence(*why, fallback->why);
        }
    return inUse;
}

SwitchCatalogue Registry::catalogue(const RunConfig& config, std::int64_t vocabulary) const {
    // Asked of whatever a file or a draft holds: what complete() would refuse is shown as its default.
    RunConfig full = config;
    for (const auto& entry : m_entries) {
        Value& value = full.switches.emplace(entry.id, entry.byDefault).first->second;
        const auto parsed = parseValue(entry.values, entry.id, toString(value));
        value = parsed ? *parsed : entry.byDefault;
    }
    const PlanDraft draft = drafted(full, running(full), vocabulary);
    const RunConfig& inUse = draft.running();
    SwitchCatalogue all;
    for (const auto& entry : m_entries) {
        const SwitchNote note = noteOf(entry, draft);
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
                        .fallback = {},
                        .note = note.text,
                        .idle = note.idle,
                        .racing = entry.racing};
        if (const auto fallback = fallbackOf(entry, full)) info.fallback = fallback->why;
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
        const Switch* entry = find(id);
        if (entry == nullptr)
            return makeError(ErrorCode::BadInput, fmt::format("There is no switch \"{}\" in this version.", id)).about(Subject::Kind::Switch, id);
        auto parsed = parseValue(entry->values, id, toString(value)).about(Subject::Kind::Switch, id);
        if (!parsed) return parsed.error();
        config.switches[id] = *parsed;
    }
    const RunConfig inUse = running(config);
    for (const auto& entry : m_entries)
        if (const auto can = verdict(entry, inUse, config.switches.at(entry.id)); !can.usable)
            return makeError(can.ofMachine ? ErrorCode::Unsupported : ErrorCode::BadInput,
                             fmt::format("{}={} cannot be used: {}", entry.id, toString(config.switches.at(entry.id)), can.reason))
                .about(Subject::Kind::Switch, entry.id);
    if (auto good = checkConfig(config); !good) return good.error();
    if (const PlanDraft draft = drafted(config, inUse, 0); draft.conflict()) return *draft.conflict();
    return config;
}

Result<RunConfig> Registry::flipped(const RunConfig& config, const std::string& id, const Value& value) const {
    const Switch* entry = find(id);
    if (entry == nullptr) return makeError(ErrorCode::BadInput, fmt::format("There is no switch \"{}\".", id)).about(Subject::Kind::Switch, id);
    if (entry->takesEffect == TakesEffect::NewRun)
        return makeError(ErrorCode::Unsupported, fmt::format("{} needs a new run: {}", id, entry->whyNewRun));
    return parseValue(entry->values, id, toString(value)).about(Subject::Kind::Switch, id).andThen([&](const Value& parsed) {
        RunConfig wanted = config;
        wanted.switches[id] = parsed;
        return complete(std::move(wanted));
    });
}

GptConfig Registry::modelShape(const RunPlan& plan, std::int64_t vocabulary) const {
    GptConfig shape = gptConfig(plan.config, vocabulary);
    for (const auto& entry : m_entries)
        if (entry.shape) entry.shape(shape, plan);
    return shape;
}

GptConfig Registry::modelShape(const RunConfig& config, std::int64_t vocabulary) const {
    return modelShape(drafted(config, running(config), vocabulary).plan, vocabulary);
}

StateForm Registry::formOf(const RunPlan& plan, const TrainState& state) const {
    StateForm form{.model = modelShape(plan, state.config.vocabulary),
                   .device = at::Device(plan.device()),
                   .eightBitMoments = plan.optimizer == OptimizerKind::EightBit,
                   .share = {.rank = 0, .of = plan.momentShares}};  // whose part it is who runs it knows
    form.model.positions = std::max(form.model.positions, state.config.positions);
    return form;
}

std::unique_ptr<StepProgram> Registry::build(const RunPlan& plan) const {
    ProgramBuilder builder(plan);
    for (const auto& entry : m_entries)
        if (entry.install) entry.install(builder, plan);
    return builder.build();
}

Result<std::unique_ptr<StepProgram>> Registry::build(const RunConfig& config) const {
    const auto resolved = plan(config);
    if (!resolved) return resolved.error();
    return build(*resolved);
}

}  // namespace stepscope
