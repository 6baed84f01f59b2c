// Variable-length integers (LEB128; signed ones zigzag) and texts, one behind the other: how blocks of core/trace are written and read. The reader
// stops at the first thing that is wrong and remembers where; what it gives from there on is 0.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope {

class ByteWriter {
public:
    void whole(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) m_bytes.push_back(static_cast<std::byte>(value | 0x80));
        m_bytes.push_back(static_cast<std::byte>(value));
    }
    void integer(std::int64_t value) { whole((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }
    void text(std::string_view text) {
        whole(text.size());
        const auto* data = reinterpret_cast<const std::byte*>(text.data());
        m_bytes.insert(m_bytes.end(), data, data + text.size());
    }
    void bytes(const std::vector<std::byte>& part) { m_bytes.insert(m_bytes.end(), part.begin(), part.end()); }
    std::vector<std::byte> take() { return std::move(m_bytes); }

private:
    std::vector<std::byte> m_bytes;
};

class ByteReader {
public:
    explicit ByteReader(const std::vector<std::byte>& bytes) : m_bytes(bytes) {}

    std::uint64_t whole() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (m_at == m_bytes.size()) return fail("the bytes end within a number");
            const auto byte = static_cast<std::uint64_t>(m_bytes[m_at++]);
            if (shift == 63 && byte > 1) break;
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        return fail("a number has more than 64 bits");
    }
    std::int64_t integer() {
        const std::uint64_t value = whole();
        return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
    }
    // At most `most`, else it is wrong in the words of `what`.
    std::uint64_t upTo(std::uint64_t most, const char* what) {
        const std::uint64_t value = whole();
        return value <= most ? value : fail(what);
    }
    std::string text(std::size_t most) {
        const std::uint64_t size = whole();
        // What is left is asked behind the size, whose own bytes are no part of the text.
        if (size > most || size > left()) {
            fail("a text is longer than it can be");
            return {};
        }
        std::string text(reinterpret_cast<const char*>(m_bytes.data()) + m_at, size);
        m_at += size;
        return text;
    }
    std::size_t left() const { return m_bytes.size() - m_at; }
    void skip(std::size_t bytes) {
        if (bytes > left())
            fail("the bytes end within a part");
        else
            m_at += bytes;
    }
    std::size_t at() const { return m_at; }
    // Remembers the first failure only.
    std::uint64_t fail(const char* what) {
        if (m_wrong == nullptr) {
            m_wrong = what;
            m_wrongAt = m_at;
        }
        m_at = m_bytes.size();
        return 0;
    }
    bool good() const { return m_wrong == nullptr; }
    const char* wrong() const { return m_wrong; }
    std::size_t wrongAt() const { return m_wrongAt; }

private:
    const std::vector<std::byte>& m_bytes;
    std::size_t m_at = 0;
    const char* m_wrong = nullptr;
    std::size_t m_wrongAt = 0;
};

}  // namespace stepscope
