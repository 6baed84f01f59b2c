#include "core/workers/TextLengths.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope {

Status checkTextLengths(const std::vector<float>& lengths) {
    std::size_t longest = 0;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
        const float length = lengths[rank];
        // No number is neither.
        if (!(length >= 0.0f && length <= static_cast<float>(kMostText)))
            return makeError(ErrorCode::BadInput,
                             fmt::format("Worker {} of {} says that its text has {} bytes, and {} are the most; start all workers "
                                         "with the same program.",
                                         rank, lengths.size(), length, kMostText));
        longest = std::max(longest, static_cast<std::size_t>(length));
    }
    if (longest * lengths.size() <= kMostTexts) return {};
    return makeError(ErrorCode::BadInput,
                     fmt::format("The longest text of the {} workers has {} bytes, too many from so many of them; {} are the most.", lengths.size(),
                                 longest, kMostTexts / lengths.size()));
}

}  // namespace stepscope
