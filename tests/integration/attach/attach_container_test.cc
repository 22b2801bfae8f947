// Attaching to containers of the engines of this machine.
#include <cstring>
#include <memory>

#include "integration/service/engine_support.h"
#include "service/engine_container.h"
#include "service/port.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/measure.h"
#include "throttletest/service/attach.h"

namespace throttletest::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

// A container that runs a limited burn_server, made through the engine's command.
class AttachToContainer : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (IsSkipped()) return;
    internal::LaunchRequest request;
    request.port = port_ = internal::PickPort();
    request.command = {BURN_SERVER, "--port=" + std::to_string(port_), "--threads=8"};
    request.limits.cpu.quota = 30ms;
    container_ = std::make_unique<internal::EngineContainer>(Engine());
    container_->Start(request);
    ASSERT_TRUE(
        Eventually([&] { return TcpReady().Try({.host = "127.0.0.1", .port = port_}).empty(); }));
    started_ = container_->Inspect();
  }
  void TearDown() override {
    container_.reset();
    EngineTest::TearDown();
  }

  AttachSpec Spec(const std::string& name) const {
    return {.target = RunningContainer(name, GetParam()), .port = port_};
  }
  static MeasureOptions Patient() {
    MeasureOptions options;
    options.bounds.start_lag_p99 = 10s;
    options.bounds.max_steal = options.bounds.max_others_cpu = 1;
    options.bounds.min_periods = 5;
    return options;
  }
  static std::string Refusal(const AttachSpec& spec) {
    try {
      AttachService(spec);
      return "accepted";
    } catch (const Error& error) {
      return std::string(ErrorCodeName(error.code())) + ": " + error.what();
    }
  }

  void MeasuresItByName() const {
    const auto service = AttachService(Spec(container_->name()));
    EXPECT_EQ(service->pid(), started_.pid);
    EXPECT_EQ(service->launcher_version(),
              std::string(LauncherName(GetParam())) + " container " + container_->name());
    const Measurement m = MeasureService(*service, Batches(8).Every(400ms).For(1200ms).WarmUp(0s),
                                         Get("/burn?ms=10"), Patient());
    EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
    EXPECT_GT(m.cgroup.throttle_ratio.value(), 0.3);
    EXPECT_EQ(m.requested.cpu, (CpuBandwidth{30ms, 100ms}));
    EXPECT_THAT(service->logs(), HasSubstr("listening on"));
    EXPECT_TRUE(service->Stop().still_runs);
  }
  void FindsItByTheBeginningOfItsId() const {
    const AttachTarget in_any_engine = RunningContainer(started_.id.substr(0, 12));
    EXPECT_EQ(AttachService({.target = in_any_engine, .port = port_})->pid(), started_.pid);
  }
  void IsInconclusiveWhenItIsKilled() const {
    const auto service = AttachService(Spec(container_->name()));
    MeasureOptions options = Patient();
    options.progress = [this, done = false](const MeasureProgress& p) mutable {
      if (done || std::strcmp(p.phase, "load") != 0 || p.done < 4) return;
      done = true;
      container_->Signal("KILL");
    };
    const Measurement m = MeasureService(*service, Batches(4).Every(200ms).For(30s).WarmUp(0s),
                                         Get("/burn?ms=1"), options);
    EXPECT_THAT(m.validity.faults,
                ElementsAre(AllOf(Field(&ValidityFault::gate, ValidityGate::kServiceGone),
                                  Field(&ValidityFault::text, HasSubstr("killed by SIGKILL")))));
  }
  void RefusesOneThatDoesNotRun() const {
    const std::string engine = LauncherName(GetParam());
    EXPECT_THAT(Refusal(Spec(container_->name())),
                AllOf(HasSubstr("not_ready: cannot attach to " + engine + " container " +
                                container_->name()),
                      HasSubstr(engine + " has it, exited")));
    EXPECT_THAT(Refusal({.target = RunningContainer("no-such-container", GetParam())}),
                HasSubstr("no container \"no-such-container\" runs: " + engine + " runs "));
  }

  std::uint16_t port_ = 0;
  internal::ContainerState started_;
  std::unique_ptr<internal::EngineContainer> container_;
};
INSTANTIATE_TEST_SUITE_P(Engines, AttachToContainer,
                         ::testing::Values(LauncherKind::kDocker, LauncherKind::kPodman),
                         EngineName);

// One container for all, because an engine takes seconds to make and remove one.
TEST_P(AttachToContainer, IsMeasuredLeftRunningAndNoticedWhenItEnds) {
  MeasuresItByName();
  FindsItByTheBeginningOfItsId();
  EXPECT_TRUE(container_->Inspect().running);
  EXPECT_EQ(container_->Inspect().pid, started_.pid);
  IsInconclusiveWhenItIsKilled();
  RefusesOneThatDoesNotRun();
}

}  // namespace
}  // namespace throttletest::test
