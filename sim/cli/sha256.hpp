// SHA-256 (FIPS 180-4) of files, for the provenance of results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace santa::cli {

class Sha256 {
 public:
  void update(std::string_view bytes);
  // 64 lower-case hexadecimal digits. The object is used up.
  std::string finish();

 private:
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t bytes_ = 0;
};

// Adds a file's bytes. Throws InputError if it cannot be read.
void update_from_file(Sha256& hash, const std::string& path);

// Of a file's bytes. Throws InputError if it cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace santa::cli
