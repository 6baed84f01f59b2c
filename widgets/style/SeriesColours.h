// Colours with a fixed role everywhere in the program, from the palette of Okabe and Ito ("Color Universal Design", 2008),
// which people with any common colour blindness can tell apart. On dark ground blue and green are a little lighter.
// Colour never carries a meaning alone: lines differ in dash and width too.
#pragma once
#include <QColor>
#include <QString>
#include <Qt>

#include "core/events/Phase.h"

namespace stepscope {

enum class SeriesRole {
    Train,
    Validation,
    A,
    B,
    Batch,
    Copy,
    Forward,
    Backward,
    Clip,
    Optimizer,
    Communication,
    Idle,
    LearningRate,
    GradientNorm,
    Threshold,
    LossScale,
    Skipped,
    Throughput,
    Cpu,
    OtherProcesses,
    Steal,
    Gpu,
    Memory,
    GpuMemory,
    PageFaults
};

QColor seriesColour(SeriesRole role, bool dark);
SeriesRole roleOf(Phase phase);
// Colour and dash of the n-th of up to 20 runs laid over each other: seven hues, then the same deeper and dashed, then dotted. The first is that of
// A, the second that of B.
QColor overlayColour(std::size_t place, bool dark);
Qt::PenStyle overlayDash(std::size_t place);
// `colour` laid over `ground` at `share`: opaque, because overlapping translucent segments would draw beads.
QColor faint(const QColor& colour, const QColor& ground, double share);
// WCAG 2's contrast of two colours: 1 (none) to 21. A line that is to be seen needs 3.
double contrast(const QColor& a, const QColor& b);
// `colour` faint over `ground`, but never below that contrast where the colour itself has it.
QColor faintButReadable(const QColor& colour, const QColor& ground);

}  // namespace stepscope
