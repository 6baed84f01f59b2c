#include "core/program/GpuSums.h"

#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/Check.h"
#include "core/base/GiveWay.h"
#include "core/base/OperationSpan.h"
#include "core/base/Utf8.h"

namespace stepscope {
namespace {

// How often workers meet while a sum is under way, and how often one looks whether it is.
constexpr std::chrono::milliseconds kMeetsAgain{1000};
constexpr std::chrono::microseconds kLooksAgain{100};
constexpr std::size_t kMostWhy = 400;  // bytes of a sentence

// Whether every worker could; the same error with all of them but for who tells it.
Status allCould(Collectives& group, const Status& own) {
    const WorkerPlace& place = group.place();
    std::array<char, kMostWhy> why{};
    if (!own) {
        const std::string_view said = firstBytes(own.error().sentence, why.size() - 1);
        std::memcpy(why.data(), said.data(), said.size());
    }
    std::vector<std::array<char, kMostWhy>> all(static_cast<std::size_t>(place.size));
    if (const Status gathered = group.gather(why.data(), static_cast<std::int64_t>(why.size()), all.data()); !gathered) return gathered;
    if (!own) return own;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (const std::string said(all[rank].data(), ::strnlen(all[rank].data(), all[rank].size())); !said.empty())
            return makeError(ErrorCode::Unsupported, fmt::format("Worker {} of {} says: {}", rank, place.size, printable(said)));
    return {};
}

struct NcclSaid {
    std::int32_t version = 0;
    NcclKey key;
};

// The first worker's key, with all of one version: NCCL of two versions need not understand each other, and says so in other words.
Result<NcclKey> agreedKey(Collectives& group, const NcclLibrary& library) {
    const WorkerPlace& place = group.place();
    NcclSaid own{.version = library.version, .key = {}};
    Status able = library.whyNot.empty() ? Status() : Status(makeError(ErrorCode::Unsupported, library.whyNot));
    if (able && place.rank == 0)
        if (const NcclResult made = library.getUniqueId(&own.key); made != NcclResult::Success)
            able = makeError(
                ErrorCode::Unsupported,
                fmt::format("NCCL finds no network by which GPUs could meet (\"{}\"); NCCL_SOCKET_IFNAME names one.", library.getErrorString(made)));
    if (const Status could = allCould(group, able); !could) return could.error();
    std::vector<NcclSaid> all(static_cast<std::size_t>(place.size));
    if (const Status gathered = group.gather(&own, sizeof own, all.data()); !gathered) return gathered.error();
    for (std::size_t rank = 1; rank < all.size(); ++rank)
        if (all[rank].version != all[0].version)
            return makeError(ErrorCode::Unsupported,
                             fmt::format("Worker {} of {} has NCCL {}, and worker 0 has {}; all need the same one, which packaging/run installs.",
                                         rank, place.size, ncclVersionWords(all[rank].version), ncclVersionWords(all[0].version)));
    return all[0].key;
}

}  // namespace

GpuSums::GpuSums(Collectives& group, at::Device device, std::chrono::milliseconds patience, const NcclLibrary& library)
    : m_group(group), m_device(device), m_patience(patience), m_library(library) {}

GpuSums::~GpuSums() = default;

Result<std::unique_ptr<GpuSums>> GpuSums::join(Collectives& group, at::Device device, std::chrono::milliseconds patience,
                                               const NcclLibrary& library) {
    const auto key = agreedKey(group, library);
    if (!key) return key.error();
    std::unique_ptr<GpuSums> sums(new GpuSums(group, device, patience, library));
    c10::OptionalDeviceGuard guard;
    Status joined;
    try {
        if (!device.is_cpu()) {
            (void)at::empty({1}, at::TensorOptions().device(device));  // LibTorch's CUDA half begins with it
            guard.reset_device(device);
            const c10::impl::VirtualGuardImpl gpu(device.type());
            sums->m_stream = gpu.getStreamFromGlobalPool(device, /*isHighPriority=*/true);
            sums->m_end.emplace(device.type());
        }
        // Less than the others wait for this worker below: so they hear why.
        auto nccl = NcclGroup::join(library, *key, group.place().rank, group.place().size, patience, patience - patience / 4);
        if (nccl)
            sums->m_nccl = std::move(*nccl);
        else
            joined = nccl.error();
    } catch (const std::exception& thrown) {
        joined = makeError(ErrorCode::Unsupported, fmt::format("{} cannot be used: {}", device.str(), firstBytes(thrown.what(), kMostWhy / 2)),
                           thrown.what());
    }
    if (const Status could = allCould(group, joined); !could) return could.error();
    return sums;
}

std::shared_ptr<c10::Event> GpuSums::mark() const {
    if (!m_stream) return nullptr;
    auto event = std::make_shared<c10::Event>(m_device.type());
    event->record(c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device));
    return event;
}

Status GpuSums::put(const c10::Event* behind, const std::function<Status(void* stream)>& work) {
    Status given;
    try {
        void* stream = nullptr;
        if (m_stream) {
            if (behind != nullptr) behind->block(*m_stream);
            stream = c10::impl::VirtualGuardImpl(m_device.type()).getStreamNativeHandle(*m_stream);
        }
        given = work(stream);
        if (m_stream) m_end->record(*m_stream);
    } catch (const std::exception& thrown) {
        given = makeError(ErrorCode::Training, fmt::format("{} took no work any more.", m_device.str()), thrown.what());
    }
    if (!given) fail(given.error());
    return given;
}

