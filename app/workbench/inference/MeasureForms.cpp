#include "app/workbench/inference/MeasureForms.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "app/workbench/StoredModel.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/inference/FineTuning.h"
#include "app/workbench/inference/FormTurns.h"
#include "app/workbench/inference/OpenedForms.h"
#include "core/base/Format.h"
#include "core/inference/Pruning.h"
#include "core/train/Evaluation.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

constexpr std::int64_t kRowsAtATime = 64;  // of the held-out text

// Shares of the whole that the parts take, about.
constexpr double kQualityShare = 0.3, kTimesShare = 0.5;

using FormsTeller = std::function<void(const FormsProgress&, const FormsAnswer&)>;

// The difference of each window a token, as a share of the perplexity. Windows are of one length but for the last.
QualityChange changeOf(const std::vector<double>& before, const std::vector<double>& after, std::int64_t tokens, std::int64_t context) {
    double total = 0;
    std::vector<double> differences;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::int64_t length = std::min(context, tokens - static_cast<std::int64_t>(i) * context);
        total += after[i] - before[i];
        if (length == context) differences.push_back((after[i] - before[i]) / static_cast<double>(length));
    }
    QualityChange quality;
    quality.change = std::expm1(total / static_cast<double>(tokens));
    const MeanInterval interval = meanInterval(differences);
    if (std::isfinite(interval.low)) {
        // The shorter last window is in the mean that is told and not in the interval, which is widened to hold it.
        quality.low = std::min(std::expm1(interval.low), quality.change);
        quality.high = std::max(std::expm1(interval.high), quality.change);
    }
    return quality;
}

double sumOf(const std::vector<double>& windows) {
    double sum = 0;
    for (const double window : windows) sum += window;
    return sum;
}

// One question, from opening the model to the last row.
class Measuring {
public:
    Measuring(const FormsRequest& request, const FormsTeller& tell, const std::atomic<bool>& cancelled)
        : m_request(request), m_tell(tell), m_cancelled(cancelled) {}

    Result<FormsAnswer> run() {
        const auto begin = std::chrono::steady_clock::now();
        if (auto opened = open(); !opened) return opened.error();
        if (ended()) return makeError(ErrorCode::Cancelled, "The measurement was stopped before anything was read.");
        for (std::size_t form = 0; form < m_opened.types.size() && !ended(); ++form)
            if (auto done = readIn(form); !done) return stoppedOr(done.error(), form);
        if (!ended() && m_request.budgetSeconds > 0) takeTimes();
        if (!ended() && m_request.pruning)
            if (auto cut = prune(); !cut && cut.error().code != ErrorCode::Cancelled) return cut.error();
        m_answer.stopped = ended();
        m_answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return m_answer;
    }

private:
    // A run that begins is not kept waiting.
    bool ended() const { return m_cancelled || (!m_request.besideAPausedRun && LookTurn::wanted()); }

    Result<FormsAnswer> stoppedOr(const Error& error, std::size_t forms) {
        if (error.code != ErrorCode::Cancelled || forms == 0) return error;
        m_answer.stopped = true;
        return m_answer;
    }

    void tell(const std::string& doing, double share) {
        if (m_tell) m_tell({doing, share}, m_answer);
    }

    Status open() {
        auto opened = openForms(
            m_request, [this](const std::string& doing) { tell(doing, 0); }, m_cancelled);
        if (!opened) return opened.error();
        m_opened = std::move(*opened);
        m_answer.data = m_opened.text.corpus.description;
        m_answer.tokens = m_opened.tokens();
        m_answer.windows = (m_answer.tokens + m_opened.context - 1) / m_opened.context;
        m_answer.sequences = m_opened.shape.sequences;
        m_answer.prompt = m_opened.shape.prompt;
        m_answer.text = m_opened.shape.text;
        m_answer.threads = m_opened.threads;
        m_answer.delta = m_request.delta;
        m_answer.bytesPerSecond = m_opened.bytesPerSecond;
        for (const WeightType type : m_opened.types) {
            FormRow row;
            row.form = toString(type);
            m_answer.forms.push_back(std::move(row));
        }
        return openTuning();
    }

