#include <cstddef>
#include <cstdint>

#include "fuzz/http_reader_probe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  throttletest::testing_support::ProbeHttpReader({reinterpret_cast<const char*>(data), size});
  return 0;
}
