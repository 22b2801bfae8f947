// The lists of the JSON document: latencies, levels, batches, timeline, requests.
#pragma once

#include <string>
#include <vector>

#include "report/json_writer.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// Percentiles in milliseconds. Absent: null where the percentile falls on a request without an
// answer, and everywhere without samples.
// `none`: why there is no sample when there is none.
Json LatencyJson(const std::string& path, const LatencySamples& samples, Absences& absences,
                 const char* none = "no request was sent");
Json OrderMediansJson(const LoadResult& load, Absences& absences);
// The lines of deployment files that limits were read from.
Json OriginsJson(const std::vector<LimitOrigin>& origins);
Json LevelsJson(const std::vector<LevelDelta>& levels, Absences& absences);
Json MedianBatchCpuJson(const Measurement& m, Absences& absences);

// Tables: "columns" names them, "rows" has one array each; null is "not known" or "never happened".
Json BatchesJson(const std::vector<BatchUse>& batches, Absences& absences);
Json WindowsJson(const Measurement& m);
Json TimelineJson(const Measurement& m, Absences& absences);
Json RequestsJson(const LoadResult& load);

}  // namespace throttletest::internal
