// PackedModel: a copy of a model's weights in the type that text is written with, as panels (core/kernels/packed_rows). Matrices have that type, the
// embedding and the head too; biases, norms and positions stay float32. Made by a Decoder with its threads, read by all of them.
#pragma once
#include <string>
#include <vector>

#include "core/base/Arena.h"
#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/inference/GeneratorWeights.h"
#include "core/kernels/packed_rows/PackedRows.h"
#include "core/step/Team.h"

namespace stepscope {

const char* toString(WeightType type);                        // "f32", "bf16", "int8", "int4", "int8-dynamic": the words of --dtype
Result<WeightType> weightTypeNamed(const std::string& word);  // the sentence names all

// What a configuration has not is a null pointer.
struct PackedNorm {
    const float *weight = nullptr, *bias = nullptr;
};
struct PackedLinearRows {
    PackedRows weight;
    const float* bias = nullptr;
};
struct PackedBlock {
    PackedNorm norm1, norm2;
    PackedLinearRows qkv;  // rows of q, then k, then v, however the model keeps them
    PackedLinearRows proj, fc, fcProj;
};

class PackedModel {
public:
    PackedModel(const GeneratorWeights& from, WeightType type, Team& team);
    PackedModel(const PackedModel&) = delete;
    PackedModel& operator=(const PackedModel&) = delete;

    PackedRows embedding, head;        // (vocabulary, C); the same rows when tied
    const float* positions = nullptr;  // (positions, C)
    std::vector<PackedBlock> blocks;
    PackedNorm norm;  // the last
    WeightType type;

    Bytes bytes() const { return m_bytes; }
    // What the next token reads of them: all but the tables of which it takes a single row.
    Bytes bytesRead() const;

private:
    struct Task {  // what is packed or copied, once there is memory
        PackedRows* rows;
        const float** vector;
        at::Tensor from;
    };
    void collect(const GeneratorWeights& from);
    void matrix(PackedRows& into, const at::Tensor& from);
    void vector(const float*& into, const at::Tensor& from);
    void lay(Arena& arena);

    std::vector<Task> m_tasks;
    at::Tensor m_memory;
    Bytes m_bytes;
    std::int64_t m_positionBytes = 0;
};

}  // namespace stepscope
