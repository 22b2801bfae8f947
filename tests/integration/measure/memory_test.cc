// The memory peak of one window, on a real kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "measure_fixture.h"
#include "throttletest/measure/budget.h"
#include "throttletest/service/attach.h"

namespace throttletest::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const LoadPlan kShort = Batches(1).Every(100ms).For(500ms).WarmUp(0s);

class MemoryTest : public MeasureServiceTest {
 protected:
  static Measurement Hold(Service& service, int mib) {
    return MeasureService(service, kShort, Get("/burn?ms=1&mb=" + std::to_string(mib)), Patient());
  }
};

TEST_F(MemoryTest, APeakOfAnEarlierRunIsNotThatOfTheNext) {
  const auto service = Start({});
  const Measurement high = Hold(*service, 96);
  const Measurement low = Hold(*service, 8);
  ASSERT_TRUE(high.validity.trusted() && low.validity.trusted());
  EXPECT_GE(high.cgroup.memory_peak.value(), (96_MiB).bytes());
  EXPECT_GE(high.cgroup.memory_peak.value(), high.sampled_memory_peak.value());
  EXPECT_GE(low.sampled_memory_peak.value(), (1_MiB).bytes()) << "the program itself";
  const Budget below = Budget::MemoryPeak(Comparison::kBelow, 64_MiB);
  EXPECT_EQ(below.Evaluate(high).verdict, Verdict::kMissed);
  // v2 before 6.12 cannot set its mark back, and what was sampled may be less.
  const bool v2 = service->cgroup().location().memory->version == CgroupVersion::kV2;
  if (v2 && !low.cgroup.memory_peak_of_window) {
    EXPECT_GE(low.cgroup.memory_peak.value(), (96_MiB).bytes());
    return;
  }
  EXPECT_FALSE(low.timeline.samples.front().memory) << "the kernel's mark needs no samples";
  EXPECT_LT(low.cgroup.memory_peak.value(), (64_MiB).bytes());
  EXPECT_GE(low.cgroup.memory_peak.value(), (8_MiB).bytes());
  EXPECT_EQ(below.Evaluate(low).verdict, Verdict::kMet);
}

// Setting v1's mark back would change what everybody else reads of that service.
TEST_F(MemoryTest, TheMarkOfAnAttachedServiceIsLeftAlone) {
  const auto service = Start({});
  ASSERT_TRUE(Hold(*service, 96).validity.trusted());
  const auto attached =
      AttachService({.target = RunningProcess(service->pid()), .port = service->port()});
  const Measurement m = Hold(*attached, 8);
  if (attached->cgroup().location().memory->version == CgroupVersion::kV2) {
    GTEST_SKIP() << "v2 has a mark for each reader";
  }
  EXPECT_FALSE(m.cgroup.memory_peak_of_window);
  EXPECT_TRUE(m.timeline.samples.front().memory);
  EXPECT_GE(m.cgroup.memory_peak.value(), (96_MiB).bytes());
  EXPECT_LT(m.sampled_memory_peak.value(), (64_MiB).bytes());
  EXPECT_EQ(Budget::MemoryPeak(Comparison::kBelow, 512_MiB).Evaluate(m).verdict, Verdict::kMet);
  const BudgetResult between = Budget::MemoryPeak(Comparison::kBelow, 64_MiB).Evaluate(m);
  EXPECT_EQ(between.verdict, Verdict::kInconclusive);
  EXPECT_THAT(between.explanation, HasSubstr("the kernel's peak of the cgroup's life"));
}

}  // namespace
}  // namespace throttletest::test
