#include "core/program/DataParallel.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/Check.h"
#include "core/base/GiveWay.h"
#include "core/base/OperationSpan.h"
#include "core/base/SumLaunch.h"
#include "core/kernels/rounding/RoundingCpu.h"

namespace stepscope {
namespace {

// Adds the time until it goes.
class Waiting {
public:
    explicit Waiting(std::chrono::nanoseconds& into) : m_into(into) {}
    ~Waiting() { m_into += std::chrono::steady_clock::now() - m_since; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

private:
    std::chrono::nanoseconds& m_into;
    std::chrono::steady_clock::time_point m_since = std::chrono::steady_clock::now();
};

template <class T>
void putBefore(std::vector<T>& all, const std::vector<T>& more) {
    all.insert(all.begin(), more.begin(), more.end());
}

constexpr double kMostHeldByOne = 1e15;  // bytes
constexpr std::array kWishes{Wish::GoOn, Wish::Wait, Wish::Stop, Wish::Change};

// Float32 values, wherever they lie.
void copyToHost(const at::Tensor& from, float* into) {
    if (from.is_cpu())
        std::memcpy(into, from.const_data_ptr(), from.nbytes());
    else
        at::from_blob(into, {from.numel()}, at::kFloat).copy_(from);
}

}  // namespace

WorkersApart strangeWords(std::size_t worker) {
    return WorkersApart(
        makeError(ErrorCode::Internal,
                  fmt::format("What came from worker {} is nothing that Stepscope says; start all workers with the same program.", worker)));
}

DataParallel::DataParallel(Collectives& group, std::int64_t bucketBytes)
    : m_group(group),
      m_bucketCount(std::max<std::int64_t>(1, bucketBytes / static_cast<std::int64_t>(sizeof(float)))),
      m_thread([this](const std::stop_token& stop) { work(stop); }) {}

DataParallel::~DataParallel() = default;

void DataParallel::onFinal(const FinalGradients& range) noexcept {
    if (!m_open.gradients.empty() && range.offset + range.count != m_open.offset) hand();
    m_open.offset = range.offset;
    m_open.count += range.count;
    putBefore(m_open.gradients, range.parameters);
    putBefore(m_open.offsets, range.offsets);
    if (m_open.count >= m_bucketCount) hand();
}

void DataParallel::hand() noexcept {
    m_open.sums = m_sums;
    queue(std::exchange(m_open, {}));
}

void DataParallel::addUpToo(const at::Tensor& numbers) {
    SS_CHECK(m_open.gradients.empty() && numbers.scalar_type() == at::kFloat && numbers.is_contiguous());
    queue({.offset = 0, .count = numbers.numel(), .gradients = {numbers}, .offsets = {0}});
}

void DataParallel::queue(Bucket bucket) {
    Status ready;
    if (onGpu(bucket)) {
        m_givenToGpu = true;
        ready = makeReady(bucket);
    }
    {
        const std::lock_guard lock(m_mutex);
        if (!ready) m_state = std::move(ready);
        m_queue.push_back(std::move(bucket));
        m_unsummed = m_queue.size();
    }
    m_handed.notify_one();
}

// Where the gradients are made: they are rounded behind that, and what comes after it on their stream is waited for by nobody.
Status DataParallel::makeReady(Bucket& bucket) noexcept {
    Status made;
    try {
        const c10::NoGradGuard none;
        for (const at::Tensor& gradient : bucket.gradients) {
            SS_CHECK(gradient.scalar_type() == at::kFloat && gradient.is_contiguous());
            if (bucket.sums == SumPrecision::Bf16) bucket.halves.push_back(gradient.to(at::kBFloat16));
        }
        bucket.ready = m_gpu->mark();
    } catch (const std::exception& thrown) {
        made =
            makeError(ErrorCode::Training, "The gradients could not be handed to the other workers' GPUs; the cause is in the log.", thrown.what());
        m_gpu->fail(made.error());
    }
    return made;
}

void DataParallel::reduce() {
    if (!m_open.gradients.empty()) hand();
    const Waiting waiting(m_waited);
    Status onGpu;
    if (std::exchange(m_givenToGpu, false)) onGpu = reduceOnGpu();
    giveWayUntil([&] { return m_unsummed == 0; });
    std::unique_lock lock(m_mutex);
    m_idle.wait(lock, [&] { return m_queue.empty(); });
    m_underWay.clear();
    if (!onGpu) m_state = std::move(onGpu);  // it names who was lost
    if (!m_state) throw WorkersApart(m_state.error());
}

Status DataParallel::reduceOnGpu() {
    if (const Status finished = m_gpu->finish([this] { return m_unsummed == 0; }); !finished) return finished;
    const c10::NoGradGuard none;
    const std::lock_guard lock(m_mutex);
    for (const Bucket& bucket : m_underWay)
        for (std::size_t i = 0; i < bucket.halves.size(); ++i) bucket.gradients[i].copy_(bucket.halves[i]);
    return {};
}

void DataParallel::settle() {
    m_open = {};
    if (std::exchange(m_givenToGpu, false)) {
        m_gpu->fail(makeError(ErrorCode::Training, "A step broke while the workers' GPUs added up its gradients."));
        m_gpu->abandon();
    }
    std::unique_lock lock(m_mutex);
    m_idle.wait(lock, [&] { return m_queue.empty(); });
    m_underWay.clear();
}

void DataParallel::work(const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    while (m_handed.wait(lock, stop, [&] { return !m_queue.empty(); })) {
        Bucket bucket = std::exchange(m_queue.front(), {});
        const bool useless = !m_state;
        lock.unlock();
        Status added;
        try {
            if (!useless) added = addUp(bucket);
        } catch (const std::exception& thrown) {
            added = makeError(ErrorCode::Internal, thrown.what());
        }
        // The others' GPUs wait for this worker's, which takes nothing more.
        if (!added && onGpu(bucket)) m_gpu->fail(added.error());
        lock.lock();
        if (!added) m_state = std::move(added);
        if (onGpu(bucket)) m_underWay.push_back(std::move(bucket));
        m_queue.erase(m_queue.begin());
        m_unsummed = m_queue.size();
        if (m_queue.empty()) m_idle.notify_one();
    }
}

// Whether the gradients lie in one block of memory as the layout has them, with the gaps between them.
bool DataParallel::Bucket::inPlace() const {
    const at::Tensor& first = gradients.front();
    const auto lies = [&](std::size_t i) {
        return gradients[i].storage().data() == first.storage().data() &&
               gradients[i].data_ptr<float>() - first.data_ptr<float>() == offsets[i] - offsets.front();
    };
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (!lies(i)) return false;
    const auto end = static_cast<std::size_t>(first.storage_offset() + count) * sizeof(float);
    return offsets.front() == offset && end <= first.storage().nbytes();
}

// Put under way: reduce() waits for the end of it.
Status DataParallel::addUpOnGpu(const Bucket& bucket) {
    const bool halves = !bucket.halves.empty();
    const OperationSpan span(kSumLaunch, Role::Communication, 0, [&] {
        std::int64_t count = 0;
        for (const at::Tensor& gradient : bucket.gradients) count += gradient.numel();
        return OperationWork{.flops = 0, .bytes = count * static_cast<std::int64_t>(halves ? sizeof(std::uint16_t) : sizeof(float))};
    });
    return m_gpu->sum(halves ? bucket.halves : bucket.gradients, bucket.ready.get());
}

Status DataParallel::addUp(const Bucket& bucket) {
    if (onGpu(bucket)) return addUpOnGpu(bucket);
    for (const at::Tensor& gradient : bucket.gradients)
        SS_CHECK(gradient.is_cpu() && gradient.scalar_type() == at::kFloat && gradient.is_contiguous());
    if (bucket.inPlace()) return addUp(bucket.gradients.front().data_ptr<float>(), bucket.count, bucket.sums);
    std::int64_t count = 0;
    for (const at::Tensor& gradient : bucket.gradients) count += gradient.numel();
    m_flat.resize(static_cast<std::size_t>(count));
    float* place = m_flat.data();
    for (const at::Tensor& gradient : bucket.gradients) {
        std::memcpy(place, gradient.data_ptr<float>(), gradient.nbytes());
        place += gradient.numel();
    }
    if (Status added = addUp(m_flat.data(), count, bucket.sums); !added) return added;
    place = m_flat.data();
    for (const at::Tensor& gradient : bucket.gradients) {
        std::memcpy(gradient.data_ptr<float>(), place, gradient.nbytes());
        place += gradient.numel();
    }
    return {};
}

Status DataParallel::addUp(float* values, std::int64_t count, SumPrecision precision) {
    const bool whole = precision == SumPrecision::Float32;
    const OperationSpan span("all-reduce", Role::Communication, 0, [&] {
        return OperationWork{.flops = 0, .bytes = count * static_cast<std::int64_t>(whole ? sizeof(float) : sizeof(std::uint16_t))};
    });
    if (whole) return m_group.sum(values, count);
    m_halves.resize(static_cast<std::size_t>(count));
    roundingCpu().round(values, m_halves.data(), count);
    if (Status added = m_group.sumBf16(&m_halves.data()->bits, count); !added) return added;
    roundingCpu().widen(m_halves.data(), values, count);
    return {};
}

std::vector<double> DataParallel::losses(const std::vector<double>& own) {
    const Waiting waiting(m_waited);
    std::vector<double> told = own;
    told.push_back(m_asksToMeet ? 1 : 0);
    told.push_back(static_cast<double>(m_holds));
    const std::vector<double> all = gather(told);
    const auto of = [&](std::size_t worker, std::size_t number) { return all[worker * told.size() + number]; };
    const auto workers = static_cast<std::size_t>(size());
    std::vector<double> inOrder;
    for (std::size_t number = 0; number < own.size(); ++number)
        for (std::size_t worker = 0; worker < workers; ++worker) inOrder.push_back(of(worker, number));
    m_somebodyMeets = false;
    m_othersHold = 0;
    for (std::size_t worker = 0; worker < workers; ++worker) {
        m_somebodyMeets = m_somebodyMeets || of(worker, own.size()) != 0;
        // Another process says it, which may say anything.
        const double holds = of(worker, own.size() + 1);
        if (static_cast<int>(worker) != rank() && holds > 0) m_othersHold += static_cast<std::int64_t>(std::min(holds, kMostHeldByOne));
    }
    return inOrder;
}

std::vector<double> DataParallel::gather(const std::vector<double>& own) {
    std::vector<double> all(own.size() * static_cast<std::size_t>(size()));
    const auto bytes = static_cast<std::int64_t>(own.size() * sizeof(double));
    const OperationSpan span("all-gather", Role::Communication, 0, [&] { return OperationWork{.flops = 0, .bytes = bytes * (1 + size())}; });
    if (const Status gathered = m_group.gather(own.data(), bytes, all.data()); !gathered) throw WorkersApart(gathered.error());
    return all;
}

std::vector<std::byte> DataParallel::gatherBytes(const std::vector<std::byte>& own) {
    std::vector<std::byte> all(own.size() * static_cast<std::size_t>(size()));
    if (const Status gathered = m_group.gather(own.data(), static_cast<std::int64_t>(own.size()), all.data()); !gathered)
        throw WorkersApart(gathered.error());
    return all;
}

void DataParallel::handRound(const at::Tensor& whole, const std::vector<std::int64_t>& bounds) {
    SS_CHECK(whole.scalar_type() == at::kFloat && whole.is_contiguous() && whole.numel() == bounds.back());
    const Waiting waiting(m_waited);
    if (m_gpu != nullptr && m_gpu->takes(whole.device())) {
        const OperationSpan span("all-gather", Role::Communication, 0,
                                 [&] { return OperationWork{.flops = 0, .bytes = bounds.back() * static_cast<std::int64_t>(sizeof(float))}; });
        (void)m_gpu->handRound(whole, bounds);  // what goes wrong all of them hear next
        if (const Status handed = m_gpu->finish([] { return true; }); !handed) throw WorkersApart(handed.error());
        return;
    }
    SS_CHECK(whole.is_cpu());
    const auto mine = static_cast<std::size_t>(rank());
    passParts(whole.narrow(0, bounds[mine], bounds[mine + 1] - bounds[mine]), bounds, static_cast<float*>(whole.data_ptr()));
}

void DataParallel::bringTogether(const at::Tensor& own, const std::vector<std::int64_t>& bounds, const at::Tensor& whole) {
    const auto mine = static_cast<std::size_t>(rank());
    SS_CHECK(own.scalar_type() == at::kFloat && own.is_contiguous() && own.numel() == bounds[mine + 1] - bounds[mine]);
    SS_CHECK(!whole.defined() || (whole.is_cpu() && whole.is_contiguous() && whole.numel() == bounds.back()));
    float* into = whole.defined() ? static_cast<float*>(whole.data_ptr()) : nullptr;
    passParts(own, bounds, into);
    if (into != nullptr && own.numel() > 0) copyToHost(own, into + bounds[mine]);
}

// Some of each part at a time, as many of each: shorter ones are filled up with what nobody reads.
void DataParallel::passParts(const at::Tensor& own, const std::vector<std::int64_t>& bounds, float* whole) {
    const auto workers = static_cast<std::size_t>(size()), mine = static_cast<std::size_t>(rank());
    SS_CHECK(bounds.size() == workers + 1);
    const auto lengthOf = [&](std::size_t worker) { return bounds[worker + 1] - bounds[worker]; };
    std::int64_t longest = 0;
    for (std::size_t worker = 0; worker < workers; ++worker) longest = std::max(longest, lengthOf(worker));
    for (std::int64_t begin = 0; begin < longest; begin += m_bucketCount) {
        const std::int64_t count = std::min(m_bucketCount, longest - begin);
        const auto held = [&](std::size_t worker) { return std::clamp<std::int64_t>(lengthOf(worker) - begin, 0, count); };
        m_own.resize(static_cast<std::size_t>(count));
        m_all.resize(static_cast<std::size_t>(count) * workers);
        const auto bytesOf = [](std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(float); };
        if (held(mine) > 0) copyToHost(own.narrow(0, begin, held(mine)), m_own.data());
        const auto bytes = static_cast<std::int64_t>(bytesOf(count));
        {
            const OperationSpan span("all-gather", Role::Communication, 0, [&] { return OperationWork{.flops = 0, .bytes = bytes * (1 + size())}; });
            if (const Status gathered = m_group.gather(m_own.data(), bytes, m_all.data()); !gathered) throw WorkersApart(gathered.error());
        }
        for (std::size_t worker = 0; whole != nullptr && worker < workers; ++worker)
            if (worker != mine && held(worker) > 0)
                std::memcpy(whole + bounds[worker] + begin, m_all.data() + static_cast<std::int64_t>(worker) * count, bytesOf(held(worker)));
    }
}

// Another process's number is looked at before it is taken for a wish.
Wish DataParallel::agree(Wish own) {
    const auto all = gather({static_cast<double>(own)});
    Wish strongest = own;
    for (std::size_t worker = 0; worker < all.size(); ++worker) {
        const auto wish = std::ranges::find(kWishes, all[worker], [](Wish one) { return static_cast<double>(one); });
        if (wish == kWishes.end()) throw strangeWords(worker);
        strongest = std::max(strongest, *wish);
    }
    return strongest;
}

std::string DataParallel::ofFirst(const std::string& own) {
    SS_CHECK(own.size() <= kLongestText);
    const double said = gather({static_cast<double>(own.size())}).front();
    // As every length that another process says.
    if (!(said >= 0 && said <= static_cast<double>(kLongestText))) throw strangeWords(0);
    const auto length = static_cast<std::size_t>(said);
    if (length == 0) return {};
    std::string mine = own, all(length * static_cast<std::size_t>(size()), '\0');
    mine.resize(length);
    if (const Status gathered = m_group.gather(mine.data(), static_cast<std::int64_t>(length), all.data()); !gathered)
        throw WorkersApart(gathered.error());
    all.resize(length);
    return all;
}

Status DataParallel::agree(const Status& own) {
    const auto all = gather({own.ok() ? 1.0 : 0.0});
    if (!own) return own;
    const auto unable = std::ranges::find(all, 0.0);
    if (unable == all.end()) return {};
    return makeError(ErrorCode::Unsupported, fmt::format("worker {} of {} cannot do it; each of them must.", unable - all.begin(), all.size()));
}

}  // namespace stepscope
