// The checksum of TFRecord files: CRC-32C (Castagnoli), masked so that checksums of data that hold checksums stay apart. TensorBoard's event files
// have it behind each length and each record; read by importers, written by exporters. Any thread.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace stepscope {

inline std::uint32_t maskedCrc(std::string_view bytes) {
    static constexpr auto kTable = [] {
        std::array<std::uint32_t, 256> table{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? value >> 1 ^ 0x82f63b78U : value >> 1;
            table[i] = value;
        }
        return table;
    }();
    std::uint32_t crc = 0xffffffffU;
    for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ crc >> 8;
    crc ^= 0xffffffffU;
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

}  // namespace stepscope
