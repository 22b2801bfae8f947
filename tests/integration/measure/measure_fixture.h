// A burn_server in a cgroup of its own, measured for real.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>

#include "service/instance.h"
#include "throttletest/measure/measure.h"

namespace throttletest::test {

using namespace std::chrono_literals;

// Does `act` once during the load, after some requests.
inline MeasureOptions Meanwhile(MeasureOptions options, std::function<void()> act) {
  options.progress = [act = std::move(act), done = false](const MeasureProgress& p) mutable {
    if (done || std::strcmp(p.phase, "load") != 0 || p.done < 4) return;
    done = true;
    act();
  };
  return options;
}

class MeasureServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }

  static std::unique_ptr<Service> Start(const Limits& limits) {
    ServiceSpec spec;
    spec.command = {BURN_SERVER, "--port={port}", "--threads=8"};
    spec.limits = limits;
    spec.ready = HttpReady("/healthz");
    spec.launcher = LauncherKind::kCgroup;
    auto service = StartService(spec);
    Prefer(*service);
    return service;
  }

  // On a machine busy with other work a service that gets less CPU than its quota is never
  // throttled, so it gets the largest share there is.
  static void Prefer(const Service& service) { Share(service, "10000", "262144"); }
  // Sets its share by weight, in the unit of v2 and of v1.
  static void Share(const Service& service, const char* weight, const char* shares) {
    const ControllerLocation& cpu = service.cgroup().location().cpu.value();
    const bool v2 = cpu.version == CgroupVersion::kV2;
    std::ofstream(cpu.directory() + (v2 ? "/cpu.weight" : "/cpu.shares")) << (v2 ? weight : shares);
  }

  // Start lag and busy neighbours are the machine's affair; these tests are about everything else.
  static MeasureOptions Patient() {
    MeasureOptions options;
    options.bounds.start_lag_p99 = 10s;
    options.bounds.max_steal = options.bounds.max_others_cpu = 1;
    return options;
  }

  static Measurement Bursts(Service& service) {
    return MeasureService(service, Batches(8).Every(1s).For(6s).WarmUp(1s), Get("/burn?ms=20"),
                          Patient());
  }
};

}  // namespace throttletest::test
