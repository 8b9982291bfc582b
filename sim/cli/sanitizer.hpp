// Keeps AddressSanitizer informed of the stack. Nothing in other builds.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SANTA_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANTA_ADDRESS_SANITIZER
#endif
#endif

#ifdef SANTA_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>

#include <cstddef>
#endif

namespace santa::cli {

// SystemC tells AddressSanitizer when it switches to the stack of a process, but on the way back it
// does not know the bounds of the stack it started from and reports none. From then on, an
// exception leaves that stack marked and the next large frame is a false alarm. Call it after a
// simulation.
inline void restore_stack_bounds() {
#ifdef SANTA_ADDRESS_SANITIZER
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  std::size_t size = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &bottom, &size) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!known) return;
  void* fake_stack = nullptr;
  ::__sanitizer_start_switch_fiber(&fake_stack, bottom, size);
  ::__sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace santa::cli
