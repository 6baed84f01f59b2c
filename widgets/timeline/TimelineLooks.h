// What the styles of a trace look like in a timeline: a colour by role (or phase, or kind where neither is known) and a name. Colours are those of
// the charts where they mean the same: forward, backward, optimizer, data. GUI thread.
#pragma once
#include <QColor>
#include <QString>
#include <vector>

#include "core/trace/Lod.h"

namespace stepscope {

enum class LookClass {
    Attention,
    Mlp,
    Norm,
    Embedding,
    Head,
    Optimizer,
    Data,
    Step,
    Phase,
    Kernel,
    Copy,
    Runtime,
    Annotation,
    Waiting,
    Communication,
    Other
};
constexpr int kLookClasses = 16;
QString lookName(LookClass look);  // for the legend
QColor lookColour(LookClass look, bool dark);
LookClass lookOf(const LodStyle& style);

struct StyleLook {
    LodStyle style;
    QString name;
    LookClass look = LookClass::Other;
};

QString kindName(SliceKind kind);  // "operation", "kernel"

// A duration or time in three significant digits, and one as exact as the trace is.
QString timeText(double ns);
QString exactTimeText(qint64 ns);

}  // namespace stepscope
