#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"
#include "base/unix_address.h"
#include "throttletest/base/error.h"
#include "throttletest/service/readiness.h"

namespace throttletest {
namespace {

using internal::ResolveUnix;
using internal::UniqueFd;
using testing::HasSubstr;
using testing::ThrowsMessage;

// An abstract name leaves no file.
std::string Name() { return "@throttletest-unix-ready-" + std::to_string(::getpid()); }

TEST(UnixReadiness, IsThereOnceAConnectionIsAccepted) {
  const Readiness ready = UnixReady(Name());
  EXPECT_THAT(ready.Try({}), HasSubstr(Name() + ": Connection refused"));
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = ResolveUnix(Name());
  ASSERT_EQ(::bind(listener.get(), address.get(), address.size), 0);
  EXPECT_THAT(ready.Try({}), HasSubstr("Connection refused")) << "bound is not yet listening";
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(ready.Try({}), "");
}

TEST(UnixReadiness, DoesNotLookAtAPort) {
  EXPECT_FALSE(UnixReady("/run/x.sock").looks_at_port());
  EXPECT_TRUE(TcpReady().looks_at_port());
  EXPECT_EQ(UnixReady("/run/x.sock").description(), "connection is accepted on /run/x.sock");
}

TEST(UnixReadiness, RefusesPathsThatTheKernelDoesNotTake) {
  EXPECT_THAT([] { UnixReady(std::string(108, 'x')); },
              ThrowsMessage<Error>(HasSubstr("at most 107")));
  EXPECT_THAT([] { UnixReady(""); }, ThrowsMessage<Error>(HasSubstr("empty")));
  EXPECT_NO_THROW(UnixReady(std::string(107, 'x')));
}

}  // namespace
}  // namespace throttletest
