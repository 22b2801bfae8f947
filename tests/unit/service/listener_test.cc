#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/port.h"

namespace throttletest::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";
// Port 8080 is 1F90.
std::string Line(const char* local, const char* state, int inode) {
  return std::string("   0: ") + local + " 00000000:0000 " + state +
         " 00000000:00000000 00:00000000 00000000     0        0 " + std::to_string(inode) +
         " 1 0000000000000000 100 0 0 10 0\n";
}

TEST(ListeningSockets, FindsLoopbackAndAnyAddress) {
  const std::string tcp = kHead + Line("0100007F:1F90", "0A", 11) + Line("00000000:1F90", "0A", 12);
  EXPECT_THAT(ListeningSockets(tcp, "", 8080), ElementsAre(11, 12));
}

TEST(ListeningSockets, FindsDualStackSockets) {
  const std::string tcp6 = kHead + Line("00000000000000000000000000000000:1F90", "0A", 13) +
                           Line("0000000000000000FFFF00000100007F:1F90", "0A", 14);
  EXPECT_THAT(ListeningSockets("", tcp6, 8080), ElementsAre(13, 14));
}

TEST(ListeningSockets, IgnoresOtherPortsStatesAndAddresses) {
  const std::string tcp = kHead + Line("0100007F:1F91", "0A", 11) +
                          Line("0100007F:1F90", "01", 12) + Line("0101A8C0:1F90", "0A", 13) +
                          "garbage\n";
  EXPECT_THAT(ListeningSockets(tcp, "", 8080), IsEmpty());
}

}  // namespace
}  // namespace throttletest::internal
