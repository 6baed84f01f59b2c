#include "app/gui/diagnose/DiagnoseWords.h"

#include <QStringList>
#include <cmath>

#include "core/base/Format.h"

namespace stepscope {
namespace {

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

QString size(Bytes bytes) {
    return text(format::bytes(bytes));
}

QString count(std::int64_t value) {
    return text(format::count(value));
}

QString clockTime(double seconds) {
    return text(seconds < 1 ? format::milliseconds(seconds * 1e3) : format::duration(TimeNs::fromSeconds(std::min(seconds, 9e8))));
}

QString flops(double perSecond) {
    return std::isfinite(perSecond) ? text(format::significant(perSecond / 1e9)) + " GFLOP/s" : QString("not measured");
}

QString instructionsOf(const Machine& machine) {
    QStringList all;
    for (const auto& name : machine.instructions) all << text(name);
    return all.isEmpty() ? QString("no wide instruction sets") : all.join(" ");
}

DiagnoseFact timeFact(const Diagnosis& found) {
    if (!found.estimate) return {"Time", "not timed"};
    const TimeEstimate& estimate = *found.estimate;
    QString sentence = QString("about %1 for %2 steps of %3")
                           .arg(clockTime(estimate.seconds), count(estimate.steps), text(format::milliseconds(estimate.msPerStep)));
    if (estimate.validations > 0)
        sentence += QString(" and %1 validations of %2").arg(count(estimate.validations), text(format::milliseconds(estimate.validationMs)));
    const bool counted = estimate.checkpoints == 0 || std::isfinite(estimate.checkpointMs);
    if (estimate.checkpoints > 0 && counted)
        sentence += QString(", %1 checkpoint%2 of %3")
                        .arg(count(estimate.checkpoints), estimate.checkpoints == 1 ? "" : "s", text(format::milliseconds(estimate.checkpointMs)));
    sentence += QString("; between %1 and %2 (%3 timed steps). %4 come on top.")
                    .arg(clockTime(estimate.low), clockTime(estimate.high))
                    .arg(estimate.timed)
                    .arg(counted ? "Texts" : "Checkpoints and texts");
    if (!estimate.disturbed.empty()) sentence += QString(" Timed while %1: on a quiet machine it may be shorter.").arg(text(estimate.disturbed));
    return {"Time", sentence};
}

// Values that cannot be used here, one switch after the other.
QString refusedOf(const Diagnosis& found) {
    QStringList all;
    for (const SwitchInfo& entry : found.switches) {
        if (!entry.applicable.usable) {
            all << QString("%1: %2").arg(text(entry.id), text(entry.applicable.reason));
            continue;
        }
        for (const auto& [choice, why] : entry.refusedChoices) all << QString("%1=%2: %3").arg(text(entry.id), text(choice), text(why));
    }
    return all.isEmpty() ? QString("every value of every switch can be used") : "cannot be used here\n" + all.join("\n");
}

}  // namespace

std::vector<DiagnoseFact> factsOf(const Diagnosis& found) {
    std::vector<DiagnoseFact> facts;
    for (const auto& problem : found.problems) facts.push_back({"Look at this", text(problem), true});
    facts.push_back(timeFact(found));
    if (found.timing) {
        const double share = found.timing->shareOfPeak(found.peaks);
        facts.push_back({"Speed", QString("%1, %2; products reach %3 of what this machine can do")
                                      .arg(text(format::rate(found.timing->tokensPerSecond(), "tok/s")),
                                           text(format::rate(found.timing->sequencesPerSecond(), "samples/s")),
                                           std::isfinite(share) ? text(format::percent(share)) : QString("an unknown share"))});
        facts.push_back({"Peaks", QString("products %1 in float32, %2 in bf16, %3 in fp16")
                                      .arg(flops(found.peaks.float32), flops(found.peaks.bf16), flops(found.peaks.fp16))});
    }
    if (found.memory.total.count > 0) {
        facts.push_back({"Model", QString("%1 parameters: %2 layers, %3 heads, %4 wide")
                                      .arg(count(found.memory.parameters))
                                      .arg(found.config.layers)
                                      .arg(found.config.heads)
                                      .arg(found.config.width)});
        facts.push_back(
            {"Memory",
             QString("%1 predicted of %2 available: %3").arg(size(found.memory.total), size(found.memory.available), text(found.memory.parts)),
             found.memory.total > found.memory.available});
        facts.push_back({"Fits", found.batchThatFits > 0
                                     ? QString("up to %1 sequences at a time, with a tenth of the memory left free").arg(count(found.batchThatFits))
                                     : QString("not even one sequence with a tenth of the memory left free")});
    }
    const DataFacts& data = found.data;
    if (data.description.empty())
        facts.push_back({"Data", text(data.name) + " cannot be read", true});
    else
        facts.push_back({"Data", QString("%1%2: %3 tokens to train on, %4 to validate on, %5 ids; read %6 times in this run")
                                     .arg(text(data.description), data.bytes >= 0 ? ", " + size({data.bytes}) : QString(), count(data.trainTokens),
                                          count(data.validationTokens), count(data.vocabulary), text(format::significant(data.epochs)))});
    const Machine& machine = found.machine;
    facts.push_back({"Machine", QString("%1, %2 cores, %3 of memory of which %4 are available; %5; %6")
                                    .arg(text(machine.cpu))
                                    .arg(machine.cores)
                                    .arg(size(machine.memory), size(found.availableMemory), instructionsOf(machine), text(machine.system))});
    for (const Gpu& gpu : machine.gpus)
        facts.push_back({"GPU", QString("%1, %2, compute capability %3.%4, driver %5")
                                    .arg(text(gpu.name), size(gpu.memory))
                                    .arg(gpu.computeMajor)
                                    .arg(gpu.computeMinor)
                                    .arg(text(machine.driver))});
    if (machine.gpus.empty() && !machine.whyNoCuda.empty()) facts.push_back({"GPU", text(machine.whyNoCuda)});
    if (!machine.whyNoProcessorEnergy.empty()) facts.push_back({"Power", text(machine.whyNoProcessorEnergy)});
    facts.push_back({"Disk", QString("%1 free in %2; the checkpoints of this run take at most about %3")
                                 .arg(found.disk.freeBytes >= 0 ? size({found.disk.freeBytes}) : QString("an unknown amount"), text(found.disk.place),
                                      size({found.disk.checkpointBytes}))});
    facts.push_back({"Switches", refusedOf(found)});
    return facts;
}

std::optional<DiagnoseFact> foretoldFact(const std::vector<std::string>& lines) {
    if (lines.empty()) return std::nullopt;
    QStringList all;
    for (const std::string& line : lines) all << text(line);
    return DiagnoseFact{"Predicted", all.join("\n")};
}

void showBatches(const BatchSearch& found, DiagnoseView& view) {
    view.batches.clear();
    for (const BatchPoint& point : found.points)
        view.batches.push_back(
            {QString::number(point.batch), text(format::milliseconds(point.ms)), text(format::rate(point.tokensPerSecond, "tok/s")),
             std::isfinite(point.peakBytes) ? size({static_cast<std::int64_t>(point.peakBytes)}) : QString("unknown"), point.batch == found.knee});
    view.batchSentence = QString(
                             "The largest that fits is %1, as predicted, with a tenth of the memory left free. %2 The knee is %3: the smallest that "
                             "trains %4 of the most "
                             "tokens a second.")
                             .arg(count(found.largestThatFits), text(found.ended))
                             .arg(found.knee)
                             .arg(text(format::percent(kNearlyTheBest)));
    if (found.setting.empty())
        view.batchSentence += " The settings have it already.";
    else if (std::isfinite(found.gain))
        view.batchSentence +=
            QString(" It trains %1 times as many tokens a second as %2. Another batch size is another training: the rate may have to follow.")
                .arg(found.gain, 0, 'f', 2)
                .arg(found.now);
    const auto equals = found.setting.find('=');
    view.key = found.setting.empty() ? QString() : text(found.setting.substr(0, equals));
    view.value = found.setting.empty() ? QString() : text(found.setting.substr(equals + 1));
}

}  // namespace stepscope
