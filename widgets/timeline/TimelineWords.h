// What the pane beside a timeline says of a slice, its kin and a range, as simple HTML; and the numbers of its ruler. Pure functions; GUI thread.
#pragma once
#include <QString>
#include <vector>

#include "core/trace/TraceIndex.h"

namespace stepscope {

QString sliceWords(const TraceSlice& slice, const KinAnswer& kin, const std::vector<TraceSlice>& flows, qint64 origin);
QString sumsWords(qint64 from, qint64 to, const RangeSums& sums);
QString rulerText(double value, int digits);  // with thin spaces in thousands

}  // namespace stepscope
