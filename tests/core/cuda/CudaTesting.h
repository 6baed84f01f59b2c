// What the tests of the CUDA forms share: device memory of the CUDA runtime that the plug-in has loaded, activations of one scalar, shapes to try,
// and the fixture: where there is no device, a test holds the sentence that says so and notes it as "not_run". Included by tests/core/cuda only.
#pragma once
#if defined(STEPSCOPE_CUDA_ON_HOST)
#include "OnHost.h"
#else
#include "core/cuda/loader/CudaPlugin.h"
#endif

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace stepscope {

// The calls of the CUDA runtime that a test needs, by name: this program is not linked to CUDA. Where the kernels are compiled for the host, device
// memory is the program's own.
struct Runtime {
    int (*allocate)(void**, std::size_t) = nullptr;
    int (*copy)(void*, const void*, std::size_t, int) = nullptr;
    int (*release)(void*) = nullptr;

#if defined(STEPSCOPE_CUDA_ON_HOST)
    Runtime() {
        allocate = [](void** to, std::size_t bytes) { return posix_memalign(to, 256, bytes); };  // as aligned as cudaMalloc's
        copy = [](void* to, const void* from, std::size_t bytes, int) { return bytes == 0 || std::memcpy(to, from, bytes) == to ? 0 : 1; };
        release = [](void* memory) { return std::free(memory), 0; };
    }
#else
    Runtime() {
        void* handle = dlopen("libcudart.so.13", RTLD_NOW);
        if (!handle) return;
        allocate = reinterpret_cast<decltype(allocate)>(dlsym(handle, "cudaMalloc"));
        copy = reinterpret_cast<decltype(copy)>(dlsym(handle, "cudaMemcpy"));
        release = reinterpret_cast<decltype(release)>(dlsym(handle, "cudaFree"));
    }
#endif
};

inline const Runtime& runtime() {
    static const Runtime cuda;
    return cuda;
}

inline std::uint16_t toBFloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline float fromBFloat16(std::uint16_t value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

// Device memory that is given back at the end.
template <class T>
class Device {
public:
    explicit Device(std::size_t count) : m_count(count) { EXPECT_EQ(runtime().allocate(&m_pointer, std::max<std::size_t>(1, count) * sizeof(T)), 0); }
    explicit Device(const std::vector<T>& values) : Device(values.size()) {
        EXPECT_EQ(runtime().copy(m_pointer, values.data(), m_count * sizeof(T), 1), 0);
    }
    Device(const Device&) = delete;
    ~Device() { runtime().release(m_pointer); }
    operator T*() const { return static_cast<T*>(m_pointer); }
    std::vector<T> read() const {
        std::vector<T> values(m_count);
        EXPECT_EQ(runtime().copy(values.data(), m_pointer, m_count * sizeof(T), 2), 0);
        return values;
    }

private:
    void* m_pointer = nullptr;
    std::size_t m_count;
};

inline std::uint16_t toHalf(float value) {
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}
inline float fromHalf(std::uint16_t value) {
    return static_cast<float>(std::bit_cast<_Float16>(value));
}

// Activations of one scalar, written and read as float32.
class Activations {
public:
    Activations(CudaScalar scalar, std::size_t count) : Activations(scalar, std::vector<float>(count, 0.0f)) {}
    Activations(CudaScalar scalar, const std::vector<float>& values) : m_scalar(scalar), m_wide(values), m_narrow(narrowed(scalar, values)) {}
    operator void*() const {
        return m_scalar == CudaScalar::Float32 ? static_cast<void*>(static_cast<float*>(m_wide)) : static_cast<std::uint16_t*>(m_narrow);
    }
    std::vector<float> read() const {
        if (m_scalar == CudaScalar::Float32) return m_wide.read();
        std::vector<float> wide;
        for (const std::uint16_t value : m_narrow.read()) wide.push_back(m_scalar == CudaScalar::Float16 ? fromHalf(value) : fromBFloat16(value));
        return wide;
    }

private:
    static std::vector<std::uint16_t> narrowed(CudaScalar scalar, const std::vector<float>& values) {
        std::vector<std::uint16_t> all;
        for (const float value : values) all.push_back(scalar == CudaScalar::Float16 ? toHalf(value) : toBFloat16(value));
        return all;
    }
    CudaScalar m_scalar;
    Device<float> m_wide;
    Device<std::uint16_t> m_narrow;
};

inline std::vector<float> randomValues(std::size_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    std::vector<float> values(count);
    for (float& value : values) value = fromHalf(toHalf(fromBFloat16(toBFloat16(normal(engine)))));  // exact in every scalar
    return values;
}

// One of them is no number, or infinite; with bad = 0 they stay as they are.
inline std::vector<float> spoilt(std::vector<float> values, float bad) {
    if (bad != 0.0f && !values.empty()) values[values.size() / 2] = bad;
    return values;
}

// Near where `wanted` is finite, and not finite where that is not.
inline void expectNear(const std::vector<float>& got, const std::vector<float>& wanted, float relative, const char* what) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(std::isfinite(got[i]), std::isfinite(wanted[i])) << what << " at " << i << ": " << got[i] << " for " << wanted[i];
        if (!std::isfinite(wanted[i])) continue;
        ASSERT_NEAR(got[i], wanted[i], relative * std::max(1.0f, std::fabs(wanted[i]))) << what << " at " << i;
    }
}

