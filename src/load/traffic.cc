#include "throttletest/load/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/refuse.h"
#include "load/bounds.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::Refuse;

constexpr std::size_t kMaxRequestKinds = 1000;
constexpr int kMaxWeight = 1000;

// Deals out the members of a mix so that after any number of them each has had its share to within
// one.
class Dealer {
 public:
  explicit Dealer(const std::vector<int>& weights)
      : weights_(weights),
        credit_(weights.size(), 0),
        sum_(std::accumulate(weights.begin(), weights.end(), std::int64_t{0})) {}

  std::size_t Next() {
    for (std::size_t i = 0; i < credit_.size(); ++i) credit_[i] += weights_[i];
    const auto richest = std::max_element(credit_.begin(), credit_.end());
    *richest -= sum_;
    return static_cast<std::size_t>(richest - credit_.begin());
  }

 private:
  const std::vector<int>& weights_;
  std::vector<std::int64_t> credit_;
  std::int64_t sum_;
};

}  // namespace

Traffic::Traffic(const LoadPlan& plan, const Request& request) { Add(plan, {{request, 1}}); }

Traffic::Traffic(const LoadPlan& plan, const std::vector<WeightedRequest>& mix) { Add(plan, mix); }

Traffic Traffic::And(const LoadPlan& plan, const Request& request) const {
  return And(plan, {{request, 1}});
}

Traffic Traffic::And(const LoadPlan& plan, const std::vector<WeightedRequest>& mix) const {
  Traffic more = *this;
  more.Add(plan, mix);
  return more;
}

void Traffic::Add(const LoadPlan& plan, const std::vector<WeightedRequest>& mix) {
  if (mix.empty()) Refuse("a mix of no request: give at least one");
  if (requests_.size() + mix.size() > kMaxRequestKinds) {
    Refuse(fmt::format("traffic has more than {} different requests", kMaxRequestKinds));
  }
  Stream stream{plan, requests_.size(), {}};
  for (const WeightedRequest& part : mix) {
    if (part.weight < 1 || part.weight > kMaxWeight) {
      Refuse(fmt::format("weight {} of {} is out of range 1..{}", part.weight,
                         part.request.ToString(), kMaxWeight));
    }
    Validate(part.request);
    stream.weights.push_back(part.weight);
    requests_.push_back(part.request);
  }
  streams_.push_back(std::move(stream));
}

Schedule Traffic::WithKinds(const Schedule& schedule, const Stream& stream) const {
  if (requests_.size() == 1) return schedule;
  Dealer dealer(stream.weights);
  std::vector<std::uint16_t> kinds(static_cast<std::size_t>(schedule.request_count()));
  for (std::uint16_t& kind : kinds) {
    kind = static_cast<std::uint16_t>(stream.first_request + dealer.Next());
  }
  return Schedule(schedule.batches(), std::move(kinds));
}

Schedule Traffic::measured() const {
  std::vector<Schedule> schedules;
  for (const Stream& s : streams_) schedules.push_back(WithKinds(s.plan.measured(), s));
  return schedules.size() == 1 ? schedules.front() : Merge(schedules);
}

Schedule Traffic::warm_up() const {
  std::vector<Schedule> schedules;
  for (const Stream& s : streams_) schedules.push_back(WithKinds(s.plan.warm_up(), s));
  return schedules.size() == 1 ? schedules.front() : Merge(schedules);
}

std::chrono::nanoseconds Traffic::length() const {
  std::chrono::nanoseconds longest{0};
  for (const Stream& stream : streams_) longest = std::max(longest, stream.plan.length());
  return longest;
}

bool Traffic::has_warm_up() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const Stream& s) { return s.plan.has_warm_up(); });
}

bool Traffic::is_steady() const {
  return streams_.size() == 1 && streams_.front().plan.is_steady();
}

int Traffic::max_in_flight() const {
  int sum = 0;
  for (const Stream& s : streams_)
    sum = std::min(internal::kMaxInFlight, sum + s.plan.max_in_flight());
  return sum;
}

std::string Traffic::PlanText() const {
  std::string text;
  for (const Stream& s : streams_) text += (text.empty() ? "" : " and ") + s.plan.ToString();
  return text;
}

std::string Traffic::RequestText() const {
  std::string text;
  for (const Stream& s : streams_) {
    if (!text.empty()) text += " and ";
    for (std::size_t i = 0; i < s.weights.size(); ++i) {
      if (i > 0) text += ", ";
      if (s.weights.size() > 1) text += fmt::format("{} of ", s.weights[i]);
      text += requests_[s.first_request + i].ToString();
    }
  }
  return text;
}

}  // namespace throttletest
