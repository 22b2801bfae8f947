#include "throttletest/measure/validity.h"

namespace throttletest {

const char* ValidityGateName(ValidityGate gate) {
  switch (gate) {
    case ValidityGate::kStartLag:
      return "start_lag";
    case ValidityGate::kNotSent:
      return "not_sent";
    case ValidityGate::kServiceGone:
      return "service_gone";
    case ValidityGate::kMoved:
      return "moved";
    case ValidityGate::kLimitChanged:
      return "limit_changed";
    case ValidityGate::kIdentityChanged:
      return "identity_changed";
    case ValidityGate::kCountersBackwards:
      return "counters_backwards";
    case ValidityGate::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

std::string Validity::ToString() const {
  std::string text;
  for (const ValidityFault& fault : faults) {
    if (!text.empty()) text += "; ";
    text += fault.text;
  }
  return text;
}

}  // namespace throttletest
