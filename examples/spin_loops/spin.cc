// Endless loops, for so many milliseconds.
//
//   spin THREADS MILLISECONDS
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atoi(argv[2]));
  const int count = std::max(1, std::atoi(argv[1]));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([end] {
      while (std::chrono::steady_clock::now() < end) {
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
