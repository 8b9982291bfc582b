#include <string>

#include "refusal.hpp"
#include "santa/gpu/status.hpp"

namespace santa::gpu {
namespace {

thread_local std::string last_message;

}  // namespace

void set_last_error(const char* message) {
  last_message = message;
}

const char* last_error() {
  return last_message.c_str();
}

}  // namespace santa::gpu
