// What every reader of a payload promises, whatever the bytes: one sentence, or something that can be said again and is read as the same. For
// fuzzers.
#pragma once
#include <string>

#include "core/base/Check.h"
#include "core/base/Result.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

template <class T>
bool isOneSentence(const Result<T>& refused) {
    const std::string& sentence = refused.error().sentence;
    return sentence.ends_with('.') && sentence.find('\n') == std::string::npos;
}

template <class T>
void readAgain(const FrameBytes& payload, Result<T> (*read)(const FrameBytes&), FrameBytes (*said)(const T&)) {
    const auto one = read(payload);
    if (!one) {
        SS_CHECK(isOneSentence(one));
        return;
    }
    const FrameBytes bytes = said(*one);
    const auto again = read(bytes);
    SS_CHECK(again && said(*again) == bytes);
}

}  // namespace stepscope
