// One worker of WorkerGroupTest: joins by what its environment says, does what its first word names, prints what came of it on one line.
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "core/workers/WorkerGroup.h"

using namespace stepscope;

namespace {

int failed(const Error& error) {
    std::printf("%s\n", error.sentence.c_str());
    return 3;
}

}  // namespace

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "";
    const auto place = workerPlace();
    if (!place) return failed(place.error());
    auto joined = WorkerGroup::join(*place, std::chrono::seconds(count > 2 ? std::atoi(words[2]) : 20), [&] { return what == "stop"; });
    if (!joined) return failed(joined.error());
    WorkerGroup& group = **joined;
    if (what == "leave") {
        const bool first = place->rank == 0;
        if (first) group.leave("what", "a word");
        if (const Status met = group.meet(); !met) return failed(met.error());
        std::printf("left: %s\n", group.left("what").value_or("nothing").c_str());
        return group.meet() ? 0 : 6;
    }
    if (what == "left") {
        std::printf("left: %s\n", group.left("what").value_or("nothing").c_str());
        return group.meet() ? 0 : 6;
    }
    if (what == "die" && place->rank == place->size - 1) _exit(7);
    if (what == "die-first" && place->rank == 0) _exit(7);
    if (what == "hang" && place->rank == 1) {
        sleep(16);
        _exit(7);
    }
    if (what == "give-up" && place->rank == 1) {
        group.giveUp("It has had enough.");
        return 7;
    }
    // Values whose sum depends on its order where there are more than two.
    std::vector<float> values(100'003);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i + 1) * static_cast<float>(place->rank + 1)) * 1e3f;
    const std::vector<float> own = values;
    if (const Status added = group.sum(values.data(), static_cast<std::int64_t>(values.size())); !added) return failed(added.error());
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const float value : values) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3;
    }
    double expected = 0;
    for (int rank = 0; rank < place->size; ++rank) expected += static_cast<double>(std::sin(5.0f * static_cast<float>(rank + 1)) * 1e3f);
    // 256 of the first and 1.5 of each other one, as bfloat16 has them; between 256 and 512 it has every second number.
    std::vector<std::uint16_t> halves(1003, static_cast<std::uint16_t>(place->rank == 0 ? 0x4380 : 0x3fc0));
    if (const Status added = group.sumBf16(halves.data(), static_cast<std::int64_t>(halves.size())); !added) return failed(added.error());
    const float whole = 256.0f + 1.5f * static_cast<float>(place->size - 1);
    for (const std::uint16_t half : halves) {
        const float sum = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
        if (half != halves[0] || std::fabs(sum - whole) > static_cast<float>(place->size)) return 5;
    }
    std::int32_t handed = place->rank == 1 ? 4711 : 0;
    if (const Status told = group.broadcast(&handed, sizeof handed, 1); !told) return failed(told.error());
    std::vector<int> ranks(static_cast<std::size_t>(place->size));
    if (const Status gathered = group.gather(&place->rank, sizeof place->rank, ranks.data()); !gathered) return failed(gathered.error());
    for (int rank = 0; rank < place->size; ++rank)
        if (ranks[static_cast<std::size_t>(rank)] != rank) return 4;
    const auto texts = group.texts(std::string(static_cast<std::size_t>(place->rank) * 3, 'x') + std::to_string(place->rank));
    if (!texts) return failed(texts.error());
    std::string all;
    for (const auto& text : *texts) all += text + ";";
    if (const Status met = group.meet(); !met) return failed(met.error());
    std::printf("%016llx %d %d %s\n", static_cast<unsigned long long>(hash), std::fabs(values[4] - expected) < 1e-3 ? 1 : 0, handed, all.c_str());
    return 0;
}
