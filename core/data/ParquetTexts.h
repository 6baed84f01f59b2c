// The column "text" of a parquet file, row by row. Parquet is read by a program of its own, stepscope-parquet, which is there where pyarrow was when
// Stepscope was built (core/data/parquet); what it writes is checked as a stranger's. Used by TextReader.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

struct ParquetRows {
    std::int64_t texts = 0;
    std::int64_t nulls = 0;  // rows without a text, which were left out
};

// Hands each text to `take`, in order; false ends it early. In memory are one text and what the reader holds of a page. `cancelled` is asked several
// times a second. Errors name `path`; NotFound: the program that reads parquet is not there, with what to do.
Result<ParquetRows> readParquet(const std::string& path, const std::function<bool()>& cancelled,
                                const std::function<Result<bool>(std::string_view)>& take);

}  // namespace stepscope
