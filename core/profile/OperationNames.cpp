#include "core/profile/OperationNames.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "core/profile/OperationWork.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostShownOfList = 8;

// Good enough to tell some thousands of keys apart; a name is compared besides.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 32);
}

bool givesTensors(const c10::FunctionSchema& schema) {
    return std::ranges::any_of(schema.returns(), [](const c10::Argument& returned) {
        return returned.type()->isSubtypeOf(*c10::TensorType::get()) || returned.type()->isSubtypeOf(*c10::ListType::ofTensors()) ||
               returned.type()->isSubtypeOf(*c10::OptionalType::ofTensor());
    });
}

bool works(const at::RecordFunction& operation) {
    const std::string_view name = operation.name();
    for (const char* nothing : {"aten::empty", "aten::item", "aten::_local_scalar_dense", "aten::_unsafe_view", "aten::resize_"})
        if (name.starts_with(nothing)) return false;
    const auto schema = operation.operator_schema();  // a copy: asked once for each name
    if (!schema) return false;                        // no operator: a step on the way into one
    if (schema->returns().empty()) return true;       // writes into its arguments
    if (!givesTensors(*schema)) return false;         // a size, a type, a yes or no
    const auto* alias = schema->returns()[0].alias_info();
    return alias == nullptr || alias->isWrite();  // else a view, or the argument itself
}

// The things of one kind that the whole process knows.
template <class Thing>
class Known {
public:
    template <class Make>
    const Thing* find(const std::string& key, std::size_t most, Make make) {
        const std::lock_guard lock(m_mutex);
        const auto found = m_byKey.find(key);
        if (found != m_byKey.end()) return found->second;
        if (m_all.size() >= most) return nullptr;
        const Thing* made = &m_all.emplace_back(make());
        m_byKey.emplace(key, made);
        return made;
    }

private:
    std::mutex m_mutex;
    std::deque<Thing> m_all;
    std::unordered_map<std::string, const Thing*> m_byKey;
};
Known<OperationName>& names() {
    static auto* one = new Known<OperationName>;  // threads of LibTorch's outlive what is destroyed at the end of main
    return *one;
}
Known<OperationArguments>& arguments() {
    static auto* one = new Known<OperationArguments>;
    return *one;
}

template <class Make>
const OperationName& nameBy(std::uint64_t more, const char* text, Make make) {
    thread_local std::unordered_map<std::uint64_t, const OperationName*> here;
    const std::string_view view(text);
    const std::uint64_t hash = mixed(std::hash<std::string_view>()(view), more);
    const auto found = here.find(hash);
    if (found != here.end() && std::strcmp(found->second->text.c_str(), text) == 0) return *found->second;
    static const OperationName other{"(other operations)", true};
    const OperationName* known = names().find(std::string(view) + '\0' + std::to_string(more), kMostOperationNames, make);
    if (known == nullptr) return other;
    if (here.size() >= kMostOperationNames) here.clear();
    here[hash] = known;
    return *known;
}

// What arguments are, one after the other: a hash where nothing else is asked, or a text and shapes.
struct Hashed {
    std::uint64_t hash = 0;
    void tensor(const at::Tensor& tensor) {
        hash = mixed(hash, 1 + static_cast<std::uint64_t>(tensor.scalar_type()));
        for (const std::int64_t size : tensor.sizes()) hash = mixed(hash, static_cast<std::uint64_t>(size));
    }
    void none() { hash = mixed(hash, 101); }
    void word(const char* /*text*/, std::uint64_t code) { hash = mixed(hash, code); }
    void beginList() { hash = mixed(hash, 102); }
    void endList() { hash = mixed(hash, 103); }
};

struct Described {
    std::string text;
    std::vector<OperandShape> operands;
    bool causal = false;

