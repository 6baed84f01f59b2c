#include "sessions/wire/WireIo.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/JsonDepth.h"
#include "core/events/ConfigKeys.h"
#include "sessions/EventFields.h"
#include "sessions/MachineJson.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostSettings = 1000, kMostSwitches = 1000;
constexpr std::size_t kLongestMachine = 1 << 20;  // bytes
constexpr int kMostCores = 1 << 20;
constexpr std::size_t kMostGpus = 1024;

bool canBe(const Machine& machine) {
    return machine.cores >= 1 && machine.cores <= kMostCores && machine.memory.count >= 0 && machine.gpus.size() <= kMostGpus &&
           std::ranges::all_of(machine.gpus, [](const Gpu& gpu) { return gpu.memory.count >= 0; });
}

}  // namespace

void WireWriter::operator()(const char* name, const Value& v) {
    m_out.whole(v.index());
    std::visit([&](const auto& held) { (*this)(name, held); }, v);
}

void WireReader::operator()(const char* name, Value& v) {
    const auto read = [&]<class T>(T held) {
        (*this)(name, held);
        v = std::move(held);
    };
    switch (m_in.upTo(2, "a value of a kind that nobody knows")) {
        case 0:
            return read(std::int64_t{0});
        case 1:
            return read(double{0});
        default:
            return read(std::string());
    }
}

// By key, as sessions keep them: whoever adds a key adds it in ConfigKeys.cpp alone.
void WireWriter::operator()(const char* name, const RunConfig& v) {
    m_out.text(v.preset);
    m_out.whole(configKeys().size());
    for (const ConfigKey& key : configKeys()) {
        m_out.text(key.id);
        (*this)(name, key.get(v));
    }
    m_out.whole(v.switches.size());
    for (const auto& [id, value] : v.switches) {
        m_out.text(id);
        (*this)(name, value);
    }
}

void WireReader::operator()(const char* name, RunConfig& v) {
    v = RunConfig{};
    v.preset = m_in.text(m_in.left());
    const std::uint64_t settings = m_in.upTo(kMostSettings, "more settings than there can be");
    for (std::uint64_t i = 0; i < settings && m_in.good(); ++i) {
        const std::string id = m_in.text(m_in.left());
        Value value;
        (*this)(name, value);
        if (!m_in.good()) return;
        const auto key = std::ranges::find(configKeys(), id, &ConfigKey::id);
        // What --set would refuse has no business in a run either.
        if (key == configKeys().end() || value.index() != key->get(v).index() || !parseValue(key->values, id, toString(value))) {
            m_in.fail("a setting that cannot be");
            return;
        }
        key->set(v, value);
    }
    const std::uint64_t switches = m_in.upTo(kMostSwitches, "more switches than there can be");
    for (std::uint64_t i = 0; i < switches && m_in.good(); ++i) {
        std::string id = m_in.text(m_in.left());
        (*this)(name, v.switches[std::move(id)]);
    }
}

void WireWriter::operator()(const char*, const Machine& v) {
    m_out.text(machineToJson(v));
}

void WireReader::operator()(const char*, Machine& v) {
    const std::string json = m_in.text(kLongestMachine);
    if (!m_in.good()) return;
    try {
        if (!nestsDeeper(json)) v = machineFromJson(json);
    } catch (const std::exception&) {
        v.cores = 0;
    }
    if (nestsDeeper(json) || !canBe(v)) m_in.fail("a machine that cannot be");
}

void WireWriter::operator()(const char*, const std::shared_ptr<const std::vector<CapturedOperation>>& v) {
    m_out.whole(v ? v->size() + 1 : 0);
    if (!v) return;
    for (const CapturedOperation& row : *v) fields(*this, row);
}

void WireReader::operator()(const char*, std::shared_ptr<const std::vector<CapturedOperation>>& v) {
    v.reset();
    const std::uint64_t count = m_in.upTo(kMostCapturedOperations + 1, "more kinds of operations than there can be");
    if (count == 0) return;
    std::vector<CapturedOperation> rows;
    for (std::uint64_t i = 1; i < count && m_in.good(); ++i) fields(*this, rows.emplace_back());
    v = std::make_shared<const std::vector<CapturedOperation>>(std::move(rows));
}

Status WireReader::finished(const char* what) {
    if (m_in.good() && m_in.left() > 0) m_in.fail("more bytes follow than belong to it");
    if (m_in.good()) return {};
    return makeError(ErrorCode::Damaged, fmt::format("{} from the other side is damaged at byte {}: {}.", what, m_in.wrongAt(), m_in.wrong()));
}

}  // namespace stepscope
