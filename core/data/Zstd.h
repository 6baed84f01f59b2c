// Unpacks .zst: The Pile, SlimPajama and their like come as .jsonl.zst. Used by TextReader.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

// What is unpacked lies in RAM; a file that is larger than this unpacked is better mapped, so it is refused with that advice.
constexpr std::size_t kMostUnpacked = 8'000'000'000;

// What becomes of more than fits: the file is refused, or its beginning is given.
enum class Beyond { Refused, LeftOut };

// All frames of `packed`, one after the other (RFC 8878); windows of up to 2 GiB, as `zstd --long=31` makes them. Errors name `name`: no
// zstd, damaged, cut short, larger than `most` bytes. With Beyond::LeftOut the first `most` bytes of a larger one, and nothing is said of the rest.
// `cancelled` is asked after a few hundred kilobytes, whatever they unpack to.
Result<std::string> unpackZstd(std::string_view packed, const std::string& name, const std::function<bool()>& cancelled,
                               std::size_t most = kMostUnpacked, Beyond beyond = Beyond::Refused);
Result<std::string> unpackZstd(std::string_view packed, const std::string& name, const std::atomic<bool>& cancelled, std::size_t most = kMostUnpacked,
                               Beyond beyond = Beyond::Refused);

}  // namespace stepscope
