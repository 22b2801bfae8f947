#include "throttletest/cgroup/cpu_set.h"
