#include "app/gui/measuring/InferenceWords.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/Format.h"

namespace stepscope {
namespace {

QString inferenceText(const std::string& text) {
    return QString::fromStdString(text);
}

const char* whatFormIs(const std::string& form) {
    if (form == "f32") return "float32, as weights are stored and trained";
    if (form == "bf16") return "Each weight rounded to 8 binary digits";
    if (form == "int8") return "8 bits for each weight, a scale for each row";
    if (form == "int4") return "4 bits for each weight, a scale for each 32 of a row";
    if (form == "int8-dynamic") return "Weights as in int8; activations are rounded to 8 bits, row by row, and whole numbers multiplied";
    return "";
}

constexpr double kWidestHalf = 1;  // of a speed: beyond, its interval says that nearly nothing is known yet

// "62.8 K tok/s ±1.4 %"; without an interval where one round tells nothing of it.
QString speedFigure(const FormSpeed& speed) {
    if (!std::isfinite(speed.perSecond)) return {};
    QString rate = inferenceText(format::rate(speed.perSecond, "tok/s"));
    if (!(speed.low > 0) || !std::isfinite(speed.high)) return rate;
    const double half = std::sqrt(speed.high / speed.low) - 1;
    return half > kWidestHalf ? rate + ", too few rounds" : rate + QString(" ±%1 %").arg(100 * half, 0, 'f', 1);
}

QString verdictText(const FormSpeed& speed, double delta) {
    return speed.judged.outcome.empty() ? QString() : inferenceText(speedWords(speed, delta));
}

QString whyOf(const FormRow& row) {
    QStringList all;
    for (const auto& [what, speed] : {std::pair{"Prompt", &row.prompt}, std::pair{"Text", &row.text}})
        if (!speed->judged.why.empty()) all.push_back(QString("%1: %2").arg(QString(what), inferenceText(speed->judged.why)));
    return all.join(' ');
}

QString countOf(std::int64_t count, const char* one, const char* many) {
    return inferenceText(format::count(count)) + ' ' + (count == 1 ? one : many);
}

QString restsOn(const FormsAnswer& answer) {
    const bool tookTurns = answer.rounds + answer.leftOut > 0;
    QString said =
        QString("%1: %2 of held-out text")
            .arg(QString(answer.stopped ? "Stopped before everything was measured" : "Measured"), countOf(answer.tokens, "token", "tokens"));
    // Where no time was given to the speeds nothing was written.
    if (tookTurns)
        said += QString(", prompts of %1 and texts of %2 tokens, %3")
                    .arg(inferenceText(format::count(answer.prompt)), inferenceText(format::count(answer.text)),
                         answer.sequences == 1 ? QString("one at a time") : QString("%1 at a time").arg(answer.sequences));
    said += QString(", on %1.").arg(countOf(answer.threads, "thread", "threads"));
    if (tookTurns) {
        said += QString(" %1 of turns").arg(countOf(answer.rounds, "round", "rounds"));
        if (answer.leftOut > 0) said += QString(", %1 left out because other programs took the processors").arg(answer.leftOut);
        said += '.';
    }
    return said;
}

}  // namespace

InferenceView emptyInference() {
    InferenceView view;
    for (const std::string& form : allForms()) {
        InferenceRow row;
        row.form = inferenceText(form);
        row.what = whatFormIs(form);
        view.rows.push_back(row);
    }
    for (const PruningPoint& one : prunedPoints()) {
        PrunedPoint point;
        point.name = inferenceText(one.name);
        point.scope = inferenceText(one.scope);
        point.pattern = one.scope.empty();
        point.share = one.share;
        view.pruned.push_back(point);
    }
    view.pruning = kZerosGiveNothing;
    return view;
}

bool hasFigures(const InferenceView& view) {
    return std::ranges::any_of(view.rows, [](const InferenceRow& row) { return !row.weights.isEmpty() || !row.perplexity.isEmpty(); }) ||
           std::ranges::any_of(view.pruned, [](const PrunedPoint& point) { return !point.perplexity.isEmpty(); });
}

void showForms(const FormsAnswer& answer, InferenceView& view) {
    for (const FormRow& known : answer.forms)
        for (InferenceRow& row : view.rows) {
            if (row.form != inferenceText(known.form)) continue;
            if (known.weights.count > 0) row.weights = inferenceText(format::bytes(known.weights));
            if (std::isfinite(known.perplexity)) row.perplexity = inferenceText(format::significant(known.perplexity, 5));
            const QualityParts quality = qualityParts(known.quality, answer.delta);
            row.quality = inferenceText(quality.figure);
            row.qualityVerdict = inferenceText(quality.verdict);
            row.prompt = speedFigure(known.prompt);
            row.promptVerdict = verdictText(known.prompt, answer.delta);
            row.text = speedFigure(known.text);
            row.textVerdict = verdictText(known.text, answer.delta);
            if (known.form == answer.forms.front().form && answer.forms.size() > 1) {
                row.promptVerdict = inferenceText(besideItselfWords(answer.promptFloor, answer.rounds));
                row.textVerdict = inferenceText(besideItselfWords(answer.textFloor, answer.rounds));
            }
            row.bandwidth = std::isfinite(known.text.bandwidthShare) ? inferenceText(format::percent(known.text.bandwidthShare)) : QString();
            row.why = whyOf(known);
        }
    for (const PrunedRow& known : answer.pruned)
        for (PrunedPoint& point : view.pruned) {
            if (point.scope != inferenceText(known.scope) || point.share != known.share) continue;  // both are prunedPoints()'s own numbers
            point.zeros = known.zeros;
            point.change = known.quality.change;
            point.low = known.quality.low;
            point.high = known.quality.high;
            point.perplexity = inferenceText(format::significant(known.perplexity, 5));
            point.quality = inferenceText(qualityWords(known.quality, answer.delta));
            if (std::isfinite(known.tunedPerplexity))
                point.tuned = inferenceText(format::significant(known.tunedPerplexity, 5) + ", " + qualityWords(known.tuned, answer.delta));
        }
    if (view.stage == InferenceView::Stage::Found) {
        view.doing = restsOn(answer);
        if (!answer.whyNoSpeed.empty()) view.doing += ' ' + inferenceText(answer.whyNoSpeed);
        if (answer.fineTune > 0) view.doing += QString(" Fine-tuned for %1 behind each pruning.").arg(countOf(answer.fineTune, "step", "steps"));
        if (answer.timed && !std::isfinite(answer.bytesPerSecond)) view.doing += " Bandwidth is told once the page Diagnose has looked.";
    }
}

FormsRequest formsRequest(const InferenceQuestion& question, const std::string& from) {
    FormsRequest request;
    request.from = from;
    request.data = question.data.toStdString();
    request.prompt = question.prompt;
    request.text = question.text;
    request.sequences = question.sequences;
    request.tokens = question.tokens;
    request.budgetSeconds = question.seconds;
    request.pruning = question.pruning;
    request.fineTune = question.fineTune;
    return request;
}

PruneRequest pruneRequest(const PruneWish& wish, const std::string& from) {
    PruneRequest request;
    request.evaluate.checkpoint = from;
    request.evaluate.data = wish.data.toStdString();
    request.evaluate.tokens = wish.tokens;
    request.sparsity = wish.point.share;
    if (wish.point.pattern) request.pattern = kPrunedPattern;
    for (const PruneScope scope : kAllPruneScopes)
        if (wish.point.scope == toString(scope)) request.scope = scope;
    request.out = wish.out.toStdString();
    return request;
}

QString prunedWords(const PruneAnswer& answer, const PruneWish& wish) {
    return QString("Wrote %1: %2 of the blocks' weights are zero, perplexity %3 -> %4 on %5. Train on from it with keep-zeros, or they grow again.")
        .arg(wish.out,
             inferenceText(format::percent(static_cast<double>(answer.zeros) / static_cast<double>(std::max<std::int64_t>(1, answer.weights)))),
             inferenceText(format::significant(answer.before.perplexity, 5)), inferenceText(format::significant(answer.after.perplexity, 5)),
             countOf(answer.before.tokens, "token", "tokens"));
}

}  // namespace stepscope
