#include "widgets/timeline/TimelineLooks.h"

#include <array>
#include <cmath>

#include "core/base/Format.h"
#include "core/base/StepPlace.h"
#include "widgets/style/SeriesColours.h"

namespace stepscope {

QString lookName(LookClass look) {
    static constexpr std::array<const char*, kLookClasses> names{"self-attention", "MLP",     "norm",  "embedding", "head and loss", "",
                                                                 "data",           "step",    "phase", "kernel",    "copy",          "runtime",
                                                                 "annotation",     "waiting", "",      "other"};
    if (look == LookClass::Optimizer) return QString::fromLatin1(toString(Role::Optimizer));
    if (look == LookClass::Communication) return QString::fromLatin1(toString(Role::Communication));
    return QString::fromLatin1(names[static_cast<std::size_t>(look)]);
}

QColor lookColour(LookClass look, bool dark) {
    switch (look) {
        case LookClass::Attention:
            return seriesColour(SeriesRole::Forward, dark);
        case LookClass::Mlp:
            return dark ? QColor(0xee7733) : QColor(0xe0853f);
        case LookClass::Norm:
            return seriesColour(SeriesRole::Clip, dark);
        case LookClass::Embedding:
            return seriesColour(SeriesRole::Batch, dark);
        case LookClass::Head:
            return seriesColour(SeriesRole::Backward, dark);
        case LookClass::Optimizer:
            return seriesColour(SeriesRole::Optimizer, dark);
        case LookClass::Data:
        case LookClass::Copy:
            return seriesColour(SeriesRole::Copy, dark);
        case LookClass::Step:
            return dark ? QColor(0x4a525b) : QColor(0xc9d0d7);
        case LookClass::Phase:
            return dark ? QColor(0x5b6b7c) : QColor(0xaebccb);
        case LookClass::Kernel:
            return dark ? QColor(0x6cc2a0) : QColor(0x57b894);
        case LookClass::Runtime:
            return dark ? QColor(0x8a7bc8) : QColor(0x9a8fd1);
        case LookClass::Annotation:
            return dark ? QColor(0x9d8f5c) : QColor(0xd2c28a);
        case LookClass::Communication:
            return seriesColour(SeriesRole::Communication, dark);
        case LookClass::Waiting:
        case LookClass::Other:
            break;
    }
    return look == LookClass::Waiting ? seriesColour(SeriesRole::Idle, dark) : dark ? QColor(0x7e878f) : QColor(0xa3abb3);
}

LookClass lookOf(const LodStyle& style) {
    switch (style.kind) {
        case SliceKind::Step:
        case SliceKind::Evaluation:
            return LookClass::Step;
        case SliceKind::Phase:
            return LookClass::Phase;
        case SliceKind::Memcpy:
        case SliceKind::Memset:
            return LookClass::Copy;
        case SliceKind::Runtime:
        case SliceKind::Driver:
            return LookClass::Runtime;
        case SliceKind::Synchronisation:
        case SliceKind::Overhead:
            return LookClass::Waiting;
        case SliceKind::Annotation:
        case SliceKind::DeviceAnnotation:
            return LookClass::Annotation;
        default:
            break;
    }
    const std::string& role = style.role;
    for (int i = 1; i < kRoles; ++i) {
        if (role != toString(static_cast<Role>(i))) continue;
        switch (static_cast<Role>(i)) {
            case Role::AttentionQkv:
            case Role::AttentionCore:
            case Role::AttentionOut:
            case Role::Norm1AndQkv:
                return LookClass::Attention;
            case Role::Norm1:
            case Role::Norm2:
            case Role::LastNorm:
                return LookClass::Norm;
            case Role::Embedding:
                return LookClass::Embedding;
            case Role::HeadLoss:
                return LookClass::Head;
            case Role::Optimizer:
                return LookClass::Optimizer;
            case Role::Communication:
                return LookClass::Communication;
            default:
                return LookClass::Mlp;  // or a stage that does several parts of a block at once
        }
    }
    if (!role.empty()) return LookClass::Annotation;
    return style.kind == SliceKind::Kernel ? LookClass::Kernel : LookClass::Other;
}

QString kindName(SliceKind kind) {
    static constexpr std::array<const char*, kSliceKinds> names{
        "operation",   "our own kernel", "backward", "step",   "phase",           "evaluation",        "annotation", "Python", "runtime call",
        "driver call", "kernel",         "copy",     "memset", "synchronisation", "device annotation", "overhead",   "other"};
    return QString::fromLatin1(names[static_cast<std::size_t>(kind)]);
}

QString timeText(double ns) {
    if (std::fabs(ns) < 1000) return QString("%1 ns").arg(std::llround(ns));
    return QString::fromStdString(format::milliseconds(ns / 1e6));
}

QString exactTimeText(qint64 ns) {
    return QString("%1 s").arg(static_cast<double>(ns) / 1e9, 0, 'f', 9);
}

}  // namespace stepscope
