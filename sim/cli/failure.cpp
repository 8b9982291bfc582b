#include "failure.hpp"

#include <exception>
#include <new>

#include "santa/energy/report.hpp"
#include "santa/error.hpp"

namespace santa::cli {

std::string on_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

Failure current_failure() {
  const std::string fault = "internal error, please report it with the command: ";
  try {
    throw;
  } catch (const InputError& error) {
    return {kExitBadInput, on_one_line(error.what())};
  } catch (const energy::VerificationError& error) {
    return {kExitVerificationFailed, on_one_line(error.what())};
  } catch (const std::bad_alloc&) {
    return {kExitBadInput,
            "not enough memory for this input; allowed: fewer --layers, a shorter --context"};
  } catch (const std::exception& error) {
    return {kExitInternalError, on_one_line(fault + error.what())};
  } catch (...) {
    return {kExitInternalError, fault + "unknown exception"};
  }
}

}  // namespace santa::cli