    // Before anything is measured: what cannot be is refused then.
    Status openTuning() {
        if (!m_request.pruning || m_request.fineTune == 0) return {};
        tell("opening the training text", 0);
        auto opened = FineTuning::open(m_request.from, m_request.threads, m_cancelled);
        if (!opened) return opened.error();
        m_tuning = std::move(*opened);
        m_answer.fineTune = m_request.fineTune;
        return {};
    }

    Result<std::vector<double>> windowsOf(const GeneratorWeights& weights, WeightType type, Bytes& bytes, double from, double share,
                                          const std::string& doing) {
        const std::int64_t rows = std::min(kRowsAtATime, m_opened.context);
        DecoderRoom room;
        room.positions = m_opened.context;
        room.rows = rows;
        room.logits = rows;
        Decoder decoder(weights, type, room, m_opened.threads);
        bytes = decoder.weightBytes();
        const auto progress = [&](std::int64_t done) {
            tell(doing, from + share * static_cast<double>(done) / static_cast<double>(m_answer.tokens));
        };
        // Asked between windows, so that a run which begins waits for no more than one.
        m_ended = ended();
        const auto each = [&](std::int64_t done) {
            progress(done);
            m_ended = ended();
        };
        return windowsDecoded(decoder, *m_opened.text.corpus.tokens, m_opened.text.begin, m_opened.text.end, m_opened.context, each, m_ended);
    }

    Status readIn(std::size_t form) {
        FormRow& row = m_answer.forms[form];
        const double share = kQualityShare / static_cast<double>(m_opened.types.size());
        Bytes bytes;
        const auto windows = windowsOf(m_opened.weights, m_opened.types[form], bytes, share * static_cast<double>(form), share,
                                       fmt::format("reading the text in {}", row.form));
        if (!windows) return windows.error();
        if (form == 0) m_exact = *windows;
        row.weights = bytes;
        row.loss = sumOf(*windows) / static_cast<double>(m_answer.tokens);
        row.perplexity = std::exp(row.loss);
        if (form == 0 && !std::isfinite(row.loss)) return giveNoNumbers(m_request.from);
        if (form > 0) row.quality = changeOf(m_exact, *windows, m_answer.tokens, m_opened.context);
        tell(fmt::format("read the text in {}", row.form), share * static_cast<double>(form + 1));
        return {};
    }

    void takeTimes() {
        FormTurns::Setup setup;
        setup.weights = &m_opened.weights;
        setup.forms = m_opened.types;
        setup.shape = m_opened.shape;
        setup.prompts = m_opened.prompts();
        setup.threads = m_opened.threads;
        setup.rules.seed = static_cast<std::uint64_t>(m_request.seed);
        setup.rules.budgetSeconds = m_request.budgetSeconds;
        setup.rules.mostSeconds = 4 * m_request.budgetSeconds;
        setup.rules.delta = m_request.delta;
        FormTurns turns(std::move(setup));
        tell("making ready for the rounds", kQualityShare);
        turns.run([this] { return ended(); },
                  [&] {
                      read(turns);
                      const Rounds& rounds = turns.rounds();
                      tell(rounds.counted() + rounds.leftOut() == 0 ? std::string("the pilot's rounds")
                                                                    : fmt::format("round {}", rounds.counted() + rounds.leftOut()),
                           kQualityShare + kTimesShare * rounds.share());
                  });
        read(turns);
        m_answer.timed = !turns.rounds().stopped();
        if (m_answer.timed && m_answer.rounds + m_answer.leftOut == 0) m_answer.whyNoSpeed = noSpeedWords(turns.rounds().elapsed());
    }

    void read(const FormTurns& turns) {
        const Rounds& rounds = turns.rounds();
        m_answer.rounds = static_cast<std::int64_t>(rounds.counted());
        m_answer.leftOut = static_cast<std::int64_t>(rounds.leftOut());
        if (m_opened.types.size() > 1 && m_answer.rounds + m_answer.leftOut > 0) {
            m_answer.promptFloor = rounds.floor(FormTurns::kPrompt);
            m_answer.textFloor = rounds.floor(FormTurns::kText);
        }
        for (std::size_t form = 0; form < m_opened.types.size(); ++form) {
            FormRow& row = m_answer.forms[form];
            row.cache = turns.cacheBytes(form);
            for (const std::size_t measure : {FormTurns::kPrompt, FormTurns::kText}) {
                FormSpeed& speed = measure == FormTurns::kPrompt ? row.prompt : row.text;
                const MeanInterval seconds = rounds.perToken(form, measure);
                speed.perSecond = 1 / seconds.mean;
                speed.low = 1 / seconds.high;
                speed.high = 1 / seconds.low;
                if (form > 0 && m_answer.rounds + m_answer.leftOut > 0) speed.judged = rounds.judged(form, measure);
            }
            const double steps = row.text.perSecond / static_cast<double>(m_opened.shape.sequences);
            row.text.bandwidthShare = steps * static_cast<double>(turns.bytesOfAToken(form).count) / m_answer.bytesPerSecond;
        }
    }

