#include "core/base/Result.h"

#include "core/base/Check.h"

namespace stepscope {

const char* toString(ErrorCode code) {
    switch (code) {
        case ErrorCode::BadInput:
            return "bad-input";
        case ErrorCode::NotFound:
            return "not-found";
        case ErrorCode::Unsupported:
            return "unsupported";
        case ErrorCode::OutOfMemory:
            return "out-of-memory";
        case ErrorCode::Io:
            return "io";
        case ErrorCode::Damaged:
            return "damaged";
        case ErrorCode::Training:
            return "training";
        case ErrorCode::Cancelled:
            return "cancelled";
        case ErrorCode::Internal:
            return "internal";
    }
    SS_CHECK(false);
}

const char* toString(Subject::Kind kind) {
    switch (kind) {
        case Subject::Kind::None:
            return "";
        case Subject::Kind::Database:
            return "database";
        case Subject::Kind::Session:
            return "session";
        case Subject::Kind::Checkpoint:
            return "checkpoint";
        case Subject::Kind::Data:
            return "data";
        case Subject::Kind::Key:
            return "key";
        case Subject::Kind::Switch:
            return "switch";
        case Subject::Kind::Text:
            return "text";
        case Subject::Kind::File:
            return "file";
        case Subject::Kind::Loss:
            return "loss";
        case Subject::Kind::Capture:
            return "capture";
    }
    SS_CHECK(false);
}

}  // namespace stepscope
