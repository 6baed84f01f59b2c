// The CUDA form of bias + GELU against the plain reference, on a real device. Where there is none, the test holds the
// sentence that says so. Device memory comes from the CUDA runtime that the plug-in has loaded.
#include "core/cuda/loader/CudaPlugin.h"
#include "core/kernels/bias_gelu/BiasGelu.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace stepscope {
namespace {

// The four calls of the CUDA runtime that a test needs, by name: this program is not linked to CUDA.
struct Runtime {
    int (*allocate)(void**, std::size_t) = nullptr;
    int (*copy)(void*, const void*, std::size_t, int) = nullptr;
    int (*release)(void*) = nullptr;

    Runtime() {
        void* handle = dlopen("libcudart.so.13", RTLD_NOW);
        if (!handle) return;
        allocate = reinterpret_cast<decltype(allocate)>(dlsym(handle, "cudaMalloc"));
        copy = reinterpret_cast<decltype(copy)>(dlsym(handle, "cudaMemcpy"));
        release = reinterpret_cast<decltype(release)>(dlsym(handle, "cudaFree"));
    }
};

const Runtime& runtime() {
    static const Runtime cuda;
    return cuda;
}

std::uint16_t toBFloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float fromBFloat16(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

// Values of one scalar type on the device, written and read as float32.
class DeviceArray {
public:
    DeviceArray(CudaScalar scalar, std::size_t count) : m_scalar(scalar), m_count(count) { EXPECT_EQ(runtime().allocate(&pointer, bytes()), 0); }
    DeviceArray(CudaScalar scalar, const std::vector<float>& values) : DeviceArray(scalar, values.size()) {
        std::vector<std::uint16_t> narrow;
        for (const float value : values) narrow.push_back(toBFloat16(value));
        const void* from = scalar == CudaScalar::Float32 ? static_cast<const void*>(values.data()) : narrow.data();
        EXPECT_EQ(runtime().copy(pointer, from, bytes(), 1), 0);
    }
    DeviceArray(const DeviceArray&) = delete;
    ~DeviceArray() { runtime().release(pointer); }

    std::vector<float> read() const {
        std::vector<float> values(m_count);
        std::vector<std::uint16_t> narrow(m_count);
        void* to = m_scalar == CudaScalar::Float32 ? static_cast<void*>(values.data()) : narrow.data();
        EXPECT_EQ(runtime().copy(to, pointer, bytes(), 2), 0);
        if (m_scalar == CudaScalar::BFloat16)
            for (std::size_t i = 0; i < m_count; ++i) values[i] = fromBFloat16(narrow[i]);
        return values;
    }
    void* pointer = nullptr;

private:
    std::size_t bytes() const { return m_count * (m_scalar == CudaScalar::Float32 ? 4 : 2); }
    CudaScalar m_scalar;
    std::size_t m_count;
};

std::vector<float> randomValues(std::size_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    std::vector<float> values(count);
    for (float& value : values) value = fromBFloat16(toBFloat16(normal(engine)));  // exact in both scalars
    return values;
}

void expectNear(const std::vector<float>& got, const std::vector<float>& wanted, float relative, const char* what) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], relative * std::max(1.0f, std::fabs(wanted[i]))) << what << " at " << i;
}

void compare(const CudaInterface& cuda, CudaScalar scalar, std::size_t rows, std::size_t columns) {
    SCOPED_TRACE(testing::Message() << (scalar == CudaScalar::Float32 ? "float32 " : "bfloat16 ") << rows << " x " << columns);
    const BiasGeluShape plain{rows, columns};
    const std::vector<float> in = randomValues(rows * columns, 1), bias = randomValues(columns, 2), gradOut = randomValues(rows * columns, 3);
    std::vector<float> out(in.size()), gradIn(in.size()), gradBias(columns);
    biasGeluForward(plain, in, bias, out);
    biasGeluBackward(plain, gradOut, in, bias, gradIn, gradBias);

    const CudaBiasGelu shape{scalar, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), nullptr};
    const DeviceArray dIn(scalar, in), dBias(scalar, bias), dGradOut(scalar, gradOut);
    const DeviceArray dOut(scalar, in.size()), dGradIn(scalar, in.size()), dGradBias(scalar, columns);
    const DeviceArray workspace(CudaScalar::Float32, cuda.biasGeluWorkspaceBytes(shape.rows, shape.columns) / sizeof(float));
    const auto backward = [&] {
        return cuda.biasGeluBackward(shape, dGradOut.pointer, dIn.pointer, dBias.pointer, dGradIn.pointer, dGradBias.pointer, workspace.pointer);
    };
    ASSERT_EQ(cuda.biasGeluForward(shape, dIn.pointer, dBias.pointer, dOut.pointer), nullptr);
    ASSERT_EQ(backward(), nullptr);
    const float tolerance = scalar == CudaScalar::Float32 ? 1e-5f : 1.0f / 128;  // bfloat16 keeps 8 bits
    expectNear(dOut.read(), out, tolerance, "out");
    expectNear(dGradIn.read(), gradIn, tolerance, "gradIn");
    const std::vector<float> first = dGradBias.read();
    expectNear(first, gradBias, scalar == CudaScalar::Float32 ? 1e-4f : tolerance, "gradBias");
    ASSERT_EQ(backward(), nullptr);
    EXPECT_EQ(dGradBias.read(), first) << "the sum over rows must have the same bits every time";
}

TEST(CudaBiasGelu, AgreesWithThePlainReferenceOnAGpuOrTheLoaderSaysWhyThereIsNone) {
    const CudaPlugin plugin = loadCudaPlugin({.driver = "libcuda.so.1", .torchCuda = "libc10_cuda.so", .plugin = PLUGIN});
    if (!plugin.interface) {
        EXPECT_THAT(plugin.whyNot, testing::AnyOf(testing::Eq("No NVIDIA driver is installed."), testing::StartsWith("The NVIDIA driver ")));
        return;
    }
    for (const CudaScalar scalar : {CudaScalar::Float32, CudaScalar::BFloat16})
        for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 1}, {3, 7}, {65, 513}, {1000, 3072}, {4097, 768}})
            compare(*plugin.interface, scalar, rows, columns);
}

}  // namespace
}  // namespace stepscope
