#include "load/address.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

template <typename T>
T As(const SocketAddress& address) {
  T typed{};
  std::memcpy(&typed, &address.storage, sizeof(typed));
  return typed;
}

TEST(Address, OfIpv4) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const SocketAddress address = Resolve({.host = host, .port = 8080});
    EXPECT_EQ(address.family(), AF_INET);
    EXPECT_EQ(address.size, sizeof(sockaddr_in));
    EXPECT_EQ(As<sockaddr_in>(address).sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    EXPECT_EQ(As<sockaddr_in>(address).sin_port, htons(8080));
  }
}

TEST(Address, OfIpv6WithAndWithoutBrackets) {
  for (const char* host : {"::1", "[::1]", "0:0:0:0:0:0:0:1"}) {
    const SocketAddress address = Resolve({.host = host, .port = 8080});
    EXPECT_EQ(address.family(), AF_INET6);
    EXPECT_EQ(address.size, sizeof(sockaddr_in6));
    const auto typed = As<sockaddr_in6>(address);
    EXPECT_TRUE(IN6_IS_ADDR_LOOPBACK(&typed.sin6_addr));
    EXPECT_EQ(typed.sin6_port, htons(8080));
  }
}

TEST(Address, OfAUnixSocketEndsWithAZero) {
  const SocketAddress address = Resolve({.unix_path = "/run/a.sock"});
  EXPECT_EQ(address.family(), AF_UNIX);
  EXPECT_EQ(address.size, offsetof(sockaddr_un, sun_path) + sizeof("/run/a.sock"));
  EXPECT_STREQ(As<sockaddr_un>(address).sun_path, "/run/a.sock");
}

TEST(Address, OfAnAbstractNameBeginsWithAZeroAndHasNoneAtItsEnd) {
  const SocketAddress address = Resolve({.unix_path = "@name"});
  EXPECT_EQ(address.size, offsetof(sockaddr_un, sun_path) + 5);
  const auto typed = As<sockaddr_un>(address);
  EXPECT_EQ(std::string(typed.sun_path, 5), std::string("\0name", 5));
}

TEST(Address, ThePathCountsWhenBothAreGiven) {
  EXPECT_EQ(Resolve({.host = "example.org", .port = 80, .unix_path = "/a"}).family(), AF_UNIX);
}

TEST(Address, IsNeverThatOfAnotherMachine) {
  for (const char* host : {"192.0.2.1", "example.org", "", "0.0.0.0", "::", "::ffff:127.0.0.1",
                           "[127.0.0.1", "127.0.0.1 ", "127.1", "2130706433", "fe80::1"}) {
    EXPECT_THAT([&] { Resolve({.host = host, .port = 80}); },
                ThrowsMessage<Error>(
                    HasSubstr("endpoint \"" + std::string(host) + "\" is not a loopback address")));
  }
}

TEST(Address, ThePathOfAUnixSocketHasALimit) {
  EXPECT_NO_THROW(Resolve({.unix_path = "/" + std::string(106, 'a')}));
  EXPECT_THAT([] { Resolve({.unix_path = "/" + std::string(107, 'a')}); },
              ThrowsMessage<Error>(HasSubstr("has 108 bytes, but the kernel takes at most 107")));
  EXPECT_THAT([] { Resolve({.unix_path = std::string("/a\0b", 4)}); },
              ThrowsMessage<Error>(HasSubstr("zero byte")));
}

}  // namespace
}  // namespace throttletest::internal
