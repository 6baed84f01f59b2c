// Unpacks .zst: The Pile, SlimPajama and their like come as .jsonl.zst. Used by TextReader.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

// Of what is unpacked into RAM; a file that is larger than this unpacked is better mapped, so it is refused with that advice.
constexpr std::size_t kMostUnpacked = 8'000'000'000;

// All frames of `packed`, one after the other (RFC 8878), given to `take` in pieces of a few hundred kilobytes; windows of up to 2 GiB, as
// `zstd --long=31` makes them. Errors name `name`: no zstd, damaged, cut short, larger than `most` bytes, larger than texts pack to; or they are
// take's, who ends the reading with false, too. `cancelled` is asked after each few hundred kilobytes, whatever they unpack to.
Status eachUnpacked(std::string_view packed, const std::string& name, const std::function<bool()>& cancelled,
                    const std::function<Result<bool>(std::string_view)>& take, std::size_t most);

// What becomes of more than fits: the file is refused, or its beginning is given.
enum class Beyond { Refused, LeftOut };

// The same as one string. With Beyond::LeftOut the first `most` bytes of a larger one, and nothing is said of the rest.
Result<std::string> unpackZstd(std::string_view packed, const std::string& name, const std::function<bool()>& cancelled,
                               std::size_t most = kMostUnpacked, Beyond beyond = Beyond::Refused);

}  // namespace stepscope
