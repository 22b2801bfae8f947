// Endless loops, for so many milliseconds.
//
//   spin THREADS MILLISECONDS
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atoi(argv[2]));
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    threads.emplace_back([end] {
      while (std::chrono::steady_clock::now() < end) {
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
