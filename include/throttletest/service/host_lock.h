// The host-wide lock: one start or measurement at a time on this machine, whatever process it is
// in.
//
// StartService() and MeasureService() take it by themselves, the latter for all attempts of one
// measurement. A service that merely runs between two measurements holds nothing, so that two
// suites with shared services take turns. Within one process it holds nobody up.
//
//   SetHostLock({.path = ""});  // this process neither waits nor makes others wait
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace throttletest {

// Where it is when nobody says otherwise: /run/lock/throttletest.lock where that folder is for
// everybody (as on Debian), else /tmp/throttletest.lock, so that all users of a machine agree. The
// file stays empty; it and the file beside it (".next", for whose turn is next) are left in place.
std::string DefaultHostLockPath();

// How this process takes the lock.
struct HostLockOptions {
  // Absent: empty, no lock.
  std::string path = DefaultHostLockPath();
  // What happens when the file cannot be used at all, as on a read-only file system. True: an
  // Error. False: work goes on, and each measurement has a note that says so; the gates of its
  // validity still see a machine that was busy with others.
  bool required = false;
  // How long to wait for others. Units: >= 0, default 30 min. The time waited is in no figure and
  // in no timeout of throttletest; a timeout of the test runner goes on.
  std::chrono::nanoseconds patience = std::chrono::minutes(30);
  // Called once in a wait that takes longer than a second, with "waiting for the measurement of
  // process 4711 (my_test)". Absent: a line on stderr.
  std::function<void(const std::string&)> on_wait = {};
};

// What the variable THROTTLETEST_LOCK says: "off", or the absolute path of a file to lock, which is
// then required. Absent or empty: the defaults. Errors: kInvalidArgument quoting the value.
HostLockOptions HostLockFromEnvironment();

// For all starts and measurements of this process that begin afterwards. Until it is called, the
// environment decides. Thread-safe.
void SetHostLock(HostLockOptions options);

}  // namespace throttletest
