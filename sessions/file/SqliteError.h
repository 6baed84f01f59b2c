// SQLite's result codes as sentences for a person, each naming the file and what to do. Inside sessions/ only.
// SQLiteCpp throws; guarded() is where that ends: every public function of sessions/ runs its body inside it.
#pragma once
#include <SQLiteCpp/Exception.h>

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "core/base/Check.h"
#include "core/base/Result.h"

namespace stepscope {

Error sqliteError(const std::string& path, int extendedCode, const std::string& message);
inline Error sqliteError(const std::string& path, const SQLite::Exception& thrown) {
    return sqliteError(path, thrown.getExtendedErrorCode(), thrown.what());
}
// Stored text that does not parse (JSON, an unknown word): the file is SQLite, but not what we wrote. cause: without a full stop, as it stands in
// brackets within the sentence.
Error damagedRow(const std::string& path, const std::string& cause);
Error damagedRow(const std::string& path, const std::exception& thrown);  // what reading it threw
Error noSuchSession(const std::string& path, std::int64_t session);

template <class Body>
auto guarded(const std::string& path, Body&& body) -> decltype(body()) {
    try {
        return std::forward<Body>(body)();
    } catch (const SQLite::Exception& thrown) {
        return sqliteError(path, thrown);
    } catch (const LogicError&) {
        throw;  // a mistake of ours is not the file's
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& thrown) {
        return damagedRow(path, thrown);
    }
}

}  // namespace stepscope
