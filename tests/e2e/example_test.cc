#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "support/leftovers.h"
#include "support/run_binary.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The example with its limit cut from 2 to 0.5: the reason this project exists.
TEST(CutLimit, FailsWithValuesCauseAndTheQuotaThatWouldHold) {
  if (geteuid() != 0) GTEST_SKIP() << "the cgroup launcher needs root on this kind of host";
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("throttletest-example-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto run = test::RunBinary({CUT_LIMIT_SAMPLE, "--throttletest_launcher=cgroup",
                                    "--throttletest_json_dir=" + folder.string(),
                                    "--gtest_output=xml:" + (folder / "out.xml").string()});
  const std::string xml = ReadAll(folder / "out.xml");
  const std::string json = ReadAll(folder / "CpuLimit.BurstFitsQuota.json");
  std::filesystem::remove_all(folder);

  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out,
              AllOf(ContainsRegex("throttle ratio 0\\.[0-9]+ \\(95 % interval [01]\\.[0-9]+"
                                  "\\.\\.[01]\\.[0-9]+, 13 batches\\) is not below 0\\.05"),
                    // 104 requests are too few for an upper end of P99.
                    ContainsRegex("P99 [0-9.]+ ms \\(95 % interval [0-9.]+ ms and above, "
                                  "13 batches\\) is not below 250 ms"),
                    ContainsRegex("nearest rank, 104 requests"),
                    ContainsRegex("of [0-9]+ periods throttled"),
                    ContainsRegex("overlap a throttled window"),
                    ContainsRegex("cpus >= [0-9.]+ would fit")));
  EXPECT_THAT(xml, AllOf(ContainsRegex("name=\"throttle_ratio\" value=\"0\\.[0-9]+\""),
                         HasSubstr("name=\"p99_ms\"")));
  const auto document = nlohmann::json::parse(json);
  // AllOf stops at its first missed budget, so the third is not judged.
  EXPECT_EQ(document["verdicts"].size(), 2u) << json.substr(0, 400);
  EXPECT_EQ(document["validity"]["status"], "trusted");
  EXPECT_THAT(test::CgroupLeftoversAfter(std::chrono::seconds(3)), testing::IsEmpty());
}

}  // namespace
}  // namespace throttletest
