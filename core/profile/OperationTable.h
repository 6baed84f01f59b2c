// OperationTable: what ran while it listens, added up by name, kind and place in the step: the first source of a Capture (CaptureSource.h). Bounded
// whatever runs. Made and finished on the thread that runs the steps.
#pragma once
#include <memory>

#include "core/profile/CaptureSource.h"
#include "core/profile/OperationStream.h"

namespace stepscope {

// What an operation is, by its name and activity. Words are stored, so they are never renamed.
enum class OperationKind { MatrixProduct, Attention, Norm, Pointwise, Loss, Embedding, Optimizer, Data, Memory, Other };
constexpr int kOperationKinds = 10;
const char* toString(OperationKind kind);  // "matrix product", "norm", ...
OperationKind kindOf(const OperationDone& operation);

class OperationTable final : public CaptureSource {
public:
    OperationTable();
    ~OperationTable() override;
    std::string finish(CaptureDone& into) override;

private:
    class Sums;
    std::shared_ptr<Sums> m_sums;
    OperationListening m_listening;
};

}  // namespace stepscope