Status GpuSums::sum(const std::vector<at::Tensor>& values, const c10::Event* behind) {
    SS_CHECK(!values.empty());
    std::vector<NcclSlice> slices;
    for (const at::Tensor& one : values) {
        SS_CHECK(takes(one.device()) && one.is_contiguous() && one.scalar_type() == values.front().scalar_type());
        slices.push_back({one.data_ptr(), one.numel()});
    }
    const NcclType type = values.front().scalar_type() == at::kBFloat16 ? NcclType::BFloat16 : NcclType::Float32;
    SS_CHECK(type == NcclType::BFloat16 || values.front().scalar_type() == at::kFloat);
    return put(behind, [&](void* stream) { return m_nccl->sum(slices, type, stream); });
}

Status GpuSums::handRound(const at::Tensor& whole, const std::vector<std::int64_t>& bounds) {
    SS_CHECK(takes(whole.device()) && whole.is_contiguous() && whole.scalar_type() == at::kFloat && whole.numel() == bounds.back());
    SS_CHECK(bounds.size() == static_cast<std::size_t>(m_group.place().size) + 1);
    std::vector<NcclSlice> parts;
    for (std::size_t rank = 0; rank + 1 < bounds.size(); ++rank)
        parts.push_back({static_cast<float*>(whole.data_ptr()) + bounds[rank], bounds[rank + 1] - bounds[rank]});
    const auto behind = mark();
    return put(behind.get(), [&](void* stream) { return m_nccl->handRound(parts, stream); });
}

GpuSums::Reached GpuSums::look(const std::function<bool()>& allGiven) {
    if (const Status now = m_nccl->state(); !now) fail(now.error());
    {
        const std::lock_guard lock(m_mutex);
        if (!m_failure) return Reached::Failed;
    }
    if (!allGiven()) return Reached::UnderWay;
    try {
        return !m_end || m_end->query() ? Reached::Done : Reached::UnderWay;
    } catch (const std::exception& thrown) {
        fail(makeError(ErrorCode::Training, fmt::format("{} could not add up gradients.", m_device.str()), thrown.what()));
        return Reached::Failed;
    }
}

Status GpuSums::finish(const std::function<bool()>& allGiven) {
    if (m_ended) m_ended = meetUntilDone(allGiven);
    if (!m_ended) abandon();
    return m_ended;
}

Status GpuSums::meetUntilDone(const std::function<bool()>& allGiven) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Reached> all(static_cast<std::size_t>(m_group.place().size));
    const auto every = [&](Reached reached) { return std::ranges::all_of(all, [&](Reached one) { return one == reached; }); };
    while (true) {
        Reached own = Reached::UnderWay;
        const auto looked = [&] { return (own = look(allGiven)) != Reached::UnderWay; };
        const auto meets = std::chrono::steady_clock::now() + kMeetsAgain;
        if (!giveWayUntil(looked))
            while (!looked() && std::chrono::steady_clock::now() < meets) std::this_thread::sleep_for(kLooksAgain);
        if (own == Reached::UnderWay && std::chrono::steady_clock::now() >= begin + m_patience) own = Reached::Late;
        // Who is gone is missed here, and named.
        if (const Status met = meet(own, all); !met) return met;
        if (every(Reached::Done)) return {};
        if (std::ranges::all_of(all, [](Reached one) { return one == Reached::UnderWay || one == Reached::Done; })) continue;
        return whyEnded(all);
    }
}

Status GpuSums::meet(Reached own, std::vector<Reached>& all) {
    const auto bytes = static_cast<std::int64_t>((1 + all.size()) * sizeof own);
    const OperationSpan span("all-gather", Role::Communication, 0, [&] { return OperationWork{.flops = 0, .bytes = bytes}; });
    return m_group.gather(&own, sizeof own, all.data());
}

// all: what each worker says, one of which cannot go on. A stranger's bytes may be anything.
Error GpuSums::whyEnded(const std::vector<Reached>& all) {
    const std::size_t size = all.size();
    {
        const std::lock_guard lock(m_mutex);
        if (!m_failure) return m_failure.error();
    }
    const auto found = [&](Reached reached) { return static_cast<std::size_t>(std::ranges::find(all, reached) - all.begin()); };
    if (const std::size_t rank = found(Reached::Failed); rank < size)
        return makeError(ErrorCode::Training,
                         fmt::format("Worker {} of {} could not add up gradients on its GPU; what it said last tells why.", rank, size));
    if (found(Reached::Late) < size) {
        const std::size_t behind = found(Reached::UnderWay);
        return makeError(
            ErrorCode::Training,
            fmt::format("The GPUs of {} workers did not come to the end of a sum within {} s{}; where steps take that long, let --patience be "
                        "longer.",
                        size, std::chrono::duration_cast<std::chrono::seconds>(m_patience).count(),
                        behind < size ? fmt::format(", that of worker {} last", behind) : std::string()));
    }
    return makeError(ErrorCode::Internal, "What another worker says is nothing that Stepscope says; start all workers with the same program.");
}

void GpuSums::fail(Error why) {
    const std::lock_guard lock(m_mutex);
    if (m_failure) m_failure = std::move(why);
}

void GpuSums::abandon() {
    m_nccl->abandon();
    try {
        if (m_stream) m_stream->synchronize();
    } catch (const std::exception&) {
        // A GPU that is lost writes nothing more.
    }
}

}  // namespace stepscope
