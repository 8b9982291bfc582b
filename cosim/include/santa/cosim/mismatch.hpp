// The first difference between the unit and its models, in one sentence.
#pragma once

#include <cstdint>
#include <string>

namespace santa::cosim {

// What names a run, so that it can be repeated.
struct RunIdentity {
  std::string config;   // name of the hardware description
  std::string hash;     // of its unit section, 16 hexadecimal digits
  std::string seed;     // as the command line takes it
  std::string command;  // repeats the run
};

struct Mismatch {
  std::string block;  // "ternary_gather"
  std::uint32_t request = 0;
  std::string workload;
  std::string field;  // "score of key 17, head 1"
  std::string rtl;
  std::string golden;  // what it should be
  std::string model;   // whose word that is: "golden model", "exact oracle", ...
  std::uint64_t cycle = 0;
};

std::string sentence(const Mismatch& mismatch, const RunIdentity& identity);

}  // namespace santa::cosim
