#include "throttletest/load/latency.h"
