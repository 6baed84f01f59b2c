// A query's values and rows as text: in a cell, in CSV, and in which order they are sorted. Called by the command line, the page Query and whoever
// writes its files, on any thread.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/analysis/query/QueryResult.h"

namespace stepscope {

// All of its digits; empty for NULL.
std::string queryText(const QueryValue& value);
bool isNullValue(const QueryValue& value);
double queryNumber(const QueryValue& value);  // NaN where it is none
// No text in this column, and something that is not NULL.
bool holdsNumbers(const QueryResult& result, std::size_t column);

// As SQLite orders them: NULL, numbers by size, texts by their bytes.
bool queryLess(const QueryValue& a, const QueryValue& b);

// After RFC 4180, with a line of titles. NULL is empty, an empty text is "". In pieces of about a megabyte, so that a large result is not there
// twice; ends where `write` says false, and says so.
bool writeQueryCsv(const QueryResult& result, const std::function<bool(std::string_view)>& write);

}  // namespace stepscope
