// A job for tests: does what its flags say, in their order.
//
//   job_program --threads=2 --work=500 --exit=3
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

// CPU time, not wall time: under a quota the same work takes longer.
void Work(std::chrono::milliseconds cpu) {
  const auto used = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  while (used() < cpu) {
  }
}

// Touches that many MiB, one after the other.
void Allocate(int mib) {
  for (int i = 0; i < mib; ++i) {
    constexpr std::size_t kSize = std::size_t{1} << 20;
    void* block = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (block == MAP_FAILED) std::exit(9);
  }
}

// A child that outlives this process.
void Leave() {
  if (::fork() != 0) return;
  std::this_thread::sleep_for(std::chrono::seconds(60));
  ::_exit(0);
}

// Says that it runs, and who runs it.
void WriteParent(const std::string& path) {
  const std::string unfinished = path + ".new";
  std::FILE* file = std::fopen(unfinished.c_str(), "w");
  if (file == nullptr) std::exit(9);
  std::fprintf(file, "%d %d", static_cast<int>(::getppid()), static_cast<int>(::getpid()));
  std::fclose(file);
  std::rename(unfinished.c_str(), path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto equals = flag.find('=');
    const std::string name(flag.substr(0, equals));
    const std::string value(equals == std::string_view::npos ? "" : flag.substr(equals + 1));
    const int number = std::atoi(value.c_str());
    if (name == "--threads") threads = number;
    if (name == "--work") {
      std::vector<std::thread> workers;
      for (int t = 0; t < threads; ++t) {
        workers.emplace_back([&] { Work(std::chrono::milliseconds(number)); });
      }
      for (std::thread& worker : workers) worker.join();
    }
    if (name == "--sleep") std::this_thread::sleep_for(std::chrono::milliseconds(number));
    if (name == "--allocate") Allocate(number);
    if (name == "--leave") Leave();
    if (name == "--print") std::printf("%s\n", value.c_str()), std::fflush(stdout);
    if (name == "--parent") WriteParent(value);
    if (name == "--kill") ::kill(::getpid(), number);
    if (name == "--exit") return number;
  }
  return 0;
}
