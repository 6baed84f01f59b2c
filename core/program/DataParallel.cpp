#include "core/program/DataParallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/Check.h"
#include "core/base/GiveWay.h"
#include "core/base/OperationSpan.h"
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

constexpr std::size_t kLongestText = 64 << 10;  // bytes of what the first worker says to all

}  // namespace

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

void DataParallel::hand() {
    m_open.sums = m_sums;
    {
        const std::lock_guard lock(m_mutex);
        m_queue.push_back(std::exchange(m_open, {}));
        m_unsummed = m_queue.size();
    }
    m_handed.notify_one();
}

void DataParallel::reduce() {
    if (!m_open.gradients.empty()) hand();
    const Waiting waiting(m_waited);
    giveWayUntil([&] { return m_unsummed == 0; });
    std::unique_lock lock(m_mutex);
    m_idle.wait(lock, [&] { return m_queue.empty(); });
    if (!m_state) throw WorkersApart(m_state.error());
}

void DataParallel::settle() {
    m_open = {};
    std::unique_lock lock(m_mutex);
    m_idle.wait(lock, [&] { return m_queue.empty(); });
}

void DataParallel::work(const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    while (m_handed.wait(lock, stop, [&] { return !m_queue.empty(); })) {
        const Bucket bucket = std::exchange(m_queue.front(), {});
        const bool useless = !m_state;
        lock.unlock();
        Status added;
        try {
            if (!useless) added = addUp(bucket);
        } catch (const std::exception& thrown) {
            added = makeError(ErrorCode::Internal, thrown.what());
        }
        lock.lock();
        if (!added) m_state = std::move(added);
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

Status DataParallel::addUp(const Bucket& bucket) {
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
    const std::vector<double> all = gather(told);
    const auto of = [&](std::size_t worker, std::size_t number) { return all[worker * told.size() + number]; };
    const auto workers = static_cast<std::size_t>(size());
    std::vector<double> inOrder;
    for (std::size_t number = 0; number < own.size(); ++number)
        for (std::size_t worker = 0; worker < workers; ++worker) inOrder.push_back(of(worker, number));
    m_somebodyMeets = false;
    for (std::size_t worker = 0; worker < workers; ++worker) m_somebodyMeets = m_somebodyMeets || of(worker, own.size()) != 0;
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
    SS_CHECK(whole.is_cpu() && whole.scalar_type() == at::kFloat && whole.is_contiguous() && whole.numel() == bounds.back());
    const Waiting waiting(m_waited);
    float* values = static_cast<float*>(whole.data_ptr());
    passParts(values + bounds[static_cast<std::size_t>(rank())], bounds, values);
}

void DataParallel::bringTogether(const at::Tensor& own, const std::vector<std::int64_t>& bounds, const at::Tensor& whole) {
    const auto mine = static_cast<std::size_t>(rank());
    SS_CHECK(own.is_cpu() && own.scalar_type() == at::kFloat && own.is_contiguous() && own.numel() == bounds[mine + 1] - bounds[mine]);
    SS_CHECK(!whole.defined() || (whole.is_cpu() && whole.is_contiguous() && whole.numel() == bounds.back()));
    const float* part = static_cast<const float*>(own.const_data_ptr());
    float* into = whole.defined() ? static_cast<float*>(whole.data_ptr()) : nullptr;
    passParts(part, bounds, into);
    if (into != nullptr && own.numel() > 0) std::memcpy(into + bounds[mine], part, own.nbytes());
}

// Some of each part at a time, as many of each: shorter ones are filled up with what nobody reads.
void DataParallel::passParts(const float* own, const std::vector<std::int64_t>& bounds, float* whole) {
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
        if (held(mine) > 0) std::memcpy(m_own.data(), own + begin, bytesOf(held(mine)));
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

Wish DataParallel::agree(Wish own) {
    const auto all = gather({static_cast<double>(own)});
    return static_cast<Wish>(static_cast<int>(*std::ranges::max_element(all)));
}

std::string DataParallel::ofFirst(const std::string& own) {
    SS_CHECK(own.size() <= kLongestText);
    const double said = gather({static_cast<double>(own.size())}).front();
    // As every length that another process says.
    if (!(said >= 0 && said <= static_cast<double>(kLongestText)))
        throw WorkersApart(makeError(ErrorCode::Internal,
                                     "What came from worker 0 is nothing that Stepscope says; start all workers with the same "
                                     "program."));
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
