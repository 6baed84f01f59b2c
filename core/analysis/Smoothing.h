// Exponential moving average with the bias correction of Adam (Kingma and Ba, ICLR 2015, section 3): without it the first
// points of a loss curve lean towards zero. Used by RunHistory for the bold loss line.
#pragma once
#include <cmath>

namespace stepscope {

class DebiasedAverage {
public:
    explicit DebiasedAverage(double memory) : m_memory(memory) {}  // in [0, 1): 0.95 remembers about 20 values

    // The average including `value`. A value that is not finite leaves it as it is (NaN before the first finite one).
    double next(double value) {
        if (std::isfinite(value)) {
            m_sum = m_memory * m_sum + (1 - m_memory) * value;
            m_weight = m_memory * m_weight + (1 - m_memory);
        }
        return m_sum / m_weight;
    }
    void reset() { m_sum = m_weight = 0; }

private:
    double m_memory;
    double m_sum = 0;
    double m_weight = 0;  // 1 - memory^n
};

}  // namespace stepscope
