// The text of an operation's arguments, taken apart again. It may come from a file that anybody wrote: nothing is assumed of it.
#include <algorithm>
#include <charconv>

#include "core/trace/Slice.h"

namespace stepscope {
namespace {

// "Float[4,12]": the type into `type` where that is empty, the sizes into `dims`.
bool takeTensor(std::string_view word, std::string& type, std::vector<std::vector<std::int64_t>>& dims) {
    const auto open = word.find('[');
    if (open == 0 || open == std::string_view::npos || !word.ends_with(']')) return false;
    std::vector<std::int64_t> sizes;
    for (std::string_view rest = word.substr(open + 1, word.size() - open - 2); !rest.empty();) {
        const auto comma = std::min(rest.find(','), rest.size());
        std::int64_t size = 0;
        const auto [end, problem] = std::from_chars(rest.data(), rest.data() + comma, size);
        if (problem != std::errc{} || end != rest.data() + comma || size < 0) return false;
        sizes.push_back(size);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (type.empty()) type = word.substr(0, open);
    dims.push_back(std::move(sizes));
    return true;
}

SliceArgument argumentOf(std::string_view word) {
    SliceArgument argument;
    if (word.starts_with('{') && word.ends_with('}')) {
        argument.list = true;
        for (std::string_view rest = word.substr(1, word.size() - 2); !rest.empty();) {
            const auto end = std::min(rest.find(';'), rest.size());
            if (!takeTensor(rest.substr(0, end), argument.type, argument.dims)) break;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return argument;
    }
    if (word.find('[') == std::string_view::npos)
        argument.type = word;
    else if (!takeTensor(word, argument.type, argument.dims))
        return {};
    return argument;
}

}  // namespace

std::vector<SliceArgument> argumentsOf(const std::string& text) {
    std::vector<SliceArgument> all;
    for (std::string_view rest = text; !rest.empty();) {
        const auto space = std::min(rest.find(' '), rest.size());
        all.push_back(argumentOf(rest.substr(0, space)));
        rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    return all;
}

namespace {

// Whether what follows a tensor is a product of two that it is added to, as in addmm and baddbmm: (…, M, K) and (…, K, N).
bool areMultiplied(const SliceArgument& left, const SliceArgument& right) {
    if (left.list || right.list || left.dims.size() != 1 || right.dims.size() != 1 || left.type != right.type) return false;
    const auto &rows = left.dims.front(), &columns = right.dims.front();
    return rows.size() >= 2 && columns.size() == rows.size() && rows.back() == columns[columns.size() - 2];
}

}  // namespace

std::string elementType(const std::string& text) {
    const auto all = argumentsOf(text);
    const auto first = std::ranges::find_if(all, [](const SliceArgument& one) { return !one.dims.empty(); });
    if (first == all.end()) return {};
    return all.end() - first >= 3 && areMultiplied(first[1], first[2]) ? first[1].type : first->type;
}

}  // namespace stepscope
