// What the events of a measurement do not say of it, and the part of a page that says where it was measured.
#pragma once
#include <string>

#include "core/events/Machine.h"
#include "core/report/Document.h"

namespace stepscope::report {

// Empty where nobody knows.
struct ReportFacts {
    std::string name;
    std::string started;  // "2026-11-22 16:30"
    std::string preset;   // of everything that was measured
    Machine machine;
    bool machineKnown = false;
    std::int64_t parameters = 0;
    std::string repeat;  // one line to type
};

// "Where": processor, memory, GPU, versions, size of the model.
void addMachine(Document& document, const ReportFacts& facts);
// "Ask it again"; nothing without a line.
void addRepeat(Document& document, const ReportFacts& facts);

}  // namespace stepscope::report
