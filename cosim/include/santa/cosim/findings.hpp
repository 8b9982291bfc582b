// What checkers found, as sentences, with a bound on how many are kept.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace santa::cosim {

class Findings {
 public:
  void add(std::string sentence) {
    ++count_;
    if (sentences_.size() < kKept) sentences_.push_back(std::move(sentence));
  }
  bool empty() const { return count_ == 0; }
  std::uint64_t count() const { return count_; }
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  static constexpr std::size_t kKept = 16;
  std::uint64_t count_ = 0;
  std::vector<std::string> sentences_;
};

}  // namespace santa::cosim
