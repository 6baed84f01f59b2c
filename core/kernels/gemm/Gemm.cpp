#include "core/kernels/gemm/Gemm.h"

#include <cstring>

#include "core/base/CounterRandom.h"
#include "core/kernels/forms/FormChoice.h"
#include "core/kernels/gemm/GemmTable.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

STEPSCOPE_ISA_TABLE(gemm::FormTable, gemmForms)
STEPSCOPE_ISA_TABLE(gemm::PackerTable, gemmPackers)
#if defined(__x86_64__)
namespace avx512bf16 {
extern const gemm::FormTable gemmAmxForms;  // GemmAmx.isa.cpp
}
#endif
static const gemm::Form* formsInUse(gemm::Element element) {
#if defined(__x86_64__)
    if (isaInUse() >= Isa::Amx && element == gemm::Element::Bf16) return avx512bf16::gemmAmxForms.forms[static_cast<int>(element)];
#endif
    return STEPSCOPE_PICK_ISA(gemmForms).forms[static_cast<int>(element)];
}
static const gemm::PackerTable& packersInUse() {
    return STEPSCOPE_PICK_ISA(gemmPackers);
}

}  // namespace stepscope

namespace stepscope::gemm {
namespace {

// Operands of a product, row-major A and A in panels, with room to spare.
struct Trial {
    std::int64_t rows, columns, steps;
    std::vector<std::uint32_t> a, b;
    std::vector<float> c;

    Trial(std::int64_t m, std::int64_t n, std::int64_t k)
        : rows(m),
          columns(n),
          steps(k),
          a(static_cast<std::size_t>(panels(m) * kPanel * k)),
          b(static_cast<std::size_t>(panels(n) * kPanel * k)),
          c(static_cast<std::size_t>(m * n)) {}

    Rows rowMajor() const { return {a.data(), steps, 1}; }
    Rows inPanels() const { return {a.data(), 1, kPanel, steps * kPanel}; }
    Panels right() const { return {b.data(), steps * kPanel}; }
};

void keep(void* context, float* tile, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    auto& trial = *static_cast<Trial*>(context);
    for (std::int64_t r = 0; r < rows; ++r)
        std::memcpy(trial.c.data() + (row + r) * trial.columns + column, tile + r * kPanel, static_cast<std::size_t>(columns) * sizeof(float));
}
void look(void*, float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {}

// Words whose sign and fraction are random and whose exponents, of both halves, lie in [low, low + range).
void fill(std::vector<std::uint32_t>& words, std::uint64_t stream, std::uint32_t low, std::uint32_t range) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::uint64_t random = counterRandom(1, stream, i);
        const auto half = [&](int shift) {
            const auto bits = static_cast<std::uint32_t>(random >> shift);
            return (bits & 0x807f) | (low + (bits >> 16) % range) << 7;
        };
        words[i] = half(0) | half(32) << 16;
    }
}

// Everything that the form gives for one product, both ways, whole and added to.
std::vector<float> results(const Kernels& kernels, Trial& trial) {
    std::vector<float> all;
    const auto take = [&] { all.insert(all.end(), trial.c.begin(), trial.c.end()); };
    kernels.tiles(trial.rowMajor(), trial.right(), trial.rows, trial.columns, trial.steps, keep, &trial);
    take();
    kernels.store(trial.rowMajor(), trial.right(), trial.rows, trial.columns, trial.steps, trial.c.data(), trial.columns, true);
    take();
    kernels.store(trial.inPanels(), trial.right(), trial.rows, trial.columns, trial.steps, trial.c.data(), trial.columns, false);
    take();
    return all;
}

// Whether the form computes on this processor what the reference does. The exponents reach denormal numbers, which the ways of multiplying pairs
// treat differently unless the form sees to it.
bool sameBits(const Form& form, const Form& reference) {
    for (const auto& [low, range] : {std::pair{120u, 12u}, std::pair{0u, 130u}}) {
        Trial trial(37, 70, 75);
        fill(trial.a, 1, low, range);
        fill(trial.b, 2, low, range);
        const auto expected = results(reference.kernels, trial), found = results(form.kernels, trial);
        if (std::memcmp(expected.data(), found.data(), expected.size() * sizeof(float)) != 0) return false;
    }
    return true;
}

const Form& named(const std::vector<Form>& forms, const std::string& name) {
    for (const Form& form : forms)
        if (name == form.name) return form;
    return forms.front();
}

// Products as a step has them: a row block by a width, and a weight gradient.
Kernels fastest(Element element) {
    const std::vector<Form> all = forms(element);
    Trial trial(128, 384, steps(element, 384));
    fill(trial.a, 1, 120, 8);
    fill(trial.b, 2, 120, 8);
    std::vector<FormCandidate> tiles, store;
    for (const Form& form : all) {
        tiles.push_back(
            {form.name, [&] { form.kernels.tiles(trial.rowMajor(), trial.right(), trial.rows, trial.columns, trial.steps, look, nullptr); }});
        store.push_back({form.name, [&] {
                             form.kernels.store(trial.inPanels(), trial.right(), trial.rows, trial.columns, trial.steps, trial.c.data(),
                                                trial.columns, false);
                         }});
    }
    const std::string prefix = element == Element::Bf16 ? "bf16." : "f32.";
    const std::string tilesForm = chooseForm(prefix + "tiles", tiles), storeForm = chooseForm(prefix + "store", store);
    return {.store = named(all, storeForm).kernels.store, .tiles = named(all, tilesForm).kernels.tiles};
}

}  // namespace

std::vector<Form> forms(Element element) {
    const Form* table = formsInUse(element);
    std::vector<Form> all{table[0]};
    for (int f = 1; f < kMostForms && table[f].name != nullptr; ++f)
        if (sameBits(table[f], table[0])) all.push_back(table[f]);
    return all;
}

const Kernels& kernels(Element element) {
    if (element == Element::F32) {
        static const Kernels f32 = fastest(Element::F32);
        return f32;
    }
    static const Kernels bf16 = fastest(Element::Bf16);
    return bf16;
}
const Packers& packers(Element element) {
    return packersInUse().packers[static_cast<int>(element)];
}

}  // namespace stepscope::gemm