    void tensor(const at::Tensor& tensor) {
        if (m_inList) {
            if (m_ofList++ < kMostShownOfList) {
                if (m_ofList > 1) text += ';';
                write(tensor);
            }
        } else {
            next();
            write(tensor);
        }
        operands.push_back({tensor.sizes().vec(), static_cast<std::int64_t>(tensor.element_size())});
    }
    void none() {
        if (!m_inList) word("-", 0);
    }
    void word(const char* what, std::uint64_t /*code*/) {
        next();
        text += what;
        causal |= std::strcmp(what, "true") == 0;
    }
    void beginList() {
        next();
        text += '{';
        m_inList = true;
        m_ofList = 0;
    }
    void endList() {
        text += '}';
        m_inList = false;
    }

private:
    void next() {
        if (!text.empty()) text += ' ';
    }
    void write(const at::Tensor& tensor) {
        text += c10::toString(tensor.scalar_type());
        text += '[';
        for (std::int64_t d = 0; d < tensor.dim(); ++d) text += (d > 0 ? "," : "") + std::to_string(tensor.size(d));
        text += ']';
    }
    bool m_inList = false;
    std::size_t m_ofList = 0;
};

template <class Into>
void look(const at::RecordFunction& operation, Into& into) {
    const auto tensorOrNone = [&](const c10::IValue& value) {
        if (value.isTensor() && value.toTensor().defined())
            into.tensor(value.toTensor());
        else
            into.none();
    };
    for (const c10::IValue& value : operation.inputs()) {
        if (value.isTensor() || value.isNone()) {
            tensorOrNone(value);
        } else if (value.isTensorList() || value.isOptionalTensorList()) {
            into.beginList();
            for (const c10::IValue& element : value.toListRef()) tensorOrNone(element);
            into.endList();
        } else if (value.isBool()) {
            into.word(value.toBool() ? "true" : "false", value.toBool() ? 201 : 202);
        } else if (value.isInt()) {
            into.word("int", 203);
        } else if (value.isDouble()) {
            into.word("float", 204);
        } else if (value.isList()) {
            into.word("list", 205);
        } else {
            into.word("other", 206);
        }
    }
}

}  // namespace

const OperationName& nameOf(const at::RecordFunction& operation) {
    // Overloads of one name differ in what they write to; of an operator this address is its own.
    return nameBy(reinterpret_cast<std::uintptr_t>(operation.overload_name()), operation.name(), [&] {
        return OperationName{operation.name(), works(operation)};
    });
}

const OperationName& ownName(const char* name) {
    return nameBy(1, name, [&] { return OperationName{name, true}; });
}

const OperationArguments* ownArguments(const OperationName& name, const OperationWork& work) {
    if (work == OperationWork()) return nullptr;
    thread_local std::unordered_map<std::uint64_t, const OperationArguments*> here;
    const std::uint64_t hash =
        mixed(mixed(mixed(reinterpret_cast<std::uintptr_t>(&name), static_cast<std::uint64_t>(work.flops)), static_cast<std::uint64_t>(work.bytes)),
              reinterpret_cast<std::uintptr_t>(work.type));
    if (const auto found = here.find(hash); found != here.end()) return found->second;
    // A tensor whose sizes are not told: what it computes with is.
    std::string text = work.type == nullptr ? std::string() : std::string(work.type) + "[]";
    const std::string key = name.text + '\0' + text + '\0' + std::to_string(work.flops) + '\0' + std::to_string(work.bytes);
    const OperationArguments* known = arguments().find(key, kMostOperationArguments, [&] {
        return OperationArguments{std::move(text), work.flops, work.bytes};
    });
    if (here.size() >= kMostOperationArguments) here.clear();
    here.emplace(hash, known);
    return known;
}

const OperationArguments* argumentsOf(const at::RecordFunction& operation, const OperationName& name) {
    if (operation.inputs().empty()) return nullptr;
    thread_local std::unordered_map<std::uint64_t, const OperationArguments*> here;
    Hashed hashed{reinterpret_cast<std::uintptr_t>(&name)};
    look(operation, hashed);
    const auto found = here.find(hashed.hash);
    if (found != here.end()) return found->second;
    Described described;
    look(operation, described);
    const OperationWork work = workOf(name.text, described.operands, described.causal);
    // Of a long list the text shows its beginning.
    const std::string key = name.text + '\0' + described.text + '\0' + std::to_string(described.operands.size()) + '\0' + std::to_string(work.bytes);
    const OperationArguments* known = arguments().find(key, kMostOperationArguments, [&] {
        return OperationArguments{std::move(described.text), work.flops, work.bytes};
    });
    if (here.size() >= kMostOperationArguments) here.clear();
    here.emplace(hashed.hash, known);
    return known;
}

}  // namespace stepscope
