// Which mutant a mutated unit is (tools/mutate_rtl.py): SANTA_MUTANT, 0 for none of them.
#include <cstdlib>

extern "C" int santa_mutant_number() {
  const char* text = std::getenv("SANTA_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}
