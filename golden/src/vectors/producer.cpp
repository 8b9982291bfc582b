#include "santa/vectors/producer.hpp"

#include <fmt/format.h>

namespace santa::vectors {
namespace {

constexpr const char* kProcessor =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "another processor";
#endif

constexpr const char* kCompiler =
#if defined(__clang__)
    "Clang ";
#else
    "GCC ";
#endif

}  // namespace

Device GoldenProducer::device() const {
#if defined(__clang__)
  const std::string version = __clang_version__;
#else
  const std::string version = __VERSION__;
#endif
  return {kGoldenProducer, kProcessor, "none", kCompiler + version.substr(0, version.find(' '))};
}

Results GoldenProducer::answer(const Request& request) {
  return results_of(request, expect(request));
}

}  // namespace santa::vectors
