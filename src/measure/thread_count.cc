#include "measure/thread_count.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

int ThreadsOf(pid_t pid, const std::string& proc_root) {
  std::error_code gone;
  const std::filesystem::directory_iterator tasks(fmt::format("{}/{}/task", proc_root, pid), gone);
  return gone ? 0 : static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

Outcome<int> CountThreads(const Cgroup& cgroup, const std::string& proc_root) {
  try {
    int threads = 0;
    for (const pid_t pid : cgroup.Processes()) threads += ThreadsOf(pid, proc_root);
    return threads > 0 ? Outcome<int>::Value(threads)
                       : Outcome<int>::NotAvailable("no process of the service is visible here");
  } catch (const Error& error) {
    return Outcome<int>::NotAvailable(error.what());
  }
}

}  // namespace throttletest::internal