    Result<Pruning> pruningAt(const PruningPoint& point) const {
        if (point.scope.empty()) return patternNamed(kPrunedPattern);
        const auto scope = pruneScopeNamed(point.scope);
        if (!scope) return scope.error();
        Pruning pruning;
        pruning.scope = *scope;
        pruning.share = point.share;
        return pruning;
    }

    Status prune() {
        const std::vector<PruningPoint> all = prunedPoints();
        const double share = (1 - kQualityShare - kTimesShare) / static_cast<double>(all.size());
        for (std::size_t i = 0; i < all.size() && !ended(); ++i) {
            const double from = kQualityShare + kTimesShare + share * static_cast<double>(i), half = m_tuning ? share / 2 : share;
            const auto pruning = pruningAt(all[i]);
            if (!pruning) return pruning.error();
            PrunedRow row;
            row.name = all[i].name;
            row.scope = all[i].scope;
            row.share = all[i].share;
            GeneratorWeights cut{m_opened.weights.config, m_opened.weights.layout, m_opened.weights.weights.clone()};
            const PruneCount count = stepscope::prune(cut.weights, cut.layout, cut.config, *pruning);
            row.zeros = static_cast<double>(count.zeros) / static_cast<double>(std::max<std::int64_t>(1, count.weights));
            if (auto read = readPruned(cut, row.perplexity, row.quality, from, half, fmt::format("reading the text with {} pruned", row.name)); !read)
                return read;
            m_answer.pruned.push_back(row);
            if (!m_tuning) continue;
            tell(fmt::format("fine-tuning with {} pruned", row.name), from + half);
            const auto tuned = m_tuning->tuned(*pruning, m_request.fineTune, [this] { return ended(); });
            if (!tuned) return tuned.error();
            PrunedRow& kept = m_answer.pruned.back();
            if (auto read = readPruned(*tuned, kept.tunedPerplexity, kept.tuned, from + half, half,
                                       fmt::format("reading the text with {} pruned and fine-tuned", row.name));
                !read)
                return read;
        }
        return {};
    }

    Status readPruned(const GeneratorWeights& cut, double& perplexity, QualityChange& quality, double from, double share, const std::string& doing) {
        Bytes bytes;
        const auto windows = windowsOf(cut, WeightType::F32, bytes, from, share, doing);
        if (!windows) return windows.error();
        perplexity = std::exp(sumOf(*windows) / static_cast<double>(m_answer.tokens));
        quality = changeOf(m_exact, *windows, m_answer.tokens, m_opened.context);
        return {};
    }

    const FormsRequest& m_request;
    const FormsTeller& m_tell;
    const std::atomic<bool>& m_cancelled;
    std::atomic<bool> m_ended{false};
    OpenedForms m_opened;
    std::unique_ptr<FineTuning> m_tuning;  // where it is asked for
    std::vector<double> m_exact;           // what each window costs in float32
    FormsAnswer m_answer;
};

}  // namespace

Result<FormsAnswer> measureForms(const FormsRequest& request, const FormsTeller& progress, const std::atomic<bool>& cancelled) {
    try {
        std::optional<LookTurn> turn;
        if (!request.besideAPausedRun) {
            turn.emplace();
            if (!turn->taken())
                return makeError(ErrorCode::Unsupported,
                                 "The forms cannot be measured while a run or an experiment goes on: times beside it would mean "
                                 "nothing.");
        }
        return Measuring(request, progress, cancelled).run();
    } catch (const std::exception& thrown) {
        return describeException(thrown, Doing::Reading);
    }
}

}  // namespace stepscope
