// ClockPairs: times of a device's clock as times of the session's, by moments at which both were read. Between two such moments the clocks are taken
// to run evenly; before the first and behind the last as they did beside them. Written and read by one thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepscope {

class ClockPairs {
public:
    // A moment whose reading of the one clock lay between two of the other, which were `spread` apart. In rising order; one that runs backwards is
    // left out. At most 4096 are kept, then every other one.
    struct Moment {
        std::uint64_t device = 0;
        std::int64_t session = 0;  // ns
        std::int64_t spread = 0;
    };
    void add(const Moment& moment);
    // The best of `readings` moments, each given by read().
    template <class Read>
    static Moment best(int readings, Read read) {
        Moment taken = read();
        for (int i = 1; i < readings; ++i)
            if (const Moment one = read(); one.device != 0 && (taken.device == 0 || one.spread < taken.spread)) taken = one;
        return taken;
    }
    bool empty() const { return m_moments.empty(); }
    // ns of the session's clock; without a moment the time as it is.
    std::int64_t sessionTime(std::uint64_t device) const;

private:
    std::vector<Moment> m_moments;
};

}  // namespace stepscope