// Equal where they are no numbers too.
inline std::vector<std::uint32_t> bitsOf(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits;
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
}

// Rows that fill packs, ragged ones, one element, none, and more rows than chunks.
struct Shape {
    std::size_t rows, columns;
};
const std::vector<Shape> kShapes = {{1, 1}, {0, 64}, {3, 7}, {65, 513}, {100, 768}, {4097, 64}};
constexpr std::size_t kMostSpoilt = 65 * 513;  // elements: larger shapes have the same paths and take long under compute-sanitizer

// Kernels with barriers take long on the host: there many rows and wide ones are tried in one scalar alone.
inline bool spared(const CudaRows& rows) {
#if defined(STEPSCOPE_CUDA_ON_HOST)
    return (rows.rows > 1000 || rows.columns > 8000) && rows.scalar != CudaScalar::BFloat16;
#else
    return false;
#endif
}

struct Scalar {
    CudaScalar scalar;
    const char* name;
    float tolerance;
};
const Scalar kScalars[] = {
    {CudaScalar::Float32, "float32", 2e-5f}, {CudaScalar::BFloat16, "bfloat16", 1.0f / 128}, {CudaScalar::Float16, "float16", 1.0f / 1024}};

class CudaKernels : public testing::Test {
protected:
    // The plug-in's, or null where there is no device, which is then noted.
    const CudaInterface* interface() {
#if defined(STEPSCOPE_CUDA_ON_HOST)
        return stepscope_cuda_on_host();
#else
        const char* elsewhere = std::getenv("STEPSCOPE_CUDA_PLUGIN");
        const CudaPlugin plugin = loadCudaPlugin({.driver = "libcuda.so.1", .torchCuda = "libc10_cuda.so", .plugin = elsewhere ? elsewhere : PLUGIN});
        if (plugin.interface) return plugin.interface;
        RecordProperty("not_run", plugin.whyNot);
        EXPECT_THAT(plugin.whyNot, testing::AnyOf(testing::Eq("No NVIDIA driver is installed."), testing::StartsWith("The NVIDIA driver ")));
        return nullptr;
#endif
    }
    // Calls test(cuda, scalar, tolerance).
    template <class Test>
    void onEveryScalar(Test test) {
        const CudaInterface* cuda = interface();
        if (!cuda) return;
        for (const Scalar& one : kScalars) {
            SCOPED_TRACE(one.name);
            test(*cuda, one.scalar, one.tolerance);
        }
    }
    // Calls test(cuda, rows, shape, tolerance) for every shape in every scalar.
    template <class Test>
    void onShapes(const std::vector<Shape>& shapes, Test test) {
        onEveryScalar([&](const CudaInterface& cuda, CudaScalar scalar, float tolerance) {
            for (const Shape& shape : shapes) {
                SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns);
                test(cuda, CudaRows{scalar, static_cast<std::int64_t>(shape.rows), static_cast<std::int64_t>(shape.columns), nullptr}, shape,
                     tolerance);
            }
        });
    }
    template <class Test>
    void onEveryShape(Test test) {
        onShapes(kShapes, test);
    }
    // The same with what spoils an input as a fifth: 0 for nothing, NaN, and both infinities.
    template <class Test>
    void onEveryShapeAlsoSpoilt(Test test) {
        for (const float bad : {0.0f, std::nanf(""), INFINITY, -INFINITY})
            onEveryShape([&](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
                SCOPED_TRACE(testing::Message() << "spoilt by " << bad);
                if (bad == 0.0f || shape.rows * shape.columns <= kMostSpoilt) test(cuda, rows, shape, tolerance, bad);
            });
    }
};

// Bound for a sum over rows of numbers that are each off by `tolerance`.
inline float sumTolerance(float tolerance, std::size_t rows) {
    return tolerance * static_cast<float>(1 + std::sqrt(static_cast<double>(rows)));
}

}  // namespace stepscope
